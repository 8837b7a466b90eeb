// A blob is input from outside: whatever is wrong with it, loading says so or running stays inside
// its memory.
#include <gtest/gtest.h>

#include <cstring>

#include "devices/cpu/run/step_test.h"

namespace npukit::devices::cpu {
namespace {

using tensor::Dims;
using tensor::DType;

// A small network with one step for every kind of kernel.
struct Network {
  Blob blob;
  std::vector<std::vector<float>> floats;
  std::vector<std::int64_t> ints = {0, 1, 1, 9};
  std::vector<hal::WeightView> weights;

  std::uint32_t Tensor(Dims dims, Place place, std::uint32_t index, Layout layout = Layout::kRaw,
                       std::uint32_t groups = 1) {
    BlobTensor t{.dtype = DType::kF32,
                 .dims = std::move(dims),
                 .place = place,
                 .index = index,
                 .layout = layout,
                 .groups = groups};
    if (place == Place::kScratch) {
      t.index = 0;
      t.offset = blob.scratch_bytes;
      blob.scratch_bytes += (*PlacedBytes(t) + 63) / 64 * 64;
    }
    blob.tensors.push_back(std::move(t));
    return static_cast<std::uint32_t>(blob.tensors.size() - 1);
  }
  std::uint32_t Weight(Dims dims, Layout layout, std::uint32_t groups = 1) {
    const std::uint32_t id =
        Tensor(std::move(dims), Place::kWeight, blob.weights++, layout, groups);
    floats.emplace_back(*PlacedBytes(blob.tensors[id]) / 4, 0.25f);
    weights.push_back({.id = weights.size(), .bytes = std::as_bytes(std::span(floats.back()))});
    return id;
  }
  std::uint32_t Ints(std::size_t at, std::int64_t n) {
    const std::uint32_t id = Tensor({n}, Place::kWeight, blob.weights++);
    blob.tensors[id].dtype = DType::kI64;
    weights.push_back(
        {.id = weights.size(),
         .bytes = std::as_bytes(std::span(ints).subspan(at, static_cast<std::size_t>(n)))});
    return id;
  }
  std::uint32_t Step(const char* op, std::vector<std::uint32_t> in, Dims out, BlobAttrs attrs) {
    BlobStep s;
    s.op = op;
    s.name = op;
    s.attrs = std::move(attrs);
    for (const std::uint32_t i : in) s.inputs.push_back(static_cast<std::int32_t>(i));
    s.outputs = {Tensor(std::move(out), Place::kScratch, 0)};
    blob.steps.push_back(s);
    return blob.steps.back().outputs[0];
  }

  Network() {
    floats.reserve(20);
    const auto nhwc = std::pair<std::string, BlobAttrValue>("layout", std::string("NHWC"));
    const auto ints_attr = [](const char* name, std::vector<std::int64_t> v) {
      return std::pair<std::string, BlobAttrValue>(name, std::move(v));
    };
    blob.inputs = {Tensor({1, 6, 7, 3}, Place::kInput, 0)};
    std::uint32_t x =
        Step("conv2d",
             {blob.inputs[0], Weight({20, 3, 3, 3}, Layout::kConv), Weight({20}, Layout::kPad16)},
             {1, 6, 7, 20}, {nhwc, ints_attr("pads", {1, 1, 1, 1})});
    blob.steps.back().epilogue = {{.op = "add", .attrs = {}, .operand = 3, .swapped = false},
                                  {.op = "swish", .attrs = {}}};
    blob.steps.back().inputs.push_back(static_cast<std::int32_t>(Weight({20}, Layout::kRaw)));
    x = Step("conv2d",
             {x, Weight({20, 20, 3, 3}, Layout::kWinograd4), Weight({20}, Layout::kPad16)},
             {1, 6, 7, 20}, {nhwc, ints_attr("pads", {1, 1, 1, 1})});
    x = Step("conv2d", {x, Weight({20, 20, 3, 3}, Layout::kWinograd2)}, {1, 6, 7, 20},
             {nhwc, ints_attr("pads", {1, 1, 1, 1})});
    x = Step("conv2d", {x, Weight({20, 1, 3, 3}, Layout::kDepthwise, 20)}, {1, 6, 7, 20},
             {ints_attr("pads", {1, 1, 1, 1}), {"group", std::int64_t{20}}, nhwc});
    x = Step("max_pool2d", {x}, {1, 3, 3, 20},
             {ints_attr("kernel_shape", {2, 2}), ints_attr("strides", {2, 2}), nhwc});
    x = Step("conv_transpose2d", {x, Weight({20, 5, 2, 2}, Layout::kDeconvRow)}, {1, 6, 6, 5},
             {ints_attr("strides", {2, 2}), nhwc});
    x = Step("conv_transpose2d", {x, Weight({5, 4, 3, 3}, Layout::kDeconv)}, {1, 8, 8, 4}, {nhwc});
    x = Step("transpose", {x}, {1, 4, 8, 8}, {ints_attr("perm", {0, 3, 1, 2})});
    x = Step("slice", {x, Ints(0, 2), Ints(2, 2)}, {1, 3, 8, 8}, {});
    x = Step("concat", {x, x}, {1, 6, 8, 8}, {{"axis", std::int64_t{1}}});
    x = Step("matmul", {x, Weight({8, 9}, Layout::kMatmul)}, {1, 6, 8, 9}, {});
    x = Step("matmul", {x, Tensor({1, 6, 9, 8}, Place::kScratch, 0)}, {1, 6, 8, 8},
             {});  // whatever lies there
    x = Step("reduce_mean", {x}, {1, 6, 8, 1}, {ints_attr("axes", {3})});
    x = Step("div", {Tensor({1, 6, 8, 8}, Place::kScratch, 0), x}, {1, 6, 8, 8}, {});
    x = Step("softmax", {x}, {1, 6, 8, 8}, {});
    blob.outputs = {Tensor({1, 6, 8, 8}, Place::kOutput, 0)};
    blob.steps.push_back({.op = "relu",
                          .name = "last",
                          .attrs = {},
                          .epilogue = {},
                          .inputs = {static_cast<std::int32_t>(x)},
                          .outputs = {blob.outputs[0]}});
  }
};

// kOk, or why it did not load or run.
Status LoadAndRun(std::span<const std::byte> bytes, const Network& n, ThreadPool& pool,
                  bool* ran = nullptr) {
  NPUKIT_ASSIGN_OR_RETURN(const auto exe,
                          CpuExecutable::Load(bytes, n.weights, *KernelsFor(SupportedTargets()[0]),
                                              pool.threads(), {}));
  constexpr std::uint64_t kLimit = 1 << 20;
  std::vector<std::unique_ptr<GuardedBuffer>> memory;
  std::vector<std::uintptr_t> bases = {0};
  const auto add = [&](std::uint64_t size) {
    memory.push_back(std::make_unique<GuardedBuffer>(size, true));
    if (size > 0) std::memset(memory.back()->data(), 0x3E, size);
    bases.push_back(reinterpret_cast<std::uintptr_t>(memory.back()->data()));
  };
  if (exe->scratch_bytes() > kLimit)
    return OkStatus();  // a size may be any size; nothing to see here
  add(exe->scratch_bytes());
  for (const auto* list : {&exe->input_types(), &exe->output_types()}) {
    for (const tensor::Type& t : *list) {
      if (*t.bytes() > kLimit) return OkStatus();
      add(*t.bytes());
    }
  }
  if (ran != nullptr) *ran = true;
  return exe->Run(Frame{bases.data(), &pool}, nullptr, nullptr);
}

TEST(HostileBlob, NetworkOfAllKernelsRunsWithoutAReference) {
  const Network n;
  ThreadPool pool(2);
  bool ran = false;
  const Status s = LoadAndRun(Write(n.blob), n, pool, &ran);
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_TRUE(ran);
  const auto exe =
      CpuExecutable::Load(Write(n.blob), n.weights, *KernelsFor(SupportedTargets()[0]), 2, {});
  for (const auto& step : (*exe)->steps()) EXPECT_STRNE(step.kernel, "reference") << step.op;
}

TEST(HostileBlob, EveryDamagedByteIsRefusedOrStaysInside) {
  const Network n;
  ThreadPool pool(1);
  const std::vector<std::byte> good = Write(n.blob);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int flip : {0x01, 0x02, 0x10, 0x80, 0xFF}) {
      std::vector<std::byte> bad = good;
      bad[i] ^= static_cast<std::byte>(flip);
      (void)LoadAndRun(bad, n, pool);  // guard pages and the sanitizers watch
    }
  }
}

