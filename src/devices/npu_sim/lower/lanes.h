// What reductions, softmax and normalisations share: rows of a value in UB with all their blocks,
// (blocks, rows, 16), and sums or maxima over each row.
#pragma once

#include <cstdint>

#include "devices/npu_sim/lower/context.h"
#include "devices/npu_sim/lower/steps.h"

namespace npukit::devices::npu_sim {

// `lanes` lanes from lane `first` on, of `rows` rows of 16 at `ub`, get `bits`.
void FillLanes(Context& c, std::int64_t ub, std::int64_t rows, std::int64_t first,
               std::int64_t lanes, std::int32_t bits, npu::ElemType type = npu::kF16);
// Lanes beyond `channels` of a tile at `ub`, if there are any.
void FillPadding(Context& c, std::int64_t ub, std::int64_t blocks, std::int64_t rows,
                 std::int64_t channels, std::int32_t bits, npu::ElemType type = npu::kF16);

// One fp32 per row at `dst`, 4 bytes apart: the sum or the maximum over the lanes of (rows, 16)
// fp32 at `src`.
void OverLanes(Context& c, bool max, std::int64_t src, std::int64_t rows, std::int64_t dst);
// (rows, 16) fp32 at `dst`: over the blocks of a tile at `src`.
void OverBlocks(Context& c, bool max, std::int64_t src, npu::ElemType type, std::int64_t blocks,
                std::int64_t rows, std::int64_t dst);
// dst = src op stat, an fp32 tile of (blocks, rows, 16) or, where dst_type is fp16, a tile of
// those; `stat`: one fp32 per row, 4 bytes apart.
void WithStat(Context& c, npu::BinaryOp op, std::int64_t dst, npu::ElemType dst_type,
              std::int64_t src, npu::ElemType src_type, std::int64_t stat, std::int64_t blocks,
              std::int64_t rows);
// `count` adjacent fp32 in place.
void InPlace(Context& c, npu::UnaryOp op, std::int64_t at, std::int64_t count, float scalar = 0);

// The rows of one tile of a group that cuts rows alone.
TilePosition RowsAt(const TileGroup& g);
// Rows of a tile whose bytes are bytes(blocks, rows): so that two tiles fit UB where one row does.
std::int64_t RowsOfTile(std::int64_t ub, std::int64_t rows, std::int64_t blocks,
                        std::int64_t (*bytes)(std::int64_t, std::int64_t));

}  // namespace npukit::devices::npu_sim
