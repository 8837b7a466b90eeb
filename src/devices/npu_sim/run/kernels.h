// The arithmetic of the simulated NPU, compiled for several vector targets. The bits never depend
// on the target: each function is the formula of docs/npu_semantics.md, whose sums have a fixed
// order. Pure functions; no checks (blob/check.cc has made them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "devices/npu_sim/blob/isa.h"

namespace npukit::devices::npu_sim {

struct MmadArgs {
  npu::Mmad op;
  bool half_accumulators = false;
  const std::byte* a = nullptr;     // at a_addr
  const std::byte* b = nullptr;     // at b_addr
  std::byte* c = nullptr;           // at c_addr
  const std::byte* bias = nullptr;  // at bias_addr
  float* a_scratch = nullptr;  // 64-byte aligned: 4 (fp16: 2) bytes for each byte of A's fractals
  float* b_scratch = nullptr;  // the same for B
};

struct WindowArgs {
  npu::Window op;
  const std::byte* src = nullptr;
  const std::byte* weight = nullptr;
  const std::byte* bias = nullptr;  // null: +0
  std::byte* dst = nullptr;
  float* weight_scratch = nullptr;  // kernel_h * kernel_w * 16, 64-byte aligned
};

// `len` lanes of one reduction over rows: fp16 or fp32 in, fp32 out.
struct RowsArgs {
  std::int32_t type = npu::kF16;
  bool max = false;
  const std::byte* src = nullptr;
  std::int64_t rows = 0, row_stride = 0, len = 0;
  float* out = nullptr;
};

struct Kernels {
  std::string_view target;
  // fp16 or fp32 to fp32 and back, `n` adjacent elements.
  void (*load)(std::int32_t type, const std::byte* src, std::int64_t n, float* dst);
  void (*store)(std::int32_t type, const float* src, std::int64_t n, std::byte* dst);
  // In place on x; n may be rounded up to 16 (the buffers are that large).
  void (*unary)(npu::UnaryOp op, float scalar, float* x, std::int64_t n);
  void (*binary)(npu::BinaryOp op, float* a, const float* b, std::int64_t n);
  void (*mmad)(const MmadArgs& args);
  void (*window)(const WindowArgs& args);
  void (*rows)(const RowsArgs& args);
  // Sixteen partial results, then a tree.
  float (*lanes)(bool max, const float* x, std::int64_t n);
};

// All that were compiled in and that this machine runs, best first; never empty, valid for ever.
std::span<const Kernels* const> AvailableKernels();

}  // namespace npukit::devices::npu_sim
