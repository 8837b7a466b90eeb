#include "importers/onnx/composites/windows.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportLpPool(Emitter& e) {
  NPUKIT_RETURN_IF_ERROR(WantKernelShape(e));
  auto attrs = Only(e.op.attrs,
                    {"kernel_shape", "strides", "pads", "dilations", "ceil_mode", "auto_pad", "p"});
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::lp_pool, std::move(attrs), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
