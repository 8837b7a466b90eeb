#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Result<bool> IsCircular(const Attrs& attrs) {
  const std::string_view mode = attrs.String("mode", "linear");
  if (mode == "circular") return true;
  if (mode == "linear") return false;
  return InvalidArgument(Cat("mode is ", Printable(mode), ", expected linear or circular"));
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(IsCircular(c.attrs).status());
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 1));
  if (Has(c, 2)) NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 2, false));
  c.outputs[0] = c.inputs[0];
  if (!c.inputs[0].shape) return OkStatus();
  const auto& cache = c.inputs[0].shape->dims;
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs.Int("axis", -2), cache.size()));
  if (axis == 0) return InvalidArgument("axis is 0, the batch; expected another");
  if (Has(c, 2) && c.inputs[2].shape) {
    NPUKIT_RETURN_IF_ERROR(
        SameDim(c.inputs[2].shape->dims[0], cache[0]).status().WithContext("indices and batch"));
  }
  if (!c.inputs[1].shape) return OkStatus();
  const auto& update = c.inputs[1].shape->dims;
  bool fits = update.size() == cache.size();
  for (std::size_t i = 0; fits && i < cache.size(); ++i) {
    fits = i == axis ? !cache[i].known() || !update[i].known() || update[i].value <= cache[i].value
                     : SameDim(cache[i], update[i]).ok();
  }
  if (fits) return OkStatus();
  return InvalidArgument(Cat("the update is ", c.inputs[1].ToString(),
                             ", expected the shape of the cache, ", c.inputs[0].ToString(),
                             ", or less along axis ", axis));
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& update = c.inputs[1];
  const Value starts = c.inputs.size() > 2 ? c.inputs[2] : Value();
  NPUKIT_ASSIGN_OR_RETURN(const bool circular, IsCircular(*c.attrs));
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", -2), y.dims().size()));
  CopyAll(y, c.inputs[0]);
  if (update.count() == 0) return OkStatus();
  const std::int64_t length = y.dims()[axis], fresh = update.dims()[axis];
  const std::int64_t row = tensor::DenseStrides(y.dims())[axis];
  const std::int64_t outer = update.count() / (fresh * row);
  const std::int64_t per_batch = outer / y.dims()[0];
  for (std::int64_t o = 0; o < outer; ++o) {
    std::int64_t start = starts.present() ? tensor::ElementAsInt64(starts, o / per_batch) : 0;
    if (circular) {
      start = (start % length + length) % length;
    } else if (start < 0 || start > length - fresh) {
      return InvalidArgument(
          Cat("rows ", start, " on do not fit: the cache has ", length, ", the update ", fresh));
    }
    for (std::int64_t s = 0; s < fresh; ++s) {
      const std::int64_t to = (o * length + (start + s) % length) * row;
      for (std::int64_t i = 0; i < row; ++i)
        CopyElement(y, to + i, update, (o * fresh + s) * row + i);
    }
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}, {"mode", AttrKind::kString}};

}  // namespace

constinit const OpDef op::tensor_scatter = {
    .name = "tensor_scatter",
    .summary =
        "a cache with an update written into it along an axis, from an index for each "
        "sample on",
    .min_inputs = 2,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .foreign = {.onnx = "TensorScatter"},
};

}  // namespace npukit
