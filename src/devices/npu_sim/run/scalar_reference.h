// For tests only: every instruction as docs/npu_semantics.md writes it, element by element, nothing
// shared with run/ but the instruction structs and the fp16 conversions of tensor/half.h (which
// tensor's own tests judge).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "devices/npu_sim/blob/isa.h"
#include "tensor/half.h"

namespace npukit::devices::npu_sim::reference {

struct Memory {
  std::vector<std::uint8_t> l1, ub, l0a, l0b, l0c;
  bool half_accumulators = false;
  std::vector<std::uint8_t>& at(std::int32_t mem) {
    return mem == npu::kL1    ? l1
           : mem == npu::kUb  ? ub
           : mem == npu::kL0A ? l0a
           : mem == npu::kL0B ? l0b
                              : l0c;
  }
};

template <class T>
T Get(const std::vector<std::uint8_t>& m, std::int64_t at) {
  T v;
  std::memcpy(&v, m.data() + at, sizeof v);
  return v;
}
template <class T>
void Put(std::vector<std::uint8_t>& m, std::int64_t at, T v) {
  std::memcpy(m.data() + at, &v, sizeof v);
}
inline float GetF(const std::vector<std::uint8_t>& m, std::int64_t at, std::int32_t type) {
  return type == npu::kF16 ? tensor::HalfToFloat(Get<std::uint16_t>(m, at)) : Get<float>(m, at);
}
inline void PutF(std::vector<std::uint8_t>& m, std::int64_t at, std::int32_t type, float v) {
  if (type == npu::kF16)
    Put(m, at, tensor::FloatToHalf(v));
  else
    Put(m, at, v);
}
inline float Max(float a, float b) { return a > b || std::isnan(a) ? a : b; }
inline float Min(float a, float b) { return a < b || std::isnan(a) ? a : b; }

// Calls f(i) for every index vector, i[0] outermost.
template <std::size_t N, class F>
void ForAll(const std::int32_t (&count)[N], const F& f) {
  std::int64_t i[N] = {};
  while (true) {
    f(i);
    std::size_t d = N;
    while (d > 0 && ++i[d - 1] == count[d - 1]) i[--d] = 0;
    if (d == 0) return;
  }
}
template <std::size_t N>
std::int64_t Dot(const std::int32_t (&stride)[N], const std::int64_t (&i)[N]) {
  std::int64_t s = 0;
  for (std::size_t d = 0; d < N; ++d) s += stride[d] * i[d];
  return s;
}

// Operand precision must not leak into registers of another width: every step is a store to float.
inline float Mul(float a, float b) {
  volatile float r = a * b;
  return r;
}
inline float Add(float a, float b) {
  volatile float r = a + b;
  return r;
}
inline float Sub(float a, float b) {
  volatile float r = a - b;
  return r;
}

inline float Exp(float x) {
  if (std::isnan(x)) return x;
  if (x > 88.72283f) return std::numeric_limits<float>::infinity();
  if (x < -87.33654f) return 0;
  const float n = std::nearbyintf(Mul(x, 1.44269504f));
  float r = Sub(x, Mul(n, 0.693359375f));
  r = Sub(r, Mul(n, -2.12194440e-4f));
  float p = 1.9875691500e-4f;
  for (const float c :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f}) {
    p = Add(Mul(p, r), c);
  }
  const float y = Add(Add(Mul(p, Mul(r, r)), r), 1.0f);
  const int i = static_cast<int>(n), h = i >> 1;
  return Mul(Mul(y, std::ldexp(1.0f, h)), std::ldexp(1.0f, i - h));
}

inline float Ln(float x) {
  if (std::isnan(x)) return x;
  if (x == 0) return -std::numeric_limits<float>::infinity();
  if (x < 0) return std::numeric_limits<float>::quiet_NaN();
  if (std::isinf(x)) return x;
  int ei;
  float m = std::frexp(x, &ei);
  float e = static_cast<float>(ei);
  if (m < 0.707106781186547524f) {
    e = e - 1;
    m = Sub(Add(m, m), 1);
  } else {
    m = Sub(m, 1);
  }
  const float z = Mul(m, m);
  float p = 7.0376836292e-2f;
  for (const float c : {-1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                        -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f}) {
    p = Add(Mul(p, m), c);
  }
  float y = Mul(Mul(m, z), p);
  y = Add(y, Mul(e, -2.12194440e-4f));
  y = Sub(y, Mul(0.5f, z));
  return Add(Add(m, y), Mul(e, 0.693359375f));
}

