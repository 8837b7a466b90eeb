// exp and what is made of it, on vectors. Bounds are against exact arithmetic, for all finite
// inputs (kernels_test.cc):
//   Exp2Ulp: at most 2 ULP where the result is normal; results below 2^-126 give 0; inf and NaN as
//   std::exp. Sigmoid: relative error at most 1e-6 where the result is normal.
#if defined(NPUKIT_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NPUKIT_CPU_MATH_INL_H_
#undef NPUKIT_CPU_MATH_INL_H_
#else
#define NPUKIT_CPU_MATH_INL_H_
#endif

#include "devices/cpu/run/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::cpu {
namespace HWY_NAMESPACE {

// exp(x) = 2^n * exp(r), |r| <= ln(2) / 2. ln(2) in two parts keeps r exact; a polynomial of degree
// 6 does the rest. 2^n is made in two factors so that n = 128 does not overflow before it must.
HWY_INLINE V Exp2Ulp(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  const V hi = hn::Set(d, 88.72284f);   // the largest float whose exp is finite
  const V lo = hn::Set(d, -87.33654f);  // below: the result is not normal
  const V c = hn::Min(hn::Max(x, lo), hi);
  const auto n = hn::NearestInt(hn::Mul(c, hn::Set(d, 1.44269504f)));
  const V nf = hn::ConvertTo(d, n);
  V r = hn::NegMulAdd(nf, hn::Set(d, 0.693145752f), c);
  r = hn::NegMulAdd(nf, hn::Set(d, 1.42860677e-6f), r);
  V p = hn::Set(d, 1.0f / 720);
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 120));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 24));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 6));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  p = hn::MulAdd(hn::Mul(r, r), p, r);
  p = hn::Add(p, hn::Set(d, 1.0f));
  const auto n1 = hn::ShiftRight<1>(n);
  const auto n2 = hn::Sub(n, n1);
  const auto bias = hn::Set(di, 127);
  p = hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n1, bias))));
  p = hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n2, bias))));
  p = hn::IfThenElse(hn::Lt(x, lo), hn::Zero(d), p);
  p = hn::IfThenElse(hn::Gt(x, hi), hn::Set(d, HUGE_VALF), p);
  return hn::IfThenElse(hn::IsNaN(x), x, p);
}

HWY_INLINE V Sigmoid(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, Exp2Ulp(hn::Neg(x))));
}

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::cpu
HWY_AFTER_NAMESPACE();

#endif
