#include "importers/onnx/composites/windows.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportConv(Emitter& e) {
  if (const auto why = WhyNot2d(e)) return Outcome::Foreign(*why, k2dRemedy);
  NPUKIT_RETURN_IF_ERROR(CheckKernelShape(e));
  auto attrs = Only(e.op.attrs, {"strides", "pads", "dilations", "group", "auto_pad"});
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::conv2d, std::move(attrs), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
