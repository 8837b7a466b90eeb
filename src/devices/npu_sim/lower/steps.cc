#include "devices/npu_sim/lower/steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace npukit::devices::npu_sim {
namespace {

using npu::BinaryOp;
using npu::UnaryOp;

bool NeedsTemp(const Step& s) {
  const ops::OpDef* op = s.op;
  if (op == &op::hard_sigmoid || op == &op::hard_swish || op == &op::sigmoid || op == &op::swish)
    return true;
  if (!s.swapped) return false;
  return (op == &op::sub || op == &op::div) &&
         (s.kind == OperandKind::kScalar || s.kind == OperandKind::kOne ||
          s.kind == OperandKind::kRows);
}

// The exponent of a pow this vector unit can do as something else; NaN otherwise.
bool PowIsSimple(float e) { return e == 2.0f || e == 0.5f || e == 1.0f || e == -1.0f; }

OperandKind KindOf(const ir::Graph& g, ir::ValueId id, std::int64_t rows, std::int64_t channels) {
  const tensor::Type& t = g.value(id).type;
  if (!t.is_static()) return OperandKind::kNone;
  const RowsChannels rc = SplitDims(t.dims());
  if (rc.rows * rc.channels == 1)
    return g.is_constant(id) ? OperandKind::kScalar : OperandKind::kOne;
  if (rc.rows == rows && rc.channels == channels) return OperandKind::kFull;
  if (rc.rows == 1 && rc.channels == channels) return OperandKind::kChannels;
  if (rc.rows == rows && rc.channels == 1) return OperandKind::kRows;
  return OperandKind::kNone;
}

bool IsUnary(const ops::OpDef* op) {
  return op == &op::relu || op == &op::clip || op == &op::hard_sigmoid || op == &op::hard_swish ||
         op == &op::sigmoid || op == &op::swish || op == &op::sqrt || op == &op::identity;
}
bool IsBinary(const ops::OpDef* op) {
  return op == &op::add || op == &op::sub || op == &op::mul || op == &op::div || op == &op::pow;
}

void Append(const ir::Graph& g, StepsPlan& plan, Step s, std::int64_t rows, std::int64_t channels,
            StepProblem* problem) {
  plan.wide |= s.op != &op::relu && s.op != &op::identity;
  if (IsUnary(s.op)) {
    plan.needs_temp |= NeedsTemp(s);
    plan.steps.push_back(std::move(s));
    return;
  }
  if (!IsBinary(s.op)) {
    *problem = {"unsupported_operator", std::string(s.op->name)};
    return;
  }
  s.kind = KindOf(g, s.operand, rows, channels);
  if (s.kind == OperandKind::kNone) {
    *problem = {"unsupported_broadcast",
                Cat(g.value(s.operand).type.ToString(), " beside ", rows, " rows of ", channels)};
    return;
  }
  if (s.kind == OperandKind::kScalar)
    s.scalar = static_cast<float>(tensor::ElementAsDouble(*g.constant(s.operand), 0));
  if (s.op == &op::pow && (s.swapped || s.kind != OperandKind::kScalar || !PowIsSimple(s.scalar))) {
    *problem = {"unsupported_exponent", s.kind == OperandKind::kScalar
                                            ? Cat(static_cast<double>(s.scalar))
                                            : "not a constant"};
    return;
  }
  plan.needs_temp |= NeedsTemp(s);
  // 0 / 0 in lanes beyond the channels; 1 / x of a zero there.
  plan.dirty_padding |= (s.op == &op::div && (s.kind == OperandKind::kFull ||
                                              s.kind == OperandKind::kChannels || s.swapped)) ||
                        (s.op == &op::pow && s.scalar == -1.0f);
  plan.steps.push_back(std::move(s));
}

}  // namespace

std::int64_t StepsPlan::UbBytes(std::int64_t blocks, std::int64_t rows) const {
  const std::int64_t tile = blocks * rows * npu::kBlockBytes;
  if (!wide) return tile;
  // One element, one row of channels and one column of rows are no larger than the tile.
  return 2 * tile + (needs_temp ? 2 * tile : 0) + tile;
}

StepsPlan PlanSteps(const ir::Graph& g, const ir::Node& n, std::int64_t rows, std::int64_t channels,
                    StepProblem* problem) {
  StepsPlan plan;
  plan.wide = n.op != &op::chain && HasBias(g, n);  // the bias joins in fp32
  for (const ops::EpilogueStep& e : n.epilogue) {
    Step s;
    s.op = e.op;
    s.attrs = e.attrs;
    s.swapped = e.swapped;
    if (e.operand >= 0) s.operand = n.inputs[static_cast<std::size_t>(e.operand)];
    Append(g, plan, std::move(s), rows, channels, problem);
    if (!problem->code.empty()) break;
  }
  return plan;
}

