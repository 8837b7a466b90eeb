// A head with every field set, and packages made of it. For the tests of this folder.
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/hash.h"
#include "format/layout.h"
#include "format/reader.h"
#include "format/writer.h"

namespace npukit::format {

using Bytes = std::vector<std::byte>;

inline Bytes Fill(std::size_t n, int first) {
  Bytes b(n);
  for (std::size_t i = 0; i < n; ++i)
    b[i] = static_cast<std::byte>(first + static_cast<int>(i * 7));
  return b;
}

inline target::Estimate SampleEstimate(double x) {
  target::Estimate e;
  e.time_ns = x;
  e.kind = target::Kind::kMeasured;
  e.macs = 10 * x;
  e.energy_pj = {{"cube", x + 1}, {"dram", x + 2}};
  e.busy_ns = {{"mte2", x + 3}};
  e.bytes = {{"dram_read", x + 4}, {"l1", x + 5}};
  return e;
}

// Segments and weights are the writer's to fill; SamplePackage adds two blobs and three weights.
inline Head SampleHead() {
  using tensor::Dims;
  using tensor::DType;
  using tensor::Type;
  Head h;
  h.model_name = "model";
  h.model_sha256 = "abc123";
  h.tool_version = "npukit 0.1.0 (test)";
  h.profile.name = "chip";
  h.profile.facts["cpu.cores"] = {4.0, target::Source::kMeasured, "run 1", "2026-01-02"};
  h.profile.facts["npu.model"] = {std::string("cube"), target::Source::kDatasheet, "sheet",
                                  "2026-01-03"};
  h.profile.facts["of.later.numbers"] = {std::vector<double>{1, 2.5}, target::Source::kVendorApi,
                                         "api", "2026-01-04"};
  h.profile.facts["of.later.texts"] = {std::vector<std::string>{"a", ""}, target::Source::kAssumed,
                                       "adr", "2026-01-05"};
  h.profile.overrides = {"cpu.cores=4"};
  h.inputs = {
      {"x", Type::Tensor(DType::kF32, tensor::Shape({tensor::Dim::Of(1), tensor::Dim::Symbol("W"),
                                                     tensor::Dim{}}))},
      {"s", Type::Optional(Type::Sequence(Type::Tensor(DType::kString, std::nullopt)))}};
  h.outputs = {{"y", Type::Tensor(DType::kF16, Dims{1, 8})}};
  h.states = {{"cache", 0, 0}};
  h.metadata = {{"character", "a\nb"}, {"author", ""}};

  Program p;
  p.devices = "NPU,CPU";
  p.precision = "fp16";
  p.input_types = {Type::Tensor(DType::kF32, Dims{1, 4, 2}), h.inputs[1].type};
  p.output_types = {Type::Tensor(DType::kF16, Dims{1, 8})};
  p.executables = {{"npu_sim", 0, {0, 1}, 640, SampleEstimate(5)},
                   {"cpu", 1, {1, 2}, 0, SampleEstimate(6)}};
  p.slots = {{"x", p.input_types[0], SlotKind::kInput, 0, 0},
             {"y", p.output_types[0], SlotKind::kOutput, 0, 0},
             {"t", Type::Tensor(DType::kF32, Dims{16}), SlotKind::kFixed, 128, 0},
             {"w", Type::Tensor(DType::kU8, Dims{64}), SlotKind::kConstant, 0, 1},
             {"p", h.inputs[0].type, SlotKind::kPlanned, 0, 0},
             {"d", h.inputs[1].type, SlotKind::kDynamic, 0, 0}};
  p.by_step = true;
  p.blocks = {{{{StepKind::kCall, 0, {0, 3}, {2}, {}}, {StepKind::kIf, 0, {2}, {}, {1, 2}}}},
              {{{StepKind::kCall, 1, {2}, {1}, {}}, {StepKind::kRelease, 0, {2}, {}, {}}}},
              // One carried value and one stacked row; no trip count, a condition.
              {{{StepKind::kLoop, 0, {2}, {5, 4}, {3}, {2, 2, 5}, {2, 5, 4}, {kNoSlot, 2}}}},
              {{{StepKind::kCopy, 0, {2}, {2}, {}}}}};
  p.arena_bytes = 192;
  p.estimate = SampleEstimate(11);
  p.compute_units = {1, 2, 3, 4, 10};
  p.segment_devices = {"NPU", "CPU"};
  p.verdicts = {{{"Conv_0", "Relu_1"},
                 "conv2d",
                 "Conv",
                 "NPU",
                 true,
                 "",
                 "",
                 "",
                 "",
                 "",
                 "",
                 "",
                 "",
                 "offline",
                 0,
                 "NPU"},
                {{"Foo_2"},
                 "",
                 "Foo",
                 "NPU",
                 false,
                 "unknown_operator",
                 "npu.op.foo",
                 "3",
                 "5",
                 "why",
                 "what",
                 "rule",
                 "applied",
                 "online",
                 -1,
                 "CPU"}};
  h.programs.push_back(p);
  p.devices = "CPU";
  p.verdicts.clear();
  h.programs.push_back(p);
  return h;
}

inline PackageWriter SampleWriter() {
  PackageWriter w;
  w.AddBlob(Fill(100, 1));
  w.AddBlob(Fill(5000, 2));
  for (const auto& [layout, size] : std::vector<std::pair<std::string, std::size_t>>{
           {"fractal", 100}, {"raw", 64}, {"raw", 33}}) {
    const auto bytes = std::make_shared<const Bytes>(Fill(size, static_cast<int>(size)));
    w.AddWeight(layout, bytes, Hash64(*bytes));
  }
  return w;
}

// Bytes at a multiple of 64, as a map gives them, so that opening does not copy and a test may
// change them in place.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::span<const std::byte> from, std::size_t shift = 0)
      : size_(from.size()),
        raw_(static_cast<std::byte*>(
            ::operator new(from.size() + shift + 1, std::align_val_t{64}))) {
    data_ = raw_ + shift;
    if (size_ > 0) std::memcpy(data_, from.data(), size_);
  }
  ~AlignedBytes() { ::operator delete(raw_, std::align_val_t{64}); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  std::byte& operator[](std::size_t i) { return data_[i]; }
  std::span<std::byte> span() { return {data_, size_}; }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  std::byte* raw_;
  std::byte* data_;
};

inline Result<std::shared_ptr<const Package>> OpenSpan(std::span<const std::byte> bytes) {
  return Package::FromBytes(bytes, nullptr);
}

// What a forger would do: hashes that agree with whatever the head says now.
inline void Reseal(std::span<std::byte> file, std::uint32_t version = kSchemaVersion) {
  Preamble p;
  std::memcpy(&p.head_offset, file.data() + 8, 8);
  p.version = version;
  p.head_length = file.size() - p.head_offset;
  p.file_length = file.size();
  p.head_hash = Hash64(file.subspan(p.head_offset));
  const Bytes preamble = EncodePreamble(p);
  std::memcpy(file.data(), preamble.data(), preamble.size());
}

// A package of any head at all, with nothing where its segments should be.
inline Bytes Forge(std::span<const std::byte> head_bytes, std::uint64_t head_offset) {
  Bytes file(head_offset + head_bytes.size());
  std::memcpy(file.data() + head_offset, head_bytes.data(), head_bytes.size());
  std::memcpy(file.data() + 8, &head_offset, 8);
  Reseal(file);
  return file;
}

}  // namespace npukit::format
