#include "ops/pad.h"

#include "base/text.h"
#include "ops/given.h"
#include "ops/rules.h"

namespace npukit {

using ops::Attrs;
using ops::Padding;
using ops::PadMode;
using tensor::Value;

Result<PadMode> ops::ReadPadMode(const Attrs& attrs) {
  const std::string_view mode = attrs.String("mode", "constant");
  if (mode == "constant") return PadMode::kConstant;
  if (mode == "edge") return PadMode::kEdge;
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "wrap") return PadMode::kWrap;
  return InvalidArgument(
      Cat("mode ", Printable(mode), " is not known: constant, edge, reflect or wrap"));
}

std::int64_t ops::PadSource(PadMode mode, const Padding& p, std::int64_t n, std::int64_t i) {
  std::int64_t at = i - p.begin;
  if (at >= 0 && at < n) return at;
  switch (mode) {
    case PadMode::kConstant:
      return -1;
    case PadMode::kEdge:
      return at < 0 ? 0 : n - 1;
    case PadMode::kWrap:
      at %= n;
      return at < 0 ? at + n : at;
    case PadMode::kReflect: {
      if (n == 1) return 0;
      const std::int64_t period = 2 * (n - 1);
      at %= period;
      if (at < 0) at += period;
      return at < n ? at : period - at;
    }
  }
  return -1;
}

namespace {

using namespace ops;
using tensor::Dim;

constexpr std::size_t kPads = 1, kValue = 2, kAxes = 3;
constexpr std::int64_t kMaxPad = std::int64_t{1} << 40;  // sums of it and a size cannot overflow

Result<std::vector<Padding>> ReadPadding(std::size_t rank, const Value& pads, const Value* axes) {
  const Ints list = tensor::ToInt64s(pads);
  Ints named;
  if (axes != nullptr) {
    named = tensor::ToInt64s(*axes);
  } else {
    for (std::size_t i = 0; i < rank; ++i) named.push_back(static_cast<std::int64_t>(i));
  }
  if (named.size() > rank || list.size() != 2 * named.size()) {
    return InvalidArgument(Cat("pads has ", list.size(), " numbers, expected two for each of ",
                               named.size(), " axes"));
  }
  NPUKIT_RETURN_IF_ERROR(AxisMask(named, rank).status());
  std::vector<Padding> out(rank);
  for (std::size_t i = 0; i < named.size(); ++i) {
    NPUKIT_ASSIGN_OR_RETURN(const std::size_t a, NormalAxis(named[i], rank));
    out[a] = {list[i], list[i + named.size()]};
    for (const std::int64_t pad : {out[a].begin, out[a].end}) {
      if (pad > kMaxPad || pad < -kMaxPad)
        return ResourceExhausted(Cat("a pad of ", pad, " is too large"));
    }
  }
  return out;
}

Status Infer(InferContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const PadMode mode, ReadPadMode(c.attrs));
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, kPads, false));
  const tensor::Type& x = c.inputs[0];
  if (Has(c, kValue)) {
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, kValue));
    const tensor::Type& value = c.inputs[kValue];
    if (value.is_static() && tensor::ElementCount(value.dims()) != 1) {
      return InvalidArgument(Cat("input 2 is ", value.ToString(), ", expected one number"));
    }
  }
  if (Has(c, kAxes)) NPUKIT_RETURN_IF_ERROR(WantIndexList(c, kAxes, true));
  c.outputs[0] = tensor::Type::Tensor(x.dtype, x.shape);
  if (!x.shape) return OkStatus();
  std::vector<Dim>& dims = c.outputs[0].shape->dims;
  const Value* axes = IsGiven(c, kAxes) ? c.constants[kAxes] : nullptr;
  if (c.constants[kPads] == nullptr || (IsGiven(c, kAxes) && axes == nullptr)) {
    for (Dim& d : dims) d = Dim{};
    return OkStatus();
  }
  NPUKIT_ASSIGN_OR_RETURN(const auto padding, ReadPadding(dims.size(), *c.constants[kPads], axes));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Padding& p = padding[i];
    if (p.begin == 0 && p.end == 0) continue;
    if (!dims[i].known()) {
      dims[i] = Dim{};
      continue;
    }
    const std::int64_t n = dims[i].value;
    std::int64_t sum = 0;
    if (__builtin_add_overflow(n, p.begin + p.end, &sum))
      return ResourceExhausted(Cat("dimension ", i, " becomes too long"));
    if (sum < 0) {
      return InvalidArgument(
          Cat("pads ", p.begin, " and ", p.end, " cut more than dimension ", i, " has, ", n));
    }
    if (n == 0 && sum > 0 && mode != PadMode::kConstant)
      return InvalidArgument(Cat("dimension ", i, " is empty: there is nothing to repeat"));
    dims[i] = Dim::Of(sum);
  }
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const PadMode mode, ReadPadMode(*c.attrs));
  NPUKIT_ASSIGN_OR_RETURN(const auto padding, PlanPad(x.dims().size(), c.inputs));
  Value filler;
  if (c.inputs.size() > kValue && c.inputs[kValue].present()) {
    filler = c.inputs[kValue];
  } else {
    NPUKIT_ASSIGN_OR_RETURN(filler, Value::Allocate(x.dtype(), {}));
    if (filler.byte_size() != 0) __builtin_memset(filler.mutable_data(), 0, filler.byte_size());
  }
  const tensor::Dims strides = tensor::DenseStrides(x.dims());
  const tensor::Dims out_strides = tensor::DenseStrides(y.dims());
  for (std::int64_t i = 0; i < y.count(); ++i) {
    std::int64_t from = 0;
    for (std::size_t d = 0; from >= 0 && d < strides.size(); ++d) {
      const std::int64_t index = i / out_strides[d] % y.dims()[d];
      const std::int64_t at = PadSource(mode, padding[d], x.dims()[d], index);
      from = at < 0 ? -1 : from + at * strides[d];
    }
    CopyElement(y, i, from < 0 ? filler : x, from < 0 ? 0 : from);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"mode", AttrKind::kString}};

}  // namespace

Result<std::vector<Padding>> ops::PlanPad(std::size_t rank, std::span<const Value> inputs) {
  const bool has_axes = inputs.size() > kAxes && inputs[kAxes].present();
  return ReadPadding(rank, inputs[kPads], has_axes ? &inputs[kAxes] : nullptr);
}

constinit const OpDef op::pad = {
    .name = "pad",
    .summary =
        "x with elements added around it: a constant, its edge, its reflection, or its other end; "
        "negative pads cut off",
    .min_inputs = 2,
    .max_inputs = 4,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Pad", .tflite = "PADV2", .nnrt = "OH_NN_OPS_PAD"},
};

}  // namespace npukit
