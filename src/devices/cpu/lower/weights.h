// Constants on their way into a blob's weights: in which layout each is wanted, and each stored
// once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compile/lowering.h"
#include "devices/cpu/blob/blob.h"
#include "ir/graph.h"

namespace npukit::devices::cpu {

struct Form {
  Layout layout = Layout::kRaw;
  std::uint32_t groups = 1;
};

// How input `i` of the node should lie. Weights of operators that have matrix kernels are packed;
// what the kernel of a machine cannot use as it is, that machine unpacks when it loads.
Form FormOf(const ir::Graph& g, const ir::Node& n, std::size_t i);

class WeightTable {
 public:
  // The index of the weight; equal bytes in one layout are one weight. Strings are stored as
  // tensor/strings.h encodes them.
  Result<std::uint32_t> Add(const tensor::Value& v, Layout layout, std::uint32_t groups);
  std::uint32_t count() const { return static_cast<std::uint32_t>(weights_.size()); }
  std::vector<compile::LoweredWeight> Take() { return std::move(weights_); }

 private:
  std::vector<compile::LoweredWeight> weights_;
  std::map<std::pair<std::uint64_t, std::string>, std::uint32_t> ids_;  // by (hash, layout)
};

// Operator, attributes and epilogue of the node; inputs and outputs are the caller's.
BlobStep NameStep(const ir::Node& n);

}  // namespace npukit::devices::cpu
