// Elementwise steps over a block in one pass: eight vectors are loaded, taken through all steps in
// registers, and stored. An epilogue, an activation, a binary operator with an ordinary broadcast:
// all are this loop.
#include <cmath>

#include "devices/cpu/run/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/run/kernels/elementwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "devices/cpu/run/kernels/dispatch.h"
#include "devices/cpu/run/kernels/math-inl.h"
#include "devices/cpu/run/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::cpu {
namespace HWY_NAMESPACE {

constexpr int kVectors = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM ? 8 : 4;

template <int R, class F>
HWY_INLINE void Each(V (&x)[R], const F& f) {
  for (int i = 0; i < R; ++i) x[i] = f(x[i]);
}

// NaN of either side wins.
HWY_INLINE V Smaller(V a, V b) { return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b); }
HWY_INLINE V Larger(V a, V b) { return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b); }
HWY_INLINE V SlopeBelowZero(V x, V slope) {
  return hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Mul(x, slope), x);
}

template <int R>
HWY_INLINE void Unary(const EwStep& s, V (&x)[R]) {
  const D d;
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, 1.0f);
  switch (s.op) {
    case EwOp::kRelu:
      Each(x, [&](V v) { return AtLeast(v, zero); });
      break;
    case EwOp::kClip: {
      const V lo = hn::Set(d, s.p0);
      const V hi = hn::Set(d, s.p1);
      Each(x, [&](V v) { return ClampTo(v, lo, hi); });
      break;
    }
    case EwOp::kHardSigmoid: {
      const V alpha = hn::Set(d, s.p0);
      const V beta = hn::Set(d, s.p1);
      Each(x, [&](V v) { return ClampTo(hn::MulAdd(v, alpha, beta), zero, one); });
      break;
    }
    case EwOp::kHardSwish: {
      const V sixth = hn::Set(d, 1.0f / 6);
      const V half = hn::Set(d, 0.5f);
      Each(x, [&](V v) { return hn::Mul(v, ClampTo(hn::MulAdd(v, sixth, half), zero, one)); });
      break;
    }
    case EwOp::kSigmoid:
      Each(x, [&](V v) { return Sigmoid(v); });
      break;
    case EwOp::kSwish:
      Each(x, [&](V v) { return hn::Mul(v, Sigmoid(v)); });
      break;
    case EwOp::kSqrt:
      Each(x, [&](V v) { return hn::Sqrt(v); });
      break;
    case EwOp::kSquare:
      Each(x, [&](V v) { return hn::Mul(v, v); });
      break;
    case EwOp::kAbs:
      Each(x, [&](V v) { return hn::Abs(v); });
      break;
    case EwOp::kNeg:
      Each(x, [&](V v) { return hn::Neg(v); });
      break;
    case EwOp::kReciprocal:
      Each(x, [&](V v) { return hn::Div(one, v); });
      break;
    case EwOp::kFloor:
      Each(x, [&](V v) { return hn::Floor(v); });
      break;
    case EwOp::kCeil:
      Each(x, [&](V v) { return hn::Ceil(v); });
      break;
    case EwOp::kRound:
      Each(x, [&](V v) { return hn::Round(v); });
      break;
    case EwOp::kLeakyRelu: {
      const V alpha = hn::Set(d, s.p0);
      Each(x, [&](V v) { return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(v, alpha), v); });
      break;
    }
    case EwOp::kElu: {
      const V alpha = hn::Set(d, s.p0);
      Each(x, [&](V v) {
        return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(alpha, hn::Sub(Exp2Ulp(v), one)), v);
      });
      break;
    }
    case EwOp::kExp:
      Each(x, [&](V v) { return Exp2Ulp(v); });
      break;
    case EwOp::kErf:
      Each(x, [&](V v) { return Erf(v); });
      break;
    case EwOp::kTanh:
      Each(x, [&](V v) { return Tanh(v); });
      break;
    case EwOp::kGelu:
      Each(x, [&](V v) { return Gelu(v); });
      break;
    case EwOp::kGeluTanh:
      Each(x, [&](V v) { return GeluTanh(v); });
      break;
    default:
      break;
  }
}

