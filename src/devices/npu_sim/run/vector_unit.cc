#include "devices/npu_sim/run/vector_unit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "devices/npu_sim/run/machine.h"

namespace npukit::devices::npu_sim {
namespace {

constexpr std::int64_t RoundUp16(std::int64_t n) { return (n + 15) / 16 * 16; }

// To the nearest integer, ties to even, saturated; NaN gives 0. The limits are exact in double.
template <class T>
T ToInt(float v) {
  if (std::isnan(v)) return 0;
  const double r = std::nearbyint(static_cast<double>(v));
  constexpr double kLo = std::numeric_limits<T>::min(), kHi = std::numeric_limits<T>::max();
  return static_cast<T>(std::clamp(r, kLo, kHi));
}

float IntAt(std::int32_t type, const std::byte* p) {
  if (type == npu::kI8) return static_cast<float>(static_cast<std::int8_t>(*p));
  std::int32_t v;
  std::memcpy(&v, p, 4);
  return static_cast<float>(v);
}

void PutInt(std::int32_t type, std::byte* p, float v) {
  if (type == npu::kI8) {
    *p = static_cast<std::byte>(ToInt<std::int8_t>(v));
  } else {
    const std::int32_t i = ToInt<std::int32_t>(v);
    std::memcpy(p, &i, 4);
  }
}

bool IsInt(std::int32_t type) { return type == npu::kI32 || type == npu::kI8; }

// Integers to integers never pass through fp32, which has no room for 32 bits.
void CopyInts(std::int32_t dst_type, std::byte* dst, std::int32_t src_type, const std::byte* src,
              std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::int32_t v;
    if (src_type == npu::kI8) {
      v = static_cast<std::int8_t>(src[i]);
    } else {
      std::memcpy(&v, src + i * 4, 4);
    }
    if (dst_type == npu::kI8) {
      dst[i] = static_cast<std::byte>(std::clamp(v, -128, 127));
    } else {
      std::memcpy(dst + i * 4, &v, 4);
    }
  }
}

// Four loops around a run of `len` elements, for up to three operands, with loops that only
// lengthen the run folded into it.
template <int kOperands>
struct Loops {
  std::int64_t count[4] = {1, 1, 1, 1};
  std::int64_t stride[kOperands][4] = {};
  std::int64_t len = 0;

  void Add(int operand, const std::int32_t (&s)[4]) {
    std::copy(std::begin(s), std::end(s), stride[operand]);
  }
  void Fold(const std::int64_t (&size)[kOperands]) {
    while (true) {
      bool joins = true;
      for (int o = 0; o < kOperands; ++o) joins = joins && stride[o][3] == len * size[o];
      if (count[3] > 1 && !joins) return;
      if (count[0] * count[1] * count[2] * count[3] == 1) return;
      len *= count[3];
      for (int i = 3; i > 0; --i) {
        count[i] = count[i - 1];
        for (int o = 0; o < kOperands; ++o) stride[o][i] = stride[o][i - 1];
      }
      count[0] = 1;
    }
  }
  // f(offsets of the first row, rows) for each innermost loop.
  template <class F>
  void Each(const F& f) const {
    for (std::int64_t i = 0; i < count[0]; ++i) {
      for (std::int64_t j = 0; j < count[1]; ++j) {
        for (std::int64_t k = 0; k < count[2]; ++k) {
          std::int64_t at[kOperands];
          for (int o = 0; o < kOperands; ++o)
            at[o] = i * stride[o][0] + j * stride[o][1] + k * stride[o][2];
          f(at, count[3]);
        }
      }
    }
  }
};

}  // namespace

VectorUnit::VectorUnit(Core& core, const Kernels& kernels)
    : core_(core), kernels_(kernels), ub_(core.at(npu::kUb)) {}

void VectorUnit::Load(std::int32_t type, const std::byte* p, std::int64_t stride, std::int64_t rows,
                      std::int64_t len, float* to) {
  if (IsInt(type)) {
    const std::int64_t size = npu::ElemBytes(type);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t i = 0; i < len; ++i) *to++ = IntAt(type, p + r * stride + i * size);
    }
  } else if (rows == 1 || stride == len * npu::ElemBytes(type)) {
    kernels_.load(type, p, rows * len, to);
  } else if (stride == 0) {
    kernels_.load(type, p, len, to);
    for (std::int64_t r = 1; r < rows; ++r)
      std::memcpy(to + r * len, to, static_cast<std::size_t>(len) * 4);
  } else {
    for (std::int64_t r = 0; r < rows; ++r) kernels_.load(type, p + r * stride, len, to + r * len);
  }
}

