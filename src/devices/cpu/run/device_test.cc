#include <gtest/gtest.h>

#include <thread>

#include "devices/cpu/run/driver.h"
#include "devices/cpu/run/step_test.h"

namespace npukit::devices::cpu {
namespace {

using tensor::DType;
using tensor::Value;

// y = relu(x + w) on 2x3, through scratch; small enough to check by eye.
struct Fixture {
  Blob blob;
  std::vector<float> w = {1, -1, 10};
  std::vector<hal::WeightView> weights;
  Fixture() {
    blob.tensors = {
        {.dtype = DType::kF32, .dims = {2, 3}, .place = Place::kInput, .index = 0},
        {.dtype = DType::kF32, .dims = {3}, .place = Place::kWeight, .index = 0},
        {.dtype = DType::kF32, .dims = {2, 3}, .place = Place::kScratch, .offset = 64},
        {.dtype = DType::kF32, .dims = {2, 3}, .place = Place::kOutput, .index = 0},
    };
    blob.steps = {
        {.op = "add", .name = "a", .attrs = {}, .epilogue = {}, .inputs = {0, 1}, .outputs = {2}},
        {.op = "relu", .name = "b", .attrs = {}, .epilogue = {}, .inputs = {2}, .outputs = {3}}};
    blob.inputs = {0};
    blob.outputs = {3};
    blob.weights = 1;
    blob.scratch_bytes = 128;
    weights = {{.id = 0, .bytes = std::as_bytes(std::span(w))}};
  }
};

hal::DevicePtr OpenCpu(bool virtual_clock = false, int threads = 2) {
  hal::OpenOptions o;
  o.virtual_clock = virtual_clock;
  o.pool = std::make_shared<ThreadPool>(threads);
  auto d = Driver().open(o);
  NPUKIT_CHECK(d.ok());
  return *d;
}

hal::Work MakeWork(hal::Device& device, hal::ExecutablePtr exe, std::vector<float>& x,
                   std::vector<float>& y) {
  const tensor::Type type = tensor::Type::Tensor(DType::kF32, tensor::Dims{2, 3});
  hal::Work w;
  w.inputs = {{*device.Import({x.data(), x.size() * 4}), 0, type}};
  w.outputs = {{*device.Import({y.data(), y.size() * 4}), 0, type}};
  w.scratch.buffer = *device.Allocate({.size_bytes = exe->scratch_bytes(), .alignment = 64});
  w.executable = std::move(exe);
  return w;
}

TEST(CpuDevice, RunsStepsThroughScratchIntoTheCallersMemory) {
  const hal::DevicePtr device = OpenCpu();
  Fixture f;
  auto exe = device->Load(Write(f.blob), f.weights);
  ASSERT_TRUE(exe.ok()) << exe.status().message();
  std::vector<float> x = {0, 0, 0, -5, 3, -20}, y(6, -1);
  auto fence = device->Submit(MakeWork(*device, *exe, x, y));
  ASSERT_TRUE(fence.ok()) << fence.status().message();
  ASSERT_TRUE((*fence)->Wait().ok());
  EXPECT_EQ(y, (std::vector<float>{1, 0, 10, 0, 2, 0}));  // by hand
  EXPECT_EQ((*fence)->timing().kind, target::Kind::kMeasured);
  EXPECT_EQ(device->Sample().works, 1u);
}

TEST(CpuDevice, NamesItsStepsAndSaysWhatEachTookWhenAsked) {
  const hal::DevicePtr device = OpenCpu();
  Fixture f;
  const hal::ExecutablePtr exe = *device->Load(Write(f.blob), f.weights);
  const std::vector<hal::StepInfo> steps = exe->steps();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].op, "add");
  EXPECT_EQ(steps[0].name, "a");
  EXPECT_EQ(steps[0].shape, "fp32[2, 3]");
  EXPECT_EQ(steps[0].vector_ops, 6);
  EXPECT_EQ(steps[0].bytes, 4 * (6 + 3 + 6));  // x, w and the sum, each once
  EXPECT_EQ(steps[1].name, "b");
  for (const hal::StepInfo& s : steps) EXPECT_STRNE(s.kernel, "");
  std::vector<float> x(6, 1), y(6);
  std::vector<std::int64_t> ns = {7, 7, 7, 7};  // of an earlier run
  hal::Work work = MakeWork(*device, exe, x, y);
  work.step_ns = &ns;
  for (int i = 0; i < 2; ++i) {
    const hal::FencePtr fence = *device->Submit(work);
    ASSERT_TRUE(fence->Wait().ok());
    ASSERT_EQ(ns.size(), 2u);
    EXPECT_GE(ns[0], 0);
    EXPECT_LE(ns[0] + ns[1], fence->timing().end_ns - fence->timing().start_ns);
  }
}

