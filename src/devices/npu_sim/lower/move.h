// Moving elements without arithmetic: concat, reshape, transpose.
#pragma once

#include <string>

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

// Operators that LowerReshape, LowerRemap (remap.h) take.
bool IsAlias(const ops::OpDef* o);
bool IsRemap(const ops::OpDef* o);

// Concatenation along the last dimension (lanes), or an outer one (rows, in `lead` stretches).
struct ConcatShape {
  bool over_lanes = false;
  std::int64_t lead = 1;
  std::string problem;
};
ConcatShape ConcatShapeOf(const ir::Graph& g, const ir::Node& n);

// A transpose with neighbours that stay together merged: result dimension i is source dimension
// perm[i].
struct TransposeShape {
  tensor::Dims source;  // merged, outermost first
  ops::Ints perm;
  bool keeps_last = false;  // then the last dimension is left out of both: only rows move
  std::int64_t channels = 1;
};
TransposeShape TransposeShapeOf(const ir::Graph& g, const ir::Node& n);

// In UB: channels [from, from + count) of a tile (.., rows, 16) at src become channels [to, to +
// count) of one at dst.
void ShiftLanes(Context& c, std::int64_t rows, std::int64_t src, std::int64_t from,
                std::int64_t dst, std::int64_t to, std::int64_t count);
// Joining lanes that do not start at blocks needs a row of all of them in UB.
void CheckConcat(const ir::Graph& g, const ir::Node& n, const Config& config, Overflow* overflow);

// Attention's heads: [.., h * d] reshaped to [.., h, d] and transposed, and the way back, where d
// is whole blocks. Then rows of blocks move at once, and no value is made in plain order. False:
// the nodes are no such pair.
Result<bool> SplitHeads(Context& c, const ir::Node& transpose);  // reshape before it
Result<bool> MergeHeads(Context& c, const ir::Node& reshape);    // transpose before it

// Why a transpose cannot be done; `overflow` when a tile does not fit.
std::string TransposeProblem(const Config& config, const TransposeShape& s, bool fp32_source,
                             Overflow* overflow);

}  // namespace npukit::devices::npu_sim
