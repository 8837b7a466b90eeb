#include "devices/npu_sim/lower/steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "devices/npu_sim/lower/rows.h"
#include "devices/npu_sim/lower/tile_ops.h"

namespace npukit::devices::npu_sim {
namespace {

using npu::BinaryOp;
using npu::UnaryOp;

// One element of the operand serves a whole row or tile.
bool IsSingle(const Step& s) {
  return s.kind == OperandKind::kScalar || s.kind == OperandKind::kOne ||
         s.kind == OperandKind::kRows;
}

bool NeedsTemp(const Step& s) {
  if (const UnaryRecipe* r = FindRecipe(s.op)) return r->needs_temp;
  if (s.op == &op::prelu) return true;
  if (s.op == &op::pow) return s.scalar == 3.0f;
  return s.swapped && (s.op == &op::sub || s.op == &op::div) && IsSingle(s);
}

// The exponent of a pow this vector unit can do as something else; NaN otherwise.
bool PowIsSimple(float e) { return e == 3.0f || e == 2.0f || e == 1.0f || e == 0.5f || e == -1.0f; }

// How often a tile would be rounded to fp16 by a step without fp32. Limits keep the order of
// numbers and so does rounding, so it does not matter which comes first: they add none. One
// instruction computes in fp32 and rounds once. What takes several stays in fp32: more than enough
// to ask for it.
int Roundings(const Step& s) {
  for (const ops::OpDef* op : {&op::relu, &op::clip, &op::identity, &op::max, &op::min}) {
    if (s.op == op) return 0;
  }
  const bool one = s.op == &op::add || s.op == &op::mul ||
                   (!s.swapped && (s.op == &op::sub || s.op == &op::div));
  // 1 / v is not exact, so dividing by it rounds twice.
  return one && !(s.kind == OperandKind::kScalar && s.op == &op::div) ? 1 : 2;
}

bool IsBinary(const ops::OpDef* op) {
  for (const ops::OpDef* b :
       {&op::add, &op::sub, &op::mul, &op::div, &op::max, &op::min, &op::pow, &op::prelu}) {
    if (op == b) return true;
  }
  return false;
}

// Does the step give zero in lanes beyond the channels, where it finds zero and so do operands per
// channel or per element?
bool KeepsZero(const Step& s) {
  if (const UnaryRecipe* r = FindRecipe(s.op)) return r->keeps_zero(s.attrs);
  const bool scalar = s.kind == OperandKind::kScalar;
  if (s.op == &op::mul || s.op == &op::prelu) return !scalar || std::isfinite(s.scalar);
  if (s.op == &op::pow) return s.scalar != -1.0f;
  if (s.op == &op::div) return !s.swapped && scalar && s.scalar != 0;
  if (!IsSingle(s)) return true;
  if (!scalar) return false;
  if (s.op == &op::max) return s.scalar <= 0;
  if (s.op == &op::min) return s.scalar >= 0;
  return s.scalar == 0;  // add, sub
}

// How an operand of these dimensions lies beside a result of `out`; kNone: it does not broadcast to
// it. `expand`: see Step.
OperandKind KindOf(const ir::Graph& g, ir::ValueId id, const tensor::Dims& out,
                   tensor::Dims* expand) {
  const tensor::Type& t = g.value(id).type;
  if (!t.is_static() || t.dims().size() > out.size()) return OperandKind::kNone;
  tensor::Dims d = t.dims();
  if (tensor::ElementCount(d).value_or(0) == 1)
    return g.is_constant(id) ? OperandKind::kScalar : OperandKind::kOne;
  d.insert(d.begin(), out.size() - d.size(), 1);
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (d[i] != 1 && d[i] != out[i]) return OperandKind::kNone;
  }
  const bool lanes = d.back() == out.back();
  const bool rows = std::equal(d.begin(), d.end() - 1, out.begin());
  if (!rows && lanes && SplitDims(d).rows == 1) return OperandKind::kChannels;
  if (!rows) {
    *expand = out;
    expand->back() = d.back();
  }
  return lanes ? OperandKind::kFull : OperandKind::kRows;
}

void Append(const ir::Graph& g, StepsPlan& plan, Step s, const tensor::Dims& out,
            StepProblem* problem) {
  if (FindRecipe(s.op) == nullptr) {
    if (!IsBinary(s.op)) {
      *problem = {"unsupported_operator", std::string(s.op->name)};
      return;
    }
    s.kind = KindOf(g, s.operand, out, &s.expand);
    if (s.kind == OperandKind::kNone) {
      *problem = {"unsupported_broadcast",
                  Cat(g.value(s.operand).type.ToString(), " beside [", JoinInts(out, ", "), "]")};
      return;
    }
    const tensor::Value* constant = g.constant(s.operand);
    const bool scalar = s.kind == OperandKind::kScalar;
    if (scalar) s.scalar = static_cast<float>(tensor::ElementAsDouble(*constant, 0));
    if (constant != nullptr && !scalar) {
      if (std::string found = TooLargeForHalf(*constant); !found.empty()) {
        *problem = {"constant_too_large", Cat(g.value(s.operand).name, " holds ", found)};
        return;
      }
    }
    if (s.op == &op::pow && (s.swapped || !scalar || !PowIsSimple(s.scalar))) {
      *problem = {"unsupported_exponent",
                  scalar ? Cat(static_cast<double>(s.scalar)) : "not a constant"};
      return;
    }
    if ((s.op == &op::prelu && s.swapped) || (scalar && std::isnan(s.scalar))) {
      *problem = {"unsupported_operator", Cat(s.op->name, s.swapped ? " of a slope" : " with NaN")};
      return;
    }
  }
  plan.needs_temp |= NeedsTemp(s);
  plan.dirty_padding |= !KeepsZero(s);
  plan.roundings += Roundings(s);
  plan.wide = plan.roundings > 1;
  plan.steps.push_back(std::move(s));
}

}  // namespace

