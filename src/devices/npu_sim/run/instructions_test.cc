// Every instruction, on every vector target of this machine, against the page's formulas written
// out in scalar_reference.h, over random operands and special values; and against values worked out
// by hand.
#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>

#include "base/text.h"
#include "devices/npu_sim/blob/blob.h"
#include "devices/npu_sim/run/machine.h"
#include "devices/npu_sim/run/scalar_reference.h"

namespace npukit::devices::npu_sim {
namespace {

constexpr npu::Buffers kBuffers = {.l1_bytes = 65536,
                                   .l0a_bytes = 32768,
                                   .l0b_bytes = 32768,
                                   .l0c_bytes = 65536,
                                   .ub_bytes = 131072};

enum class Data { kTame, kWild };

class Instructions : public ::testing::Test {
 protected:
  std::mt19937 rng{20261130};

  int Pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(rng); }
  template <class T>
  T OneOf(std::initializer_list<T> v) {
    return v.begin()[Pick(0, static_cast<int>(v.size()) - 1)];
  }

  // Tame: fp16 (and by turns fp32) values of ordinary size. Wild: any bits, so every NaN, infinity
  // and subnormal too.
  void FillRandom(std::vector<std::uint8_t>& m, std::size_t bytes, Data data, std::int32_t type) {
    m.resize(bytes);
    if (data == Data::kWild || type == npu::kI8 || type == npu::kI32) {
      for (auto& b : m) b = static_cast<std::uint8_t>(rng());
      return;
    }
    std::normal_distribution<float> normal;
    const int size = npu::ElemBytes(type);
    for (std::size_t i = 0; i + 4 <= bytes; i += static_cast<std::size_t>(size)) {
      reference::PutF(m, static_cast<std::int64_t>(i), type, normal(rng) * 3);
    }
  }

  reference::Memory RandomMemory(Data data, std::int32_t ub_type, bool half) {
    reference::Memory m;
    FillRandom(m.l1, kBuffers.l1_bytes, data, ub_type);
    FillRandom(m.ub, kBuffers.ub_bytes, data, ub_type);
    FillRandom(m.l0a, kBuffers.l0a_bytes, data, npu::kF16);
    FillRandom(m.l0b, kBuffers.l0b_bytes, data, npu::kF16);
    FillRandom(m.l0c, kBuffers.l0c_bytes, data, half ? npu::kF16 : npu::kF32);
    m.half_accumulators = half;
    return m;
  }

  static bool SameElement(std::int32_t type, const std::uint8_t* a, const std::uint8_t* b) {
    if (std::memcmp(a, b, static_cast<std::size_t>(npu::ElemBytes(type))) == 0) return true;
    if (type == npu::kF16) {
      std::uint16_t x, y;
      std::memcpy(&x, a, 2);
      std::memcpy(&y, b, 2);
      return (x & 0x7FFF) > 0x7C00 && (y & 0x7FFF) > 0x7C00;
    }
    if (type == npu::kF32) {
      std::uint32_t x, y;
      std::memcpy(&x, a, 4);
      std::memcpy(&y, b, 4);
      return (x & 0x7FFFFFFFu) > 0x7F800000u && (y & 0x7FFFFFFFu) > 0x7F800000u;
    }
    return false;
  }

  // Executes `x` from the same start on every target and by the reference; compares all memories,
  // NaN equal to NaN in the elements of `type`.
  template <class T>
  void Agree(const T& x, const reference::Memory& start, std::int32_t type) {
    npu::Program p;
    p.buffers = kBuffers;
    p.accumulator_fp16_bits = start.half_accumulators ? 16 : 32;
    p.Emit(x);
    p.tasks.push_back({"t", {{1, 1, {}, p.CodeSince(0)}}, 0});
    const Status ok = npu::Check(p);
    ASSERT_TRUE(ok.ok()) << ok.message();
    reference::Memory expected = start;
    reference::Run(expected, x);
    for (const Kernels* k : AvailableKernels()) {
      auto core = Core::Create(kBuffers);
      ASSERT_TRUE(core.ok());
      reference::Memory m = start;
      for (const std::int32_t mem : {npu::kL1, npu::kUb, npu::kL0A, npu::kL0B, npu::kL0C}) {
        std::memcpy((*core)->at(mem), m.at(mem).data(), m.at(mem).size());
      }
      Execute(p, p.tasks[0].groups[0].body, 0, 0, Dram{}, **core, *k);
      for (const std::int32_t mem : {npu::kL1, npu::kUb, npu::kL0A, npu::kL0B, npu::kL0C}) {
        const auto* got = reinterpret_cast<const std::uint8_t*>((*core)->at(mem));
        const auto& want = expected.at(mem);
        const auto step = static_cast<std::size_t>(npu::ElemBytes(type));
        for (std::size_t i = 0; i + step <= want.size(); i += step) {
          ASSERT_TRUE(SameElement(type, &want[i], got + i))
              << k->target << ", memory " << mem << ", byte " << i << "\n"
              << npu::ToText(p);
        }
      }
    }
  }

