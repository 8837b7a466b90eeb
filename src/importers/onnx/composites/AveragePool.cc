#include "importers/onnx/composites/windows.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportAveragePool(Emitter& e) {
  NPUKIT_RETURN_IF_ERROR(WantKernelShape(e));
  return EmitWindow(e, op::avg_pool2d, op::avg_pool_nd,
                    Only(e.op.attrs, {"kernel_shape", "strides", "pads", "dilations", "ceil_mode",
                                      "auto_pad", "count_include_pad"}));
}

}  // namespace npukit::importers::onnx
