// Moving elements without arithmetic: concat, slice, reshape, transpose.
#pragma once

#include <string>

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

// Concatenation along the last dimension (lanes), or an outer one (rows, in `lead` stretches).
struct ConcatShape {
  bool over_lanes = false;
  std::int64_t lead = 1;
  std::string problem;
};
ConcatShape ConcatShapeOf(const ir::Graph& g, const ir::Node& n);

// A slice with step 1 along one dimension.
struct SliceShape {
  bool over_lanes = false;
  std::int64_t lead = 1;             // stretches of rows
  std::int64_t from = 0, count = 0;  // channels, or rows of a stretch
  std::int64_t stretch = 0;          // rows of a stretch of the input
  std::string problem;
};
SliceShape SliceShapeOf(const ir::Graph& g, const ir::Node& n);

// A transpose with neighbours that stay together merged: result dimension i is source dimension
// perm[i].
struct TransposeShape {
  tensor::Dims source;  // merged, outermost first
  ops::Ints perm;
  bool keeps_last = false;  // then the last dimension is left out of both: only rows move
  std::int64_t channels = 1;
};
TransposeShape TransposeShapeOf(const ir::Graph& g, const ir::Node& n);

// Why a transpose cannot be done; `overflow` when a tile does not fit.
std::string TransposeProblem(const Config& config, const TransposeShape& s, bool fp32_source,
                             Overflow* overflow);

}  // namespace npukit::devices::npu_sim
