// Elementwise work on a tile in UB: epilogues, chains, unary and binary operators. A plan says what
// each step needs, so that the same function decides whether a tile fits and emits it.
//
// Steps run in fp32 and are rounded to fp16 once, when the tile leaves: several roundings in a row,
// layer after layer, are what costs a deep network its accuracy. A plan without arithmetic (no
// steps, or relu alone) stays in fp16.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "devices/npu_sim/lower/context.h"

namespace npukit::devices::npu_sim {

// What the other operand of a step looks like beside a tile of (blocks, rows, 16).
enum class OperandKind : std::uint8_t {
  kNone,
  kScalar,    // a constant of one element: part of the instruction
  kOne,       // a value of one element
  kChannels,  // one per channel: rows = 1
  kRows,      // one per row: channels = 1
  kFull,      // one per element
};

struct Step {
  const ops::OpDef* op = nullptr;
  ops::Attrs attrs;
  OperandKind kind = OperandKind::kNone;
  float scalar = 0;
  ir::ValueId operand = ir::kNoValue;
  bool swapped = false;
  // Not empty: the operand's rows are repeated to these dimensions (its own last one kept) first.
  tensor::Dims expand;
  Blocked source;  // of kOne, kChannels, kRows, kFull; set by Bind
};

struct StepsPlan {
  std::vector<Step> steps;
  int roundings = 0;        // to fp16, if nothing were kept in fp32
  bool wide = false;        // the tile is fp32 in UB: more than one rounding
  bool needs_temp = false;  // a second fp32 tile
  // Lanes beyond the channels come in as zero and may leave as something else: cleared at the end,
  // so that they are zero everywhere and no later step can make infinity or NaN of them.
  bool dirty_padding = false;
  npu::ElemType type() const { return wide ? npu::kF32 : npu::kF16; }
  std::int64_t row_bytes() const { return kLanes * npu::ElemBytes(type()); }
  // Bytes of UB for a tile: the tile itself, the temporary, and the room that input, operands and
  // result share.
  std::int64_t UbBytes(std::int64_t blocks, std::int64_t rows) const;
};

// Why a step cannot be done here; empty code: it can.
struct StepProblem {
  std::string code;  // reason code
  std::string found;
};

// Plans the epilogue of a node.
StepsPlan PlanSteps(const ir::Graph& g, const ir::Node& n, StepProblem* problem);
// Plans an elementwise node (unary, binary, chain) as steps on its main input, which has all
// channels of the result but maybe fewer rows: then `expand` are the dimensions to repeat it to.
struct MainInput {
  std::size_t index = 0;
  tensor::Dims expand;
};
StepsPlan PlanElementwise(const ir::Graph& g, const ir::Node& n, MainInput* main,
                          StepProblem* problem);
// Makes every operand available in blocked form. Outside any task.
Status BindOperands(Context& c, StepsPlan& plan);
// The value with its rows repeated to `expand`; as it is when that is empty. Outside any task.
Result<Blocked> BindExpanded(Context& c, ir::ValueId id, const tensor::Dims& expand);

// A constant that is finite but infinite in fp16; empty: none.
std::string TooLargeForHalf(const tensor::Value& v);

// Where a tile lies in its value: rows are cut as `lines` of `line_rows` (1 line for contiguous
// rows).
struct TilePosition {
  std::int64_t block_begin = 0, row_begin = 0;
  std::int64_t block_step[2] = {0, 0}, row_step[2] = {0, 0};  // per tile index
  std::int64_t lines = 1, line_rows = 0, line_stride = 0;     // rows between lines in the value
  std::int64_t row_stride = 1;  // rows between neighbours of a line in the value
};

// The copy between a value in DRAM and the tile (blocks, lines * line_rows, 16) at `ub`.
npu::Copy TileCopy(const Blocked& value, const TilePosition& p, std::int64_t blocks,
                   std::int64_t ub, bool to_dram);

struct UbTile {
  std::int64_t main = 0;  // (blocks, rows, 16) of plan.type(): where the producer puts its result
  std::int64_t temp = 0;  // fp32, the same shape; when plan.needs_temp
  std::int64_t shared =
      0;  // fp16: the tile as it comes in, the tile as it leaves; `main` when not wide
  // fp16: what steps read beside the tile, one after the other and on their own, so that all of it
  // can be under way before the first step.
  std::int64_t operands = 0;
  std::int64_t blocks = 0, rows = 0;
};
// Lays a tile out from address 0.
UbTile LayOut(const StepsPlan& plan, std::int64_t blocks, std::int64_t rows);

// The same tile `by` bytes further.
inline UbTile Shifted(UbTile t, std::int64_t by) {
  t.main += by;
  t.temp += by;
  t.shared += by;
  t.operands += by;
  return t;
}

// Brings a tile of a value in, ready for steps.
void EmitLoad(Context& c, const StepsPlan& plan, const UbTile& tile, const Blocked& value,
              const TilePosition& position);
// Emits all steps; afterwards the result lies at tile.shared in fp16. `channels`: of the value;
// `last_block`: the tile holds the value's last block.
void EmitSteps(Context& c, const StepsPlan& plan, const UbTile& tile, const TilePosition& position,
               std::int64_t channels, bool last_block);

}  // namespace npukit::devices::npu_sim
