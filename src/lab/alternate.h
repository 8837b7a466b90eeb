// A user's memory, as `bench` needs it: two sets of inputs that take turns, so that no run finds
// its input where the last one left it, and the memory of the outputs. Inputs may be shared by
// requests, outputs not. Must outlive the requests bound to it.
#pragma once

#include <vector>

#include "lab/prepared.h"

namespace npukit::lab {

// The other set: random inputs of the next seed; of a file's values a rotation by half their
// number. What looks like a setting stays as it is, since the model may take no other: fewer than
// 16 values, integers of less than two dims, strings, what is no tensor.
Result<std::vector<BoundInput>> OtherInputs(std::vector<BoundInput> inputs, std::uint64_t seed);

// Binds every output of a known type to memory of its own.
class OutputMemory {
 public:
  Status Bind(const Prepared& prepared, runtime::Request& request);

 private:
  std::vector<tensor::Value> values_;
};

Status BindInputs(const std::vector<BoundInput>& inputs, runtime::Request& request);

}  // namespace npukit::lab
