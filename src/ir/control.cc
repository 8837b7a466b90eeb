#include "ir/control.h"

#include "base/text.h"
#include "ir/node.h"

namespace npukit::ir {
namespace {

Result<const Graph*> BodyOf(const Node& n, std::size_t i, std::string_view name) {
  if (i >= n.bodies.size() || n.bodies[i].first != name || !n.bodies[i].second)
    return InvalidArgument(Cat("expected a body ", name, ", found none"));
  return const_cast<const Graph*>(n.bodies[i].second.get());
}

Status CheckCount(std::string_view what, std::size_t expected, std::size_t found) {
  if (expected == found) return OkStatus();
  return InvalidArgument(Cat(what, ": expected ", expected, ", found ", found));
}

Status CheckGiven(std::span<const ValueId> ids, std::string_view what) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == kNoValue) return InvalidArgument(Cat(what, " ", i, " is absent"));
  }
  return OkStatus();
}

}  // namespace

Result<IfForm> ReadIf(const Node& n) {
  NPUKIT_RETURN_IF_ERROR(CheckCount("bodies", 2, n.bodies.size()));
  IfForm f;
  NPUKIT_ASSIGN_OR_RETURN(f.then_branch, BodyOf(n, 0, kThenBranch));
  NPUKIT_ASSIGN_OR_RETURN(f.else_branch, BodyOf(n, 1, kElseBranch));
  const std::size_t first = f.then_branch->inputs.size();
  const std::size_t second = f.else_branch->inputs.size();
  NPUKIT_RETURN_IF_ERROR(
      CheckCount("inputs (cond and what the branches read)", 1 + first + second, n.inputs.size()));
  NPUKIT_RETURN_IF_ERROR(CheckGiven(n.inputs, "input"));
  NPUKIT_RETURN_IF_ERROR(
      CheckCount("outputs of then_branch", n.outputs.size(), f.then_branch->outputs.size()));
  NPUKIT_RETURN_IF_ERROR(
      CheckCount("outputs of else_branch", n.outputs.size(), f.else_branch->outputs.size()));
  f.then_captures = std::span(n.inputs).subspan(1, first);
  f.else_captures = std::span(n.inputs).subspan(1 + first, second);
  return f;
}

Result<LoopForm> ReadLoop(const Node& n) {
  NPUKIT_RETURN_IF_ERROR(CheckCount("bodies", 1, n.bodies.size()));
  NPUKIT_RETURN_IF_ERROR(ops::CheckAttrs(*n.op, n.attrs));
  LoopForm f;
  NPUKIT_ASSIGN_OR_RETURN(f.body, BodyOf(n, 0, kBody));
  const std::int64_t carried = n.attrs.Int("carried");
  // Two of the inputs and one of the body's results are no carried values.
  if (n.inputs.size() < 2)
    return InvalidArgument("expected a trip count and a condition as inputs");
  if (carried < 0 || static_cast<std::uint64_t>(carried) > n.inputs.size() - 2) {
    return InvalidArgument(
        Cat("carries ", carried, " values, found ", n.inputs.size() - 2, " inputs for them"));
  }
  f.carried = static_cast<std::size_t>(carried);
  if (f.body->outputs.size() < 1 + f.carried) {
    return InvalidArgument(Cat("outputs of body: expected the condition and ", f.carried,
                               " carried values, found ", f.body->outputs.size()));
  }
  f.scanned = f.body->outputs.size() - 1 - f.carried;
  NPUKIT_RETURN_IF_ERROR(CheckCount("inputs of body (iteration, condition, carried, captured)",
                                    n.inputs.size(), f.body->inputs.size()));
  NPUKIT_RETURN_IF_ERROR(CheckCount("outputs", f.carried + f.scanned, n.outputs.size()));
  f.trip_count = n.inputs[0];
  f.cond = n.inputs[1];
  f.initial = std::span(n.inputs).subspan(2, f.carried);
  f.captures = std::span(n.inputs).subspan(2 + f.carried);
  NPUKIT_RETURN_IF_ERROR(CheckGiven(f.initial, "carried value"));
  NPUKIT_RETURN_IF_ERROR(CheckGiven(f.captures, "captured value"));
  return f;
}

Status CheckControlForm(const Node& n) {
  if (n.op == &op::if_else) return ReadIf(n).status();
  if (n.op == &op::loop) return ReadLoop(n).status();
  return OkStatus();
}

Graph& OwnBody(std::shared_ptr<Graph>& body) {
  if (body.use_count() != 1) body = std::make_shared<Graph>(*body);
  return *body;
}

}  // namespace npukit::ir
