// Inference inside bodies. Between infer_types.cc and infer_control.cc alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace npukit::ir {

// How much was done for one call from outside. A loop's body may have to be inferred several times,
// and loops in loops multiply that: when it was much, or deep, sizes are given up at once.
struct Effort {
  int depth = 0;           // bodies around this graph
  int loops = 0;           // those of loops
  std::int64_t nodes = 0;  // inferred so far
  std::int64_t again = 0;  // of these, those of loops' bodies that had to be inferred once more
  // What working out values may still cost, in elements read and written and multiply-accumulates:
  // far more than any model's shapes need.
  double known_work = 1e8;
};

// Infers every node. `known[i]`: the value of input i where it is known, else null; may be shorter.
// `results`, where not null, gets the values of the graph's outputs that follow, absent where
// unknown.
Status InferGraph(Graph& g, std::span<const tensor::Value* const> known, Effort& effort,
                  std::vector<tensor::Value>* results);

// if_else and loop: sets the types of the node's outputs and gives it inferred bodies of its own.
// `results` as above, for the node's outputs. The message does not name the node.
Status InferControl(Graph& g, Node& n, std::span<const tensor::Value* const> constants,
                    Effort& effort, std::vector<tensor::Value>* results);

// The inferred type, with what it leaves open and claims no numbers taken from the old one: the
// file's names for sizes.
tensor::Type KeepNames(tensor::Type inferred, const tensor::Type& old);

}  // namespace npukit::ir
