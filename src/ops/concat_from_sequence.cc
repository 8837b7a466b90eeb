#include "base/text.h"
#include "ops/kinds.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Type;
using tensor::Value;

// What comes out when every item has this type and `total` is the size along the axis.
Result<Type> Joined(const Attrs& attrs, const Type& item, Dim total) {
  if (!item.is_tensor())
    return InvalidArgument(Cat("the items are ", item.ToString(), ", expected tensors"));
  Type y = item;
  const std::int64_t axis = attrs.Int("axis");
  if (attrs.Int("new_axis", 0) != 0) {
    if (!item.shape) return y;
    NPUKIT_ASSIGN_OR_RETURN(const std::size_t a, NormalAxis(axis, item.shape->rank() + 1));
    y.shape->dims.insert(y.shape->dims.begin() + static_cast<std::ptrdiff_t>(a), total);
    return y;
  }
  if (!item.shape) return y;
  if (item.shape->rank() == 0) return InvalidArgument("a scalar has no axis: set new_axis to 1");
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t a, NormalAxis(axis, item.shape->rank()));
  y.shape->dims[a] = total;
  return y;
}

Result<Type> OfItems(const Attrs& attrs, const std::vector<Value>& items) {
  if (items.empty())
    return InvalidArgument("the sequence is empty: there is nothing to concatenate");
  Type item = items[0].type();
  const bool fresh = attrs.Int("new_axis", 0) != 0;
  std::int64_t total = fresh ? static_cast<std::int64_t>(items.size()) : 0;
  NPUKIT_RETURN_IF_ERROR(Joined(attrs, item, Dim{}).status());
  const std::size_t rank = items[0].dims().size();
  std::size_t axis = rank;  // beyond: every size must agree
  if (!fresh) {
    NPUKIT_ASSIGN_OR_RETURN(axis, NormalAxis(attrs.Int("axis"), rank));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Value& v = items[i];
    bool same = v.is_tensor() && v.dtype() == items[0].dtype() && v.dims().size() == rank;
    for (std::size_t d = 0; same && d < rank; ++d)
      same = d == axis || v.dims()[d] == items[0].dims()[d];
    if (!same) {
      return InvalidArgument(Cat("item ", i, " is ", v.type().ToString(), ", item 0 is ",
                                 item.ToString(), ": they do not fit together"));
    }
    if (!fresh && __builtin_add_overflow(total, v.dims()[axis], &total))
      return ResourceExhausted("the items are too large together");
  }
  return Joined(attrs, item, Dim::Of(total));
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantSequence(c, 0));
  if (c.constants[0] != nullptr) {
    NPUKIT_ASSIGN_OR_RETURN(c.outputs[0], OfItems(c.attrs, c.constants[0]->items()));
    return OkStatus();
  }
  NPUKIT_ASSIGN_OR_RETURN(c.outputs[0], Joined(c.attrs, ElementType(c, 0), Dim{}));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const std::vector<Value>& items = c.inputs[0].items();
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis"), y.dims().size()));
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < axis; ++d) outer *= y.dims()[d];
  std::int64_t at = 0;
  for (std::int64_t o = 0; o < outer && y.count() > 0; ++o) {
    for (const Value& v : items) {
      const std::int64_t run = v.count() / outer;
      for (std::int64_t i = 0; i < run; ++i) CopyElement(y, at++, v, o * run + i);
    }
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt, true}, {"new_axis", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::concat_from_sequence = {
    .name = "concat_from_sequence",
    .summary = "the items of a sequence along an axis, old or new",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .foreign = {.onnx = "ConcatFromSequence"},
    .any_kind = true,
};

}  // namespace npukit
