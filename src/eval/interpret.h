// The judge: runs a graph by each operator's reference, one node after the other, on the calling
// thread. Slow and plain. Foreign nodes are refused by name (kUnsupported). States start from their
// initial value at every run.
#pragma once

#include "eval/runner.h"

namespace npukit::eval {

class Interpreter final : public Runner {
 public:
  Result<std::vector<tensor::Value>> Run(const ir::Graph& g, std::span<const tensor::Value> inputs,
                                         const Tap& tap) override;
};

// The same, without an object.
Result<std::vector<tensor::Value>> Interpret(const ir::Graph& g,
                                             std::span<const tensor::Value> inputs,
                                             const Tap& tap = {});

}  // namespace npukit::eval
