// The contract between lower/ and run/: a segment as a flat list of steps over tensors that each
// lie in a known place. Operator, attributes and epilogue are named; which kernel runs them is the
// business of the machine that loads it.
//
// Plain structs; Write makes bytes of them and Read gives them back after checking that every
// index, offset and size is in range. Whether a step makes sense (operator, types) is for run/ to
// check: it knows the operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "devices/cpu/blob/packed.h"
#include "tensor/value.h"

namespace npukit::devices::cpu {

inline constexpr std::uint32_t kBlobVersion = 0;
inline constexpr std::uint64_t kScratchAlignment = 64;

enum class Place : std::uint8_t {
  kInput = 0,    // boundary input `index`
  kOutput = 1,   // boundary output `index`
  kScratch = 2,  // `offset` bytes into the arena
  kWeight = 3,   // weight `index`, in `layout`
  kValue = 4,    // of a flow: made when it runs
};

// A tensor is a place and a type. Several tensors may share a place: a reshape is a second tensor,
// not a step.
struct BlobTensor {
  tensor::DType dtype = tensor::DType::kUndefined;
  tensor::Dims dims;  // of the operator's input, whatever the layout of its bytes
  Place place = Place::kScratch;
  std::uint32_t index = 0;
  std::uint64_t offset = 0;
  Layout layout = Layout::kRaw;
  std::uint32_t groups = 1;
};

// The same type as ops::AttrValue (ops is out of this layer's sight), so the two convert without a
// copy.
using BlobAttrValue = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                                   std::vector<float>, std::vector<std::string>, tensor::Value>;
using BlobAttrs = std::vector<std::pair<std::string, BlobAttrValue>>;

struct BlobEpilogueStep {
  std::string op;
  BlobAttrs attrs;
  std::int32_t operand = -1;
  bool swapped = false;
};

struct BlobStep {
  std::string op;
  std::string name;  // of the source node, for messages
  BlobAttrs attrs;
  std::vector<BlobEpilogueStep> epilogue;
  std::vector<std::int32_t> inputs;  // -1: absent
  std::vector<std::uint32_t> outputs;
};

// A blob with fixed places says where every byte lies. A flow does not know its types before it
// runs: its tensors but for inputs and weights are values, each written by one step, and outputs
// may be any tensor. Weights of dtype string are as tensor/strings.h encodes them.
struct Blob {
  bool flow = false;
  std::vector<BlobTensor> tensors;
  std::vector<BlobStep> steps;
  std::vector<std::uint32_t> inputs;   // tensor of boundary input i
  std::vector<std::uint32_t> outputs;  // tensor of boundary output i
  std::uint32_t weights = 0;
  std::uint64_t scratch_bytes = 0;
};

// Bytes that the tensor takes where it lies, packing included; kDataCorrupt for types without a
// size and on overflow.
Result<std::uint64_t> PlacedBytes(const BlobTensor& t);

std::vector<std::byte> Write(const Blob& blob);

// kDataCorrupt names the tensor or step and the field. The result owns everything.
Result<Blob> Read(std::span<const std::byte> bytes);

}  // namespace npukit::devices::cpu
