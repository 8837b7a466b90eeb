// What kernel files share inside the target's namespace: the vector type, partial loads and stores.
#if defined(NPUKIT_CPU_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NPUKIT_CPU_VECTOR_INL_H_
#undef NPUKIT_CPU_VECTOR_INL_H_
#else
#define NPUKIT_CPU_VECTOR_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most one panel of 16 channels to a vector, whatever the machine could do.
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

// The first n (less than all) floats; zero behind. Touches nothing behind p[n - 1].
template <class DT>
HWY_INLINE hn::Vec<DT> LoadFirst(DT d, const float* p, std::int64_t n) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86  // real masked loads
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(n)), d, p);
#else
  alignas(64) float buffer[hn::MaxLanes(DT())] = {};
  std::memcpy(buffer, p, static_cast<std::size_t>(n) * sizeof(float));
  return hn::Load(d, buffer);
#endif
}

template <class DT>
HWY_INLINE void StoreFirst(hn::Vec<DT> v, DT d, float* p, std::int64_t n) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(n)), d, p);
#else
  alignas(64) float buffer[hn::MaxLanes(DT())];
  hn::Store(v, d, buffer);
  std::memcpy(p, buffer, static_cast<std::size_t>(n) * sizeof(float));
#endif
}

// All lanes when n is as many or more.
template <class DT>
HWY_INLINE hn::Vec<DT> LoadUpTo(DT d, const float* p, std::int64_t n) {
  return n >= static_cast<std::int64_t>(hn::MaxLanes(DT())) ? hn::LoadU(d, p) : LoadFirst(d, p, n);
}
template <class DT>
HWY_INLINE void StoreUpTo(hn::Vec<DT> v, DT d, float* p, std::int64_t n) {
  if (n >= static_cast<std::int64_t>(hn::MaxLanes(DT()))) {
    hn::StoreU(v, d, p);
  } else {
    StoreFirst(v, d, p, n);
  }
}

// max(x, limit) and min(x, limit) where a NaN in x stays. x86 gives the second operand when either
// is NaN; the others drop NaN.
template <class VT>
HWY_INLINE VT AtLeast(VT x, VT limit) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  return hn::Max(limit, x);
#else
  return hn::IfThenElse(hn::Lt(x, limit), limit, x);
#endif
}
template <class VT>
HWY_INLINE VT AtMost(VT x, VT limit) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  return hn::Min(limit, x);
#else
  return hn::IfThenElse(hn::Gt(x, limit), limit, x);
#endif
}
template <class VT>
HWY_INLINE VT ClampTo(VT x, VT lo, VT hi) {
  return AtMost(AtLeast(x, lo), hi);
}

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::cpu
HWY_AFTER_NAMESPACE();

#endif
