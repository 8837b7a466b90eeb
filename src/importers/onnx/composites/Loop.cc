#include "importers/onnx/composites/bodies.h"
#include "ir/control.h"

namespace npukit::importers::onnx {

// Some exporters declare the iteration and the condition as lists of one: the body gets them so.
Result<Outcome> ImportLoop(Emitter& e) {
  NPUKIT_ASSIGN_OR_RETURN(const Body body, FindBody(e, ir::kBody));
  const std::size_t carried = e.op.inputs.size() > 2 ? e.op.inputs.size() - 2 : 0;
  if (body.declared != 2 + carried) {
    return InvalidArgument(Cat("its body has ", body.declared,
                               " inputs, expected 2 (iteration, condition) and ", carried,
                               " carried values"));
  }
  ir::Graph& g = *body.graph;
  if (g.outputs.size() < 1 + carried) {
    return InvalidArgument(Cat("its body has ", g.outputs.size(),
                               " outputs, expected 1 (condition) and ", carried,
                               " carried values or more"));
  }
  if (e.op.outputs.size() > g.outputs.size() - 1) {
    return InvalidArgument(
        Cat("it has ", e.op.outputs.size(), " outputs, its body makes ", g.outputs.size() - 1));
  }
  BodyBuilder b(g, e.op.name);
  for (std::size_t i = 0; i < 2; ++i) {
    const tensor::Type& t = g.value(g.inputs[i]).type;
    if (!t.is_tensor() || !t.shape || t.shape->rank() != 1) continue;
    const ir::ValueId scalar = i == 0 ? b.Iteration() : b.Condition();
    b.Before(op::reshape, {scalar, b.Int64s({1}, {1})}, g.inputs[i]);
    g.inputs[i] = scalar;
  }
  b.Finish();
  std::vector<ir::ValueId> inputs = e.op.inputs;
  inputs.resize(2 + carried, ir::kNoValue);
  Append(&inputs, body.captures);
  NPUKIT_RETURN_IF_ERROR(e.EmitAll(op::loop, OneInt("carried", static_cast<std::int64_t>(carried)),
                                   std::move(inputs), AllOutputs(e, g.outputs.size() - 1),
                                   {{ir::kBody, body.graph}}));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
