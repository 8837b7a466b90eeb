// exp and what is made of it, on vectors. Bounds are against exact arithmetic, for all finite
// inputs (kernels_test.cc):
//   Exp2Ulp: at most 2 ULP where the result is normal; results below 2^-126 give 0; inf and NaN as
//   std::exp. Sigmoid, Erf, Tanh: relative error at most 1e-6 where the result is normal. Gelu: at
//   most 3e-7 of |x|.
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

// c[0] + c[1] x + ... + c[N - 1] x^(N - 1)
template <int N>
HWY_INLINE V Polynomial(const float (&c)[N], V x) {
  const D d;
  V p = hn::Set(d, c[N - 1]);
  for (int i = N - 2; i >= 0; --i) p = hn::MulAdd(p, x, hn::Set(d, c[i]));
  return p;
}

// erf(t) for |t| < 1, odd: t + t * P(t^2). The coefficients of this file are least-squares fits
// (reweighted towards the largest error) of the functions that the comments name.
HWY_INLINE V ErfNearZero(V t) {
  static constexpr float kP[] = {0.12837912f,   -0.37612355f,  0.112804115f,
                                 -0.026717704f, 0.0049247863f, -0.00056601415f};
  return hn::MulAdd(Polynomial(kP, hn::Mul(t, t)), t, t);
}

// 1 - erf(t) for t >= 1: e to the power of a polynomial; above 4.2 less than half a unit of 1.
HWY_INLINE V ErfcFarOut(V t) {
  const D d;
  static constexpr float kP[] = {0.000241818489f, -1.12991941f,     -0.632357359f,
                                 -0.109584115f,   0.0261413362f,    -0.00466174353f,
                                 0.000576047576f, -4.36108967e-05f, 1.5141577e-06f};
  const V end = hn::Set(d, 4.2f);
  const V e = Exp2Ulp(Polynomial(kP, hn::Min(t, end)));
  return hn::IfThenElse(hn::Gt(t, end), hn::Zero(d), e);
}

HWY_INLINE V Erf(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V t = hn::Abs(x);
  const V far = hn::CopySign(hn::Sub(one, ErfcFarOut(t)), x);
  const V y = hn::IfThenElse(hn::Lt(t, one), ErfNearZero(x), far);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// 0.5 x erfc(-x / sqrt(2)), so that nothing cancels where x is far below zero.
HWY_INLINE V Gelu(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V t = hn::Abs(hn::Mul(x, hn::Set(d, 0.707106781f)));
  const V e = hn::IfThenElse(hn::Lt(t, one), hn::Sub(one, ErfNearZero(t)), ErfcFarOut(t));
  const V twice = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, hn::Sub(hn::Set(d, 2.0f), e));
  return hn::Mul(hn::Mul(x, hn::Set(d, 0.5f)), twice);  // NaN stays: x times anything
}

// Near zero x + x^3 P(x^2), else from e^(2 |x|).
HWY_INLINE V Tanh(V x) {
  const D d;
  static constexpr float kP[] = {-0.333333313f, 0.133329332f, -0.0538763143f, 0.0211214405f,
                                 -0.00628364645f};
  const V one = hn::Set(d, 1.0f);
  const V t = hn::Abs(x);
  const V s = hn::Mul(x, x);
  const V near = hn::MulAdd(hn::Mul(x, s), Polynomial(kP, s), x);
  const V power = Exp2Ulp(hn::Add(t, t));
  const V far = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(power, one)));
  const V y = hn::IfThenElse(hn::Lt(t, hn::Set(d, 0.6f)), near, hn::CopySign(far, x));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// 0.5 x (1 + tanh(u)) is x sigmoid(2 u).
HWY_INLINE V GeluTanh(V x) {
  const D d;
  const V cubic = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.0713548163f), hn::Set(d, 1.59576912f));
  return hn::Mul(x, Sigmoid(hn::Mul(x, cubic)));
}

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::cpu
HWY_AFTER_NAMESPACE();

#endif