template <class T>
T Saturate(float v) {
  if (std::isnan(v)) return 0;
  const double r = std::nearbyint(static_cast<double>(v));
  if (r < std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
  if (r > std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
  return static_cast<T>(r);
}

// DRAM to or from chip is the machine's; here only between on-chip buffers.
inline void Run(Memory& m, const npu::Copy& x) {
  ForAll(x.count, [&](const auto& i) {
    for (std::int64_t b = 0; b < x.bytes; ++b) {
      m.at(x.dst.mem)[static_cast<std::size_t>(x.dst.addr + Dot(x.dst_stride, i) + b)] =
          m.at(x.src.mem)[static_cast<std::size_t>(x.src.addr + Dot(x.src_stride, i) + b)];
    }
  });
}

inline void Run(Memory& m, const npu::Fill& x) {
  ForAll(x.count, [&](const auto& i) {
    for (std::int64_t j = 0; j < x.len; ++j) {
      std::memcpy(&m.at(x.mem)[static_cast<std::size_t>(x.addr + Dot(x.stride, i) +
                                                        j * npu::ElemBytes(x.type))],
                  &x.value, static_cast<std::size_t>(npu::ElemBytes(x.type)));
    }
  });
}

inline void Run(Memory& m, const npu::Load3d& x) {
  const int rows = (x.m_count + 15) / 16 * 16;
  for (int r = 0; r < rows; ++r) {
    for (int q = 0; q < x.k_count; ++q) {
      const int mm = x.m_start + r, oh = mm / x.out_w, ow = mm % x.out_w;
      const int k = x.k_start + q, kw = k % x.kernel_w, kh = k / x.kernel_w % x.kernel_h;
      const int c1 = k / (x.kernel_w * x.kernel_h);
      const int ih = oh * x.stride_h + kh * x.dilation_h - x.pad_top,
                iw = ow * x.stride_w + kw * x.dilation_w - x.pad_left;
      std::uint8_t* d = &m.l0a[static_cast<std::size_t>(x.dst_addr + r / 16 * x.dst_m1_stride +
                                                        q * 512 + r % 16 * 32)];
      if (r < x.m_count && ih >= 0 && ih < x.height && iw >= 0 && iw < x.width) {
        std::memcpy(d,
                    &m.l1[static_cast<std::size_t>(x.src_addr + c1 * x.src_c1_stride +
                                                   (ih * x.width + iw) * 32)],
                    32);
      } else {
        std::memset(d, 0, 32);
      }
    }
  }
}

inline void Run(Memory& m, const npu::Load2d& x) {
  ForAll(x.count, [&](const auto& i) {
    const std::int64_t s = x.src_addr + Dot(x.src_stride, i), d = x.dst_addr + Dot(x.dst_stride, i);
    for (int a = 0; a < 16; ++a) {
      for (int b = 0; b < 16; ++b) {
        const std::int64_t from = x.transpose ? b * 16 + a : a * 16 + b;
        Put(m.at(x.dst_mem), d + (a * 16 + b) * 2, Get<std::uint16_t>(m.l1, s + from * 2));
      }
    }
  });
}

inline void Run(Memory& m, const npu::Mmad& x) {
  const bool ints = x.type == npu::kI8;
  const int c0 = ints ? 32 : 16, size = ints ? 1 : 2,
            acc_size = ints || !m.half_accumulators ? 4 : 2;
  for (int r = 0; r < x.m; ++r) {
    for (int n = 0; n < x.n1 * 16; ++n) {
      const auto a_at = [&](int k) {
        return x.a_addr + std::int64_t{r} / 16 * x.a_m1_stride + k / c0 * 512 + r % 16 * 32 +
               k % c0 * size;
      };
      const auto b_at = [&](int k) {
        return x.b_addr + std::int64_t{k} / c0 * x.b_k1_stride + n / 16 * 512 + n % 16 * 32 +
               k % c0 * size;
      };
      const std::int64_t c =
          x.c_addr + std::int64_t{n} / 16 * x.c_n1_stride + (r * 16 + n % 16) * acc_size;
      if (ints) {
        std::uint32_t acc = 0;
        if (x.init == npu::kAccumulate) acc = Get<std::uint32_t>(m.l0c, c);
        if (x.init == npu::kBias) acc = Get<std::uint32_t>(m.l1, x.bias_addr + n * 4);
        for (int k = 0; k < x.k1 * c0; ++k) {
          acc += static_cast<std::uint32_t>(Get<std::int8_t>(m.l0a, a_at(k)) *
                                            Get<std::int8_t>(m.l0b, b_at(k)));
        }
        Put(m.l0c, c, acc);
        continue;
      }
      const std::int32_t type = m.half_accumulators ? npu::kF16 : npu::kF32;
      float acc = 0;
      if (x.init == npu::kAccumulate) acc = GetF(m.l0c, c, type);
      if (x.init == npu::kBias) {
        acc = Get<float>(m.l1, x.bias_addr + n * 4);
        if (m.half_accumulators) acc = tensor::RoundToHalf(acc);
      }
      for (int b = 0; b < x.k1; ++b) {
        float s = 0;
        for (int k = 16 * b; k < 16 * b + 16; ++k) {
          s = Add(s, Mul(GetF(m.l0a, a_at(k), npu::kF16), GetF(m.l0b, b_at(k), npu::kF16)));
        }
        const float t = Add(acc, s);
        acc = m.half_accumulators ? tensor::RoundToHalf(t) : t;
      }
      PutF(m.l0c, c, type, acc);
    }
  }
}

inline void Run(Memory& m, const npu::L0cToUb& x) {
  const std::int32_t acc = !x.from_int32 && m.half_accumulators ? npu::kF16 : npu::kF32;
  const int ss = npu::ElemBytes(acc), ds = npu::ElemBytes(x.dst_type);
  for (int j = 0; j < x.n1; ++j) {
    for (int e = 0; e < x.rows * 16; ++e) {
      const std::int64_t s = x.src_addr + std::int64_t{j} * x.src_n1_stride + e * ss;
      const std::int64_t d = x.dst_addr + std::int64_t{j} * x.dst_n1_stride + e * ds;
      if (x.dst_type == npu::kI32) {
        const auto v = Get<std::int32_t>(m.l0c, s);
        Put(m.ub, d, x.relu && v < 0 ? 0 : v);
        continue;
      }
      float v =
          x.from_int32 ? static_cast<float>(Get<std::int32_t>(m.l0c, s)) : GetF(m.l0c, s, acc);
      if (x.scale_addr >= 0) v = Mul(v, Get<float>(m.ub, x.scale_addr + (j * 16 + e % 16) * 4));
      if (x.relu) v = v < 0 ? 0.0f : v;
      PutF(m.ub, d, x.dst_type, v);
    }
  }
}

inline float Apply(npu::UnaryOp op, float x, float s) {
  using O = npu::UnaryOp;
  switch (op) {
    case O::kCopy:
      return x;
    case O::kRelu:
      return x < 0 ? 0.0f : x;
    case O::kAbs:
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu);
    case O::kNeg:
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ 0x80000000u);
    case O::kExp:
      return Exp(x);
    case O::kLn:
      return Ln(x);
    case O::kSqrt:
      return std::sqrt(x);
    case O::kRsqrt: {
      volatile float q = std::sqrt(x);
      return 1.0f / q;
    }
    case O::kRec:
      return 1.0f / x;
    case O::kAdds:
      return Add(x, s);
    case O::kMuls:
      return Mul(x, s);
    case O::kMaxs:
      return Max(s, x);
    case O::kMins:
      return Min(s, x);
  }
  return 0;
}

