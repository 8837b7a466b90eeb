#include "importers/onnx/composites/windows.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportAveragePool(Emitter& e) {
  if (const auto why = WhyNot2d(e)) return Outcome::Foreign(*why, k2dRemedy);
  auto attrs = Only(e.op.attrs, {"kernel_shape", "strides", "pads", "dilations", "ceil_mode",
                                 "auto_pad", "count_include_pad"});
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::avg_pool2d, std::move(attrs), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