StepsPlan PlanElementwise(const ir::Graph& g, const ir::Node& n, std::size_t* main,
                          StepProblem* problem) {
  const RowsChannels out = SplitDims(g.value(n.outputs[0]).type.dims());
  *main = 0;
  if (n.op == &op::chain) return PlanSteps(g, n, out.rows, out.channels, problem);
  StepsPlan plan;
  Step s;
  s.op = n.op;
  s.attrs = n.attrs;
  if (IsBinary(n.op)) {
    if (KindOf(g, n.inputs[0], out.rows, out.channels) != OperandKind::kFull ||
        g.is_constant(n.inputs[0])) {
      if (KindOf(g, n.inputs[1], out.rows, out.channels) == OperandKind::kFull) {
        *main = 1;
        s.swapped = true;
      }
    }
    const ir::ValueId main_id = n.inputs[*main];
    const RowsChannels m = SplitDims(g.value(main_id).type.dims());
    if (m.rows != out.rows || m.channels != out.channels) {
      *problem = {"unsupported_broadcast", Cat(g.value(n.inputs[0]).type.ToString(), " with ",
                                               g.value(n.inputs[1]).type.ToString())};
      return plan;
    }
    s.operand = n.inputs[1 - *main];
  }
  Append(g, plan, std::move(s), out.rows, out.channels, problem);
  if (!problem->code.empty() || n.epilogue.empty()) return plan;
  StepsPlan rest = PlanSteps(g, n, out.rows, out.channels, problem);
  plan.wide |= rest.wide;
  plan.needs_temp |= rest.needs_temp;
  plan.dirty_padding |= rest.dirty_padding;
  for (Step& r : rest.steps) plan.steps.push_back(std::move(r));
  return plan;
}

Status BindOperands(Context& c, StepsPlan& plan) {
  for (Step& s : plan.steps) {
    if (s.kind == OperandKind::kNone || s.kind == OperandKind::kScalar) continue;
    NPUKIT_ASSIGN_OR_RETURN(s.source, c.AsBlocked(s.operand));
  }
  return OkStatus();
}

npu::Copy TileCopy(const Blocked& value, const TilePosition& p, std::int64_t blocks,
                   std::int64_t ub, bool to_dram) {
  npu::Copy copy;
  npu::Place dram = value.at;
  const std::int64_t plane = value.plane_bytes();
  dram.addr = Word(dram.addr + p.block_begin * plane + p.row_begin * npu::kBlockBytes);
  for (int i = 0; i < 2; ++i)
    dram.step[i] = Word(p.block_step[i] * plane + p.row_step[i] * npu::kBlockBytes);
  npu::Place on_chip;
  on_chip.mem = npu::kUb;
  on_chip.addr = Word(ub);
  const bool contiguous = p.row_stride == 1;
  const std::int64_t counts[3] = {blocks, p.lines, contiguous ? 1 : p.line_rows};
  const std::int64_t dram_stride[3] = {plane, p.line_stride * npu::kBlockBytes,
                                       p.row_stride * npu::kBlockBytes};
  const std::int64_t ub_stride[3] = {p.lines * p.line_rows * npu::kBlockBytes,
                                     p.line_rows * npu::kBlockBytes, npu::kBlockBytes};
  for (int i = 0; i < 3; ++i) {
    copy.count[i] = Word(counts[i]);
    copy.dst_stride[i] = counts[i] == 1 ? 0 : Word(to_dram ? dram_stride[i] : ub_stride[i]);
    copy.src_stride[i] = counts[i] == 1 ? 0 : Word(to_dram ? ub_stride[i] : dram_stride[i]);
  }
  copy.bytes = Word((contiguous ? p.line_rows : 1) * npu::kBlockBytes);
  copy.dst = to_dram ? dram : on_chip;
  copy.src = to_dram ? on_chip : dram;
  return copy;
}

UbTile LayOut(const StepsPlan& plan, std::int64_t blocks, std::int64_t rows) {
  UbTile t;
  t.blocks = blocks;
  t.rows = rows;
  if (!plan.wide) return t;
  const std::int64_t tile = blocks * rows * npu::kBlockBytes;
  t.temp = 2 * tile;
  t.shared = 2 * tile + (plan.needs_temp ? 2 * tile : 0);
  return t;
}

namespace {

// A whole tile as one stretch: main to shared or back.
void Convert(Context& c, const UbTile& t, bool to_main) {
  npu::Unary u;
  u.op = UnaryOp::kCopy;
  u.dst_type = to_main ? npu::kF32 : npu::kF16;
  u.src_type = to_main ? npu::kF16 : npu::kF32;
  u.dst_addr = Word(to_main ? t.main : t.shared);
  u.src_addr = Word(to_main ? t.shared : t.main);
  u.len = Word(t.blocks * t.rows * kLanes);
  c.Emit(u);
}

}  // namespace