  // Strides that keep elements apart, with random gaps; returns the bytes spanned.
  template <std::size_t N>
  std::int64_t Apart(const std::int32_t (&count)[N], std::int64_t inner, std::int64_t align,
                     std::int32_t (&stride)[N]) {
    std::int64_t span = inner;
    for (std::size_t d = N; d-- > 0;) {
      const std::int64_t gap = Pick(0, 2) == 0 ? Pick(0, 3) * align : 0;
      stride[d] = static_cast<std::int32_t>((span + align - 1) / align * align + gap);
      span += (count[d] - 1) * std::int64_t{stride[d]};
    }
    return span;
  }
  // A source may repeat: some strides are 0.
  template <std::size_t N>
  void Repeat(std::int32_t (&stride)[N]) {
    for (auto& s : stride) {
      if (Pick(0, 4) == 0) s = 0;
    }
  }
  std::int32_t Address(std::int64_t span, std::int64_t begin, std::int64_t end,
                       std::int64_t align) {
    const std::int64_t room = (end - begin - span) / align;
    EXPECT_GE(room, 0);
    if (room < 0) return 0;
    return static_cast<std::int32_t>(
        begin + align * Pick(0, static_cast<int>(std::min<std::int64_t>(room, 1000))));
  }
};

constexpr std::int64_t kHalf = kBuffers.ub_bytes / 2;  // sources below, destinations above

TEST_F(Instructions, MmadFollowsThePage) {
  for (int round = 0; round < 40; ++round) {
    npu::Mmad x;
    x.type = round % 4 == 3 ? npu::kI8 : npu::kF16;
    const bool half = round % 2 == 0;
    x.m = Pick(1, 70);
    x.k1 = Pick(1, 5);
    x.n1 = Pick(1, 5);
    x.init = Pick(0, 2);
    x.a_m1_stride = (x.k1 + Pick(0, 1)) * 512;
    x.b_k1_stride = (x.n1 + Pick(0, 1)) * 512;
    const int acc = x.type == npu::kI8 || !half ? 4 : 2;
    x.c_n1_stride = (x.m + Pick(0, 3)) * 16 * acc;
    x.c_n1_stride = (x.c_n1_stride + 31) / 32 * 32;
    x.a_addr = 512 * Pick(0, 4);
    x.b_addr = 512 * Pick(0, 4);
    x.c_addr = 32 * Pick(0, 4);
    x.bias_addr = 4 * Pick(0, 100);
    const Data data = round % 5 == 4 ? Data::kWild : Data::kTame;
    Agree(x, RandomMemory(data, npu::kF32, half),
          x.type == npu::kI8 ? npu::kI32
          : half             ? npu::kF16
                             : npu::kF32);
  }
}

TEST_F(Instructions, Load3dFollowsThePage) {
  for (int round = 0; round < 60; ++round) {
    npu::Load3d x;
    const int c1 = Pick(1, 3);
    x.height = Pick(1, 12);
    x.width = Pick(1, 20);
    x.pad_top = Pick(0, 3);
    x.pad_left = Pick(0, 3);
    x.kernel_h = Pick(1, 5);
    x.kernel_w = Pick(1, 5);
    x.stride_h = Pick(1, 3);
    x.stride_w = Pick(1, 3);
    x.dilation_h = Pick(1, 2);
    x.dilation_w = Pick(1, 2);
    x.out_w = Pick(1, 15);
    x.src_addr = 32 * Pick(0, 50);
    x.src_c1_stride = x.height * x.width * 32 + 32 * Pick(0, 2);
    x.m_start = Pick(0, 40);
    x.m_count = Pick(1, 60);
    const int k = c1 * x.kernel_h * x.kernel_w;
    x.k_start = Pick(0, k - 1);
    x.k_count = std::min(Pick(1, k - x.k_start), 12);
    x.dst_m1_stride = (x.k_count + Pick(0, 2)) * 512;
    Agree(x, RandomMemory(Data::kWild, npu::kF16, true), npu::kI8);
  }
}

TEST_F(Instructions, Load2dFollowsThePage) {
  for (int round = 0; round < 20; ++round) {
    npu::Load2d x;
    x.dst_mem = OneOf<std::int32_t>({npu::kL0A, npu::kL0B});
    x.count[0] = Pick(1, 4);
    x.count[1] = Pick(1, 4);
    Apart(x.count, 512, 512, x.dst_stride);
    Apart(x.count, 512, 32, x.src_stride);
    Repeat(x.src_stride);
    x.src_addr = 32 * Pick(0, 9);
    x.transpose = round % 2;
    Agree(x, RandomMemory(Data::kWild, npu::kF16, true), npu::kI8);
  }
}

TEST_F(Instructions, L0cToUbFollowsThePage) {
  for (int round = 0; round < 60; ++round) {
    npu::L0cToUb x;
    const bool half = round % 2 == 0;
    x.from_int32 = Pick(0, 1);
    x.dst_type = x.from_int32 ? OneOf<std::int32_t>({npu::kF16, npu::kF32, npu::kI32})
                              : OneOf<std::int32_t>({npu::kF16, npu::kF32});
    x.relu = Pick(0, 1);
    x.rows = Pick(1, 90);
    x.n1 = Pick(1, 4);
    if (x.dst_type != npu::kI32 && Pick(0, 1)) x.scale_addr = 4 * Pick(0, 50);
    x.src_n1_stride = (x.rows + Pick(0, 2)) * 64;
    x.dst_n1_stride = (x.rows + Pick(0, 2)) * 64;
    x.dst_addr = static_cast<std::int32_t>(kHalf) + 4 * Pick(0, 9);
    const Data data = round % 3 == 2 ? Data::kWild : Data::kTame;
    Agree(x, RandomMemory(data, npu::kF32, half), x.dst_type);
  }
}

TEST_F(Instructions, UnaryFollowsThePage) {
  for (int round = 0; round < 260; ++round) {
    npu::Unary x;
    x.op = static_cast<npu::UnaryOp>(round % npu::kUnaryOpCount);
    x.src_type = OneOf<std::int32_t>({npu::kF16, npu::kF32});
    x.dst_type = OneOf<std::int32_t>({npu::kF16, npu::kF32});
    if (x.op == npu::UnaryOp::kCopy) {
      x.src_type = Pick(0, 3);
      x.dst_type = Pick(0, 3);
    }
    for (auto& c : x.count) c = Pick(1, 4);
    x.len = OneOf({Pick(1, 40), 16, 32, 1, Pick(1000, 1100)});
    if (x.len > 900) x.count[0] = x.count[1] = x.count[2] = 1;
    x.scalar = OneOf({0.0f, -0.0f, 6.0f, -1.5f, std::numeric_limits<float>::infinity()});
    const int ds = npu::ElemBytes(x.dst_type), ss = npu::ElemBytes(x.src_type);
    x.dst_addr = Address(Apart(x.count, std::int64_t{x.len} * ds, ds, x.dst_stride), kHalf,
                         kBuffers.ub_bytes, ds);
    x.src_addr = Address(Apart(x.count, std::int64_t{x.len} * ss, ss, x.src_stride), 0, kHalf, ss);
    Repeat(x.src_stride);
    if (x.dst_type == x.src_type && Pick(0, 3) == 0) {  // in place
      x.dst_addr = x.src_addr;
      std::copy(std::begin(x.dst_stride), std::end(x.dst_stride), x.src_stride);
      x.dst_addr = x.src_addr = 0;
    }
    const Data data = round / npu::kUnaryOpCount % 2 ? Data::kWild : Data::kTame;
    Agree(x, RandomMemory(data, x.src_type, true), x.dst_type);
  }
}

TEST_F(Instructions, BinaryFollowsThePage) {
  for (int round = 0; round < 120; ++round) {
    npu::Binary x;
    x.op = static_cast<npu::BinaryOp>(round % npu::kBinaryOpCount);
    x.dst_type = OneOf<std::int32_t>({npu::kF16, npu::kF32});
    x.src0_type = OneOf<std::int32_t>({npu::kF16, npu::kF32});
    x.src1_type = OneOf<std::int32_t>({npu::kF16, npu::kF32});
    x.src1_scalar = Pick(0, 2) == 0;
    for (auto& c : x.count) c = Pick(1, 4);
    x.len = OneOf({Pick(1, 40), 16, 32, 1, Pick(1000, 1100)});
    if (x.len > 900) x.count[0] = x.count[1] = x.count[2] = 1;
    const int d = npu::ElemBytes(x.dst_type), a = npu::ElemBytes(x.src0_type),
              b = npu::ElemBytes(x.src1_type);
    x.dst_addr = Address(Apart(x.count, std::int64_t{x.len} * d, d, x.dst_stride), kHalf,
                         kBuffers.ub_bytes, d);
    x.src0_addr = Address(Apart(x.count, std::int64_t{x.len} * a, a, x.src0_stride), 0, kHalf, a);
    x.src1_addr = Address(
        Apart(x.count, x.src1_scalar ? b : std::int64_t{x.len} * b, b, x.src1_stride), 0, kHalf, b);
    Repeat(x.src0_stride);
    Repeat(x.src1_stride);
    Agree(x, RandomMemory(round / 6 % 2 ? Data::kWild : Data::kTame, x.src0_type, true),
          x.dst_type);
  }
}

TEST_F(Instructions, WindowFollowsThePage) {
  for (int round = 0; round < 90; ++round) {
    npu::Window x;
    x.op = static_cast<npu::WindowOp>(round % 3);
    x.dst_type = OneOf<std::int32_t>({npu::kF16, npu::kF32});
    x.kernel_h = Pick(1, 5);
    x.kernel_w = Pick(1, 5);
    x.count[0] = Pick(1, 3);
    x.count[1] = Pick(1, 4);
    x.count[2] = Pick(1, 19);
    const int stride = Pick(1, 2), dilation = Pick(1, 2), width = 50;
    x.tap_stride[0] = dilation * width * 32;
    x.tap_stride[1] = dilation * 32;
    x.src_stride[0] = 32 * width + 32 * Pick(0, 9);
    x.src_stride[1] = stride * width * 32;
    x.src_stride[2] = stride * 32;
    x.weight_addr = 2 * Pick(0, 100);
    x.weight_stride = x.kernel_h * x.kernel_w * 32;
    x.bias_addr = Pick(0, 1) ? 4 * Pick(0, 100) : -1;
    const int size = npu::ElemBytes(x.dst_type);
    x.dst_addr =
        Address(Apart(x.count, 16 * size, size, x.dst_stride), kHalf, kBuffers.ub_bytes, size);
    Agree(x, RandomMemory(round / 3 % 3 == 2 ? Data::kWild : Data::kTame, npu::kF16, true),
          x.dst_type);
  }
}

TEST_F(Instructions, ReduceFollowsThePage) {
  for (int round = 0; round < 120; ++round) {
    npu::Reduce x;
    x.op = static_cast<npu::ReduceOp>(round % 4);
    const bool lanes = round % 4 >= 2;
    x.dst_type = OneOf<std::int32_t>({npu::kF16, npu::kF32});
    x.src_type = OneOf<std::int32_t>({npu::kF16, npu::kF32});
    for (auto& c : x.count) c = Pick(1, 2);
    x.len = OneOf({Pick(1, 70), 16, 120});
    x.rows = lanes ? 1 : Pick(1, 9);
    const int d = npu::ElemBytes(x.dst_type), s = npu::ElemBytes(x.src_type);
    x.row_stride = s * (x.len + Pick(0, 3));
    x.dst_addr = Address(Apart(x.count, std::int64_t{lanes ? 1 : x.len} * d, d, x.dst_stride),
                         kHalf, kBuffers.ub_bytes, d);
    x.src_addr =
        Address(Apart(x.count, std::int64_t{x.rows} * x.row_stride, s, x.src_stride), 0, kHalf, s);
    Agree(x, RandomMemory(round / 4 % 3 == 2 ? Data::kWild : Data::kTame, x.src_type, true),
          x.dst_type);
  }
}

TEST_F(Instructions, MoveFollowsThePage) {
  for (int round = 0; round < 80; ++round) {
    npu::Move x;
    x.src_type = Pick(0, 3);
    x.dst_type = x.src_type;
    if (x.src_type <= npu::kF32) x.dst_type = Pick(0, 1);
    for (auto& c : x.count) c = Pick(1, 3);
    x.count[4] = OneOf({1, 3, 16, 40});
    const int d = npu::ElemBytes(x.dst_type), s = npu::ElemBytes(x.src_type);
    x.dst_addr = Address(Apart(x.count, d, d, x.dst_stride), kHalf, kBuffers.ub_bytes, d);
    x.src_addr = Address(Apart(x.count, s, s, x.src_stride), 0, kHalf, s);
    if (Pick(0, 1)) {  // a transpose: the innermost loop takes the long steps
      std::swap(x.src_stride[3], x.src_stride[4]);
      x.count[3] = x.count[4] = std::min(x.count[3], x.count[4]);
    }
    Agree(x, RandomMemory(Data::kWild, x.src_type, true), x.dst_type);
  }
}

TEST_F(Instructions, CopyAndFillFollowThePage) {
  for (int round = 0; round < 40; ++round) {
    npu::Copy c;
    for (auto& n : c.count) n = Pick(1, 4);
    c.bytes = OneOf({1, 32, 31, 64, 100});
    c.src.mem = OneOf<std::int32_t>({npu::kL1, npu::kUb});
    c.dst.mem = OneOf<std::int32_t>({npu::kL1, npu::kUb});
    c.dst.addr = static_cast<std::int32_t>(kBuffers.l1_bytes / 2) + Pick(0, 9);
    c.src.addr = Pick(0, 9);
    Apart(c.count, c.bytes, 1, c.dst_stride);
    Apart(c.count, c.bytes, 1, c.src_stride);
    Repeat(c.src_stride);
    Agree(c, RandomMemory(Data::kWild, npu::kF16, true), npu::kI8);
    npu::Fill f;
    f.mem = c.dst.mem;
    f.type = Pick(0, 3);
    for (auto& n : f.count) n = Pick(1, 4);
    f.len = Pick(1, 50);
    f.value = static_cast<std::int32_t>(rng());
    Apart(f.count, std::int64_t{f.len} * npu::ElemBytes(f.type), npu::ElemBytes(f.type), f.stride);
    Agree(f, RandomMemory(Data::kWild, npu::kF16, true), npu::kI8);
  }
}

TEST_F(Instructions, ConversionsAgreeOnEveryHalf) {
  // All 65536 fp16 values to fp32 and back: the identity, NaN staying NaN.
  for (const Kernels* k : AvailableKernels()) {
    std::vector<std::uint16_t> in(65536), out(65536);
    std::vector<float> wide(65536);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint16_t>(i);
    k->load(npu::kF16, reinterpret_cast<const std::byte*>(in.data()), 65536, wide.data());
    k->store(npu::kF16, wide.data(), 65536, reinterpret_cast<std::byte*>(out.data()));
    for (std::size_t i = 0; i < in.size(); ++i) {
      if ((i & 0x7FFF) > 0x7C00) {
        ASSERT_TRUE(std::isnan(wide[i]));
        ASSERT_GT(out[i] & 0x7FFF, 0x7C00);
      } else {
        ASSERT_EQ(out[i], i) << k->target;
      }
    }
  }
}

// Worked out by hand from the page.
TEST_F(Instructions, HalfAccumulatorsRoundOncePerBlock) {
  // A = 1, 1, ...; B: first block sums to 2048, the second to 1. In fp16 2048 + 1 rounds to 2048
  // (ties to even); in fp32 it is 2049.
  for (const bool half : {true, false}) {
    reference::Memory m = RandomMemory(Data::kTame, npu::kF16, half);
    npu::Mmad x;
    x.m = x.n1 = 1;
    x.k1 = 2;
    x.a_m1_stride = 1024;
    x.b_k1_stride = 512;
    for (int k = 0; k < 32; ++k) {
      reference::PutF(m.l0a, k / 16 * 512 + k % 16 * 2, npu::kF16, 1);
      reference::PutF(m.l0b, k / 16 * 512 + k % 16 * 2, npu::kF16, k < 16 ? 128.0f : 0.0625f);
    }
    Agree(x, m, half ? npu::kF16 : npu::kF32);
    reference::Run(m, x);
    EXPECT_EQ(reference::GetF(m.l0c, 0, half ? npu::kF16 : npu::kF32), half ? 2048.0f : 2049.0f);
  }
}

TEST_F(Instructions, Int8AccumulatorsWrap) {
  reference::Memory m = RandomMemory(Data::kWild, npu::kF16, true);
  npu::Mmad x;
  x.type = npu::kI8;
  x.m = x.n1 = x.k1 = 1;
  x.init = npu::kAccumulate;
  for (int k = 0; k < 32; ++k)
    m.l0a[static_cast<std::size_t>(k)] = m.l0b[static_cast<std::size_t>(k)] = 0x80;  // -128
  reference::Put<std::int32_t>(m.l0c, 0, 2147483647);
  Agree(x, m, npu::kI32);
  reference::Run(m, x);
  // 2^31 - 1 + 32 * 16384 = 2^31 - 1 + 524288, which wraps to -2^31 + 524287.
  EXPECT_EQ(reference::Get<std::int32_t>(m.l0c, 0), -2147483647 - 1 + 524287);
}

TEST_F(Instructions, FunctionsAreCloseToTheirNames) {
  // exp and ln against double precision: within 3 units in the last place of fp32.
  for (const Kernels* k : AvailableKernels()) {
    for (const bool ln : {false, true}) {
      alignas(64) float x[1024], y[1024];
      for (int i = 0; i < 1024; ++i) {
        x[i] = ln ? static_cast<float>(std::exp2(-140 + i * 0.25))
                  : static_cast<float>(-87 + i * 0.17);
        y[i] = x[i];
      }
      k->unary(ln ? npu::UnaryOp::kLn : npu::UnaryOp::kExp, 0, y, 1024);
      for (int i = 0; i < 1024; ++i) {
        const double exact =
            ln ? std::log(static_cast<double>(x[i])) : std::exp(static_cast<double>(x[i]));
        EXPECT_NEAR(y[i], exact, std::abs(exact) * 2e-7 + 1e-38) << k->target << " " << x[i];
      }
    }
  }
}

TEST_F(Instructions, SpecialValuesByHand) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    npu::UnaryOp op;
    float x, scalar, y;
  };
  using O = npu::UnaryOp;
  const Case cases[] = {
      {O::kRelu, -0.0f, 0, -0.0f}, {O::kRelu, -1, 0, 0.0f},   {O::kRelu, nan, 0, nan},
      {O::kExp, 0, 0, 1},          {O::kExp, -inf, 0, 0},     {O::kExp, inf, 0, inf},
      {O::kExp, nan, 0, nan},      {O::kExp, 100, 0, inf},    {O::kExp, -100, 0, 0},
      {O::kLn, 1, 0, 0},           {O::kLn, 0, 0, -inf},      {O::kLn, -0.0f, 0, -inf},
      {O::kLn, -1, 0, nan},        {O::kLn, inf, 0, inf},     {O::kRec, -0.0f, 0, -inf},
      {O::kRec, 4, 0, 0.25f},      {O::kRsqrt, 4, 0, 0.5f},   {O::kSqrt, -1, 0, nan},
      {O::kAbs, -0.0f, 0, 0.0f},   {O::kNeg, 0.0f, 0, -0.0f}, {O::kMaxs, nan, 1, nan},
      {O::kMaxs, -0.0f, 0, -0.0f}, {O::kMins, 9, 6, 6},       {O::kMins, nan, 6, nan},
      {O::kAdds, 1, -1, 0.0f},     {O::kMuls, -2, 0, -0.0f},
  };
  for (const Kernels* k : AvailableKernels()) {
    for (const Case& c : cases) {
      alignas(64) float v[16];
      for (float& e : v) e = c.x;
      k->unary(c.op, c.scalar, v, 16);
      for (const float e : v) {
        if (std::isnan(c.y)) {
          EXPECT_TRUE(std::isnan(e))
              << k->target << " op " << static_cast<int>(c.op) << " of " << c.x;
        } else {
          EXPECT_EQ(e, c.y) << k->target << " op " << static_cast<int>(c.op) << " of " << c.x;
          EXPECT_EQ(std::signbit(e), std::signbit(c.y))
              << k->target << " op " << static_cast<int>(c.op) << " of " << c.x;
        }
      }
    }
  }
}

}  // namespace
}  // namespace npukit::devices::npu_sim
