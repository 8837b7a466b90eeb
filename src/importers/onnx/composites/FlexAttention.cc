// ai.onnx.preview:FlexAttention: two products and a softmax; its graphs, which change the scores
// and the probabilities, become part of the graph around it.
#include <cmath>

#include "importers/onnx/composites/build.h"
#include "importers/onnx/tensors.h"

namespace npukit::importers::onnx {

namespace {

using tensor::DType;

// The nodes of a body with `arguments` for its inputs; `result` is its one output.
Result<Outcome> Inline(Emitter& e, const ir::Graph& body, const std::vector<ir::ValueId>& arguments,
                       ir::ValueId* result) {
  if (body.inputs.size() != arguments.size() || body.outputs.size() != 1) {
    return InvalidArgument(Cat("its graph ", Printable(body.name), " has ", body.inputs.size(),
                               " inputs and ", body.outputs.size(), " outputs, expected ",
                               arguments.size(), " and 1"));
  }
  std::vector<ir::ValueId> ours(body.values.size(), ir::kNoValue);
  for (std::size_t i = 0; i < arguments.size(); ++i) ours[body.inputs[i]] = arguments[i];
  for (std::size_t i = 0; i < body.values.size(); ++i) {
    if (body.values[i].constant && ours[i] == ir::kNoValue)
      ours[i] = e.Add(*body.values[i].constant);
  }
  for (const ir::Node& node : body.nodes) {
    if (node.is_foreign()) {
      return Outcome::Foreign(Cat("its graph ", Printable(body.name), " holds ",
                                  Printable(node.op_name()), ", which npukit does not have"));
    }
    std::vector<ir::ValueId> inputs, outputs;
    for (const ir::ValueId id : node.inputs) inputs.push_back(id == ir::kNoValue ? id : ours[id]);
    for (const ir::ValueId id : node.outputs) outputs.push_back(ours[id] = e.Fresh());
    NPUKIT_RETURN_IF_ERROR(
        e.EmitAll(*node.op, node.attrs, std::move(inputs), std::move(outputs), node.bodies));
  }
  *result = ours[body.outputs[0]];
  return Outcome::GoOn();
}

// Each head of x as often as heads of the query share it; sizes that are not known are computed.
ir::ValueId Repeat(Build& b, ir::ValueId x, ir::ValueId query) {
  const ops::Attrs join = Attributes({{"axis", std::int64_t{0}}});
  const ir::ValueId heads = b.Size(query, 1);
  const ir::ValueId times = b(op::div, {heads, b.Size(x, 1)});
  const ir::ValueId apart = b(op::unsqueeze, {x}, Attributes({{"axes", ops::Ints{2}}}));
  const ir::ValueId repeats = b(op::concat, {b.Ints({1, 1}), times, b.Ints({1, 1})}, join);
  const ir::ValueId rest = b(op::shape, {x}, Attributes({{"start", std::int64_t{2}}}));
  const ir::ValueId shape = b(op::concat, {b.Size(x, 0), heads, rest}, join);
  return b(op::reshape, {b(op::tile, {apart, repeats}), shape});
}

}  // namespace

Result<Outcome> ImportPreviewFlexAttention(Emitter& e) {
  for (const std::size_t i : {0, 1, 2}) {
    if (!e.has(i) || !e.Type(i).shape) return UnknownRank("Q, K or V");
    if (e.Type(i).shape->rank() != 4)
      return InvalidArgument(Cat("input ", i, " is ", e.Type(i).ToString(), ", expected rank 4"));
  }
  const DType t = e.Type(0).dtype;
  if (!tensor::IsFloat(t)) return UnknownType("Q");
  DType precision = t == DType::kF64 ? t : DType::kF32;
  if (const std::int64_t n = e.op.attrs.Int("softmax_precision", 0); n != 0) {
    const auto named = DTypeOf(n);
    if (!named || !tensor::IsFloat(*named) || tensor::DTypeBits(*named) < 16)
      return InvalidArgument(Cat("softmax_precision is ", n, ", expected a floating type"));
    precision = *named;
  }
  // Copies: what is emitted below may move the types.
  const std::vector<tensor::Dim> q = e.Type(0).shape->dims;
  const std::vector<tensor::Dim> k = e.Type(1).shape->dims;
  if (q[1].known() && k[1].known() && (k[1].value < 1 || q[1].value % k[1].value != 0)) {
    return InvalidArgument(
        Cat("Q has ", q[1].value, " heads, expected a multiple of the ", k[1].value, " of K"));
  }
  Build b(e);
  ir::ValueId scale = ir::kNoValue;
  if (e.op.attrs.Find("scale") != nullptr) {
    scale = b.Scalar(t, e.op.attrs.Float("scale"));
  } else if (const tensor::Dim& size = q[3].known() ? q[3] : k[3]; size.known()) {
    scale = b.Scalar(t, 1 / std::sqrt(static_cast<double>(size.value)));
  } else {
    const ir::ValueId width = b.Cast(b(op::reshape, {b.Size(e.input(0), 3), b.Ints({})}), t);
    scale = b(op::reciprocal, {b(op::sqrt, {width})});
  }
  ir::ValueId key = e.input(1), value = e.input(2);
  if (!q[1].known() || !k[1].known() || q[1].value != k[1].value) {
    key = Repeat(b, key, e.input(0));
    value = Repeat(b, value, e.input(0));
  }
  ir::ValueId x = b(op::matmul, {e.input(0), b.Transpose(key, {0, 1, 3, 2})});
  x = b(op::mul, {x, scale});
  if (precision != t) x = b.Cast(x, precision);
  std::size_t captured = 0;  // of what the bodies read of the graph around them
  std::vector<ir::ValueId> captures = e.op.captures;
  const auto bodies = e.op.bodies;
  const auto modify = [&](std::string_view name) -> Result<Outcome> {
    captured = 0;
    for (const auto& [attribute, body] : bodies) {
      const std::size_t more = body->inputs.empty() ? 0 : body->inputs.size() - 1;
      if (captured + more > captures.size()) return Internal("a body reads what is not there");
      const auto first = captures.begin() + static_cast<std::ptrdiff_t>(captured);
      captured += more;
      if (attribute != name) continue;
      std::vector<ir::ValueId> arguments = {x};
      arguments.insert(arguments.end(), first, first + static_cast<std::ptrdiff_t>(more));
      return Inline(e, *body, arguments, &x);
    }
    return Outcome::GoOn();
  };
  if (!b.ok()) return b.Done();
  NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, modify("score_mod"));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  x = b(op::softmax, {x}, Attributes({{"axis", std::int64_t{-1}}}));
  if (!b.ok()) return b.Done();
  NPUKIT_ASSIGN_OR_RETURN(outcome, modify("prob_mod"));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  if (precision == t) {
    b.To(0, op::matmul, {x, value});
  } else {
    const ir::ValueId y = b(op::matmul, {x, b.Cast(value, precision)});
    b.To(0, op::cast, {y}, Attributes({{"to", static_cast<std::int64_t>(t)}}));
  }
  return b.Done();
}

}  // namespace npukit::importers::onnx
