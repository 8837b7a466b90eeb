#include "devices/npu_sim/lower/tile_ops.h"

#include <cmath>
#include <utility>

namespace npukit::devices::npu_sim {

using npu::BinaryOp;
using npu::UnaryOp;

void TileOps::Unary(UnaryOp op, Where to, Where from, float scalar) {
  npu::Unary u;
  u.op = op;
  u.dst_type = u.src_type = type_;
  u.dst_addr = Word(At(to));
  u.src_addr = Word(At(from));
  u.len = Word(t_.blocks * t_.rows * kLanes);
  u.scalar = scalar;
  c_.Emit(u);
}

void TileOps::Binary(BinaryOp op, Where to, Where a, Where b) {
  npu::Binary i;
  i.op = op;
  i.dst_type = i.src0_type = i.src1_type = type_;
  i.dst_addr = Word(At(to));
  i.src0_addr = Word(At(a));
  i.src1_addr = Word(At(b));
  i.len = Word(t_.blocks * t_.rows * kLanes);
  c_.Emit(i);
}

void TileOps::WithOperand(BinaryOp op, const Step& s, Where to, Where from) {
  npu::Binary b;
  b.op = op;
  b.dst_type = b.src0_type = type_;
  b.dst_addr = Word(At(to));
  b.src0_addr = Word(At(from));
  b.src1_addr = Word(operand_);
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

namespace {

using Attrs = ops::Attrs;
constexpr TileOps::Where kMain = TileOps::kMain, kTemp = TileOps::kTemp;

bool Always(const Attrs&) { return true; }
bool Never(const Attrs&) { return false; }

// temp = 1 + exp(temp)
void OnePlusExp(TileOps& t) {
  t.OnTemp(UnaryOp::kExp);
  t.OnTemp(UnaryOp::kAdds, 1.0f);
}

// main = main / (1 + exp(temp)): main times the logistic function of -temp.
void DivideByOnePlusExp(TileOps& t) {
  OnePlusExp(t);
  t.Binary(BinaryOp::kDiv, kMain, kMain, kTemp);
}

// temp = max(alpha * main + beta, 0)
void HardSigmoidToTemp(TileOps& t, float alpha, float beta) {
  t.Unary(UnaryOp::kMuls, kTemp, kMain, alpha);
  t.OnTemp(UnaryOp::kAdds, beta);
  t.OnTemp(UnaryOp::kMaxs, 0.0f);
}

// main = 1 - 2 / (1 + exp(from)) = tanh(from / 2). Where exp overflows, the quotient is 0.
void TanhOfHalf(TileOps& t, TileOps::Where from) {
  t.Unary(UnaryOp::kExp, kMain, from);
  t.InPlace(UnaryOp::kAdds, 1.0f);
  t.InPlace(UnaryOp::kRec);
  t.InPlace(UnaryOp::kMuls, -2.0f);
  t.InPlace(UnaryOp::kAdds, 1.0f);
}

void Clip(TileOps& t, const Attrs& a) {
  const float lo = a.Float("min", -INFINITY), hi = a.Float("max", INFINITY);
  if (lo != -INFINITY) t.InPlace(UnaryOp::kMaxs, lo);
  if (hi != INFINITY) t.InPlace(UnaryOp::kMins, hi);
}
bool ClipKeepsZero(const Attrs& a) {
  return a.Float("min", -INFINITY) <= 0 && a.Float("max", INFINITY) >= 0;
}

void HardSigmoid(TileOps& t, const Attrs& a) {
  HardSigmoidToTemp(t, a.Float("alpha", 0.2f), a.Float("beta", 0.5f));
  t.Unary(UnaryOp::kMins, kMain, kTemp, 1.0f);
}

void HardSwish(TileOps& t, const Attrs&) {
  HardSigmoidToTemp(t, 1.0f / 6.0f, 0.5f);
  t.OnTemp(UnaryOp::kMins, 1.0f);
  t.Binary(BinaryOp::kMul, kMain, kMain, kTemp);
}

void Sigmoid(TileOps& t, const Attrs&) {
  t.Unary(UnaryOp::kMuls, kTemp, kMain, -1.0f);
  OnePlusExp(t);
  t.Unary(UnaryOp::kRec, kMain, kTemp);
}

void Swish(TileOps& t, const Attrs&) {
  t.Unary(UnaryOp::kMuls, kTemp, kMain, -1.0f);
  DivideByOnePlusExp(t);
}

void Tanh(TileOps& t, const Attrs&) {
  t.InPlace(UnaryOp::kMuls, 2.0f);
  TanhOfHalf(t, kMain);
}

// erf(x) = tanh(z / 2) with z = x * (a0 + a1 x^2 + a2 x^4 + a3 x^6) on |x| <= 4, beyond which erf
// is 1 in fp16. The coefficients are a weighted minimax fit of log((1 + erf) / (1 - erf)) / x made
// for this file (Lawson's iteration, weights 1 / ulp of fp16): off by at most 1.9e-5 (at 1: a
// thirteenth of fp16's spacing), tests/npu_sim/functions_test.cc holds it against std::erf.
void Erf(TileOps& t, const Attrs&) {
  t.InPlace(UnaryOp::kMaxs, -4.0f);
  t.InPlace(UnaryOp::kMins, 4.0f);
  t.Binary(BinaryOp::kMul, kTemp, kMain, kMain);
  t.OnTemp(UnaryOp::kMuls, -3.74842624e-4f);
  t.OnTemp(UnaryOp::kAdds, -1.82941440e-3f);
  for (const float a : {2.06226378e-1f, 2.25671704f}) {
    t.Binary(BinaryOp::kMul, kTemp, kTemp, kMain);
    t.Binary(BinaryOp::kMul, kTemp, kTemp, kMain);
    t.OnTemp(UnaryOp::kAdds, a);
  }
  t.Binary(BinaryOp::kMul, kTemp, kTemp, kMain);
  TanhOfHalf(t, kTemp);
}

// gelu(x) = x / (1 + exp(-z)), where z is the logit of the normal distribution. The exact one:
// z = x * (c0 + c1 s + c2 s^2), s = min(x^2, 36), as c2 (s + b)^2 + d so that no second temporary
// is needed; a minimax fit made as that of erf, the error of gelu at most 2.6e-5 (an eighth of
// fp16's spacing just below 0.5). The other: z is sqrt(8 / pi) (x + 0.044715 x^3) by definition.
void Gelu(TileOps& t, const Attrs& a) {
  t.Binary(BinaryOp::kMul, kTemp, kMain, kMain);
  if (a.String("approximate", "none") == "tanh") {
    t.OnTemp(UnaryOp::kMuls, -1.5957691216f * 0.044715f);
    t.OnTemp(UnaryOp::kAdds, -1.5957691216f);
  } else {
    constexpr float c0 = 1.59501508f, c1 = 7.40120695e-2f, c2 = -7.03197684e-4f;
    constexpr float b = c1 / (2 * c2), d = c0 - c2 * b * b;
    t.OnTemp(UnaryOp::kMins, 36.0f);
    t.OnTemp(UnaryOp::kAdds, b);
    t.Binary(BinaryOp::kMul, kTemp, kTemp, kTemp);
    t.OnTemp(UnaryOp::kMuls, -c2);
    t.OnTemp(UnaryOp::kAdds, -d);
  }
  t.Binary(BinaryOp::kMul, kTemp, kTemp, kMain);
  DivideByOnePlusExp(t);
}

// max(x, 0) + log(1 + exp(-|x|)): no exp that overflows.
void Softplus(TileOps& t, const Attrs&) {
  t.Unary(UnaryOp::kAbs, kTemp, kMain);
  t.OnTemp(UnaryOp::kNeg);
  OnePlusExp(t);
  t.OnTemp(UnaryOp::kLn);
  t.InPlace(UnaryOp::kMaxs, 0.0f);
  t.Binary(BinaryOp::kAdd, kMain, kMain, kTemp);
}

// max(x, 0) + alpha * (exp(min(x, 0)) - 1)
void Elu(TileOps& t, const Attrs& a) {
  t.Unary(UnaryOp::kMins, kTemp, kMain, 0.0f);
  t.OnTemp(UnaryOp::kExp);
  t.OnTemp(UnaryOp::kAdds, -1.0f);
  t.OnTemp(UnaryOp::kMuls, a.Float("alpha", 1.0f));
  t.InPlace(UnaryOp::kMaxs, 0.0f);
  t.Binary(BinaryOp::kAdd, kMain, kMain, kTemp);
}

// The larger of x and alpha * x, or the smaller where alpha is above 1. Alpha 0 by itself: 0 times
// infinity is no number.
void LeakyRelu(TileOps& t, const Attrs& a) {
  const float alpha = a.Float("alpha", 0.01f);
  if (alpha == 0) return t.InPlace(UnaryOp::kRelu);
  t.Unary(UnaryOp::kMuls, kTemp, kMain, alpha);
  t.Binary(alpha > 1 ? BinaryOp::kMin : BinaryOp::kMax, kMain, kMain, kTemp);
}

void Relu(TileOps& t, const Attrs&) { t.InPlace(UnaryOp::kRelu); }
void Sqrt(TileOps& t, const Attrs&) { t.InPlace(UnaryOp::kSqrt); }
void Abs(TileOps& t, const Attrs&) { t.InPlace(UnaryOp::kAbs); }
void Neg(TileOps& t, const Attrs&) { t.InPlace(UnaryOp::kNeg); }
void Exp(TileOps& t, const Attrs&) { t.InPlace(UnaryOp::kExp); }
void Log(TileOps& t, const Attrs&) { t.InPlace(UnaryOp::kLn); }
void Reciprocal(TileOps& t, const Attrs&) { t.InPlace(UnaryOp::kRec); }
void Identity(TileOps&, const Attrs&) {}

constinit const UnaryRecipe kRecipes[] = {
    {&op::relu, false, Always, Relu},
    {&op::clip, false, ClipKeepsZero, Clip},
    {&op::hard_sigmoid, true, Never, HardSigmoid},
    {&op::hard_swish, true, Always, HardSwish},
    {&op::sigmoid, true, Never, Sigmoid},
    {&op::swish, true, Always, Swish},
    {&op::gelu, true, Always, Gelu},
    {&op::tanh, false, Always, Tanh},
    {&op::erf, true, Always, Erf},
    {&op::leaky_relu, true, Always, LeakyRelu},
    {&op::elu, true, Always, Elu},
    {&op::softplus, true, Never, Softplus},
    {&op::sqrt, false, Always, Sqrt},
    {&op::exp, false, Never, Exp},
    {&op::log, false, Never, Log},
    {&op::abs, false, Always, Abs},
    {&op::neg, false, Always, Neg},
    {&op::reciprocal, false, Never, Reciprocal},
    {&op::identity, false, Always, Identity},
};

}  // namespace

const UnaryRecipe* FindRecipe(const ops::OpDef* op) {
  for (const UnaryRecipe& r : kRecipes) {
    if (r.op == op) return &r;
  }
  return nullptr;
}

}  // namespace npukit::devices::npu_sim
