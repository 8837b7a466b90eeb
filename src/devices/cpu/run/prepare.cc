// Which kernel runs a step: the first of kernels.inc that says it can, else the operator's
// reference.
#include <initializer_list>

#include "devices/cpu/run/calls.h"
#include "devices/cpu/run/step.h"

namespace npukit::devices::cpu {
namespace {

struct Entry {
  ops::LoopShape loop;
  PrepareFn prepare;
};
constexpr std::initializer_list<Entry> kEntries = {
#define KERNEL(loop, name) {ops::LoopShape::loop, &Prepare_##name},
#include "devices/cpu/run/kernels.inc"
#undef KERNEL
};

}  // namespace

Result<std::unique_ptr<Call>> PrepareStep(const StepView& step, Preparation& prep) {
  for (const Entry& e : kEntries) {
    if (e.loop != step.def->loop) continue;
    if (std::unique_ptr<Call> call = e.prepare(step, prep)) return call;
  }
  return PrepareReference(step);
}

}  // namespace npukit::devices::cpu
