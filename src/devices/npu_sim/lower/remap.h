// Operators that only choose elements: slice, pad, expand, tile, gather with constant indices. Each
// dimension by itself says which source index a result index takes, so all are one thing here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

// Result indices [dst, dst + count) of one dimension take src, src + step, ...; src < 0: the
// filler.
struct Piece {
  std::int64_t dst = 0, count = 1, src = 0, step = 1;
};
struct AxisMap {
  std::int64_t in = 1, out = 1;
  std::vector<Piece> pieces;
  bool identity() const;
};

struct Remap {
  std::vector<AxisMap> axes;  // the last one is over lanes
  float filler = 0;
  std::string problem;  // why it cannot be done; empty: it can
  std::int64_t rows(bool out) const;
};
Remap RemapOf(const ir::Graph& g, const ir::Node& n);
// Does the tile that lanes need, where they change, fit?
void CheckRemap(const Config& config, const Remap& r, Overflow* overflow);

}  // namespace npukit::devices::npu_sim
