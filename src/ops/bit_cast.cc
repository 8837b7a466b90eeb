#include <cstring>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

Status Infer(InferContext& c) {
  const std::int64_t to = c.attrs.Int("to");
  const DType target =
      to > 0 && to < tensor::kDTypeCount ? static_cast<DType>(to) : DType::kUndefined;
  if (tensor::DTypeBits(target) == 0) {
    return InvalidArgument(Cat("attribute to is ", to, " (", tensor::DTypeName(target),
                               "), expected a type of a fixed size"));
  }
  const DType source = c.inputs[0].dtype;
  if (source != DType::kUndefined && tensor::DTypeBits(source) != tensor::DTypeBits(target)) {
    return InvalidArgument(Cat("input 0 is ", tensor::DTypeName(source), ", expected a type of ",
                               tensor::DTypeBits(target), " bits as ", tensor::DTypeName(target),
                               " has"));
  }
  c.outputs[0] = tensor::Type::Tensor(target, c.inputs[0].shape);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  if (y.byte_size() != 0) std::memcpy(y.mutable_data(), c.inputs[0].data(), y.byte_size());
  if (y.dtype() == DType::kBool) {  // a bool here is 0 or 1
    for (std::uint8_t& b : y.as_mutable<std::uint8_t>()) b = b != 0;
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"to", AttrKind::kInt, true}};

}  // namespace

constinit const OpDef op::bit_cast = {
    .name = "bit_cast",
    .summary = "the bits of x as another element type of the same size",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "BitCast"},
};

}  // namespace npukit
