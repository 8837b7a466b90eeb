#include <cmath>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;

// How many numbers there are from start to before limit.
Result<std::int64_t> Count(const Value& start, const Value& limit, const Value& delta) {
  if (IsRealFloat(start.dtype())) {
    const double step = Load(delta, 0);
    const double n = std::ceil((Load(limit, 0) - Load(start, 0)) / step);
    if (step == 0 || !(n < static_cast<double>(kMaxCount))) {
      return InvalidArgument(
          Cat("no end from ", Load(start, 0), " to ", Load(limit, 0), " in steps of ", step));
    }
    return n > 0 ? static_cast<std::int64_t>(n) : 0;
  }
  const std::int64_t a = tensor::ElementAsInt64(start, 0);
  const std::int64_t b = tensor::ElementAsInt64(limit, 0);
  const std::int64_t step = tensor::ElementAsInt64(delta, 0);
  if (step == 0) return InvalidArgument("the step is 0");
  if (step > 0 ? b <= a : b >= a) return std::int64_t{0};
  const std::uint64_t width = step > 0
                                  ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
                                  : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
  const std::uint64_t stride =
      step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const std::uint64_t n = (width - 1) / stride + 1;
  if (n > static_cast<std::uint64_t>(kMaxCount))
    return ResourceExhausted(Cat("a range of ", n, " numbers is too long"));
  return static_cast<std::int64_t>(n);
}

Status Infer(InferContext& c) {
  Dim n;
  bool known = true;
  tensor::DType t = tensor::DType::kUndefined;
  for (std::size_t i = 0; i < 3; ++i) {
    NPUKIT_RETURN_IF_ERROR(WantNumber(c, i));
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, i));
    if (t == tensor::DType::kUndefined) t = c.inputs[i].dtype;
    if (c.inputs[i].is_static() && tensor::ElementCount(c.inputs[i].dims()) != 1) {
      return InvalidArgument(
          Cat("input ", i, " is ", c.inputs[i].ToString(), ", expected one number"));
    }
    known = known && c.constants[i] != nullptr;
  }
  if (known) {
    NPUKIT_ASSIGN_OR_RETURN(const std::int64_t count,
                            Count(*c.constants[0], *c.constants[1], *c.constants[2]));
    n = Dim::Of(count);
  }
  c.outputs[0] = tensor::Type::Tensor(t, tensor::Shape({n}));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& start = c.inputs[0];
  const Value& delta = c.inputs[2];
  for (std::int64_t i = 0; i < y.count(); ++i) {
    if (IsRealFloat(y.dtype())) {
      Store(y, i, Load(start, 0) + static_cast<double>(i) * Load(delta, 0));
    } else {
      StoreBits(y, i, LoadBits(start, 0) + static_cast<std::uint64_t>(i) * LoadBits(delta, 0));
    }
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"stash_type", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::range = {
    .name = "range",
    .summary = "start, start + delta, ... before limit",
    .min_inputs = 3,
    .max_inputs = 3,
    .attrs = kAttrs,  // of a precision, which double has
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Range", .tflite = "RANGE", .nnrt = "OH_NN_OPS_RANGE"},
};

}  // namespace npukit
