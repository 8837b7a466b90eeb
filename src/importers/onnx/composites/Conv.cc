#include "importers/onnx/composites/windows.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportConv(Emitter& e) {
  NPUKIT_RETURN_IF_ERROR(CheckKernelShape(e));
  return EmitWindow(e, op::conv2d, op::conv_nd,
                    Only(e.op.attrs, {"strides", "pads", "dilations", "group", "auto_pad"}));
}

}  // namespace npukit::importers::onnx