namespace {

// Room of a step's operand beside a tile.
std::int64_t OperandBytes(const Step& s, std::int64_t blocks, std::int64_t rows) {
  switch (s.kind) {
    case OperandKind::kNone:
    case OperandKind::kScalar:
      return 0;
    case OperandKind::kOne:
      return npu::kBlockBytes;
    case OperandKind::kChannels:
      return blocks * npu::kBlockBytes;
    case OperandKind::kRows:
      return rows * npu::kBlockBytes;
    case OperandKind::kFull:
      return blocks * rows * npu::kBlockBytes;
  }
  return 0;
}

}  // namespace

std::int64_t StepsPlan::UbBytes(std::int64_t blocks, std::int64_t rows) const {
  const std::int64_t tile = blocks * rows * npu::kBlockBytes;
  std::int64_t operands = 0;
  for (const Step& s : steps) operands += OperandBytes(s, blocks, rows);
  if (!wide) return tile + operands;
  return 2 * tile + (needs_temp ? 2 * tile : 0) + tile + operands;
}

std::string TooLargeForHalf(const tensor::Value& v) {
  for (std::int64_t i = 0; i < v.count(); ++i) {
    const double x = tensor::ElementAsDouble(v, i);
    if (std::isfinite(x) && std::fabs(x) >= 65520.0) return Cat(x);
  }
  return {};
}

StepsPlan PlanSteps(const ir::Graph& g, const ir::Node& n, StepProblem* problem) {
  StepsPlan plan;
  // The sum, and the bias that joins it, are rounded once themselves.
  const bool pointwise = n.op->loop == ops::LoopShape::kUnary ||
                         n.op->loop == ops::LoopShape::kBinary || n.op == &op::chain;
  plan.roundings = pointwise ? 0 : 1;
  for (const ops::EpilogueStep& e : n.epilogue) {
    Step s;
    s.op = e.op;
    s.attrs = e.attrs;
    s.swapped = e.swapped;
    if (e.operand >= 0) s.operand = n.inputs[static_cast<std::size_t>(e.operand)];
    Append(g, plan, std::move(s), g.value(n.outputs[0]).type.dims(), problem);
    if (!problem->code.empty()) break;
  }
  return plan;
}

StepsPlan PlanElementwise(const ir::Graph& g, const ir::Node& n, MainInput* main,
                          StepProblem* problem) {
  const tensor::Dims out = g.value(n.outputs[0]).type.dims();
  *main = {};
  StepsPlan plan;
  if (n.op != &op::chain) {
    Step s;
    s.op = n.op;
    s.attrs = n.attrs;
    if (IsBinary(n.op)) {
      // The input that a step needs least of: the whole shape, else all channels.
      const auto rank = [&](std::size_t i) {
        tensor::Dims expand;
        const OperandKind kind = KindOf(g, n.inputs[i], out, &expand);
        if (kind == OperandKind::kFull)
          return expand.empty() ? (g.is_constant(n.inputs[i]) ? 1 : 0) : 2;
        return kind == OperandKind::kChannels                ? 3
               : out.empty() || SplitDims(out).channels == 1 ? 4
                                                             : 5;
      };
      main->index = rank(1) < rank(0) ? 1 : 0;
      const int found = rank(main->index);
      if (found == 5) {
        *problem = {"unsupported_broadcast", Cat(g.value(n.inputs[0]).type.ToString(), " with ",
                                                 g.value(n.inputs[1]).type.ToString())};
        return plan;
      }
      if (found >= 2) main->expand = out;
      s.swapped = main->index == 1;
      s.operand = n.inputs[1 - main->index];
    }
    Append(g, plan, std::move(s), out, problem);
    if (!problem->code.empty()) return plan;
  }
  StepsPlan rest = PlanSteps(g, n, problem);
  plan.roundings += rest.roundings;
  plan.wide = plan.roundings > 1;
  plan.needs_temp |= rest.needs_temp;
  plan.dirty_padding |= rest.dirty_padding;
  for (Step& r : rest.steps) plan.steps.push_back(std::move(r));
  return plan;
}

Result<Blocked> BindExpanded(Context& c, ir::ValueId id, const tensor::Dims& expand) {
  NPUKIT_ASSIGN_OR_RETURN(const Blocked b, c.AsBlocked(id));
  if (expand.empty()) return b;
  tensor::Dims from = c.dims(id);
  from.insert(from.begin(), expand.size() - from.size(), 1);
  return ExpandRows(c, b, from, expand, Cat("repeat ", c.graph.value(id).name));
}

