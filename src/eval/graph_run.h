// Runs one graph once or many times, control flow included: what the interpreter is made of. Inside
// eval alone. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "eval/runner.h"
#include "ir/graph.h"

namespace npukit::eval {

// What is left of the iterations that all loops of a run may make together.
struct LoopBudget {
  std::int64_t left = 0;
  std::int64_t limit = 0;
};

// Holds what is the same in every run; `g` must outlive it.
class GraphRun {
 public:
  explicit GraphRun(const ir::Graph& g);
  // `inputs` fit the graph's inputs in number. Errors of nodes name the node.
  Result<std::vector<tensor::Value>> Run(std::span<const tensor::Value> inputs, const Tap& tap,
                                         LoopBudget& budget) const;

 private:
  const ir::Graph& g_;
  std::vector<tensor::Value> constants_;  // by value id; absent where made at run time
  std::vector<std::uint32_t> uses_;       // by value id
};

// if_else and loop on given values. The message does not name the node.
Result<std::vector<tensor::Value>> RunControl(const ir::Node& n,
                                              std::span<const tensor::Value> inputs,
                                              LoopBudget& budget);

}  // namespace npukit::eval
