// Something that can run a graph: the interpreter here, a device in lab/ and quant/. One caller at
// a time per Runner.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace npukit::eval {

// Sees every value as it is made, in node order: for calibration and for finding the first value
// that differs. May be empty.
using Tap = std::function<void(ir::ValueId id, const tensor::Value& v)>;

class Runner {
 public:
  virtual ~Runner() = default;
  // `inputs` in the order of g.inputs; gives one value per g.outputs. kInvalidArgument names the
  // input that does not fit its type, expected and found.
  virtual Result<std::vector<tensor::Value>> Run(const ir::Graph& g,
                                                 std::span<const tensor::Value> inputs,
                                                 const Tap& tap) = 0;
};

}  // namespace npukit::eval
