// Which operators of a graph share a task, as a stack's facts say. Inside compile/tasks only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "target/profile.h"

namespace npukit::compile {

// A graph seen through the facts of a stack. Both must outlive it.
class StackGraph {
 public:
  StackGraph(const ir::Graph& graph, const target::Profile& facts)
      : g(graph), profile(facts), uses(graph) {}

  const ir::Graph& g;
  const target::Profile& profile;
  const ir::Uses uses;

  int TasksOf(const ir::Node& n) const;
  // Costs no task and moves nothing: its result is its input by another name.
  bool IsFree(const ir::Node& n) const;
  // The value behind free operators.
  ir::ValueId Root(ir::ValueId id) const;
  // The node that makes the root; nullopt for inputs, constants and absent values.
  std::optional<std::size_t> Producer(ir::ValueId id) const;
};

struct TaskGroup {
  std::vector<std::size_t> nodes;   // in order; the first leads
  ir::ValueId tail = ir::kNoValue;  // what the next fused operator would read
  int tasks = 1;
};

struct TaskGroups {
  std::vector<TaskGroup> groups;                     // in an order of execution
  std::vector<std::optional<std::size_t>> group_of;  // by node; nullopt: free
};

// kUnsupported: a foreign node, or one with graphs inside; kInvalidArgument: an open shape.
Result<TaskGroups> GroupNodes(const StackGraph& stack);

}  // namespace npukit::compile
