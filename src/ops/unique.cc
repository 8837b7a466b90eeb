#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "ops/outputs.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Value;

// x as `n` slices of outer * row elements along the axis; without an axis, its elements.
struct Slices {
  std::int64_t n = 0, outer = 1, row = 1;
};

Result<Slices> SliceUp(const Attrs& attrs, const tensor::Dims& dims, std::int64_t count) {
  Slices s;
  if (attrs.Find("axis") == nullptr) {
    s.n = count;
    return s;
  }
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis, NormalAxis(attrs.Int("axis"), dims.size()));
  s.n = dims[axis];
  for (std::size_t d = 0; d < axis; ++d) s.outer *= dims[d];
  s.row = tensor::DenseStrides(dims)[axis];
  return s;
}

// NaN is larger than any number, and equal to NaN.
int CompareElements(const Value& x, std::int64_t i, std::int64_t j) {
  if (x.dtype() == DType::kString) {
    const int order =
        x.strings()[static_cast<std::size_t>(i)].compare(x.strings()[static_cast<std::size_t>(j)]);
    return order < 0 ? -1 : order > 0;
  }
  if (tensor::IsInteger(x.dtype()) || x.dtype() == DType::kBool) {
    const std::uint64_t a = LoadBits(x, i), b = LoadBits(x, j);
    if (a == b) return 0;
    const bool less = tensor::IsSigned(x.dtype())
                          ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b)
                          : a < b;
    return less ? -1 : 1;
  }
  const double a = Load(x, i), b = Load(x, j);
  if (a != a || b != b) return (a != a) - (b != b);
  return a < b ? -1 : a > b;
}

int CompareSlices(const Value& x, const Slices& s, std::int64_t a, std::int64_t b) {
  for (std::int64_t o = 0; o < s.outer; ++o) {
    for (std::int64_t r = 0; r < s.row; ++r) {
      const std::int64_t base = o * s.n * s.row + r;
      const int order = CompareElements(x, base + a * s.row, base + b * s.row);
      if (order != 0) return order;
    }
  }
  return 0;
}

// The slices that differ, in the order of the result.
struct Groups {
  std::vector<std::int64_t> first, count;  // of each group: its first slice, how many are equal
  std::vector<std::int64_t> group_of;      // of each slice
};

Groups Group(const Value& x, const Slices& s, bool sorted) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(s.n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return CompareSlices(x, s, a, b) < 0; });
  Groups g;
  g.group_of.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || CompareSlices(x, s, order[i - 1], order[i]) != 0) {
      g.first.push_back(order[i]);
      g.count.push_back(0);
    }
    ++g.count.back();
    g.group_of[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(g.first.size()) - 1;
  }
  if (sorted) return g;
  // In the order in which they first occur.
  std::vector<std::size_t> by_first(g.first.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  std::sort(by_first.begin(), by_first.end(),
            [&](std::size_t a, std::size_t b) { return g.first[a] < g.first[b]; });
  Groups out;
  std::vector<std::int64_t> now(by_first.size());
  for (const std::size_t old : by_first) {
    now[old] = static_cast<std::int64_t>(out.first.size());
    out.first.push_back(g.first[old]);
    out.count.push_back(g.count[old]);
  }
  for (const std::int64_t old : g.group_of)
    out.group_of.push_back(now[static_cast<std::size_t>(old)]);
  return out;
}

// Inference sorts no more than shape arithmetic may hold; it is asked again and again.
constexpr std::size_t kMostInferred = 1024;

bool IsSmall(const Value& v) {
  std::size_t size = static_cast<std::size_t>(v.count());
  if (v.dtype() == DType::kString && size <= kMostInferred) {
    for (const std::string& s : v.strings()) size += s.size() / 16;
  }
  return size <= kMostInferred;
}

void SetTypes(std::span<tensor::Type> out, std::size_t axis, const Dim& groups, const Dim& slices) {
  if (out[0].shape) out[0].shape->dims[axis] = groups;
  for (std::size_t i = 1; i < 4; ++i) {
    out[i] = tensor::Type::Tensor(DType::kI64, tensor::Shape({i == 2 ? slices : groups}));
  }
}

Status Infer(InferContext& c) {
  const tensor::Type& x = c.inputs[0];
  const bool fits = x.dtype == DType::kUndefined || x.dtype == DType::kBool ||
                    x.dtype == DType::kString || IsNumber(x.dtype);
  if (!fits) {
    return InvalidArgument(
        Cat("input 0 is ", tensor::DTypeName(x.dtype), ", expected a number type, bool or string"));
  }
  const bool flat = c.attrs.Find("axis") == nullptr;
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  std::size_t axis = 0;
  Dim slices;
  if (flat) {
    c.outputs[0].shape = tensor::Shape({Dim{}});
    if (x.is_static()) slices = Dim::Of(tensor::ElementCount(x.dims()).value_or(-1));
  } else if (x.shape) {
    NPUKIT_ASSIGN_OR_RETURN(axis, NormalAxis(c.attrs.Int("axis"), x.shape->rank()));
    slices = x.shape->dims[axis];
    c.outputs[0].shape = x.shape;
  }
  Dim groups;
  if (const Value* v = c.constants[0]; v != nullptr && x.is_static() && IsSmall(*v)) {
    NPUKIT_ASSIGN_OR_RETURN(const Slices s, SliceUp(c.attrs, v->dims(), v->count()));
    groups = Dim::Of(static_cast<std::int64_t>(Group(*v, s, true).first.size()));
  }
  SetTypes(c.outputs, axis, groups, slices);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(std::vector<tensor::Type> types, TypesWithoutValues(c, Infer, 4));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const Slices s, SliceUp(*c.attrs, x.dims(), x.count()));
  const Groups g = Group(x, s, c.attrs->Int("sorted", 1) != 0);
  const auto groups = static_cast<std::int64_t>(g.first.size());
  std::size_t axis = 0;
  if (c.attrs->Find("axis") != nullptr) {
    NPUKIT_ASSIGN_OR_RETURN(axis, NormalAxis(c.attrs->Int("axis"), x.dims().size()));
  }
  SetTypes(types, axis, Dim::Of(groups), Dim::Of(s.n));
  NPUKIT_ASSIGN_OR_RETURN(std::vector<Value> y, MakeOutputs(c, types));
  for (std::int64_t o = 0; o < s.outer; ++o) {
    for (std::int64_t k = 0; k < groups; ++k) {
      const std::int64_t from = (o * s.n + g.first[static_cast<std::size_t>(k)]) * s.row;
      for (std::int64_t i = 0; i < s.row; ++i)
        CopyElement(y[0], (o * groups + k) * s.row + i, x, from + i);
    }
  }
  const std::vector<std::int64_t>* lists[] = {&g.first, &g.group_of, &g.count};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < lists[i]->size(); ++k)
      StoreBits(y[i + 1], static_cast<std::int64_t>(k), static_cast<std::uint64_t>((*lists[i])[k]));
  }
  return OkStatus();
}

OpCost UniqueCost(const CostContext& c) {
  const double n = CountOf(c.inputs[0]);
  return {.vector_ops = n * (20 + 4 * std::log2(n + 1)), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}, {"sorted", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::unique = {
    .name = "unique",
    .summary =
        "the different slices along an axis (elements, when none is named), where each first is, "
        "which one each slice is, and how many are equal",
    .outputs = 4,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = UniqueCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "Unique"},
};

}  // namespace npukit
