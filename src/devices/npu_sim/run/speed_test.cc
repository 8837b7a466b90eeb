// Prints how fast the simulation runs on this machine, one thread. Asserts only that something was
// computed: time depends on what else runs.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include "devices/npu_sim/run/machine.h"
#include "tensor/half.h"

namespace npukit::devices::npu_sim {
namespace {

constexpr npu::Buffers kBuffers = {.l1_bytes = 524288,
                                   .l0a_bytes = 32768,
                                   .l0b_bytes = 32768,
                                   .l0c_bytes = 131072,
                                   .ub_bytes = 131072};

template <class T>
void Measure(const char* what, const T& x, double work, const char* unit, std::uint32_t bits) {
  npu::Program p;
  p.buffers = kBuffers;
  p.accumulator_fp16_bits = bits;
  p.Emit(x);
  p.tasks.push_back({"t", {{1, 1, {}, p.CodeSince(0)}}, 0});
  const Status ok = npu::Check(p);
  ASSERT_TRUE(ok.ok()) << ok.message();
  for (const Kernels* k : AvailableKernels()) {
    auto core = Core::Create(kBuffers);
    ASSERT_TRUE(core.ok());
    (*core)->Poison(std::byte{0x11});  // 0x1111: a small fp16 number
    double best = 1e9;
    int runs = 0;
    const auto start = std::chrono::steady_clock::now();
    while (runs < 3 || std::chrono::steady_clock::now() - start < std::chrono::milliseconds(30)) {
      const auto t = std::chrono::steady_clock::now();
      Execute(p, p.tasks[0].groups[0].body, 0, 0, Dram{}, **core, *k);
      best = std::min(best,
                      std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count());
      ++runs;
    }
    std::printf("%-34s %-7s %8.2f %s\n", what, std::string(k->target).c_str(), work / best / 1e9,
                unit);
  }
}

TEST(SimulationSpeed, CubeAndVector) {
  npu::Mmad m;
  for (const auto& [rows, k1, n1] : {std::tuple{256, 4, 6}, {96, 9, 2}, {16, 16, 4}}) {
    m.m = rows;
    m.k1 = k1;
    m.n1 = n1;
    m.a_m1_stride = k1 * 512;
    m.b_k1_stride = n1 * 512;
    for (const std::uint32_t bits : {16u, 32u}) {
      m.type = npu::kF16;
      m.c_n1_stride = rows * 16 * static_cast<int>(bits / 8);
      char name[64];
      std::snprintf(name, sizeof name, "mmad %d x %d x %d, fp16 + fp%u", rows, k1 * 16, n1 * 16,
                    bits);
      Measure(name, m, double{256} * rows * k1 * n1, "GMAC/s", bits);
    }
  }
  npu::Window w;
  for (const int kernel : {3, 5}) {
    w.kernel_h = w.kernel_w = kernel;
    w.count[0] = 2;
    w.count[1] = 16;
    w.count[2] = 32;
    w.tap_stride[0] = 40 * 32;
    w.tap_stride[1] = 32;
    w.src_stride[0] = 0;
    w.src_stride[1] = 40 * 32;
    w.weight_addr = 40960;
    w.weight_stride = kernel * kernel * 32;
    w.dst_addr = 65536;
    w.dst_stride[0] = 16 * 32 * 32;
    w.dst_stride[1] = 32 * 32;
    Measure(kernel == 3 ? "window 3x3, depthwise" : "window 5x5, depthwise", w,
            2.0 * 16 * 32 * 16 * kernel * kernel, "GMAC/s", 16);
  }
  npu::Load3d l;
  l.height = l.width = 32;
  l.pad_top = l.pad_left = 1;
  l.kernel_h = l.kernel_w = 3;
  l.out_w = 32;
  l.m_count = 112;
  l.k_count = 9;
  l.dst_m1_stride = 9 * 512;
  Measure("load3d 3x3", l, 112.0 * 9 * 32, "GB/s", 16);
  npu::Unary u;
  u.len = 30000;
  u.dst_addr = 65536;
  u.op = npu::UnaryOp::kAdds;
  Measure("unary adds fp16", u, 30000, "G/s", 16);
  u.op = npu::UnaryOp::kExp;
  Measure("unary exp fp16", u, 30000, "G/s", 16);
  npu::Binary b;
  b.op = npu::BinaryOp::kMul;
  b.len = 16;
  b.count[3] = 1800;
  b.dst_stride[3] = b.src0_stride[3] = 32;
  b.dst_addr = 65536;
  b.src1_addr = 60000;
  Measure("binary mul, rows by one block", b, 1800.0 * 16, "G/s", 16);
  npu::L0cToUb c;
  c.rows = 500;
  c.n1 = 2;
  c.src_n1_stride = c.dst_n1_stride = 16000;
  c.relu = 1;
  Measure("l0c_to_ub relu", c, 16000, "G/s", 16);
}

}  // namespace
}  // namespace npukit::devices::npu_sim
