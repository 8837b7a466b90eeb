// Nodes that own graphs: if_else and loop. What their inputs, bodies and results are is said and
// checked here, for everybody who runs, compiles or rewrites them.
//
//   if_else  inputs   cond, captures of then_branch, captures of else_branch
//            bodies   "then_branch", "else_branch": inputs are the captures, outputs the results
//   loop     inputs   trip count (absent: no limit), cond (absent: true), carried, captures
//            bodies   "body": inputs iteration (int64 scalar), cond (bool scalar), carried,
//            captures;
//                     outputs cond, carried, scanned
//            results  the last carried values, then each scanned output's rows along a new axis 0
//
// A body reads nothing but its inputs and its own constants. Bodies may be shared by copies of a
// graph: whoever changes one makes it its own first (OwnBody).
#pragma once

#include <memory>
#include <span>

#include "base/status.h"
#include "ir/graph.h"

namespace npukit::ir {

inline constexpr char kThenBranch[] = "then_branch";
inline constexpr char kElseBranch[] = "else_branch";
inline constexpr char kBody[] = "body";
inline constexpr int kMaxBodyDepth = 64;  // of graphs in graphs; the importers' limit too

struct IfForm {
  const Graph* then_branch = nullptr;
  const Graph* else_branch = nullptr;
  // Inputs of the node that the branch gets, in order.
  std::span<const ValueId> then_captures;
  std::span<const ValueId> else_captures;
};

struct LoopForm {
  const Graph* body = nullptr;
  std::size_t carried = 0;
  std::size_t scanned = 0;
  ValueId trip_count = kNoValue;
  ValueId cond = kNoValue;
  std::span<const ValueId> initial;   // `carried` values before the first iteration
  std::span<const ValueId> captures;  // the body's inputs from 2 + carried on
};

// The node as one of these. kInvalidArgument: what does not fit, without the node's name. The form
// points into the node.
Result<IfForm> ReadIf(const Node& n);
Result<LoopForm> ReadLoop(const Node& n);
// Ok for if_else and loop of the right form, and for every other operator.
Status CheckControlForm(const Node& n);

// The body, to be changed: copied before where another graph holds it too.
Graph& OwnBody(std::shared_ptr<Graph>& body);

}  // namespace npukit::ir
