#include "importers/onnx/composites/windows.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportConvTranspose(Emitter& e) {
  if (const auto why = WhyNot2d(e)) return Outcome::Foreign(*why, k2dRemedy);
  if (e.op.attrs.Find("output_shape") != nullptr)
    return Outcome::Foreign("attribute output_shape is not supported",
                            "give pads and output_padding instead of output_shape");
  NPUKIT_RETURN_IF_ERROR(CheckKernelShape(e));
  auto attrs =
      Only(e.op.attrs, {"strides", "pads", "dilations", "group", "auto_pad", "output_padding"});
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::conv_transpose2d, std::move(attrs), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
