#include "ops/elementwise.h"

namespace npukit {
namespace {

using namespace ops;

bool Left(std::uint64_t a, std::uint64_t b, bool, std::uint64_t* y) {
  *y = b < 64 ? a << b : 0;
  return true;
}

bool Right(std::uint64_t a, std::uint64_t b, bool, std::uint64_t* y) {
  *y = b < 64 ? a >> b : 0;
  return true;
}

Status Infer(InferContext& c) {
  const std::string_view direction = c.attrs.String("direction");
  if (direction != "LEFT" && direction != "RIGHT") {
    return InvalidArgument(
        Cat("attribute direction is ", Printable(direction), ", expected LEFT or RIGHT"));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const tensor::DType t = c.inputs[i].dtype;
    if (t != tensor::DType::kUndefined && tensor::IsSigned(t)) {
      return InvalidArgument(
          Cat("input ", i, " is ", tensor::DTypeName(t), ", expected an unsigned integer type"));
    }
  }
  return InferIntegers(c);
}

Status Reference(EvalContext& c) {
  const bool left = c.attrs->String("direction") == "LEFT";
  return EvaluateBinary(c, nullptr, left ? Left : Right, Infer);
}

constexpr AttrDef kAttrs[] = {{"direction", AttrKind::kString, true}};

}  // namespace

constinit const OpDef op::bit_shift = {
    .name = "bit_shift",
    .summary = "a shifted by b bits, with numpy broadcasting; bits that leave the type are lost",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "BitShift"},
};

}  // namespace npukit