TEST(HostileBlob, EveryTensorWithOtherDimsIsRefusedOrStaysInside) {
  ThreadPool pool(1);
  const Network n;
  for (std::size_t t = 0; t < n.blob.tensors.size(); ++t) {
    for (std::size_t d = 0; d < n.blob.tensors[t].dims.size(); ++d) {
      for (const std::int64_t size :
           {std::int64_t{0}, std::int64_t{1}, std::int64_t{17}, std::int64_t{1} << 31, INT64_MAX}) {
        Blob blob = n.blob;
        blob.tensors[t].dims[d] = size;
        (void)LoadAndRun(Write(blob), n, pool);
      }
    }
    for (int layout = 0; layout < kLayoutCount; ++layout) {
      for (const std::uint32_t groups : {0u, 1u, 20u}) {
        Blob blob = n.blob;
        blob.tensors[t].layout = static_cast<Layout>(layout);
        blob.tensors[t].groups = groups;
        (void)LoadAndRun(Write(blob), n, pool);
      }
    }
  }
}

TEST(HostileBlob, WinogradWeightsThatAreTooShortOrOfAnotherConvolutionAreRefused) {
  const Network n;
  ThreadPool pool(1);
  std::size_t seen = 0;
  for (std::size_t t = 0; t < n.blob.tensors.size(); ++t) {
    const BlobTensor& good = n.blob.tensors[t];
    if (good.layout != Layout::kWinograd2 && good.layout != Layout::kWinograd4) continue;
    ++seen;
    Network bad;
    bad.weights[good.index].bytes =
        bad.weights[good.index].bytes.first(bad.weights[good.index].bytes.size() - 4);
    Status s = LoadAndRun(Write(bad.blob), bad, pool);
    EXPECT_EQ(s.code(), Code::kDataCorrupt);
    EXPECT_NE(s.message().find("bytes, found"), std::string::npos) << s.message();
    const auto refused = [&](Dims dims, std::uint32_t groups) {
      Blob blob = n.blob;
      blob.tensors[t].dims = std::move(dims);
      blob.tensors[t].groups = groups;
      s = LoadAndRun(Write(blob), n, pool);
      EXPECT_EQ(s.code(), Code::kDataCorrupt);
      EXPECT_NE(s.message().find("dims do not suit layout"), std::string::npos) << s.message();
    };
    refused({20, 20, 1, 1}, 1);
    refused({20, 20, 5, 3}, 1);
    refused({20, 20, 9}, 1);
    refused({20, 20, 3, 3}, 2);
  }
  EXPECT_EQ(seen, 2u);
}

}  // namespace
}  // namespace npukit::devices::cpu
