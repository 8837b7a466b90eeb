// Moving whole rows of blocked values (32 bytes a block) along nests of loops: repeats, transposes
// that keep the last dimension, parts and joins. DRAM to UB to DRAM, no arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/npu_sim/lower/context.h"

namespace npukit::devices::npu_sim {

// `count` steps, outermost loop first; strides in rows, not negative. A source stride of 0 repeats.
struct RowLoop {
  std::int64_t count = 1, src = 0, dst = 0;
};

// All blocks of rows src_first + loops of `src` to dst_first + loops of `dst`. Into the open task.
void EmitMoveRows(Context& c, const Blocked& src, std::int64_t src_first, const Blocked& dst,
                  std::int64_t dst_first, std::vector<RowLoop> loops);
// The same with the blocks among the loops, whose strides are plane_rows. In any order.
void EmitMoveBlocks(Context& c, const Blocked& src, const Blocked& dst, std::vector<RowLoop> loops);
// The same rows of `dst` get the fp16 `bits`, lanes beyond the channels zero.
void EmitFillRows(Context& c, std::int32_t bits, const Blocked& dst, std::int64_t dst_first,
                  std::vector<RowLoop> loops);
// A value of dimensions `from` with its rows repeated to those of `to` (of equal rank; the last one
// is left alone), as a task of its own.
Result<Blocked> ExpandRows(Context& c, const Blocked& b, const tensor::Dims& from,
                           const tensor::Dims& to, const std::string& name);

// Loops without those of one step, neighbours that are one loop joined.
std::vector<RowLoop> Simplified(std::vector<RowLoop> loops);
// UB in rows of one block that a tile may take, so that the next one can be filled meanwhile.
std::int64_t HalfOfUb(const Config& config);

}  // namespace npukit::devices::npu_sim