inline void Run(Memory& m, const npu::Unary& x) {
  const Memory before = m;  // operands are read before anything is written
  ForAll(x.count, [&](const auto& i) {
    for (int j = 0; j < x.len; ++j) {
      const std::int64_t s = x.src_addr + Dot(x.src_stride, i) + j * npu::ElemBytes(x.src_type);
      const std::int64_t d = x.dst_addr + Dot(x.dst_stride, i) + j * npu::ElemBytes(x.dst_type);
      const bool src_int = x.src_type == npu::kI32 || x.src_type == npu::kI8;
      std::int32_t iv = 0;
      float v = 0;
      if (src_int) {
        iv = x.src_type == npu::kI8 ? Get<std::int8_t>(before.ub, s)
                                    : Get<std::int32_t>(before.ub, s);
        v = static_cast<float>(iv);
      } else {
        v = Apply(x.op, GetF(before.ub, s, x.src_type), x.scalar);
      }
      if (x.dst_type == npu::kI8) {
        Put(m.ub, d,
            src_int ? static_cast<std::int8_t>(iv < -128  ? -128
                                               : iv > 127 ? 127
                                                          : iv)
                    : Saturate<std::int8_t>(v));
      } else if (x.dst_type == npu::kI32) {
        Put(m.ub, d, src_int ? iv : Saturate<std::int32_t>(v));
      } else {
        PutF(m.ub, d, x.dst_type, v);
      }
    }
  });
}

