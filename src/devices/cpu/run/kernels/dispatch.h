// From a Target to the function compiled for it. Highway's own dispatch keeps one choice for the
// whole process; npukit chooses per device, so that a test can run every target and two devices may
// differ.
//
// In a kernel file, after HWY_EXPORT(F): NPUKIT_KERNEL(F, target) is the pointer to F as compiled
// for the target.
#pragma once

#include <hwy/highway.h>

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

#define NPUKIT_KERNEL(F, t) ((void)(t), HWY_DISPATCH_TABLE(F)[0])

#else

constexpr std::int64_t MaskOf(Target t) {
  return t == Target::kAvx512 ? HWY_AVX3 : t == Target::kAvx2 ? HWY_AVX2 : 0;  // 0: the fallback
}

inline std::size_t TableIndex(Target t) {
  hwy::ChosenTarget chosen;
  chosen.Update(MaskOf(t));
  return chosen.GetIndex();
}

#define NPUKIT_KERNEL(F, t) (HWY_DISPATCH_TABLE(F)[::npukit::devices::cpu::TableIndex(t)])

#endif

}  // namespace npukit::devices::cpu
