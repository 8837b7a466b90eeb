#include <algorithm>

#include "base/text.h"
#include "ops/fourier.h"
#include "ops/given.h"
#include "ops/indexing.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

constexpr std::size_t kLength = 1, kAxis = 2;

struct Flags {
  bool inverse = false, onesided = false;
  bool to_real() const { return inverse && onesided; }
};

Flags ReadFlags(const Attrs& attrs) {
  return {attrs.Int("inverse", 0) != 0, attrs.Int("onesided", 0) != 0};
}

// The axis of a signal: any but the last, which holds the parts of a number.
Result<std::size_t> SignalAxis(const Value* axis, std::size_t rank) {
  const std::int64_t given =
      axis != nullptr && axis->count() == 1 ? tensor::ElementAsInt64(*axis, 0) : -2;
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t a, NormalAxis(given, rank));
  if (a + 1 == rank)
    return InvalidArgument(Cat("axis ", given, " holds the parts of a number, not a signal"));
  return a;
}

// How long the transform is; -1: not known.
Result<std::int64_t> Length(const Flags& flags, bool given, const Value* length, const Dim& n) {
  std::int64_t out = -1;
  if (given) {
    if (length != nullptr && length->count() == 1) out = tensor::ElementAsInt64(*length, 0);
    if (length != nullptr && out < 1) return InvalidArgument(Cat("dft_length is ", out));
  } else if (n.known()) {
    out = flags.to_real() ? 2 * (n.value - 1) : n.value;
    if (out < 1) return InvalidArgument(Cat("a signal of ", n.value, " elements is too short"));
  }
  if (out > kMaxTransform)
    return ResourceExhausted(
        Cat("a transform of length ", out, " is too long, the limit is ", kMaxTransform));
  return out;
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  for (const std::size_t i : {kLength, kAxis}) {
    if (Has(c, i)) NPUKIT_RETURN_IF_ERROR(WantOneInteger(c, i));
  }
  const Flags flags = ReadFlags(c.attrs);
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  std::vector<Dim> dims = x.shape->dims;
  if (dims.size() < 2)
    return InvalidArgument(Cat("input 0 is ", x.ToString(), ", expected rank 2 or more"));
  if (dims.back().known() && dims.back().value != 1 && dims.back().value != 2) {
    return InvalidArgument(Cat("a number has ", dims.back().value, " parts, expected 1 or 2"));
  }
  dims.back() = Dim::Of(flags.to_real() ? 1 : 2);
  const Value* axis_value = IsGiven(c, kAxis) ? c.constants[kAxis] : nullptr;
  if (IsGiven(c, kAxis) && axis_value == nullptr) {
    std::fill(dims.begin(), dims.end() - 1, Dim{});
    c.outputs[0].shape = tensor::Shape(std::move(dims));
    return OkStatus();
  }
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis, SignalAxis(axis_value, dims.size()));
  const bool given = IsGiven(c, kLength);
  NPUKIT_ASSIGN_OR_RETURN(const std::int64_t n,
                          Length(flags, given, given ? c.constants[kLength] : nullptr, dims[axis]));
  if (n > 0) {
    dims[axis] = Dim::Of(flags.onesided && !flags.inverse ? n / 2 + 1 : n);
  } else if (given || flags.onesided) {
    dims[axis] = Dim{};
  }
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Flags flags = ReadFlags(*c.attrs);
  const auto input = [&](std::size_t i) {
    return i < c.inputs.size() && c.inputs[i].present() ? &c.inputs[i] : nullptr;
  };
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis, SignalAxis(input(kAxis), x.dims().size()));
  NPUKIT_ASSIGN_OR_RETURN(const std::int64_t n, Length(flags, input(kLength) != nullptr,
                                                       input(kLength), Dim::Of(x.dims()[axis])));
  const std::int64_t parts = x.dims().back(), out_parts = y.dims().back();
  const tensor::Dims in = tensor::DenseStrides(x.dims());
  const tensor::Dims out = tensor::DenseStrides(y.dims());
  tensor::Dims outer = x.dims();
  outer[axis] = outer.back() = 1;
  std::vector<std::complex<double>> v(static_cast<std::size_t>(n));
  const double unit = flags.inverse ? 1.0 / static_cast<double>(n) : 1.0;
  // Of a one-sided spectrum the other side mirrors this one.
  const std::int64_t kept = std::min(x.dims()[axis], flags.to_real() ? n / 2 + 1 : n);
  ForEachIndex<2>(outer, {in, out}, [&](std::int64_t, const auto* at) {
    std::fill(v.begin(), v.end(), 0);
    for (std::int64_t i = 0; i < kept; ++i) {
      const std::int64_t from = at[0] + i * in[axis];
      v[static_cast<std::size_t>(i)] = {Load(x, from), parts == 2 ? Load(x, from + 1) : 0};
    }
    if (flags.to_real()) {
      v[0].imag(0);
      if (n % 2 == 0) v[static_cast<std::size_t>(n / 2)].imag(0);
      for (std::int64_t i = 1; i < (n + 1) / 2; ++i)
        v[static_cast<std::size_t>(n - i)] = std::conj(v[static_cast<std::size_t>(i)]);
    }
    Transform(v, flags.inverse);
    for (std::int64_t i = 0; i < y.dims()[axis]; ++i) {
      const std::complex<double> z = v[static_cast<std::size_t>(i)] * unit;
      Store(y, at[1] + i * out[axis], z.real());
      if (out_parts == 2) Store(y, at[1] + i * out[axis] + 1, z.imag());
    }
  });
  return OkStatus();
}

OpCost DftCost(const CostContext& c) {
  return {.vector_ops = 40 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"inverse", AttrKind::kInt}, {"onesided", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::dft = {
    .name = "dft",
    .summary =
        "the discrete Fourier transform along an axis, forwards or back; the last dimension holds "
        "real and imaginary parts",
    .min_inputs = 1,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = DftCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "DFT"},
};

}  // namespace npukit
