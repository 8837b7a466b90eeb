#include "base/text.h"
#include "ops/reduce.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Result<Reduction> KindOf(const Attrs& attrs) {
  struct Row {
    std::string_view name;
    Reduction kind;
  };
  constexpr Row kRows[] = {{"sum", Reduction::kSum},   {"mean", Reduction::kMean},
                           {"max", Reduction::kMax},   {"min", Reduction::kMin},
                           {"prod", Reduction::kProd}, {"log_sum_exp", Reduction::kLogSumExp}};
  const std::string_view name = attrs.String("reduction");
  for (const Row& row : kRows) {
    if (row.name == name) return row.kind;
  }
  return InvalidArgument(Cat("attribute reduction is ", Printable(name),
                             ", expected sum, mean, max, min, prod or log_sum_exp"));
}

// No axes: all of them, or none with noop_with_empty_axes.
Result<std::vector<bool>> Reduced(const Value& axes, const Attrs& attrs, std::size_t rank) {
  if (axes.count() == 0 && attrs.Int("noop_with_empty_axes", 0) != 0)
    return std::vector<bool>(rank, false);
  if (axes.count() > static_cast<std::int64_t>(rank))
    return InvalidArgument(Cat(axes.count(), " axes, expected at most the rank ", rank));
  return ReducedAxes(tensor::ToInt64s(axes), rank);
}

Status Infer(InferContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const Reduction kind, KindOf(c.attrs));
  NPUKIT_RETURN_IF_ERROR(WantReducible(c, kind));
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 1, /*or_int32=*/true));
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  const std::size_t rank = x.shape->rank();
  const bool keep = c.attrs.Int("keepdims", 1) != 0;
  if (c.constants[1] != nullptr) {
    NPUKIT_ASSIGN_OR_RETURN(const auto reduced, Reduced(*c.constants[1], c.attrs, rank));
    c.outputs[0].shape = ReducedShape(*x.shape, reduced, keep);
    return OkStatus();
  }
  // Which dimensions stay is not known; how many may be.
  if (keep) {
    c.outputs[0].shape = tensor::Shape(std::vector<tensor::Dim>(rank));
  } else if (c.inputs[1].is_static()) {
    const std::int64_t named = c.inputs[1].dims()[0];
    if (named > static_cast<std::int64_t>(rank))
      return InvalidArgument(Cat(named, " axes, expected at most the rank ", rank));
    const bool none = named == 0 && c.attrs.Int("noop_with_empty_axes", 0) == 0;
    const std::size_t stay = none ? 0 : rank - static_cast<std::size_t>(named);
    c.outputs[0].shape = tensor::Shape(std::vector<tensor::Dim>(stay));
  }
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const Reduction kind, KindOf(*c.attrs));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const auto reduced, Reduced(c.inputs[1], *c.attrs, x.dims().size()));
  Reduce(kind, x, reduced, y);
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"keepdims", AttrKind::kInt},
                              {"noop_with_empty_axes", AttrKind::kInt},
                              {"reduction", AttrKind::kString, true}};

}  // namespace

constinit const OpDef op::reduce_over = {
    .name = "reduce_over",
    .summary = "reduction (sum, mean, max, min, prod, log_sum_exp) over axes that are computed",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ReduceCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
};

}  // namespace npukit