TEST(CpuDevice, KeepsManyWorksOfOneExecutableApart) {
  const hal::DevicePtr device = OpenCpu();
  Fixture f;
  const hal::ExecutablePtr exe = *device->Load(Write(f.blob), f.weights);
  std::vector<std::thread> threads;
  std::atomic<int> bad{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const float v = static_cast<float>(t * 100 + i);
        std::vector<float> x(6, v), y(6, -1);
        const hal::FencePtr fence = *device->Submit(MakeWork(*device, exe, x, y));
        if (!fence->Wait().ok() || y != std::vector<float>{v + 1, v > 1 ? v - 1 : 0, v + 10, v + 1,
                                                           v > 1 ? v - 1 : 0, v + 10}) {
          bad.fetch_add(1);
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(bad.load(), 0);
}

TEST(CpuDevice, StartsAfterTheFencesItWaitsForByTheVirtualClockToo) {
  const hal::DevicePtr a = OpenCpu(true), b = OpenCpu(true);
  Fixture f;
  std::vector<float> x(6, 1), y(6), z(6);
  hal::Work first = MakeWork(*a, *a->Load(Write(f.blob), f.weights), x, y);
  const hal::FencePtr one = *a->Submit(first);
  hal::Work second = MakeWork(*b, *b->Load(Write(f.blob), f.weights), y, z);
  second.waits = {one};
  const hal::FencePtr two = *b->Submit(second);
  ASSERT_TRUE(two->Wait().ok());
  EXPECT_TRUE(one->done());
  EXPECT_EQ(two->timing().start_ns, one->timing().end_ns);
  EXPECT_GT(two->timing().end_ns, two->timing().start_ns);
  EXPECT_NE(two->timing().kind, target::Kind::kMeasured);
  EXPECT_EQ(z, (std::vector<float>{3, 0, 21, 3, 0, 21}));  // by hand, twice the network
}

TEST(CpuDevice, StopsBetweenStepsWhenCancelled) {
  const hal::DevicePtr device = OpenCpu();
  Fixture f;
  std::vector<float> x(6), y(6);
  hal::Work w = MakeWork(*device, *device->Load(Write(f.blob), f.weights), x, y);
  const std::atomic<bool> cancel{true};
  w.cancel = &cancel;
  EXPECT_EQ((*device->Submit(w))->Wait().code(), Code::kCancelled);
}

TEST(CpuDevice, RefusesBindingsThatDoNotFit) {
  const hal::DevicePtr device = OpenCpu();
  Fixture f;
  std::vector<float> x(6), y(6);
  const hal::ExecutablePtr exe = *device->Load(Write(f.blob), f.weights);
  const auto code = [&](auto&& spoil) {
    hal::Work w = MakeWork(*device, exe, x, y);
    spoil(w);
    const auto fence = device->Submit(w);
    return fence.ok() ? (*fence)->Wait().code() : fence.status().code();
  };
  EXPECT_EQ(code([](hal::Work& w) { w.inputs[0].offset = 4; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](hal::Work& w) { w.outputs[0].offset = UINT64_MAX; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](hal::Work& w) { w.inputs[0].type.dtype = DType::kI32; }),
            Code::kInvalidArgument);
  EXPECT_EQ(code([](hal::Work& w) { w.inputs[0].buffer = nullptr; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](hal::Work& w) { w.inputs.clear(); }), Code::kInvalidArgument);
  EXPECT_EQ(code([](hal::Work& w) { w.scratch.buffer = nullptr; }), Code::kInvalidArgument);
  EXPECT_EQ(code([](hal::Work& w) { w.scratch.offset = 64; }), Code::kInvalidArgument);
  EXPECT_EQ(code([&](hal::Work& w) { w.executable = *OpenCpu()->Load(Write(f.blob), f.weights); }),
            Code::kInvalidArgument);
  EXPECT_EQ(code([](hal::Work&) {}), Code::kOk);
}

TEST(CpuExecutable, PreparesTheShapesItWasCompiledForOnly) {
  const hal::DevicePtr device = OpenCpu();
  Fixture f;
  const hal::ExecutablePtr exe = *device->Load(Write(f.blob), f.weights);
  const std::vector<tensor::Type> good = {tensor::Type::Tensor(DType::kF32, tensor::Dims{2, 3})};
  EXPECT_EQ((*exe->Prepare(good))[0], good[0]);
  const std::vector<tensor::Type> other = {tensor::Type::Tensor(DType::kF32, tensor::Dims{3, 3})};
  EXPECT_EQ(exe->Prepare(other).status().code(), Code::kUnsupported);
}

TEST(CpuExecutable, RefusesBlobsThatWouldReachOutsideTheirMemory) {
  const hal::DevicePtr device = OpenCpu();
  const auto code = [&](auto&& spoil) {
    Fixture f;
    spoil(f);
    return device->Load(Write(f.blob), f.weights).status().code();
  };
  EXPECT_EQ(code([](Fixture&) {}), Code::kOk);
  EXPECT_EQ(code([](Fixture& f) { f.blob.tensors[2].offset = 128; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.tensors[2].offset = UINT64_MAX - 63; }),
            Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.tensors[2].offset = 4; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.tensors[2].dims = {2, 4}; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.tensors[0].dims = {INT64_MAX, 3}; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.tensors[0].dims = {-2, 3}; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.tensors[0].index = 1; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.tensors[0].dtype = DType::kString; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.tensors[1].dims = {4}; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.tensors[1].index = 7; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.weights.clear(); }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.weights[0].bytes = f.weights[0].bytes.first(8); }),
            Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.steps[0].inputs = {0, 9}; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.steps[0].inputs = {0}; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.steps[0].outputs = {0}; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.steps[0].outputs = {}; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.steps[0].op = "conv2d"; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.steps[0].op = "nothing_known"; }), Code::kUnsupported);
  EXPECT_EQ(code([](Fixture& f) { f.blob.steps[0].attrs = {{"alpha", 1.0f}}; }),
            Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.outputs = {0}; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.scratch_bytes = UINT64_MAX; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.scratch_bytes = 129; }), Code::kDataCorrupt);
  EXPECT_EQ(code([](Fixture& f) { f.blob.steps[1].outputs = {2}; }),
            Code::kDataCorrupt);  // onto its own input
}