template <int R, class F>
HWY_INLINE void Binary(EwOp op, V (&x)[R], const F& operand) {
  switch (op) {
    case EwOp::kAdd:
      for (int i = 0; i < R; ++i) x[i] = hn::Add(x[i], operand(i));
      break;
    case EwOp::kSub:
      for (int i = 0; i < R; ++i) x[i] = hn::Sub(x[i], operand(i));
      break;
    case EwOp::kMul:
      for (int i = 0; i < R; ++i) x[i] = hn::Mul(x[i], operand(i));
      break;
    case EwOp::kDiv:
      for (int i = 0; i < R; ++i) x[i] = hn::Div(x[i], operand(i));
      break;
    case EwOp::kRSub:
      for (int i = 0; i < R; ++i) x[i] = hn::Sub(operand(i), x[i]);
      break;
    case EwOp::kRDiv:
      for (int i = 0; i < R; ++i) x[i] = hn::Div(operand(i), x[i]);
      break;
    case EwOp::kMin:
      for (int i = 0; i < R; ++i) x[i] = Smaller(x[i], operand(i));
      break;
    case EwOp::kMax:
      for (int i = 0; i < R; ++i) x[i] = Larger(x[i], operand(i));
      break;
    case EwOp::kPRelu:
      for (int i = 0; i < R; ++i) x[i] = SlopeBelowZero(x[i], operand(i));
      break;
    default:
      break;
  }
}

// R vectors from row r, column c on: side by side in the row (kAlong), or one in each of R rows.
// `left` columns are there when kPart.
template <int R, bool kAlong, bool kPart>
HWY_INLINE void Tile(const EwBlock& b, std::int64_t r, std::int64_t c, std::int64_t left) {
  const D d;
  const auto load = [&](const float* p) {
    if constexpr (kPart) {
      return LoadFirst(d, p, left);
    } else {
      return hn::LoadU(d, p);
    }
  };
  const std::int64_t at = r * b.stride + c;
  const std::int64_t step = kAlong ? kLanes : b.stride;
  V x[R];
  for (int i = 0; i < R; ++i) x[i] = load(b.in + at + i * step);
  for (std::int64_t n = 0; n < b.step_count; ++n) {
    const EwStep& s = b.steps[n];
    switch (s.kind) {
      case EwOperand::kNone:
        Unary(s, x);
        break;
      case EwOperand::kScalar: {
        const V v = hn::Set(d, *s.operand);
        Binary(s.op, x, [&](int) { return v; });
        break;
      }
      case EwOperand::kChannel:
      case EwOperand::kImage: {
        const float* p =
            s.operand + (s.kind == EwOperand::kImage ? b.image * b.channels : 0) + b.col0 + c;
        if constexpr (kAlong) {
          Binary(s.op, x, [&](int i) { return load(p + i * kLanes); });
        } else {
          const V v = load(p);
          Binary(s.op, x, [&](int) { return v; });
        }
        break;
      }
      case EwOperand::kRow: {
        const float* p = s.operand + b.row0 + r;
        Binary(s.op, x, [&](int i) { return hn::Set(d, p[kAlong ? 0 : i]); });
        break;
      }
      case EwOperand::kSame: {
        const float* p = s.operand + b.offset + at;
        Binary(s.op, x, [&](int i) { return load(p + i * step); });
        break;
      }
    }
  }
  for (int i = 0; i < R; ++i) {
    float* p = b.out + at + i * step;
    if constexpr (kPart) {
      StoreFirst(x[i], d, p, left);
    } else {
      hn::StoreU(x[i], d, p);
    }
  }
}

template <bool kPart>
void Column(const EwBlock& b, std::int64_t rows, std::int64_t c, std::int64_t left) {
  std::int64_t r = 0;
  for (; r + kVectors <= rows; r += kVectors) Tile<kVectors, false, kPart>(b, r, c, left);
  for (; r < rows; ++r) Tile<1, false, kPart>(b, r, c, left);
}

