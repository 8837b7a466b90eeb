// Sums, softmax, layer normalisation and pooling.
#include <cmath>

#include "devices/cpu/run/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/run/kernels/reduce.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "devices/cpu/run/kernels/dispatch.h"
#include "devices/cpu/run/kernels/math-inl.h"
#include "devices/cpu/run/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::cpu {
namespace HWY_NAMESPACE {

// Four partial sums a lane: fast, and closer to the exact sum than one after the other.
float Sum(const float* x, std::int64_t n) {
  const D d;
  V s[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (int k = 0; k < 4; ++k) s[k] = hn::Add(s[k], hn::LoadU(d, x + i + k * kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) s[0] = hn::Add(s[0], hn::LoadU(d, x + i));
  if (i < n) s[1] = hn::Add(s[1], LoadFirst(d, x + i, n - i));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s[0], s[1]), hn::Add(s[2], s[3]))));
}

// exp(x - max) / sum; three passes over one row. NaN anywhere makes the row NaN, as in the formula.
void Softmax(const float* x, float* y, std::int64_t n) {
  const D d;
  V most = hn::Set(d, x[0]);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) most = hn::Max(hn::LoadU(d, x + i), most);
  float max = hn::GetLane(hn::MaxOfLanes(d, most));
  for (std::int64_t k = i; k < n; ++k) max = x[k] > max ? x[k] : max;
  const V m = hn::Set(d, max);
  V sum = hn::Zero(d);
  for (i = 0; i + kLanes <= n; i += kLanes) {
    const V e = Exp2Ulp(hn::Sub(hn::LoadU(d, x + i), m));
    hn::StoreU(e, d, y + i);
    sum = hn::Add(sum, e);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  if (i < n) {
    const std::int64_t left = n - i;
    StoreFirst(Exp2Ulp(hn::Sub(LoadFirst(d, x + i, left), m)), d, y + i, left);
    for (std::int64_t k = i; k < n; ++k) total += y[k];
  }
  const V scale = hn::Set(d, 1.0f / total);
  for (i = 0; i + kLanes <= n; i += kLanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, y + i), scale), d, y + i);
  if (i < n) StoreFirst(hn::Mul(LoadFirst(d, y + i, n - i), scale), d, y + i, n - i);
}

// Mean and variance of one row, in two passes, so that a row far from zero keeps its digits.
void Moments(const float* x, std::int64_t n, float* mean, float* variance) {
  const D d;
  *mean = Sum(x, n) / static_cast<float>(n);
  const V m = hn::Set(d, *mean);
  V squares[2] = {hn::Zero(d), hn::Zero(d)};
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    for (int k = 0; k < 2; ++k) {
      const V c = hn::Sub(hn::LoadU(d, x + i + k * kLanes), m);
      squares[k] = hn::MulAdd(c, c, squares[k]);
    }
  }
  for (; i + kLanes <= n; i += kLanes) {
    const V c = hn::Sub(hn::LoadU(d, x + i), m);
    squares[0] = hn::MulAdd(c, c, squares[0]);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(squares[0], squares[1])));
  for (; i < n; ++i) sum += (x[i] - *mean) * (x[i] - *mean);
  *variance = sum / static_cast<float>(n);
}

void LayerNorm(const float* x, const float* scale, const float* bias, float epsilon, float* y,
               std::int64_t n) {
  const D d;
  float mean = 0, variance = 0;
  Moments(x, n, &mean, &variance);
  const V m = hn::Set(d, mean);
  const V factor = hn::Set(d, 1.0f / std::sqrt(variance + epsilon));
  for (std::int64_t i = 0; i < n; i += kLanes) {
    const std::int64_t left = n - i;
    const V c = hn::Mul(hn::Sub(LoadUpTo(d, x + i, left), m), factor);
    const V s = LoadUpTo(d, scale + i, left);
    const V b = bias == nullptr ? hn::Zero(d) : LoadUpTo(d, bias + i, left);
    StoreUpTo(hn::MulAdd(c, s, b), d, y + i, left);
  }
}

