// The prepare functions of kernels.inc: each looks at a step and gives a call, or null when the
// step is not for it.
#pragma once

#include <memory>

#include "devices/cpu/run/step.h"

namespace npukit::devices::cpu {

#define KERNEL(loop, name) \
  std::unique_ptr<Call> Prepare_##name(const StepView& step, Preparation& prep);
#include "devices/cpu/run/kernels.inc"
#undef KERNEL

}  // namespace npukit::devices::cpu