inline void Run(Memory& m, const npu::Binary& x) {
  const Memory before = m;
  ForAll(x.count, [&](const auto& i) {
    for (int j = 0; j < x.len; ++j) {
      const float a =
          GetF(before.ub, x.src0_addr + Dot(x.src0_stride, i) + j * npu::ElemBytes(x.src0_type),
               x.src0_type);
      const float b = GetF(before.ub,
                           x.src1_addr + Dot(x.src1_stride, i) +
                               (x.src1_scalar ? 0 : j * npu::ElemBytes(x.src1_type)),
                           x.src1_type);
      using O = npu::BinaryOp;
      const float v = x.op == O::kAdd   ? Add(a, b)
                      : x.op == O::kSub ? Sub(a, b)
                      : x.op == O::kMul ? Mul(a, b)
                      : x.op == O::kDiv ? a / b
                      : x.op == O::kMax ? Max(a, b)
                                        : Min(a, b);
      PutF(m.ub, x.dst_addr + Dot(x.dst_stride, i) + j * npu::ElemBytes(x.dst_type), x.dst_type, v);
    }
  });
}

inline void Run(Memory& m, const npu::Window& x) {
  ForAll(x.count, [&](const auto& i) {
    for (int l = 0; l < 16; ++l) {
      float acc = 0;
      if (x.op == npu::WindowOp::kMac && x.bias_addr >= 0)
        acc = Get<float>(m.ub, x.bias_addr + (i[0] * 16 + l) * 4);
      if (x.op == npu::WindowOp::kMax) acc = -std::numeric_limits<float>::infinity();
      for (int kh = 0; kh < x.kernel_h; ++kh) {
        for (int kw = 0; kw < x.kernel_w; ++kw) {
          const float v = GetF(m.ub,
                               x.src_addr + Dot(x.src_stride, i) + kh * x.tap_stride[0] +
                                   kw * x.tap_stride[1] + 2 * l,
                               npu::kF16);
          if (x.op == npu::WindowOp::kMac) {
            const float w = GetF(
                m.ub, x.weight_addr + i[0] * x.weight_stride + (kh * x.kernel_w + kw) * 32 + 2 * l,
                npu::kF16);
            acc = Add(acc, Mul(v, w));
          } else {
            acc = x.op == npu::WindowOp::kMax ? Max(acc, v) : Add(acc, v);
          }
        }
      }
      PutF(m.ub, x.dst_addr + Dot(x.dst_stride, i) + l * npu::ElemBytes(x.dst_type), x.dst_type,
           acc);
    }
  });
}

inline void Run(Memory& m, const npu::Reduce& x) {
  const bool max = x.op == npu::ReduceOp::kRowsMax || x.op == npu::ReduceOp::kLanesMax;
  const float start = max ? -std::numeric_limits<float>::infinity() : 0.0f;
  const auto f = [&](float a, float b) { return max ? Max(a, b) : Add(a, b); };
  ForAll(x.count, [&](const auto& i) {
    const std::int64_t s = x.src_addr + Dot(x.src_stride, i), d = x.dst_addr + Dot(x.dst_stride, i);
    const int ss = npu::ElemBytes(x.src_type), ds = npu::ElemBytes(x.dst_type);
    if (x.op == npu::ReduceOp::kLanesSum || x.op == npu::ReduceOp::kLanesMax) {
      float p[16];
      for (float& v : p) v = start;
      for (int j = 0; j < x.len; ++j) p[j % 16] = f(p[j % 16], GetF(m.ub, s + j * ss, x.src_type));
      for (int h = 8; h > 0; h /= 2) {
        for (int l = 0; l < h; ++l) p[l] = f(p[l], p[l + h]);
      }
      PutF(m.ub, d, x.dst_type, p[0]);
      return;
    }
    for (int j = 0; j < x.len; ++j) {
      float acc = start;
      for (int r = 0; r < x.rows; ++r) {
        acc = f(acc, GetF(m.ub, s + std::int64_t{r} * x.row_stride + j * ss, x.src_type));
      }
      PutF(m.ub, d + j * ds, x.dst_type, acc);
    }
  });
}

inline void Run(Memory& m, const npu::Move& x) {
  ForAll(x.count, [&](const auto& i) {
    const std::int64_t s = x.src_addr + Dot(x.src_stride, i), d = x.dst_addr + Dot(x.dst_stride, i);
    if (x.dst_type != x.src_type) {
      PutF(m.ub, d, x.dst_type, GetF(m.ub, s, x.src_type));
    } else {
      for (int b = 0; b < npu::ElemBytes(x.dst_type); ++b) {
        m.ub[static_cast<std::size_t>(d + b)] = m.ub[static_cast<std::size_t>(s + b)];
      }
    }
  });
}

}  // namespace npukit::devices::npu_sim::reference
