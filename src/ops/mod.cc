#include <cmath>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Remainder(double a, double b) { return std::fmod(a, b); }

bool IntRemainder(std::uint64_t a, std::uint64_t b, bool is_signed, std::uint64_t* y) {
  if (b == 0) return false;
  if (!is_signed) {
    *y = a % b;
  } else if (b == ~std::uint64_t{0}) {
    *y = 0;  // by -1: the division of the lowest number would overflow
  } else {
    *y = static_cast<std::uint64_t>(static_cast<std::int64_t>(a) % static_cast<std::int64_t>(b));
  }
  return true;
}

// As Python's %: the result has the sign of the divisor.
bool IntModulo(std::uint64_t a, std::uint64_t b, bool is_signed, std::uint64_t* y) {
  if (!IntRemainder(a, b, is_signed, y)) return false;
  if (is_signed && *y != 0 && ((*y ^ b) >> 63) != 0) *y += b;
  return true;
}

Status Infer(InferContext& c) {
  const std::int64_t fmod = c.attrs.Int("fmod", 0);
  if (fmod != 0 && fmod != 1)
    return InvalidArgument(Cat("attribute fmod is ", fmod, ", expected 0 or 1"));
  for (const tensor::Type& t : c.inputs) {
    if (fmod == 0 && tensor::IsFloat(t.dtype)) {
      return InvalidArgument(
          Cat("attribute fmod is 0, expected 1 for ", tensor::DTypeName(t.dtype), ": set it to 1"));
    }
  }
  return InferBroadcast(c);
}

Status Reference(EvalContext& c) {
  const bool fmod = c.attrs->Int("fmod", 0) != 0;
  return EvaluateBinary(c, Remainder, fmod ? IntRemainder : IntModulo, Infer);
}

constexpr AttrDef kAttrs[] = {{"fmod", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::mod = {
    .name = "mod",
    .summary = "remainder of a / b with numpy broadcasting: the sign of b, with fmod that of a",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "Mod"},
};

}  // namespace npukit
