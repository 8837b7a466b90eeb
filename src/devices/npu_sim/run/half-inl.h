// Vectors of fp32 and their fp16 images, per Highway target. Not guarded against inclusion once per
// target.
#if defined(NPUKIT_NPU_SIM_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NPUKIT_NPU_SIM_HALF_INL_H_
#undef NPUKIT_NPU_SIM_HALF_INL_H_
#else
#define NPUKIT_NPU_SIM_HALF_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::npu_sim {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
using DI = hn::Rebind<std::int32_t, D>;
using DU = hn::Rebind<std::uint32_t, D>;
using DH = hn::Rebind<std::uint16_t, D>;
constexpr std::int64_t kN =
    HWY_TARGET == HWY_SCALAR ? 1 : (HWY_LANES(float) < 16 ? HWY_LANES(float) : 16);
constexpr int kVec = static_cast<int>(16 / kN);  // vectors of a block of 16 lanes

// Hardware conversion where it rounds to nearest, ties to even, and keeps subnormals; integers
// elsewhere.
#undef NPUKIT_HALF_IN_HARDWARE
#if HWY_TARGET != HWY_SCALAR && (HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM)
#define NPUKIT_HALF_IN_HARDWARE 1
#else
#define NPUKIT_HALF_IN_HARDWARE 0
#endif

HWY_INLINE V HalfToFloatV(hn::Vec<DH> h) {
  const D d;
#if NPUKIT_HALF_IN_HARDWARE
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), h));
#else
  // The exponent is moved by a multiplication, exact for subnormals too.
  const DI di;
  const auto x = hn::PromoteTo(di, h);
  const auto magnitude = hn::And(x, hn::Set(di, 0x7FFF));
  const auto sign = hn::ShiftLeft<16>(hn::And(x, hn::Set(di, 0x8000)));
  const V f = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112f));
  const auto special =
      hn::And(hn::VecFromMask(di, hn::Gt(magnitude, hn::Set(di, 0x7BFF))), hn::Set(di, 0x7F800000));
  return hn::BitCast(d, hn::Or(hn::Or(hn::BitCast(di, f), special), sign));
#endif
}

HWY_INLINE hn::Vec<DH> FloatToHalfV(V v) {
#if NPUKIT_HALF_IN_HARDWARE
  return hn::BitCast(DH(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), v));
#else
  // tensor::FloatToHalf, lane by lane the same integers.
  const D d;
  const DI di;
  const auto x = hn::BitCast(di, v);
  const auto a = hn::And(x, hn::Set(di, 0x7FFFFFFF));
  const auto sign = hn::And(hn::ShiftRight<16>(x), hn::Set(di, 0x8000));
  const auto odd = hn::And(hn::ShiftRight<13>(a), hn::Set(di, 1));
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Add(a, hn::Set(di, 0xFFF - (112 << 23))), odd));
  const auto tiny = hn::Sub(hn::BitCast(di, hn::Add(hn::BitCast(d, a), hn::Set(d, 0.5f))),
                            hn::Set(di, 0x3F000000));
  auto r = hn::IfThenElse(hn::Lt(a, hn::Set(di, 0x38800000)), tiny, normal);
  r = hn::IfThenElse(hn::Gt(a, hn::Set(di, 0x477FEFFF)), hn::Set(di, 0x7C00), r);
  r = hn::IfThenElse(hn::Gt(a, hn::Set(di, 0x7F800000)), hn::Set(di, 0x7E00), r);
  return hn::DemoteTo(DH(), hn::Or(r, sign));
#endif
}

HWY_INLINE V LoadHalf(const std::byte* p) {
  return HalfToFloatV(hn::LoadU(DH(), reinterpret_cast<const std::uint16_t*>(p)));
}
HWY_INLINE void StoreHalf(V v, std::byte* p) {
  hn::StoreU(FloatToHalfV(v), DH(), reinterpret_cast<std::uint16_t*>(p));
}
HWY_INLINE V RoundHalf(V v) { return HalfToFloatV(FloatToHalfV(v)); }

// max(a, b), min(a, b) of the semantics: NaN propagates, of equal values the second. (Ne(a, a) is
// no test for NaN: Highway 1.0.3 compares ordered on AVX-512.)
HWY_INLINE V MaxV(V a, V b) { return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b); }
HWY_INLINE V MinV(V a, V b) { return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b); }

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::npu_sim
HWY_AFTER_NAMESPACE();

#endif
