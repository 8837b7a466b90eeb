#include "base/text.h"
#include "ops/quant.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

bool IsScale(DType t) { return t == DType::kF32 || t == DType::kF16 || t == DType::kBF16; }
bool IsSource(DType t) { return IsQuantized(t) || t == DType::kI32; }
constexpr char kScales[] = "fp32, fp16 or bf16";
constexpr char kSources[] = "an integer of 2 to 16 bits, int32, fp8 or fp4";

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantDType(c, 0, IsSource, kSources));
  NPUKIT_RETURN_IF_ERROR(WantDType(c, 1, IsScale, kScales));
  if (Has(c, 2)) NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 2));
  NPUKIT_ASSIGN_OR_RETURN(DType t, DTypeAttr(c.attrs, "output_dtype", IsScale, kScales));
  if (t == DType::kUndefined) t = c.inputs[1].dtype;
  NPUKIT_RETURN_IF_ERROR(CheckQuantShapes(c));
  c.outputs[0] = tensor::Type::Tensor(t, c.inputs[0].shape);
  return OkStatus();
}

// The difference in fp32, the product in the type of the result.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value& scale = c.inputs[1];
  const Value zero = c.inputs.size() > 2 ? c.inputs[2] : Value();
  NPUKIT_ASSIGN_OR_RETURN(const Granularity g, GranularityOf(*c.attrs, x.dims(), scale.dims()));
  const std::int64_t count = y.count();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t p = g.At(i);
    const double difference = Load(x, i) - (zero.present() ? Load(zero, p) : 0);
    Store(y, i, static_cast<double>(static_cast<float>(difference)) * Load(scale, p));
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {
    {"axis", AttrKind::kInt}, {"block_size", AttrKind::kInt}, {"output_dtype", AttrKind::kInt}};

OpCost DequantizeCost(const CostContext& c) {
  return {.vector_ops = 2 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}

}  // namespace

constinit const OpDef op::dequantize_linear = {
    .name = "dequantize_linear",
    .summary =
        "(x - zero point) * scale; a scale for all, for each index of an axis or for blocks "
        "of it",
    .min_inputs = 2,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = DequantizeCost,
    .foreign = {.onnx = "DequantizeLinear", .tflite = "DEQUANTIZE"},
};

}  // namespace npukit
