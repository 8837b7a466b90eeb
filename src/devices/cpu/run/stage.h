// A run of steps of a flow, planned for one set of input types: places for values, prepared calls.
// Immutable once made; any number of runs may use it at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "devices/cpu/blob/blob.h"
#include "devices/cpu/run/executable.h"
#include "devices/cpu/run/named_op.h"
#include "target/profile.h"
#include "tensor/value.h"

namespace npukit::devices::cpu {

// A step of a flow with its operator found and its attributes checked.
struct FlowStep : NamedOp {
  std::vector<std::int32_t> inputs;  // tensors, -1: absent
  std::vector<std::uint32_t> outputs;
  std::string name;
};

inline constexpr std::int64_t kAlways = INT64_MAX;
struct Flow {
  Blob blob;
  std::vector<FlowStep> steps;
  std::vector<tensor::Value> constants;  // by tensor: weights that lie as they are; else absent
  std::vector<hal::WeightView> weights;  // by weight index
  std::vector<std::int64_t> last_use;    // by tensor: last step that reads it, -1: none;
                                         // kAlways: an output
};

// True for what a plan can hold: a dense tensor of numbers whose every size is known.
bool IsPlain(const tensor::Type& t);

struct Stage {
  std::size_t begin = 0;
  std::size_t end = 0;  // begin + 1 and no executable: the step is evaluated as it comes
  std::shared_ptr<const CpuExecutable> executable;
  std::vector<std::uint32_t> inputs;  // tensors read from outside, in the order of the executable's
  struct Made {                       // what the executable writes, in its order
    tensor::Type type;
  };
  std::vector<Made> made;
  struct Given {  // a tensor that others read afterwards
    std::uint32_t tensor = 0;
    std::int32_t made = -1;   // which of `made`, or -1
    std::int32_t input = -1;  // a view of this tensor from outside, or -1
    tensor::Value constant;   // else this
    tensor::Dims dims;
  };
  std::vector<Given> given;
};

// As many steps from `begin` on as follow from the types of the tensors live there: up to the first
// whose results depend on data or are no plain tensors. `types` by tensor; entries of others are
// ignored.
Result<std::shared_ptr<const Stage>> PlanStage(const Flow& flow, std::size_t begin,
                                               std::vector<tensor::Type> types,
                                               const Kernels& kernels, int threads,
                                               const target::Profile& profile);

}  // namespace npukit::devices::cpu
