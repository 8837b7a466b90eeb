#include "ops/strings.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantString(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantString(c, 1));
  c.outputs[0] = tensor::Type::Tensor(DType::kString, std::nullopt);
  NPUKIT_ASSIGN_OR_RETURN(c.outputs[0].shape,
                          BroadcastShapes(c.inputs[0].shape, c.inputs[1].shape));
  return OkStatus();
}

// The least bytes that all pieces of `v` take in the result, each repeated alike.
double TextBytes(const Value& v, std::int64_t count) {
  double bytes = 0;
  for (const std::string& s : v.strings()) bytes += static_cast<double>(s.size());
  return v.count() == 0 ? 0 : bytes * static_cast<double>(count / v.count());
}

Status Reference(EvalContext& c) {
  const KnownInputs known(c.inputs);
  tensor::Type type;
  InferContext ic{known.types, known.constants, *c.attrs, {&type, 1}};
  NPUKIT_RETURN_IF_ERROR(Infer(ic));
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeStrings(c, 0, type.dims()));
  const Value& a = c.inputs[0];
  const Value& b = c.inputs[1];
  if (y.count() == 0) return OkStatus();
  NPUKIT_RETURN_IF_ERROR(CheckTextBytes(TextBytes(a, y.count()) + TextBytes(b, y.count())));
  auto& out = y.mutable_strings();
  ForEachIndex<2>(
      y.dims(), {BroadcastStrides(a.dims(), y.dims()), BroadcastStrides(b.dims(), y.dims())},
      [&](std::int64_t i, const auto* at) {
        out[static_cast<std::size_t>(i)] = a.strings()[static_cast<std::size_t>(at[0])] +
                                           b.strings()[static_cast<std::size_t>(at[1])];
      });
  return OkStatus();
}

}  // namespace

constinit const OpDef op::string_concat = {
    .name = "string_concat",
    .summary = "strings of two tensors joined, with numpy broadcasting",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement,
    .foreign = {.onnx = "StringConcat"},
};

}  // namespace npukit
