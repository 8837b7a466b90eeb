#include <cstdlib>
#include <string>
#include <string_view>

#include "base/cpu_features.h"
#include "base/text.h"
#include "devices/cpu/run/kernels/dispatch.h"
#include "devices/cpu/run/kernels/kernels.h"

namespace npukit::devices::cpu {
namespace {

Kernels MakeKernels(Target t) {
  Kernels k;
  k.target = t;
  FillGemm(&k);
  FillDepthwise(&k);
  FillWinograd(&k);
  FillElementwise(&k);
  FillReduce(&k);
  FillMove(&k);
  FillPeaks(&k);
  return k;
}

}  // namespace

const char* TargetName(Target t) {
  switch (t) {
    case Target::kScalar:
      return "scalar";
    case Target::kAvx2:
      return "avx2";
    case Target::kAvx512:
      return "avx512";
    case Target::kNeon:
      return "neon";
  }
  return "unknown";
}

std::vector<Target> SupportedTargets() {
#if NPUKIT_STATIC_TARGET
#if HWY_STATIC_TARGET == HWY_NEON
  return {Target::kNeon};
#else
  return {Target::kScalar};
#endif
#else
  std::vector<Target> out;
  if ((HWY_TARGETS & HWY_AVX3) != 0 && CpuRunsAvx512()) out.push_back(Target::kAvx512);
  if ((HWY_TARGETS & HWY_AVX2) != 0 && CpuRunsAvx2()) out.push_back(Target::kAvx2);
  out.push_back(Target::kScalar);
  return out;
#endif
}

const Kernels* KernelsFor(Target t) {
  for (const Target have : SupportedTargets()) {
    if (have != t) continue;
    switch (t) {
      case Target::kScalar: {
        static const Kernels k = MakeKernels(Target::kScalar);
        return &k;
      }
      case Target::kAvx2: {
        static const Kernels k = MakeKernels(Target::kAvx2);
        return &k;
      }
      case Target::kAvx512: {
        static const Kernels k = MakeKernels(Target::kAvx512);
        return &k;
      }
      case Target::kNeon: {
        static const Kernels k = MakeKernels(Target::kNeon);
        return &k;
      }
    }
  }
  return nullptr;
}

Result<const Kernels*> ChosenKernels() {
  const std::vector<Target> targets = SupportedTargets();
  const char* forced = std::getenv("NPUKIT_CPU_TARGET");
  if (forced == nullptr || *forced == '\0') return KernelsFor(targets.front());
  std::vector<std::string> names;
  for (const Target t : targets) {
    if (std::string_view(forced) == TargetName(t)) return KernelsFor(t);
    names.emplace_back(TargetName(t));
  }
  return InvalidArgument(
      Cat("NPUKIT_CPU_TARGET: expected one of ", Join(names, ", "), ", found ", Printable(forced)));
}

}  // namespace npukit::devices::cpu
