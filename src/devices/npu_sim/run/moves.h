// Instructions that move bytes and compute nothing: copy, fill, load3d, load2d, move. Operands are
// checked.
#pragma once

#include <cstddef>

#include "devices/npu_sim/blob/isa.h"
#include "devices/npu_sim/run/kernels.h"

namespace npukit::devices::npu_sim {

void CopyRuns(const npu::Copy& x, const std::byte* src, std::byte* dst);
void FillRuns(const npu::Fill& x, std::byte* memory);
void LoadWindows(const npu::Load3d& x, const std::byte* l1, std::byte* l0a);
void LoadFractals(const npu::Load2d& x, const std::byte* l1, std::byte* l0);
void MoveElements(const npu::Move& x, std::byte* ub, const Kernels& kernels);

}  // namespace npukit::devices::npu_sim
