// A pool over all spatial dimensions is a reduction.
#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

Result<Outcome> Reduce(Emitter& e, const ops::OpDef& reduction) {
  const auto rank = e.Rank(0);
  if (!rank) {
    return Outcome::Foreign("the number of dimensions is not known",
                            "run onnx.shape_inference on the model");
  }
  if (*rank < 3) {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": x is ", e.Type(0).ToString(),
                               ", expected rank 3 or more"));
  }
  ops::Ints axes;
  for (std::size_t i = 2; i < *rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  ops::Attrs attrs;
  attrs.Set("axes", std::move(axes));
  attrs.Set("keepdims", std::int64_t{1});
  NPUKIT_RETURN_IF_ERROR(e.Emit(reduction, std::move(attrs), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportGlobalAveragePool(Emitter& e) { return Reduce(e, op::reduce_mean); }
Result<Outcome> ImportGlobalMaxPool(Emitter& e) { return Reduce(e, op::reduce_max); }

}  // namespace npukit::importers::onnx
