// A pool over all spatial dimensions: a reduction where their number is known, else the general
// operator of a window as large as they are.
#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

Result<Outcome> Whole(Emitter& e, const ops::OpDef& reduction, const ops::OpDef& pool) {
  const auto rank = e.Rank(0);
  if (!rank) {
    NPUKIT_RETURN_IF_ERROR(e.EmitAll(pool, {}, e.op.inputs, e.op.outputs));
    return Outcome::Done();
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

Result<Outcome> ImportGlobalAveragePool(Emitter& e) {
  return Whole(e, op::reduce_mean, op::avg_pool_nd);
}
Result<Outcome> ImportGlobalMaxPool(Emitter& e) {
  return Whole(e, op::reduce_max, op::max_pool_nd);
}
Result<Outcome> ImportGlobalLpPool(Emitter& e) {
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::lp_pool, Only(e.op.attrs, {"p"}), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
