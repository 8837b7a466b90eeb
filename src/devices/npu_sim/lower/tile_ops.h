// What the vector unit does with a whole tile: its instructions on the tile and the temporary
// beside it, and the operators of one input that are composed of them. Said once, for planning
// (what a step needs) and for emitting.
#pragma once

#include <cstdint>

#include "devices/npu_sim/lower/steps.h"

namespace npukit::devices::npu_sim {

class TileOps {
 public:
  enum Where : std::uint8_t { kMain, kTemp };

  TileOps(Context& c, const UbTile& t, npu::ElemType type) : c_(c), t_(t), type_(type) {}
  // Where the operand of the next step is.
  void SetOperand(std::int64_t ub) { operand_ = ub; }

  // to = op(from, scalar)
  void Unary(npu::UnaryOp op, Where to, Where from, float scalar = 0);
  void InPlace(npu::UnaryOp op, float scalar = 0) { Unary(op, kMain, kMain, scalar); }
  void OnTemp(npu::UnaryOp op, float scalar = 0) { Unary(op, kTemp, kTemp, scalar); }
  // to = a op b
  void Binary(npu::BinaryOp op, Where to, Where a, Where b);
  // to = from op operand, the operand being fp16 in its room. A swapped step has the operand
  // first: only where it is one per element or per channel, see OperandFirst.
  void WithOperand(npu::BinaryOp op, const Step& s, Where to, Where from);

 private:
  std::int64_t At(Where w) const { return w == kTemp ? t_.temp : t_.main; }

  Context& c_;
  const UbTile& t_;
  const npu::ElemType type_;
  std::int64_t operand_ = 0;
};

// An operator of one input as vector instructions in fp32.
struct UnaryRecipe {
  const ops::OpDef* op = nullptr;
  bool needs_temp = false;
  // Does it give zero for zero, so that lanes beyond the channels stay zero?
  bool (*keeps_zero)(const ops::Attrs&) = nullptr;
  void (*emit)(TileOps&, const ops::Attrs&) = nullptr;
};
const UnaryRecipe* FindRecipe(const ops::OpDef* op);  // null: there is none

}  // namespace npukit::devices::npu_sim
