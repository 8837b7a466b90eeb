#include <vector>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::Value;

constexpr std::size_t kA = 0, kB = 1, kScales = 2, kZeros = 3, kGroups = 4, kBias = 5;

// B is [N, K] in numbers of a few bits, in blocks along K that begin at whole bytes.
struct Packing {
  std::int64_t n, k, bits, block;
  std::int64_t blocks, bytes;  // in a row; in a block
  std::int64_t zero_bytes;     // in a row of packed zero points
};

Result<Packing> ReadPacking(const Attrs& attrs) {
  Packing p{};
  p.n = attrs.Int("N");
  p.k = attrs.Int("K");
  p.bits = attrs.Int("bits", 4);
  p.block = attrs.Int("block_size");
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (p.n < 1 || p.k < 1 || p.n > kMost || p.k > kMost)
    return InvalidArgument(Cat("N is ", p.n, ", K is ", p.k, ", expected 1 to ", kMost));
  if (p.bits != 2 && p.bits != 4 && p.bits != 8)
    return InvalidArgument(Cat("bits is ", p.bits, ", expected 2, 4 or 8"));
  if (p.block < 16 || p.block > kMost || (p.block & (p.block - 1)) != 0)
    return InvalidArgument(Cat("block_size is ", p.block, ", expected a power of two from 16 on"));
  if (attrs.Int("weight_prepacked", 0) != 0)
    return InvalidArgument("weight_prepacked is set: the layout of B is a device's own");
  p.blocks = (p.k + p.block - 1) / p.block;
  p.bytes = p.block * p.bits / 8;
  p.zero_bytes = (p.blocks * p.bits + 7) / 8;
  return p;
}

// The file may write [N, blocks] as one list.
Status WantSizes(const InferContext& c, std::size_t input,
                 std::initializer_list<std::int64_t> dims) {
  if (!Has(c, input) || !c.inputs[input].is_static()) return OkStatus();
  const auto expected = tensor::ElementCount(tensor::Dims(dims));  // nullopt: overflows
  if (expected && tensor::ElementCount(c.inputs[input].dims()) == expected) return OkStatus();
  return InvalidArgument(Cat("input ", input, " is ", c.inputs[input].ToString(), ", expected [",
                             JoinInts(std::vector<std::int64_t>(dims), ", "), "]"));
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, kA));
  NPUKIT_ASSIGN_OR_RETURN(const Packing p, ReadPacking(c.attrs));
  const tensor::Type& a = c.inputs[kA];
  const DType tb = c.inputs[kB].dtype;
  if (tb != DType::kU8 && tb != DType::kUndefined)
    return InvalidArgument(Cat("B is ", c.inputs[kB].ToString(), ", expected uint8"));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, kA, kScales));
  NPUKIT_RETURN_IF_ERROR(WantSizes(c, kB, {p.n, p.blocks, p.bytes}));
  NPUKIT_RETURN_IF_ERROR(WantSizes(c, kScales, {p.n, p.blocks}));
  if (Has(c, kZeros)) {
    const bool packed = c.inputs[kZeros].dtype == DType::kU8;
    if (!packed) NPUKIT_RETURN_IF_ERROR(WantFloat(c, kZeros));
    if (c.inputs[kZeros].dtype != DType::kUndefined)
      NPUKIT_RETURN_IF_ERROR(WantSizes(c, kZeros, {p.n, packed ? p.zero_bytes : p.blocks}));
  }
  if (Has(c, kGroups)) {
    return InvalidArgument("g_idx is given: groups that are not blocks are not supported");
  }
  if (Has(c, kBias)) {
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, kA, kBias));
    NPUKIT_RETURN_IF_ERROR(WantSizes(c, kBias, {p.n}));
  }
  c.outputs[0] = tensor::Type::Tensor(a.dtype, std::nullopt);
  if (!a.shape) return OkStatus();
  if (a.shape->rank() == 0 || !SameDim(a.shape->dims.back(), Dim::Of(p.k)).ok())
    return InvalidArgument(Cat("A is ", a.ToString(), ", expected ", p.k, " columns"));
  Shape y = *a.shape;
  y.dims.back() = Dim::Of(p.n);
  c.outputs[0].shape = std::move(y);
  return OkStatus();
}

std::int64_t Unpack(const Value& v, std::int64_t first_byte, std::int64_t index,
                    std::int64_t bits) {
  const std::int64_t at = index * bits;
  const auto byte = static_cast<const std::uint8_t*>(v.data())[first_byte + at / 8];
  return (byte >> (at % 8)) & ((1 << bits) - 1);
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const Packing p, ReadPacking(*c.attrs));
  const Value &a = c.inputs[kA], &b = c.inputs[kB], &scales = c.inputs[kScales];
  const Value zeros = c.inputs.size() > kZeros ? c.inputs[kZeros] : Value();
  const Value bias = c.inputs.size() > kBias ? c.inputs[kBias] : Value();
  const std::int64_t rows = y.count() / p.n;
  if (rows == 0) return OkStatus();
  std::vector<double> column(static_cast<std::size_t>(p.k));
  for (std::int64_t n = 0; n < p.n; ++n) {
    for (std::int64_t k = 0; k < p.k; ++k) {
      const std::int64_t block = k / p.block;
      double zero = static_cast<double>(1 << (p.bits - 1));
      if (zeros.present()) {
        zero = zeros.dtype() == DType::kU8
                   ? static_cast<double>(Unpack(zeros, n * p.zero_bytes, block, p.bits))
                   : Load(zeros, n * p.blocks + block);
      }
      const std::int64_t q = Unpack(b, (n * p.blocks + block) * p.bytes, k % p.block, p.bits);
      column[static_cast<std::size_t>(k)] =
          (static_cast<double>(q) - zero) * Load(scales, n * p.blocks + block);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      double sum = bias.present() ? Load(bias, n) : 0;
      for (std::int64_t k = 0; k < p.k; ++k)
        sum += Load(a, r * p.k + k) * column[static_cast<std::size_t>(k)];
      Store(y, r * p.n + n, sum);
    }
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {
    {"K", AttrKind::kInt, true},          {"N", AttrKind::kInt, true},
    {"accuracy_level", AttrKind::kInt},   {"bits", AttrKind::kInt},
    {"block_size", AttrKind::kInt, true}, {"weight_prepacked", AttrKind::kInt}};

OpCost MatMulCost(const CostContext& c) {
  return {.macs = CountOf(c.outputs[0]) * static_cast<double>(c.attrs.Int("K")),
          .bytes = AllBytes(c)};
}

}  // namespace

constinit const OpDef op::matmul_nbits = {
    .name = "matmul_nbits",
    .summary =
        "A times the transpose of weights of 2, 4 or 8 bits, packed in blocks with a scale "
        "(and zero point) each",
    .min_inputs = 3,
    .max_inputs = 6,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = MatMulCost,
    .foreign = {.onnx = "com.microsoft:MatMulNBits"},
};

}  // namespace npukit