void EmitLoad(Context& c, const StepsPlan& plan, const UbTile& tile, const Blocked& value,
              const TilePosition& position) {
  c.Emit(TileCopy(value, position, tile.blocks, tile.shared, false));
  if (plan.wide) Convert(c, tile, true);
}

namespace {

// Emits vector instructions on one tile.
class StepEmitter {
 public:
  StepEmitter(Context& c, const UbTile& t, npu::ElemType type) : c_(c), t_(t), type_(type) {}

  // The whole tile, from main or the temporary to main or the temporary.
  void Unary(UnaryOp op, bool to_temp, bool from_temp, float scalar = 0) {
    npu::Unary u;
    u.op = op;
    u.dst_type = u.src_type = type_;
    u.dst_addr = Word(to_temp ? t_.temp : t_.main);
    u.src_addr = Word(from_temp ? t_.temp : t_.main);
    u.len = Word(t_.blocks * t_.rows * kLanes);
    u.scalar = scalar;
    c_.Emit(u);
  }
  void InPlace(UnaryOp op, float scalar = 0) { Unary(op, false, false, scalar); }
  // main = main * other
  void MulBy(std::int64_t other) {
    npu::Binary b;
    b.op = BinaryOp::kMul;
    b.dst_type = b.src0_type = b.src1_type = type_;
    b.dst_addr = b.src0_addr = Word(t_.main);
    b.src1_addr = Word(other);
    b.len = Word(t_.blocks * t_.rows * kLanes);
    c_.Emit(b);
  }
  void MulByTemp() { MulBy(t_.temp); }
  void Square() { MulBy(t_.main); }
  // temp = 1 + exp(-main)
  void OnePlusExpToTemp() {
    Unary(UnaryOp::kMuls, true, false, -1.0f);
    Unary(UnaryOp::kExp, true, true);
    Unary(UnaryOp::kAdds, true, true, 1.0f);
  }
  // temp = max(alpha * main + beta, 0)
  void HardSigmoidToTemp(float alpha, float beta) {
    Unary(UnaryOp::kMuls, true, false, alpha);
    Unary(UnaryOp::kAdds, true, true, beta);
    Unary(UnaryOp::kMaxs, true, true, 0.0f);
  }
  // main = main (or the temporary) op operand, the operand being fp16 in the shared room.
  void WithOperand(BinaryOp op, const Step& s, bool from_temp) {
    npu::Binary b;
    b.op = op;
    b.dst_type = b.src0_type = type_;
    b.dst_addr = Word(t_.main);
    b.src0_addr = Word(from_temp ? t_.temp : t_.main);
    b.src1_addr = Word(t_.shared);
    b.len = Word(t_.blocks * t_.rows * kLanes);
    const std::int64_t row = kLanes * npu::ElemBytes(type_);
    if (s.kind == OperandKind::kOne) b.src1_scalar = 1;
    if (s.kind == OperandKind::kChannels || s.kind == OperandKind::kRows) {
      b.count[2] = Word(t_.blocks);
      b.count[3] = Word(t_.rows);
      b.len = kLanes;
      b.dst_stride[2] = b.src0_stride[2] = Word(t_.rows * row);
      b.dst_stride[3] = b.src0_stride[3] = Word(row);
      if (s.kind == OperandKind::kChannels) {
        b.src1_stride[2] = npu::kBlockBytes;
      } else {
        b.src1_stride[3] = npu::kBlockBytes;
        b.src1_scalar = 1;
      }
    }
    const bool ordered = op == BinaryOp::kSub || op == BinaryOp::kDiv;
    if (s.swapped && ordered && b.src1_scalar == 0) {
      std::swap(b.src0_addr, b.src1_addr);
      std::swap(b.src0_type, b.src1_type);
      std::swap(b.src0_stride, b.src1_stride);
    }
    c_.Emit(b);
  }