void VectorUnit::Store(std::int32_t type, const float* from, std::int64_t rows, std::int64_t len,
                       std::byte* p, std::int64_t stride) {
  if (IsInt(type)) {
    const std::int64_t size = npu::ElemBytes(type);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t i = 0; i < len; ++i) PutInt(type, p + r * stride + i * size, *from++);
    }
  } else if (rows == 1 || stride == len * npu::ElemBytes(type)) {
    kernels_.store(type, from, rows * len, p);
  } else {
    for (std::int64_t r = 0; r < rows; ++r)
      kernels_.store(type, from + r * len, len, p + r * stride);
  }
}

void VectorUnit::Run(const npu::L0cToUb& x, bool half_accumulators) {
  const std::int32_t src_type = x.from_int32        ? npu::kI32
                                : half_accumulators ? npu::kF16
                                                    : npu::kF32;
  const std::int64_t ss = npu::ElemBytes(src_type), ds = npu::ElemBytes(x.dst_type);
  const std::int64_t n = std::int64_t{x.rows} * 16;
  for (std::int64_t j = 0; j < x.n1; ++j) {
    const std::byte* src = core_.at(npu::kL0C) + x.src_addr + j * x.src_n1_stride;
    std::byte* dst = ub_ + x.dst_addr + j * x.dst_n1_stride;
    if (src_type == x.dst_type && !x.relu && x.scale_addr == -1) {
      std::memcpy(dst, src, static_cast<std::size_t>(n * ss));
      continue;
    }
    if (x.dst_type == npu::kI32) {  // relu of integers
      for (std::int64_t i = 0; i < n; ++i) {
        std::int32_t v;
        std::memcpy(&v, src + i * 4, 4);
        v = std::max(v, 0);
        std::memcpy(dst + i * 4, &v, 4);
      }
      continue;
    }
    if (x.scale_addr != -1) {
      kernels_.load(npu::kF32, ub_ + x.scale_addr + j * 64, 16, b_);
      for (std::int64_t i = 16; i < kChunk; i += 16) std::memcpy(b_ + i, b_, 64);
    }
    for (std::int64_t i = 0; i < n; i += kChunk) {
      const std::int64_t m = std::min(kChunk, n - i);
      Load(src_type, src + i * ss, 0, 1, m, a_);
      if (x.scale_addr != -1) kernels_.binary(npu::BinaryOp::kMul, a_, b_, m);
      if (x.relu) kernels_.unary(npu::UnaryOp::kRelu, 0, a_, m);
      Store(x.dst_type, a_, 1, m, dst + i * ds, 0);
    }
  }
}

void VectorUnit::Run(const npu::Unary& x) {
  const std::int64_t size[2] = {npu::ElemBytes(x.dst_type), npu::ElemBytes(x.src_type)};
  Loops<2> loops;
  std::copy(std::begin(x.count), std::end(x.count), loops.count);
  loops.Add(0, x.dst_stride);
  loops.Add(1, x.src_stride);
  loops.len = x.len;
  loops.Fold(size);
  const std::int64_t len = loops.len, ds = loops.stride[0][3], ss = loops.stride[1][3];
  const bool ints = IsInt(x.dst_type) && IsInt(x.src_type);
  loops.Each([&](const std::int64_t(&at)[2], std::int64_t rows) {
    std::byte* dst = ub_ + x.dst_addr + at[0];
    const std::byte* src = ub_ + x.src_addr + at[1];
    const std::int64_t batch = std::max<std::int64_t>(1, kChunk / len);
    for (std::int64_t r = 0; r < rows; r += batch) {
      const std::int64_t n = std::min(batch, rows - r);
      for (std::int64_t i = 0; i < len;
           i += kChunk) {  // once unless a row is longer than the buffer
        const std::int64_t m = std::min(kChunk, len - i);
        std::byte* d = dst + r * ds + i * size[0];
        const std::byte* s = src + r * ss + i * size[1];
        if (ints) {
          for (std::int64_t e = 0; e < n; ++e)
            CopyInts(x.dst_type, d + e * ds, x.src_type, s + e * ss, m);
          continue;
        }
        Load(x.src_type, s, ss, n, m, a_);
        kernels_.unary(x.op, x.scalar, a_, RoundUp16(n * m));
        Store(x.dst_type, a_, n, m, d, ds);
      }
    }
  });
}

