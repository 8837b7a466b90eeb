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

struct InterpretOptions {
  // Of all loops of a run together; beyond it the run ends with kResourceExhausted.
  std::int64_t max_iterations = 400'000;
};

// The same, without an object. Taps see the values of `g`, not those of bodies in it.
Result<std::vector<tensor::Value>> Interpret(const ir::Graph& g,
                                             std::span<const tensor::Value> inputs,
                                             const Tap& tap = {},
                                             const InterpretOptions& options = {});

}  // namespace npukit::eval
