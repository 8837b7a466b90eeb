// The simulated NPU as a device: what it refuses, what it returns, that speeds and threads change
// no bit.
#include "hal/device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "devices/npu_sim/run/driver.h"
#include "devices/npu_sim/run/executable.h"
#include "tensor/half.h"

namespace npukit::devices::npu_sim {
namespace {

using tensor::DType;
using tensor::Type;

target::Profile TestProfile() {
  target::Profile p;
  p.name = "test";
  const auto number = [&](const char* key, double v) { p.facts[key] = {.value = v}; };
  p.facts["npu.model"] = {.value = std::string("test")};
  for (const char* key :
       {"npu.bw.l0c_ub", "npu.bw.l1_l0a", "npu.bw.l1_l0b", "npu.bw.l1_ub", "npu.bw.ub_l1",
        "npu.vector.bytes_per_cycle", "npu.vector.move_bytes_per_cycle"}) {
    number(key, 128);
  }
  for (const char* key :
       {"npu.head.cube_cycles", "npu.head.mte_cycles", "npu.head.vector_cycles", "npu.dispatch_us",
        "npu.inference_fixed_us", "npu.dram_latency_cycles", "npu.energy.dram_pj_per_byte",
        "npu.head.issue_cycles", "npu.fixpipe", "npu.energy.idle_mw", "npu.energy.mac_fp16_pj",
        "npu.energy.mac_int8_pj", "npu.energy.sram_pj_per_byte", "npu.energy.vector_pj"}) {
    number(key, 5);
  }
  for (const char* key : {"npu.cube.m_fp16", "npu.cube.k_fp16", "npu.cube.n_fp16",
                          "npu.cube.m_int8", "npu.cube.k_int8", "npu.cube.n_int8"}) {
    number(key, 16);
  }
  number("npu.clock_ghz", 1);
  number("npu.cores", 1);
  number("npu.dram_gbytes_per_s", 30);
  number("npu.dram_burst_bytes", 64);
  number("npu.cube.accumulator_fp16_bits", 16);
  number("npu.sram_bytes", 65536);
  number("npu.l0a_bytes", 16384);
  number("npu.l0b_bytes", 16384);
  number("npu.l0c_bytes", 32768);
  number("npu.ub_bytes", 65536);
  return p;
}

constexpr int kRows = 64, kTiles = 32, kK1 = 3, kN1 = 2;

// y = relu(x W) + add: a product over 32 tiles, then a task that adds a constant to the whole.
// x (C1 = 3, rows, 16) fp16, y (C1 = 2, rows, 16) fp16, W in FRACTAL_Z.
npu::Program Product(float add) {
  npu::Program p;
  p.accumulator_fp16_bits = 16;
  p.buffers = {.l1_bytes = 65536,
               .l0a_bytes = 16384,
               .l0b_bytes = 16384,
               .l0c_bytes = 32768,
               .ub_bytes = 65536};
  constexpr int kPlane = kRows * kTiles * 32;
  p.workspace_bytes = kN1 * kPlane;
  p.weight_bytes = {kK1 * kN1 * 512};
  p.inputs = {Type::Tensor(DType::kF16, tensor::Dims{kK1, kRows * kTiles, 16})};
  p.outputs = {Type::Tensor(DType::kF16, tensor::Dims{kN1, kRows * kTiles, 16})};

  npu::Copy w;
  w.src = {.mem = npu::kWeight};
  w.dst = {.mem = npu::kL1, .addr = 32768};
  w.bytes = kK1 * kN1 * 512;
  p.Emit(w);
  npu::Load2d lw;
  lw.src_addr = 32768;
  lw.count[1] = kK1 * kN1;
  p.Emit(lw);
  const npu::Code prologue = p.CodeSince(0);

  std::size_t begin = p.code.size();
  npu::Copy in;
  in.src = {.mem = npu::kInput, .step = {kRows * 32, 0}};
  in.dst = {.mem = npu::kL1};
  in.count[2] = kK1;
  in.src_stride[2] = kPlane;
  in.dst_stride[2] = kRows * 32;
  in.bytes = kRows * 32;
  p.Emit(in);
  p.Emit(npu::Load3d{.dst_m1_stride = kK1 * 512,
                     .src_c1_stride = kRows * 32,
                     .height = 1,
                     .width = kRows,
                     .out_w = kRows,
                     .m_count = kRows,
                     .k_count = kK1});
  p.Emit(npu::Mmad{.a_m1_stride = kK1 * 512,
                   .b_k1_stride = kN1 * 512,
                   .c_n1_stride = kRows * 32,
                   .m = kRows,
                   .k1 = kK1,
                   .n1 = kN1});
  p.Emit(npu::L0cToUb{.src_n1_stride = kRows * 32,
                      .dst_n1_stride = kRows * 32,
                      .rows = kRows,
                      .n1 = kN1,
                      .relu = 1});
  npu::Copy out;
  out.src = {.mem = npu::kUb};
  out.dst = {.mem = npu::kWorkspace, .step = {kRows * 32, 0}};
  out.count[2] = kN1;
  out.src_stride[2] = kRows * 32;
  out.dst_stride[2] = kPlane;
  out.bytes = kRows * 32;
  p.Emit(out);
  p.tasks.push_back({"product",
                     {{kTiles, 1, prologue, p.CodeSince(begin)}},
                     std::uint64_t{kRows} * kTiles * kK1 * kN1 * 256});

  begin = p.code.size();
  npu::Copy back;
  back.src = {.mem = npu::kWorkspace, .step = {kPlane, kRows * 32}};
  back.dst = {.mem = npu::kUb};
  back.bytes = kRows * 32;
  p.Emit(back);
  p.Emit(npu::Unary{.op = npu::UnaryOp::kAdds, .len = kRows * 16, .scalar = add});
  npu::Copy store;
  store.src = {.mem = npu::kUb};
  store.dst = {.mem = npu::kOutput, .step = {kPlane, kRows * 32}};
  store.bytes = kRows * 32;
  p.Emit(store);
  p.tasks.push_back({"add", {{kN1, kTiles, {}, p.CodeSince(begin)}}, 0});
  return p;
}

struct Opened {
  hal::DevicePtr device;
  hal::ExecutablePtr exe;
  std::vector<std::byte> blob, weight;
};

std::vector<std::uint16_t> RandomHalves(std::size_t n, std::uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<std::uint16_t> v(n);
  for (auto& h : v)
    h = static_cast<std::uint16_t>((rng() & 0x83FF) | ((13 + rng() % 4) << 10));  // 2^-2 .. 2^2
  return v;
}

Result<Opened> Open(const target::Profile& profile, const npu::Program& program, int threads) {
  Opened r;
  hal::OpenOptions o;
  o.profile = profile;
  o.virtual_clock = true;
  o.pool = std::make_shared<ThreadPool>(threads);
  NPUKIT_ASSIGN_OR_RETURN(r.device, Driver().open(o));
  r.blob = npu::Pack(program);
  const auto w = RandomHalves(kK1 * kN1 * 256, 7);
  r.weight.resize(w.size() * 2);
  std::memcpy(r.weight.data(), w.data(), r.weight.size());
  const hal::WeightView view{.id = 42, .bytes = r.weight};
  NPUKIT_ASSIGN_OR_RETURN(r.exe, r.device->Load(r.blob, {&view, 1}));
  return r;
}

struct Io {
  hal::Work work;
  hal::BufferPtr out;
};
Io Bind(Opened& r, std::uint32_t seed) {
  Io io;
  io.work.executable = r.exe;
  const auto x = RandomHalves(std::size_t{kK1} * kRows * kTiles * 16, seed);
  auto in = r.device->Allocate({.size_bytes = x.size() * 2});
  std::memcpy((*in)->host(), x.data(), x.size() * 2);
  io.work.inputs = {{*in, 0, Type::Tensor(DType::kF16, tensor::Dims{kK1, kRows * kTiles, 16})}};
  io.out = *r.device->Allocate({.size_bytes = std::size_t{kN1} * kRows * kTiles * 32});
  io.work.outputs = {{io.out, 0, Type::Tensor(DType::kF16, tensor::Dims{kN1, kRows * kTiles, 16})}};
  io.work.scratch = {*r.device->Allocate({.size_bytes = r.exe->scratch_bytes()}), 0, {}};
  return io;
}
std::vector<std::byte> Bytes(const hal::BufferPtr& b) {
  return {b->host(), b->host() + b->size_bytes()};
}

TEST(Device, SpeedsAndThreadsChangeNoBit) {
  target::Profile slow = TestProfile();
  slow.name = "slow";
  for (const char* key : {"npu.clock_ghz", "npu.dram_gbytes_per_s", "npu.bw.l1_l0a"})
    slow.facts[key].value = 0.01;
  for (const char* key : {"npu.cores", "npu.cube.n_fp16", "npu.dispatch_us"})
    slow.facts[key].value = 8.0;
  auto a = Open(TestProfile(), Product(1), 1);
  auto b = Open(slow, Product(1), 3);
  ASSERT_TRUE(a.ok()) << a.status().message();
  ASSERT_TRUE(b.ok()) << b.status().message();
  Io x = Bind(*a, 1), y = Bind(*b, 1);
  auto fx = a->device->Submit(x.work), fy = b->device->Submit(y.work);
  ASSERT_TRUE(fx.ok() && fy.ok());
  ASSERT_TRUE((*fx)->Wait().ok() && (*fy)->Wait().ok());
  EXPECT_EQ(Bytes(x.out), Bytes(y.out));
  EXPECT_GT((*fy)->timing().end_ns, 2 * (*fx)->timing().end_ns);
  EXPECT_EQ((*fx)->timing().kind, target::Kind::kModelled);
  EXPECT_TRUE((*fx)->timing().energy_pj.has_value());
}

TEST(Device, ComputesTheProduct) {
  auto r = Open(TestProfile(), Product(1), 2);
  ASSERT_TRUE(r.ok()) << r.status().message();
  Io io = Bind(*r, 3);
  ASSERT_TRUE((*r->device->Submit(io.work))->Wait().ok());
  // Against double precision, far within what fp16 accumulators lose.
  const auto x = RandomHalves(std::size_t{kK1} * kRows * kTiles * 16, 3);
  const auto w = RandomHalves(kK1 * kN1 * 256, 7);
  const auto* y = reinterpret_cast<const std::uint16_t*>(io.out->host());
  for (const int row : {0, 1, 777, kRows * kTiles - 1}) {
    for (int n = 0; n < kN1 * 16; ++n) {
      double sum = 0, size = 0;
      for (int k = 0; k < kK1 * 16; ++k) {
        const double a = tensor::HalfToFloat(
            x[static_cast<std::size_t>((k / 16 * kRows * kTiles + row) * 16 + k % 16)]);
        const double b = tensor::HalfToFloat(
            w[static_cast<std::size_t>((k / 16 * kN1 + n / 16) * 256 + n % 16 * 16 + k % 16)]);
        sum += a * b;
        size += std::abs(a * b);
      }
      const double got = tensor::HalfToFloat(y[(n / 16 * kRows * kTiles + row) * 16 + n % 16]);
      EXPECT_NEAR(got, std::max(sum, 0.0) + 1, size * 2e-3) << row << " " << n;
    }
  }
}

TEST(Device, ManyWorksAtOnceEqualSerialOnes) {
  auto r = Open(TestProfile(), Product(2), 2);
  ASSERT_TRUE(r.ok()) << r.status().message();
  std::vector<std::vector<std::byte>> serial(4);
  for (std::uint32_t s = 0; s < 4; ++s) {
    Io io = Bind(*r, s);
    ASSERT_TRUE((*r->device->Submit(io.work))->Wait().ok());
    serial[s] = Bytes(io.out);
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        Io a = Bind(*r, t), b = Bind(*r, (t + 1) % 4);
        auto fa = r->device->Submit(a.work);
        b.work.waits = {*fa};
        auto fb = r->device->Submit(b.work);
        if (!(*fb)->Wait().ok() || Bytes(a.out) != serial[t] || Bytes(b.out) != serial[(t + 1) % 4])
          ++wrong;
        if ((*fb)->timing().start_ns < (*fa)->timing().end_ns) ++wrong;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(r->device->Sample().works, 84u);
}

TEST(Device, RefusesWhatDoesNotFit) {
  const auto refuses = [](target::Profile profile, npu::Program program, std::string_view word) {
    const auto r = Open(profile, program, 1);
    ASSERT_FALSE(r.ok());
    EXPECT_NE(r.status().message().find(word), std::string::npos) << r.status().message();
  };
  target::Profile p = TestProfile();
  p.facts["npu.cube.accumulator_fp16_bits"].value = 32.0;
  refuses(p, Product(1), "npu.cube.accumulator_fp16_bits");
  p = TestProfile();
  p.facts["npu.ub_bytes"].value = 65535.0;
  refuses(p, Product(1), "npu.ub_bytes");
  p = TestProfile();
  p.facts.erase("npu.model");
  refuses(p, Product(1), "no NPU");
  p = TestProfile();
  p.facts.erase("npu.energy.idle_mw");
  refuses(p, Product(1), "npu.energy.idle_mw");
  npu::Program q = Product(1);
  q.weight_bytes = {1 << 20};
  refuses(TestProfile(), q, "weight 0");
  q.weight_bytes = {64, 64};
  refuses(TestProfile(), q, "npu_sim");
}

TEST(Device, RefusesWrongBindings) {
  auto r = Open(TestProfile(), Product(1), 1);
  auto other = Open(TestProfile(), Product(1), 1);
  ASSERT_TRUE(r.ok() && other.ok());
  const auto refused = [&](auto spoil) {
    Io io = Bind(*r, 1);
    spoil(io.work);
    const auto f = r->device->Submit(io.work);
    if (f.ok()) {
      EXPECT_TRUE((*f)->Wait().ok());  // before its weights go
    }
    return !f.ok() && f.status().code() == npukit::Code::kInvalidArgument;
  };
  EXPECT_TRUE(refused([&](hal::Work& w) { w.executable = other->exe; }));
  EXPECT_TRUE(refused([](hal::Work& w) { w.executable = nullptr; }));
  EXPECT_TRUE(refused([](hal::Work& w) { w.inputs.clear(); }));
  EXPECT_TRUE(refused([](hal::Work& w) { w.outputs.push_back(w.outputs[0]); }));
  EXPECT_TRUE(refused([](hal::Work& w) { w.inputs[0].offset = 64; }));
  EXPECT_TRUE(refused([](hal::Work& w) { w.inputs[0].buffer = nullptr; }));
  EXPECT_TRUE(
      refused([](hal::Work& w) { w.inputs[0].type = Type::Tensor(DType::kF32, tensor::Dims{1}); }));
  EXPECT_TRUE(refused([](hal::Work& w) { w.scratch.buffer = nullptr; }));
  EXPECT_TRUE(refused([](hal::Work& w) { w.scratch.offset = 64; }));
  EXPECT_FALSE(refused([](hal::Work&) {}));
  const Type small = Type::Tensor(DType::kF16, tensor::Dims{1});
  EXPECT_EQ(r->exe->Prepare({&small, 1}).status().code(), npukit::Code::kUnsupported);
  EXPECT_EQ(r->exe->Prepare({}).status().code(), npukit::Code::kUnsupported);
}

TEST(Device, StopsBetweenTasksWhenCancelled) {
  auto r = Open(TestProfile(), Product(1), 1);
  ASSERT_TRUE(r.ok());
  Io io = Bind(*r, 1);
  const std::atomic<bool> cancel{true};
  io.work.cancel = &cancel;
  auto f = r->device->Submit(io.work);
  ASSERT_TRUE(f.ok());
  EXPECT_EQ((*f)->Wait().code(), npukit::Code::kCancelled);
  // What waits for a cancelled work fails too, and says so.
  Io next = Bind(*r, 1);
  next.work.waits = {*f};
  EXPECT_EQ((*r->device->Submit(next.work))->Wait().code(), npukit::Code::kCancelled);
}

// A blob is read as hostile: whatever bytes change, Load refuses, or the program runs inside its
// memories. Under the address sanitizer this is the proof that Check leaves no way out.
TEST(Device, SpoiledBlobsNeverLeaveTheirMemories) {
  const npu::Program legal = Product(1);
  std::mt19937 rng(20261130);
  int ran = 0;
  hal::OpenOptions o;
  o.profile = TestProfile();
  o.virtual_clock = true;
  auto device = Driver().open(o);
  ASSERT_TRUE(device.ok());
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 4000 && std::chrono::steady_clock::now() - start < std::chrono::seconds(10);
       ++i) {
    npu::Program p = legal;
    p.tasks[0].groups[0].tiles0 = p.tasks[1].groups[0].tiles1 = 1 + rng() % 3;
    // One to three operand words get small, huge or negative values.
    for (std::uint32_t n = 1 + rng() % 3; n > 0; --n) {
      const std::uint32_t kind = rng() % 4;
      const std::int32_t value = kind == 0   ? static_cast<std::int32_t>(rng() % 64)
                                 : kind == 1 ? static_cast<std::int32_t>(rng() % 66000)
                                 : kind == 2 ? static_cast<std::int32_t>(rng())
                                             : static_cast<std::int32_t>(rng() % 8) * 512;
      p.code[rng() % p.code.size()] = value;
    }
    const std::vector<std::byte> blob = npu::Pack(p);
    std::vector<std::byte> weight(kK1 * kN1 * 512);
    const hal::WeightView view{.id = 0, .bytes = weight};
    // A legal program may be long; only short ones are run here.
    const auto priced = SimExecutable::Load(blob, {&view, 1}, o.profile);
    if (priced.ok() && (*priced)->estimate().time_ns > 2e6) continue;
    auto exe = (*device)->Load(blob, {&view, 1});
    if (!exe.ok()) {
      EXPECT_EQ(exe.status().code(), npukit::Code::kDataCorrupt) << exe.status().message();
      continue;
    }
    Opened r{*device, *exe, {}, {}};
    Io io = Bind(r, 1);
    EXPECT_TRUE((*(*device)->Submit(io.work))->Wait().ok());
    ++ran;
  }
  EXPECT_GT(ran, 20);
  // And bytes of the container itself.
  const std::vector<std::byte> blob = npu::Pack(legal);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bad = blob;
    bad[rng() % std::min<std::size_t>(bad.size(), 400)] = static_cast<std::byte>(rng());
    bad.resize(bad.size() - rng() % 3);
    const auto p = npu::Unpack(bad);
    if (p.ok()) (void)npu::Check(*p).ok();
  }
}

}  // namespace
}  // namespace npukit::devices::npu_sim