Status BindOperands(Context& c, StepsPlan& plan) {
  for (Step& s : plan.steps) {
    if (s.kind == OperandKind::kNone || s.kind == OperandKind::kScalar) continue;
    NPUKIT_ASSIGN_OR_RETURN(s.source, BindExpanded(c, s.operand, s.expand));
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
  const std::int64_t tile = blocks * rows * npu::kBlockBytes;
  if (plan.wide) {
    t.temp = 2 * tile;
    t.shared = 2 * tile + (plan.needs_temp ? 2 * tile : 0);
  }
  t.operands = t.shared + tile;
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

constexpr TileOps::Where kMain = TileOps::kMain, kTemp = TileOps::kTemp;

void EmitScalarStep(TileOps& e, const Step& s) {
  const float v = s.scalar;
  if (s.op == &op::add) return e.InPlace(UnaryOp::kAdds, v);
  if (s.op == &op::mul) return e.InPlace(UnaryOp::kMuls, v);
  if (s.op == &op::max) return e.InPlace(UnaryOp::kMaxs, v);
  if (s.op == &op::min) return e.InPlace(UnaryOp::kMins, v);
  if (s.op == &op::sub) {
    if (!s.swapped) return e.InPlace(UnaryOp::kAdds, -v);
    e.Unary(UnaryOp::kNeg, kTemp, kMain);
    return e.Unary(UnaryOp::kAdds, kMain, kTemp, v);
  }
  if (s.op == &op::div) {
    if (!s.swapped) return e.InPlace(UnaryOp::kMuls, 1.0f / v);
    e.Unary(UnaryOp::kRec, kTemp, kMain);
    return e.Unary(UnaryOp::kMuls, kMain, kTemp, v);
  }
  if (s.op == &op::prelu) {
    ops::Attrs slope;
    slope.Set("alpha", v);
    return FindRecipe(&op::leaky_relu)->emit(e, slope);
  }
  NPUKIT_CHECK(s.op == &op::pow);
  if (v == 3.0f) {
    e.Binary(BinaryOp::kMul, kTemp, kMain, kMain);
    e.Binary(BinaryOp::kMul, kMain, kMain, kTemp);
  }
  if (v == 2.0f) e.Binary(BinaryOp::kMul, kMain, kMain, kMain);
  if (v == 0.5f) e.InPlace(UnaryOp::kSqrt);
  if (v == -1.0f) e.InPlace(UnaryOp::kRec);
}

void EmitOperandStep(TileOps& e, const Step& s) {
  if (s.op == &op::prelu) {  // max(x, 0) + slope * min(x, 0)
    e.Unary(UnaryOp::kMins, kTemp, kMain, 0.0f);
    e.WithOperand(BinaryOp::kMul, s, kTemp, kTemp);
    e.InPlace(UnaryOp::kMaxs, 0.0f);
    return e.Binary(BinaryOp::kAdd, kMain, kMain, kTemp);
  }
  // The single element of src1 cannot stand first: b - a is (-a) + b, b / a is (1 / a) * b.
  if (s.swapped && IsSingle(s) && (s.op == &op::sub || s.op == &op::div)) {
    const bool sub = s.op == &op::sub;
    e.Unary(sub ? UnaryOp::kNeg : UnaryOp::kRec, kTemp, kMain);
    return e.WithOperand(sub ? BinaryOp::kAdd : BinaryOp::kMul, s, kMain, kTemp);
  }
  constexpr std::pair<const ops::OpDef*, BinaryOp> kOps[] = {
      {&op::add, BinaryOp::kAdd}, {&op::sub, BinaryOp::kSub}, {&op::mul, BinaryOp::kMul},
      {&op::div, BinaryOp::kDiv}, {&op::max, BinaryOp::kMax}, {&op::min, BinaryOp::kMin}};
  for (const auto& [op, instruction] : kOps) {
    if (s.op == op) return e.WithOperand(instruction, s, kMain, kMain);
  }
  NPUKIT_CHECK(false);
}

}  // namespace

void EmitSteps(Context& c, const StepsPlan& plan, const UbTile& tile, const TilePosition& position,
               std::int64_t channels, bool last_block) {
  std::int64_t at = tile.operands;
  for (const Step& s : plan.steps) {
    if (s.kind == OperandKind::kNone || s.kind == OperandKind::kScalar) continue;
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
    c.Emit(TileCopy(s.source, p, blocks, at, false));
    at += OperandBytes(s, tile.blocks, tile.rows);
  }
  TileOps e(c, tile, plan.type());
  at = tile.operands;
  for (const Step& s : plan.steps) {
    if (s.kind == OperandKind::kNone) {
      FindRecipe(s.op)->emit(e, s.attrs);
    } else if (s.kind == OperandKind::kScalar) {
      EmitScalarStep(e, s);
    } else {
      e.SetOperand(at);
      EmitOperandStep(e, s);
      at += OperandBytes(s, tile.blocks, tile.rows);
    }
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
