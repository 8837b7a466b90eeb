#include "importers/onnx/composites/bodies.h"
#include "ir/control.h"

namespace npukit::importers::onnx {

// A loop over the items of the first input that carries the sequences it makes. Other sequences
// give an item each, tensors are the same in every iteration.
Result<Outcome> ImportSequenceMap(Emitter& e) {
  NPUKIT_ASSIGN_OR_RETURN(const Body body, FindBody(e, ir::kBody));
  const std::size_t given = e.op.inputs.size();
  if (given == 0 || !e.has(0)) return InvalidArgument("input 0 is absent");
  if (body.declared != given) {
    return InvalidArgument(Cat("its body has ", body.declared, " inputs, expected ", given));
  }
  auto g = std::make_shared<ir::Graph>(*body.graph);
  const std::size_t results = g->outputs.size();
  if (e.op.outputs.size() > results) {
    return InvalidArgument(
        Cat("it has ", e.op.outputs.size(), " outputs, its body makes ", results));
  }
  std::vector<ir::ValueId> empty;
  for (const ir::ValueId id : g->outputs) {
    const tensor::Type& t = g->value(id).type;
    if (!t.is_tensor() || t.dtype == tensor::DType::kUndefined)
      return Outcome::Foreign("the element type of its results is not known");
    NPUKIT_ASSIGN_OR_RETURN(
        const ir::ValueId none,
        e.Emit(op::sequence_empty, OneInt("dtype", static_cast<std::int64_t>(t.dtype)), {}));
    empty.push_back(none);
  }
  BodyBuilder b(*g, e.op.name);
  const ir::ValueId iteration = b.Iteration();
  const ir::ValueId cond = b.Condition();
  std::vector<ir::ValueId> inner = {iteration, cond};
  std::vector<ir::ValueId> made;
  for (std::size_t i = 0; i < results; ++i) {
    inner.push_back(b.Value());
    made.push_back(b.Behind(op::sequence_insert, {inner.back(), g->outputs[i]}));
  }
  inner.insert(inner.end(), g->inputs.begin() + static_cast<std::ptrdiff_t>(given),
               g->inputs.end());
  for (std::size_t i = 0; i < given; ++i) {
    if (!e.has(i)) return InvalidArgument(Cat("input ", i, " is absent"));
    if (i > 0 && e.Type(i).kind != tensor::Type::Kind::kSequence) {
      inner.push_back(g->inputs[i]);
      continue;
    }
    inner.push_back(b.Value());
    b.Before(op::sequence_at, {inner.back(), iteration}, g->inputs[i]);
  }
  g->inputs = std::move(inner);
  made.insert(made.begin(), b.Behind(op::identity, {cond}));
  g->outputs = std::move(made);
  b.Finish();

  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId length, e.Emit(op::sequence_length, {}, {e.input(0)}));
  std::vector<ir::ValueId> inputs = {length, ir::kNoValue};
  Append(&inputs, empty);
  Append(&inputs, body.captures);
  Append(&inputs, e.op.inputs);
  NPUKIT_RETURN_IF_ERROR(e.EmitAll(op::loop, OneInt("carried", static_cast<std::int64_t>(results)),
                                   std::move(inputs), AllOutputs(e, results), {{ir::kBody, g}}));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
