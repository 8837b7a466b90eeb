// Windows on the vector unit: depthwise convolution, and pooling as windows without weights.
#pragma once

#include <cstdint>

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

struct WindowTiling {
  std::int64_t blocks = 1, rows = 1, columns = 1;
};

struct WindowProblem {
  ConvGeometry geometry;  // channels == out_channels
  npu::WindowOp op = npu::WindowOp::kMac;
  Blocked src, dst;
  std::int32_t weight = -1;  // (C1, taps, 16) fp16; kMac
  std::int32_t bias = -1;    // (C1, 16) fp32
  std::int32_t padding =
      0;               // fp16 bits of what lies outside the map: 0, or -infinity for a maximum
  float scale = 1.0f;  // of the result, before the steps: 1 / taps for an average
  StepsPlan steps;
};

WindowTiling ChooseWindowTiling(const Config& config, const ConvGeometry& g, const StepsPlan& steps,
                                Overflow* overflow);
// The tiling that the model finds fastest among `first` and smaller ones. Outside any task.
WindowTiling SearchWindowTiling(Context& c, const WindowProblem& p, const WindowTiling& first);
void EmitWindow(Context& c, const WindowProblem& p, const WindowTiling& t);

}  // namespace npukit::devices::npu_sim
