// Unary and binary operators and chains: tiles of a value through UB.
#include "devices/npu_sim/lower/elementwise.h"

#include <algorithm>

#include "base/text.h"

namespace npukit::devices::npu_sim {

VectorTiling ChooseVectorTiling(const Config& config, std::int64_t blocks, std::int64_t rows,
                                const StepsPlan& steps, Overflow* overflow) {
  const std::int64_t ub = config.buffers.ub_bytes;
  // Half of it, so that the next tile comes in meanwhile; all where half is too little for one.
  const auto overflows = [&](std::int64_t tile_blocks, std::int64_t tile_rows) {
    return 2 * steps.UbBytes(tile_blocks, tile_rows) > ub;
  };
  VectorTiling t;
  if (steps.UbBytes(1, 1) > ub) {
    *overflow = {"npu.ub_bytes", ub, steps.UbBytes(1, 1)};
    return t;
  }
  t.blocks = blocks;
  t.rows = std::max<std::int64_t>(1, std::min(rows, std::max<std::int64_t>(CeilDiv(rows, 4), 64)));
  while (t.rows > 64 && overflows(t.blocks, t.rows)) t.rows = CeilDiv(t.rows, 2);
  while (t.blocks > 1 && overflows(t.blocks, t.rows)) t.blocks = CeilDiv(t.blocks, 2);
  while (t.rows > 1 && overflows(t.blocks, t.rows)) t.rows = CeilDiv(t.rows, 2);
  return t;
}

void EmitVector(Context& c, const Blocked& src, const Blocked& dst, const StepsPlan& steps,
                const VectorTiling& t) {
  const std::int64_t all = dst.blocks();
  // The last block alone where its unused lanes must be cleared, since tiles of a group are alike.
  const std::int64_t apart = steps.dirty_padding && dst.channels % kLanes != 0 ? 1 : 0;
  const auto emit = [&](std::int64_t block_begin, std::int64_t blocks, std::int64_t block_tile,
                        bool last) {
    if (blocks == 0) return;
    ForEachTileGroup(blocks, block_tile, dst.rows, t.rows, [&](const TileGroup& g) {
      c.AddGroup(g.tiles0, g.tiles1, nullptr, [&] {
        TilePosition at;
        at.block_begin = block_begin + g.begin0;
        at.block_step[0] = g.size0;
        at.row_begin = g.begin1;
        at.row_step[1] = g.size1;
        at.line_rows = g.size1;
        const UbTile tile = LayOut(steps, g.size0, g.size1);
        EmitLoad(c, steps, tile, src, at);
        EmitSteps(c, steps, tile, at, dst.channels, last);
        c.Emit(TileCopy(dst, at, g.size0, tile.shared, true));
      });
    });
  };
  emit(0, all - apart, std::min(t.blocks, std::max<std::int64_t>(all - apart, 1)), false);
  emit(all - apart, apart, 1, true);
}

Status LowerElementwise(Context& c, const ir::Node& n) {
  MainInput main;
  StepProblem problem;
  StepsPlan steps = PlanElementwise(c.graph, n, &main, &problem);
  const RowsChannels out = SplitDims(c.dims(n.outputs[0]));
  Overflow overflow;
  const VectorTiling t =
      ChooseVectorTiling(c.config, CeilDiv(out.channels, kLanes), out.rows, steps, &overflow);
  if (!problem.code.empty() || !overflow.fact.empty())
    return Internal(Cat(n.op_name(), " ", n.name, " was not asked about"));
  NPUKIT_RETURN_IF_ERROR(BindOperands(c, steps));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked src, BindExpanded(c, n.inputs[main.index], main.expand));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
  c.BeginTask(n.name);
  EmitVector(c, src, dst, steps, t);
  c.EndTask(0);
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