void Row(const EwBlock& b, std::int64_t r) {
  std::int64_t c = 0;
  for (; c + kVectors * kLanes <= b.cols; c += kVectors * kLanes)
    Tile<kVectors, true, false>(b, r, c, kLanes);
  for (; c + 2 * kLanes <= b.cols; c += 2 * kLanes) Tile<2, true, false>(b, r, c, kLanes);
  for (; c + kLanes <= b.cols; c += kLanes) Tile<1, true, false>(b, r, c, kLanes);
  if (c < b.cols) Tile<1, true, true>(b, r, c, b.cols - c);
}

// Few columns: several rows at a time, so that a vector of an operand that is alike in all rows is
// loaded once, and steps are chosen once for many vectors.
void RowBlock(const EwBlock& block, std::int64_t r) {
  EwBlock b = block;
  b.in += r * b.stride;
  b.out += r * b.stride;
  b.row0 += r;
  b.offset += r * b.stride;
  const std::int64_t rows = block.rows - r < kVectors ? block.rows - r : kVectors;
  std::int64_t c = 0;
  for (; c + kLanes <= b.cols; c += kLanes) Column<false>(b, rows, c, kLanes);
  if (c < b.cols) Column<true>(b, rows, c, b.cols - c);
}

void Elementwise(const EwBlock& block) {
  bool flat = block.stride == block.cols || block.rows == 1;
  for (std::int64_t n = 0; n < block.step_count; ++n) {
    const EwOperand k = block.steps[n].kind;
    flat = flat && (k == EwOperand::kNone || k == EwOperand::kScalar || k == EwOperand::kSame);
  }
  if (flat) {  // position does not matter: one long row
    EwBlock b = block;
    b.cols = block.rows * block.cols;
    Row(b, 0);
  } else if (block.cols >= 4 * kLanes) {  // rows in memory's order
    for (std::int64_t r = 0; r < block.rows; ++r) Row(block, r);
  } else {
    for (std::int64_t r = 0; r < block.rows; r += kVectors) RowBlock(block, r);
  }
}

template <bool kA, bool kB, class F>
HWY_INLINE void RowLoop(const BinaryRow& t, const F& f) {
  const D d;
  const V sa = hn::Set(d, *t.a);
  const V sb = hn::Set(d, *t.b);
  std::int64_t i = 0;
  for (; i + kLanes <= t.n; i += kLanes) {
    hn::StoreU(f(kA ? hn::LoadU(d, t.a + i) : sa, kB ? hn::LoadU(d, t.b + i) : sb), d, t.out + i);
  }
  const std::int64_t left = t.n - i;
  if (left > 0) {
    StoreFirst(f(kA ? LoadFirst(d, t.a + i, left) : sa, kB ? LoadFirst(d, t.b + i, left) : sb), d,
               t.out + i, left);
  }
}

template <class F>
HWY_INLINE void RowKinds(const BinaryRow& t, const F& f) {
  if (t.a_moves && t.b_moves) return RowLoop<true, true>(t, f);
  if (t.a_moves) return RowLoop<true, false>(t, f);
  if (t.b_moves) return RowLoop<false, true>(t, f);
  RowLoop<false, false>(t, f);
}

void BinaryRowOf(const BinaryRow& t) {
  if (t.n <= 0) return;
  switch (t.op) {
    case EwOp::kAdd:
      return RowKinds(t, [](V a, V b) { return hn::Add(a, b); });
    case EwOp::kSub:
      return RowKinds(t, [](V a, V b) { return hn::Sub(a, b); });
    case EwOp::kMul:
      return RowKinds(t, [](V a, V b) { return hn::Mul(a, b); });
    case EwOp::kDiv:
      return RowKinds(t, [](V a, V b) { return hn::Div(a, b); });
    case EwOp::kMin:
      return RowKinds(t, [](V a, V b) { return Smaller(a, b); });
    case EwOp::kMax:
      return RowKinds(t, [](V a, V b) { return Larger(a, b); });
    case EwOp::kPRelu:
      return RowKinds(t, [](V a, V b) { return SlopeBelowZero(a, b); });
    default:
      return;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npukit::devices::cpu {

void FillElementwise(Kernels* k) {
  k->elementwise = NPUKIT_KERNEL(Elementwise, k->target);
  k->binary_row = NPUKIT_KERNEL(BinaryRowOf, k->target);
}

}  // namespace npukit::devices::cpu
#endif