TEST(CpuExecutable, SurvivesEveryByteOfADamagedBlob) {
  const hal::DevicePtr device = OpenCpu();
  Fixture f;
  const std::vector<std::byte> good = Write(f.blob);
  std::vector<float> x(6, 1), y(6);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::vector<std::byte> bad = good;
      bad[i] ^= static_cast<std::byte>(flip);
      const auto exe = device->Load(bad, f.weights);
      if (!exe.ok() || (*exe)->scratch_bytes() > (1u << 20)) continue;  // a size may be any size
      // What loads must also run without touching anything else: the sanitizers watch.
      hal::Work w = MakeWork(*device, *exe, x, y);
      const auto fence = device->Submit(w);
      if (fence.ok()) (void)(*fence)->Wait();
    }
  }
  for (std::size_t n = 0; n < good.size(); n += 7) {
    EXPECT_FALSE(device->Load(std::span(good).first(n), f.weights).ok() && n < good.size() / 2)
        << n;
  }
}

TEST(CpuReference, RunsAnOperatorNoKernelTakes) {
  Random random(1);
  // fp64 has no kernel.
  auto x = Value::Allocate(DType::kF64, {2, 3, 4});
  for (double& v : x->as_mutable<double>()) v = static_cast<double>(random.Int(-5, 5));
  ExpectLikeReference({.op = &op::relu, .attrs = {}, .epilogue = {}, .inputs = {{.value = *x}}},
                      "reference");
}

}  // namespace
}  // namespace npukit::devices::cpu
