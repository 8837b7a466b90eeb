// A segment becomes a blob: places for values, packed weights, steps. The work of Lowering::Lower
// in one class.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "base/status.h"
#include "compile/lowering.h"
#include "devices/cpu/blob/blob.h"
#include "devices/cpu/lower/weights.h"
#include "ir/graph.h"

namespace npukit::devices::cpu {

// True when the node only renames its first input's bytes: reshape, squeeze, unsqueeze, identity.
bool IsView(const ir::Graph& g, const ir::Node& n);

class SegmentBuilder {
 public:
  explicit SegmentBuilder(const ir::Graph& g) : g_(g) {}
  // Fills blob, weights and scratch_bytes of `out`.
  Status Build(const compile::LowerOptions& options, compile::Lowered* out);

 private:
  // Values that are one stretch of memory under several types.
  struct Group {
    std::int32_t first = -1, last = -1;    // steps that write and last read it
    std::int32_t input = -1, output = -1;  // boundary it lies in
    std::uint64_t offset = 0;              // in the arena, when on no boundary
    std::uint64_t bytes = 0;
  };

  ir::ValueId Root(ir::ValueId v) const;
  void FindViews();
  void PlaceBoundary();
  Status AddSteps(const compile::LowerOptions& options);
  Status AddStep(const ir::Node& n);
  Status AddCopies();
  Status PlanScratch();
  void Touch(ir::ValueId v);
  // The blob tensor for a value seen as `layout`; made on first use.
  Result<std::uint32_t> TensorOf(ir::ValueId v, Layout layout, std::uint32_t groups);

  const ir::Graph& g_;
  Blob blob_;
  WeightTable weights_;
  std::vector<ir::ValueId> parent_;
  std::vector<Group> groups_;  // by root value
  std::map<std::tuple<ir::ValueId, Layout, std::uint32_t>, std::uint32_t> tensors_;
  std::vector<ir::ValueId> tensor_values_;  // value behind each blob tensor; kNoValue: a weight
};

}  // namespace npukit::devices::cpu
