// From a Target to the function compiled for it. Highway's own dispatch keeps one choice for the
// whole process; npukit chooses per device, so that a test can run every target and two devices may
// differ. Nor does it link Highway's library, which its tables (HWY_EXPORT) would need: that takes
// milliseconds before main.
//
// In a kernel file: NPUKIT_KERNEL(F, target) is the pointer to F as compiled for the target.
#pragma once

#include <hwy/highway.h>

#include <type_traits>

#include "devices/cpu/run/kernels/kernels.h"
#include "devices/cpu/run/kernels/targets.h"

// One target only (arm64: NEON by the headers alone, without libhwy).
#if defined(HWY_COMPILE_ONLY_STATIC) || ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0)
#define NPUKIT_STATIC_TARGET 1
#else
#define NPUKIT_STATIC_TARGET 0
#endif

namespace npukit::devices::cpu {

#if NPUKIT_STATIC_TARGET

#define NPUKIT_KERNEL(F, t) ((void)(t), &HWY_STATIC_DISPATCH(F))

#else

// Null where the build has no such target.
template <class F>
F* Pick(Target t, std::type_identity_t<F*> avx512, std::type_identity_t<F*> avx2, F* fallback) {
  return t == Target::kAvx512 ? avx512 : t == Target::kAvx2 ? avx2 : fallback;
}

#define NPUKIT_KERNEL(F, t) \
  ::npukit::devices::cpu::Pick(t, HWY_CHOOSE_AVX3(F), HWY_CHOOSE_AVX2(F), HWY_CHOOSE_FALLBACK(F))

#endif

}  // namespace npukit::devices::cpu
