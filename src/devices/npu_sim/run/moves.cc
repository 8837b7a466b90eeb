#include "devices/npu_sim/run/moves.h"

#include <algorithm>
#include <cstring>

#include "tensor/half.h"

namespace npukit::devices::npu_sim {
namespace {

template <class T>
T Get(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void Put(std::byte* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

// One line of a move whose elements are not adjacent on both sides.
template <class S, class T, class F>
void Line(const npu::Move& x, const std::byte* src, std::byte* dst, const F& f) {
  const std::int64_t ss = x.src_stride[4], ds = x.dst_stride[4];
  for (std::int64_t i = 0; i < x.count[4]; ++i) Put<T>(dst + i * ds, f(Get<S>(src + i * ss)));
}

void MoveLine(const npu::Move& x, const std::byte* src, std::byte* dst, bool adjacent,
              const Kernels& k) {
  const auto same = [](auto v) { return v; };
  if (x.dst_type == x.src_type) {
    const std::int32_t size = npu::ElemBytes(x.dst_type);
    if (adjacent) {
      std::memmove(dst, src, static_cast<std::size_t>(x.count[4]) * static_cast<std::size_t>(size));
    } else if (size == 2) {
      Line<std::uint16_t, std::uint16_t>(x, src, dst, same);
    } else if (size == 4) {
      Line<std::uint32_t, std::uint32_t>(x, src, dst, same);
    } else {
      Line<std::uint8_t, std::uint8_t>(x, src, dst, same);
    }
  } else if (x.dst_type == npu::kF16) {
    if (adjacent) return k.store(npu::kF16, reinterpret_cast<const float*>(src), x.count[4], dst);
    Line<float, std::uint16_t>(x, src, dst, tensor::FloatToHalf);
  } else {
    if (adjacent) return k.load(npu::kF16, src, x.count[4], reinterpret_cast<float*>(dst));
    Line<std::uint16_t, float>(x, src, dst, tensor::HalfToFloat);
  }
}

}  // namespace

void CopyRuns(const npu::Copy& x, const std::byte* src, std::byte* dst) {
  // Runs that continue each other on both sides are one run.
  std::int64_t bytes = x.bytes;
  std::int32_t count[3] = {x.count[0], x.count[1], x.count[2]};
  for (int i = 2; i >= 0; --i) {
    if (count[i] > 1 && (x.dst_stride[i] != bytes || x.src_stride[i] != bytes)) break;
    bytes *= count[i];
    count[i] = 1;
  }
  for (std::int64_t i = 0; i < count[0]; ++i) {
    for (std::int64_t j = 0; j < count[1]; ++j) {
      const std::byte* s = src + i * x.src_stride[0] + j * x.src_stride[1];
      std::byte* d = dst + i * x.dst_stride[0] + j * x.dst_stride[1];
      for (std::int64_t k = 0; k < count[2]; ++k) {
        // memmove: a program's operands may overlap, which is undefined for its values but not for
        // the host.
        if (bytes == npu::kBlockBytes) {
          std::memmove(d, s, npu::kBlockBytes);
        } else {
          std::memmove(d, s, static_cast<std::size_t>(bytes));
        }
        s += x.src_stride[2];
        d += x.dst_stride[2];
      }
    }
  }
}

void FillRuns(const npu::Fill& x, std::byte* memory) {
  const int size = npu::ElemBytes(x.type);
  for (std::int64_t i = 0; i < x.count[0]; ++i) {
    for (std::int64_t j = 0; j < x.count[1]; ++j) {
      std::byte* d = memory + x.addr + i * x.stride[0] + j * x.stride[1];
      if (size == 4) {
        for (std::int64_t e = 0; e < x.len; ++e) Put<std::int32_t>(d + e * 4, x.value);
      } else if (size == 2) {
        for (std::int64_t e = 0; e < x.len; ++e)
          Put(d + e * 2, static_cast<std::uint16_t>(x.value));
      } else {
        std::memset(d, x.value & 0xFF, static_cast<std::size_t>(x.len));
      }
    }
  }
}

void LoadWindows(const npu::Load3d& x, const std::byte* l1, std::byte* l0a) {
  constexpr std::size_t kBlock = npu::kBlockBytes;
  const std::int64_t rows = (std::int64_t{x.m_count} + 15) / 16 * 16;
  for (std::int64_t q = 0; q < x.k_count; ++q) {
    const std::int64_t k = x.k_start + q;
    const std::int64_t kw = k % x.kernel_w, kh = k / x.kernel_w % x.kernel_h,
                       c1 = k / (x.kernel_w * x.kernel_h);
    const std::byte* plane = l1 + x.src_addr + c1 * x.src_c1_stride;
    std::byte* const fractal = l0a + x.dst_addr + q * npu::kFractalBytes;
    const auto row_at = [&](std::int64_t r) {
      return fractal + (r / 16) * x.dst_m1_stride + (r % 16) * npu::kBlockBytes;
    };
    std::int64_t oh = x.m_start / x.out_w, ow = x.m_start % x.out_w;
    for (std::int64_t r = 0; r < x.m_count;) {
      // Positions of one output row: first those left of the map, then inside, then right of it.
      const std::int64_t run = std::min<std::int64_t>(x.out_w - ow, x.m_count - r);
      const std::int64_t ih = oh * x.stride_h + kh * x.dilation_h - x.pad_top;
      const std::int64_t iw = ow * x.stride_w + kw * x.dilation_w - x.pad_left;
      std::int64_t lo = run, hi = run;
      if (ih >= 0 && ih < x.height && iw < x.width) {
        lo = iw >= 0 ? 0 : std::min<std::int64_t>(run, (-iw + x.stride_w - 1) / x.stride_w);
        hi = std::clamp<std::int64_t>((x.width - 1 - iw) / x.stride_w + 1, lo, run);
      }
      for (std::int64_t j = 0; j < lo; ++j) std::memset(row_at(r + j), 0, kBlock);
      if (lo < hi) {
        const std::byte* s = plane + (ih * x.width + iw + lo * x.stride_w) * npu::kBlockBytes;
        const std::int64_t step = std::int64_t{x.stride_w} * npu::kBlockBytes;
        std::int64_t j = lo;
        while (j < hi) {
          std::byte* d = row_at(r + j);
          const std::int64_t n = std::min(hi - j, 16 - (r + j) % 16);  // up to the fractal's end
          for (std::int64_t e = 0; e < n; ++e)
            std::memcpy(d + e * npu::kBlockBytes, s + e * step, kBlock);
          s += n * step;
          j += n;
        }
      }
      for (std::int64_t j = std::max(hi, lo); j < run; ++j) std::memset(row_at(r + j), 0, kBlock);
      r += run;
      ow = 0;
      ++oh;
    }
    for (std::int64_t r = x.m_count; r < rows; ++r) std::memset(row_at(r), 0, kBlock);
  }
}

void LoadFractals(const npu::Load2d& x, const std::byte* l1, std::byte* l0) {
  for (std::int64_t i = 0; i < x.count[0]; ++i) {
    for (std::int64_t j = 0; j < x.count[1]; ++j) {
      const std::byte* s = l1 + x.src_addr + i * x.src_stride[0] + j * x.src_stride[1];
      std::byte* d = l0 + x.dst_addr + i * x.dst_stride[0] + j * x.dst_stride[1];
      if (!x.transpose) {
        std::memcpy(d, s, npu::kFractalBytes);
        continue;
      }
      for (int a = 0; a < 16; ++a) {
        for (int b = 0; b < 16; ++b)
          Put(d + (a * 16 + b) * 2, Get<std::uint16_t>(s + (b * 16 + a) * 2));
      }
    }
  }
}

void MoveElements(const npu::Move& x, std::byte* ub, const Kernels& kernels) {
  const bool adjacent = x.dst_stride[4] == npu::ElemBytes(x.dst_type) &&
                        x.src_stride[4] == npu::ElemBytes(x.src_type);
  for (std::int64_t i = 0; i < x.count[0]; ++i) {
    for (std::int64_t j = 0; j < x.count[1]; ++j) {
      for (std::int64_t k = 0; k < x.count[2]; ++k) {
        const std::byte* s =
            ub + x.src_addr + i * x.src_stride[0] + j * x.src_stride[1] + k * x.src_stride[2];
        std::byte* d =
            ub + x.dst_addr + i * x.dst_stride[0] + j * x.dst_stride[1] + k * x.dst_stride[2];
        for (std::int64_t l = 0; l < x.count[3]; ++l) {
          MoveLine(x, s + l * x.src_stride[3], d + l * x.dst_stride[3], adjacent, kernels);
        }
      }
    }
  }
}

}  // namespace npukit::devices::npu_sim