 private:
  Context& c_;
  const UbTile& t_;
  const npu::ElemType type_;
};

void EmitScalarStep(StepEmitter& e, const Step& s) {
  const float v = s.scalar;
  if (s.op == &op::add) return e.InPlace(UnaryOp::kAdds, v);
  if (s.op == &op::mul) return e.InPlace(UnaryOp::kMuls, v);
  if (s.op == &op::sub) {
    if (!s.swapped) return e.InPlace(UnaryOp::kAdds, -v);
    e.Unary(UnaryOp::kNeg, true, false);
    return e.Unary(UnaryOp::kAdds, false, true, v);
  }
  if (s.op == &op::div) {
    if (!s.swapped) return e.InPlace(UnaryOp::kMuls, 1.0f / v);
    e.Unary(UnaryOp::kRec, true, false);
    return e.Unary(UnaryOp::kMuls, false, true, v);
  }
  NPUKIT_CHECK(s.op == &op::pow);
  if (v == 2.0f) e.Square();
  if (v == 0.5f) e.InPlace(UnaryOp::kSqrt);
  if (v == -1.0f) e.InPlace(UnaryOp::kRec);
}

void EmitOperandStep(StepEmitter& e, const Step& s) {
  const bool single = s.kind == OperandKind::kOne || s.kind == OperandKind::kRows;
  if (s.op == &op::add) return e.WithOperand(BinaryOp::kAdd, s, false);
  if (s.op == &op::mul) return e.WithOperand(BinaryOp::kMul, s, false);
  // The single element of src1 cannot stand first: b - a is (-a) + b, b / a is (1 / a) * b.
  if (s.swapped && single) {
    if (s.op == &op::sub) {
      e.Unary(UnaryOp::kNeg, true, false);
      return e.WithOperand(BinaryOp::kAdd, s, true);
    }
    e.Unary(UnaryOp::kRec, true, false);
    return e.WithOperand(BinaryOp::kMul, s, true);
  }
  e.WithOperand(s.op == &op::sub ? BinaryOp::kSub : BinaryOp::kDiv, s, false);
}

void EmitUnaryStep(StepEmitter& e, const Step& s) {
  if (s.op == &op::relu) return e.InPlace(UnaryOp::kRelu);
  if (s.op == &op::sqrt) return e.InPlace(UnaryOp::kSqrt);
  if (s.op == &op::clip) {
    const float lo = s.attrs.Float("min", -INFINITY), hi = s.attrs.Float("max", INFINITY);
    if (lo != -INFINITY) e.InPlace(UnaryOp::kMaxs, lo);
    if (hi != INFINITY) e.InPlace(UnaryOp::kMins, hi);
    return;
  }
  if (s.op == &op::hard_sigmoid) {
    e.HardSigmoidToTemp(s.attrs.Float("alpha", 0.2f), s.attrs.Float("beta", 0.5f));
    return e.Unary(UnaryOp::kMins, false, true, 1.0f);
  }
  if (s.op == &op::hard_swish) {
    e.HardSigmoidToTemp(1.0f / 6.0f, 0.5f);
    e.Unary(UnaryOp::kMins, true, true, 1.0f);
    return e.MulByTemp();
  }
  if (s.op == &op::sigmoid) {
    e.OnePlusExpToTemp();
    return e.Unary(UnaryOp::kRec, false, true);
  }
  if (s.op == &op::swish) {
    e.OnePlusExpToTemp();
    e.Unary(UnaryOp::kRec, true, true);
    return e.MulByTemp();
  }
  NPUKIT_CHECK(s.op == &op::identity);
}

}  // namespace

void EmitSteps(Context& c, const StepsPlan& plan, const UbTile& tile, const TilePosition& position,
               std::int64_t channels, bool last_block) {
  StepEmitter e(c, tile, plan.type());
  for (const Step& s : plan.steps) {
    if (s.kind == OperandKind::kNone) {
      EmitUnaryStep(e, s);
      continue;
    }
    if (s.kind == OperandKind::kScalar) {
      EmitScalarStep(e, s);
      continue;
    }
    TilePosition p = position;
    std::int64_t blocks = tile.blocks;
    if (s.kind == OperandKind::kChannels || s.kind == OperandKind::kOne) {
      p = TilePosition{};
      p.line_rows = 1;
      if (s.kind == OperandKind::kChannels) {
        p.block_begin = position.block_begin;
        for (int i = 0; i < 2; ++i) p.block_step[i] = position.block_step[i];
      } else {
        blocks = 1;
      }
    } else if (s.kind == OperandKind::kRows) {
      p.block_begin = 0;
      p.block_step[0] = p.block_step[1] = 0;
      blocks = 1;
    }
    c.Emit(TileCopy(s.source, p, blocks, tile.shared, false));
    EmitOperandStep(e, s);
  }
  if (plan.wide) Convert(c, tile, false);
  const std::int64_t used = channels % kLanes;
  if (plan.dirty_padding && last_block && used != 0) {
    npu::Fill f;
    f.mem = npu::kUb;
    f.addr = Word(tile.shared + (tile.blocks - 1) * tile.rows * npu::kBlockBytes + used * 2);
    f.count[1] = Word(tile.rows);
    f.stride[1] = npu::kBlockBytes;
    f.len = Word(kLanes - used);
    f.type = npu::kF16;
    f.value = 0;
    c.Emit(f);
  }
}

}  // namespace npukit::devices::npu_sim