void RmsNorm(const float* x, const float* scale, float epsilon, float* y, std::int64_t n) {
  const D d;
  V squares[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (int k = 0; k < 4; ++k) {
      const V v = hn::LoadU(d, x + i + k * kLanes);
      squares[k] = hn::MulAdd(v, v, squares[k]);
    }
  }
  for (; i + kLanes <= n; i += kLanes) {
    const V v = hn::LoadU(d, x + i);
    squares[0] = hn::MulAdd(v, v, squares[0]);
  }
  const V all = hn::Add(hn::Add(squares[0], squares[1]), hn::Add(squares[2], squares[3]));
  float sum = hn::GetLane(hn::SumOfLanes(d, all));
  for (; i < n; ++i) sum += x[i] * x[i];
  const V factor = hn::Set(d, 1.0f / std::sqrt(sum / static_cast<float>(n) + epsilon));
  for (i = 0; i < n; i += kLanes) {
    const std::int64_t left = n - i;
    const V v = hn::Mul(LoadUpTo(d, x + i, left), factor);
    StoreUpTo(hn::Mul(v, LoadUpTo(d, scale + i, left)), d, y + i, left);
  }
}

// f(so far, tap) over all taps of one pixel, then last(result).
template <class F, class L>
HWY_INLINE void Pool(const PoolPixel& p, V init, const F& f, const L& last) {
  const D d;
  constexpr std::int64_t kWide = 4 * kLanes;
  std::int64_t c = 0;
  for (; c + kWide <= p.channels; c += kWide) {
    V s[4] = {init, init, init, init};
    for (std::int64_t y = 0; y < p.rows; ++y) {
      for (std::int64_t x = 0; x < p.cols; ++x) {
        const float* at = p.in + y * p.row_stride + x * p.col_stride + c;
        for (int k = 0; k < 4; ++k) s[k] = f(s[k], hn::LoadU(d, at + k * kLanes));
      }
    }
    for (int k = 0; k < 4; ++k) hn::StoreU(last(s[k]), d, p.out + c + k * kLanes);
  }
  for (; c < p.channels; c += kLanes) {
    const std::int64_t left = p.channels - c;
    V s = init;
    for (std::int64_t y = 0; y < p.rows; ++y) {
      for (std::int64_t x = 0; x < p.cols; ++x) {
        s = f(s, LoadUpTo(d, p.in + y * p.row_stride + x * p.col_stride + c, left));
      }
    }
    StoreUpTo(last(s), d, p.out + c, left);
  }
}

void MaxPool(const PoolPixel& p) {
  const auto larger = [](V s, V x) {
    return hn::IfThenElse(hn::Or(hn::Gt(x, s), hn::IsNaN(x)), x, s);
  };  // NaN stays
  Pool(p, hn::Set(D(), -HUGE_VALF), larger, [](V s) { return s; });
}

void SumPool(const PoolPixel& p) {
  const V scale = hn::Set(D(), p.scale);
  Pool(
      p, hn::Zero(D()), [](V s, V x) { return hn::Add(s, x); },
      [&](V s) { return hn::Mul(s, scale); });
}

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npukit::devices::cpu {

void FillReduce(Kernels* k) {
  k->sum = NPUKIT_KERNEL(Sum, k->target);
  k->softmax = NPUKIT_KERNEL(Softmax, k->target);
  k->moments = NPUKIT_KERNEL(Moments, k->target);
  k->rms_norm = NPUKIT_KERNEL(RmsNorm, k->target);
  k->layer_norm = NPUKIT_KERNEL(LayerNorm, k->target);
  k->max_pool = NPUKIT_KERNEL(MaxPool, k->target);
  k->sum_pool = NPUKIT_KERNEL(SumPool, k->target);
}

}  // namespace npukit::devices::cpu
#endif