void VectorUnit::Run(const npu::Binary& x) {
  const bool scalar = x.src1_scalar != 0;
  // A scalar operand never lengthens a run: its size is taken as one that no stride matches.
  const std::int64_t size[3] = {npu::ElemBytes(x.dst_type), npu::ElemBytes(x.src0_type),
                                npu::ElemBytes(x.src1_type)};
  Loops<3> loops;
  std::copy(std::begin(x.count), std::end(x.count), loops.count);
  loops.Add(0, x.dst_stride);
  loops.Add(1, x.src0_stride);
  loops.Add(2, x.src1_stride);
  loops.len = x.len;
  if (!scalar) loops.Fold(size);
  const std::int64_t len = loops.len;
  const std::int64_t ds = loops.stride[0][3], as = loops.stride[1][3], bs = loops.stride[2][3];
  loops.Each([&](const std::int64_t(&at)[3], std::int64_t rows) {
    const std::int64_t batch = std::max<std::int64_t>(1, kChunk / len);
    for (std::int64_t r = 0; r < rows; r += batch) {
      const std::int64_t n = std::min(batch, rows - r);
      for (std::int64_t i = 0; i < len; i += kChunk) {
        const std::int64_t m = std::min(kChunk, len - i);
        const std::byte* b = ub_ + x.src1_addr + at[2] + r * bs;
        if (scalar) {
          for (std::int64_t e = 0; e < n; ++e) {
            float v;
            kernels_.load(x.src1_type, b + e * bs, 1, &v);
            std::fill_n(b_ + e * m, m, v);
          }
        } else {
          Load(x.src1_type, b + i * size[2], bs, n, m, b_);
        }
        Load(x.src0_type, ub_ + x.src0_addr + at[1] + r * as + i * size[1], as, n, m, a_);
        kernels_.binary(x.op, a_, b_, RoundUp16(n * m));
        Store(x.dst_type, a_, n, m, ub_ + x.dst_addr + at[0] + r * ds + i * size[0], ds);
      }
    }
  });
}

void VectorUnit::Run(const npu::Window& x) {
  WindowArgs args;
  args.op = x;
  args.src = ub_ + x.src_addr;
  args.dst = ub_ + x.dst_addr;
  if (x.op == npu::WindowOp::kMac) {
    args.weight = ub_ + x.weight_addr;
    args.bias = x.bias_addr == -1 ? nullptr : ub_ + x.bias_addr;
    args.weight_scratch = core_.a_scratch();
  }
  kernels_.window(args);
}

void VectorUnit::Run(const npu::Reduce& x) {
  using O = npu::ReduceOp;
  const bool max = x.op == O::kRowsMax || x.op == O::kLanesMax;
  const bool lanes = x.op == O::kLanesSum || x.op == O::kLanesMax;
  const std::int64_t ss = npu::ElemBytes(x.src_type), ds = npu::ElemBytes(x.dst_type);
  for (std::int64_t i = 0; i < x.count[0]; ++i) {
    for (std::int64_t j = 0; j < x.count[1]; ++j) {
      for (std::int64_t k = 0; k < x.count[2]; ++k) {
        const std::byte* src =
            ub_ + x.src_addr + i * x.src_stride[0] + j * x.src_stride[1] + k * x.src_stride[2];
        std::byte* dst =
            ub_ + x.dst_addr + i * x.dst_stride[0] + j * x.dst_stride[1] + k * x.dst_stride[2];
        if (lanes) {
          float* row = core_.a_scratch();
          kernels_.load(x.src_type, src, x.len, row);
          const float v = kernels_.lanes(max, row, x.len);
          kernels_.store(x.dst_type, &v, 1, dst);
          continue;
        }
        for (std::int64_t e = 0; e < x.len; e += kChunk) {
          const std::int64_t m = std::min(kChunk, x.len - e);
          kernels_.rows({x.src_type, max, src + e * ss, x.rows, x.row_stride, m, a_});
          kernels_.store(x.dst_type, a_, m, dst + e * ds);
        }
      }
    }
  }
}

}  // namespace npukit::devices::npu_sim
