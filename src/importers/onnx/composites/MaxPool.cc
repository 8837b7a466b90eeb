#include "importers/onnx/composites/windows.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportMaxPool(Emitter& e) {
  if (const auto why = WhyNot2d(e)) return Outcome::Foreign(*why, k2dRemedy);
  if (e.op.outputs.size() != 1)
    return Outcome::Foreign("the indices are read", "export without the indices");
  auto attrs =
      Only(e.op.attrs, {"kernel_shape", "strides", "pads", "dilations", "ceil_mode", "auto_pad"});
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::max_pool2d, std::move(attrs), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
