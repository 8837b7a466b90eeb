// Vector instructions: rows of operands become fp32 in small buffers, are computed there, and are
// rounded once on the way back. Rows that follow each other in memory are taken as one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "devices/npu_sim/blob/isa.h"
#include "devices/npu_sim/run/kernels.h"

namespace npukit::devices::npu_sim {

class Core;

class VectorUnit {
 public:
  VectorUnit(Core& core, const Kernels& kernels);
  void Run(const npu::L0cToUb& x, bool half_accumulators);
  void Run(const npu::Unary& x);
  void Run(const npu::Binary& x);
  void Run(const npu::Window& x);
  void Run(const npu::Reduce& x);

 private:
  static constexpr std::int64_t kChunk = 1024;  // elements; a multiple of 16
  // `rows` rows of `len` elements, `stride` bytes apart, to or from the adjacent elements of a
  // buffer.
  void Load(std::int32_t type, const std::byte* p, std::int64_t stride, std::int64_t rows,
            std::int64_t len, float* to);
  void Store(std::int32_t type, const float* from, std::int64_t rows, std::int64_t len,
             std::byte* p, std::int64_t stride);

  Core& core_;
  const Kernels& kernels_;
  std::byte* const ub_;
  alignas(64) float a_[kChunk];
  alignas(64) float b_[kChunk];
};

}  // namespace npukit::devices::npu_sim
