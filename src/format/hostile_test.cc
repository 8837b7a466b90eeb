// Packages whose hashes agree and whose contents lie. Nothing here may crash, read outside the
// file, or take more memory than the file justifies; whatever opens must be safe to walk.
#include <flatbuffers/flatbuffers.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <limits>

#include "format/package_generated.h"
#include "format/sample_test.h"
#include "testing/random.h"

namespace npukit::format {
namespace {

using tensor::Dims;
using tensor::DType;
using tensor::Type;

// The sample's head as written, with segments and weights, and where the head lies.
struct Written {
  Head head;
  std::uint64_t head_offset;
};
Written SampleWritten() {
  const auto bytes = SampleWriter().ToBytes(SampleHead());
  NPUKIT_CHECK(bytes.ok());
  const auto package = OpenSpan(*bytes);
  NPUKIT_CHECK(package.ok());
  const SegmentInfo& last = (*package)->head().segments.back();
  return {(*package)->head(), AlignUp(last.offset + last.length, kHeadAlignment)};
}

struct Lie {
  const char* what;
  std::function<void(Head&)> tell;
  const char* says;  // part of the message
};

TEST(HostilePackage, EveryLieIsRefusedAndNamed) {
  constexpr auto kMax32 = std::numeric_limits<std::uint32_t>::max();
  constexpr auto kMax64 = std::numeric_limits<std::uint64_t>::max();
  const auto program = [](Head& h) -> Program& { return h.programs[0]; };
  const std::vector<Lie> lies = {
      {"segment not aligned", [](Head& h) { h.segments[1].offset += 64; }, "segment 1"},
      {"segment in the preamble", [](Head& h) { h.segments[0].offset = 0; }, "segment 0"},
      {"segments overlap", [](Head& h) { h.segments[1].offset = h.segments[0].offset; },
       "segment 1"},
      {"segment too long", [](Head& h) { h.segments[3].length += 4096; }, "segment 3"},
      {"segment length wraps", [](Head& h) { h.segments[3].length = kMax64; }, "segment 3"},
      {"segment offset far away", [](Head& h) { h.segments[3].offset = kMax64 / 4096 * 4096; },
       "segment 3"},
      {"weight of no segment", [](Head& h) { h.weights[0].segment = 4; }, "weight 0"},
      {"weight in a blob", [](Head& h) { h.weights[0].segment = 0; }, "weight 0"},
      {"weight not aligned", [](Head& h) { h.weights[2].offset = 8; }, "weight 2"},
      {"weight too long", [](Head& h) { h.weights[2].length += 1; }, "weight 2"},
      {"weight wraps", [](Head& h) { h.weights[2].offset = kMax64 - 63; }, "weight 2"},
      {"weight without layout", [](Head& h) { h.weights[2].layout.clear(); }, "weight 2"},
      {"input without name", [](Head& h) { h.inputs[0].name.clear(); }, "without a name"},
      {"inputs named alike", [](Head& h) { h.inputs[1].name = h.inputs[0].name; }, "two inputs"},
      {"undefined type", [](Head& h) { h.inputs[0].type.dtype = DType::kUndefined; }, "undefined"},
      {"negative size", [](Head& h) { h.inputs[0].type.shape->dims[0].value = -2; }, "-2"},
      {"rank", [](Head& h) { h.inputs[0].type.shape->dims.resize(33); }, "rank"},
      {"sequence of nothing", [](Head& h) { h.inputs[1].type.element = nullptr; }, "element"},
      {"tensor of something",
       [](Head& h) { h.inputs[0].type.element = std::make_shared<const Type>(); }, "element"},
      {"size overflows",
       [](Head& h) {
         h.outputs[0].type = Type::Tensor(DType::kF32, Dims{std::int64_t{1} << 61, 8});
       },
       "63 bits"},
      {"type too deep",
       [](Head& h) {
         for (int i = 0; i < 9; ++i) h.inputs[1].type = Type::Sequence(h.inputs[1].type);
       },
       "deeper"},
      {"state of no input", [](Head& h) { h.states[0].input = 2; }, "state"},
      {"state of no output", [](Head& h) { h.states[0].output = 1; }, "state"},
      {"profile out of range", [](Head& h) { h.profile.facts["cpu.cores"].value = 0.0; },
       "cpu.cores"},
      {"profile NaN",
       [](Head& h) {
         h.profile.facts["cpu.cores"].value = std::numeric_limits<double>::quiet_NaN();
       },
       "cpu.cores"},
      {"profile kind", [](Head& h) { h.profile.facts["cpu.cores"].value = std::string("x"); },
       "cpu.cores"},
      {"same program twice", [](Head& h) { h.programs[1] = h.programs[0]; }, "two programs"},
      {"no devices", [&](Head& h) { program(h).devices.clear(); }, "program 0"},
      {"too few inputs", [&](Head& h) { program(h).input_types.pop_back(); }, "inputs"},
      {"too many outputs", [&](Head& h) { program(h).output_types.push_back(h.outputs[0].type); },
       "outputs"},
      {"arena too large", [&](Head& h) { program(h).arena_bytes = kMax64; }, "arena"},
      {"estimate negative", [&](Head& h) { program(h).estimate.time_ns = -1; }, "estimate"},
      {"estimate infinite",
       [&](Head& h) {
         program(h).executables[1].estimate.energy_pj["cube"] =
             std::numeric_limits<double>::infinity();
       },
       "estimate"},
      {"no device", [&](Head& h) { program(h).executables[0].device.clear(); }, "executable 0"},
      {"blob of no segment", [&](Head& h) { program(h).executables[0].blob_segment = kMax32; },
       "executable 0"},
      {"blob in weights", [&](Head& h) { program(h).executables[0].blob_segment = 2; },
       "executable 0"},
      {"weight index", [&](Head& h) { program(h).executables[1].weights[0] = 3; }, "weight 3"},
      {"scratch too large", [&](Head& h) { program(h).executables[1].scratch_bytes = kMax64; },
       "scratch"},
      {"input slot of another type",
       [&](Head& h) { program(h).slots[0].type = Type::Tensor(DType::kF32, Dims{1, 4, 3}); },
       "slot 0"},
      {"input slot of no input", [&](Head& h) { program(h).slots[0].index = 2; }, "slot 0"},
      {"output slot of another type",
       [&](Head& h) { program(h).slots[1].type = Type::Tensor(DType::kF32, Dims{1, 8}); },
       "slot 1"},
      {"output slot of no output", [&](Head& h) { program(h).slots[1].index = 1; }, "slot 1"},
      {"slot beyond the arena", [&](Head& h) { program(h).slots[2].offset = 192; }, "slot 2"},
      {"slot wraps", [&](Head& h) { program(h).slots[2].offset = kMax64 - 63; }, "slot 2"},
      {"slot not aligned", [&](Head& h) { program(h).slots[2].offset = 100; }, "slot 2"},
      {"slot without size", [&](Head& h) { program(h).slots[2].type = h.inputs[0].type; },
       "slot 2"},
      {"constant too large",
       [&](Head& h) { program(h).slots[3].type = Type::Tensor(DType::kU8, Dims{65}); }, "slot 3"},
      {"constant of no weight", [&](Head& h) { program(h).slots[3].index = 3; }, "slot 3"},
      {"no block", [&](Head& h) { program(h).blocks.clear(); }, "block"},
      {"step of no slot", [&](Head& h) { program(h).blocks[1].steps[0].inputs[0] = 6; }, "slot 6"},
      {"step writes an input", [&](Head& h) { program(h).blocks[1].steps[0].outputs[0] = 0; },
       "read-only"},
      {"step writes a weight", [&](Head& h) { program(h).blocks[1].steps[0].outputs[0] = 3; },
       "read-only"},
      {"step calls nothing", [&](Head& h) { program(h).blocks[1].steps[0].executable = 2; },
       "executable 2"},
      {"blocks go round", [&](Head& h) { program(h).blocks[2].steps[0].blocks[0] = 2; }, "block 2"},
      {"block that is not there", [&](Head& h) { program(h).blocks[2].steps[0].blocks[0] = 4; },
       "block 4"},
      {"block named twice", [&](Head& h) { program(h).blocks[0].steps[1].blocks = {2, 2}; },
       "named twice"},
      {"block named by nobody",
       [&](Head& h) { program(h).blocks.push_back({{{StepKind::kCopy, 0, {2}, {2}, {}}}}); },
       "named by no step"},
      {"blocks nested too deep",
       [&](Head& h) {
         Program& p = program(h);
         for (std::uint32_t b = 4; b < 80; ++b) {
           p.blocks[b - 1].steps.push_back(
               {StepKind::kLoop, 0, {}, {}, {b}, {2, 2}, {2}, {kNoSlot, kNoSlot}});
           p.blocks.emplace_back();
         }
       },
       "nested deeper"},
      {"branch of one block", [&](Head& h) { program(h).blocks[0].steps[1].blocks.pop_back(); },
       "branch"},
      {"branch on two", [&](Head& h) { program(h).blocks[0].steps[1].inputs = {2, 2}; }, "branch"},
      {"loop of other lists", [&](Head& h) { program(h).blocks[2].steps[0].params.pop_back(); },
       "loop"},
      {"loop of too few results",
       [&](Head& h) { program(h).blocks[2].steps[0].results.pop_back(); }, "loop"},
      {"loop without limits", [&](Head& h) { program(h).blocks[2].steps[0].limits.clear(); },
       "loop"},
      {"loop limit of no slot", [&](Head& h) { program(h).blocks[2].steps[0].limits[1] = 6; },
       "slot 6"},
      {"loop writes an input", [&](Head& h) { program(h).blocks[2].steps[0].params[0] = 0; },
       "read-only"},
      {"call with a loop's lists", [&](Head& h) { program(h).blocks[0].steps[0].results = {2}; },
       "loop"},
      {"loop without block", [&](Head& h) { program(h).blocks[2].steps[0].blocks.clear(); },
       "no block"},
      {"call with blocks", [&](Head& h) { program(h).blocks[0].steps[0].blocks = {1}; }, "blocks"},
      {"copy of two", [&](Head& h) { program(h).blocks[3].steps[0].inputs = {2, 2}; }, "copies"},
      {"copy between sizes", [&](Head& h) { program(h).blocks[3].steps[0].outputs = {1}; },
       "sizes"},
      {"verdict of no segment", [&](Head& h) { program(h).verdicts[0].segment = 2; }, "verdict"},
      {"verdict below none", [&](Head& h) { program(h).verdicts[0].segment = -2; }, "verdict"},
      {"segment kind", [](Head& h) { h.segments[0].kind = static_cast<SegmentKind>(9); },
       "segment kind"},
      {"slot kind", [&](Head& h) { program(h).slots[0].kind = static_cast<SlotKind>(6); },
       "slot kind"},
      {"step kind", [&](Head& h) { program(h).blocks[0].steps[0].kind = static_cast<StepKind>(5); },
       "step kind"},
      {"dtype", [](Head& h) { h.inputs[0].type.dtype = static_cast<DType>(tensor::kDTypeCount); },
       "dtype"},
      {"kind of type", [](Head& h) { h.inputs[0].type.kind = static_cast<Type::Kind>(3); },
       "kind of type"},
      {"kind of figure", [&](Head& h) { program(h).estimate.kind = static_cast<target::Kind>(3); },
       "kind of figure"},
      {"source",
       [](Head& h) { h.profile.facts["cpu.cores"].source = static_cast<target::Source>(4); },
       "source"},
  };
  const Written sample = SampleWritten();
  ASSERT_TRUE(OpenSpan(Forge(EncodeHead(sample.head), sample.head_offset)).ok());
  for (const Lie& lie : lies) {
    Head head = sample.head;
    lie.tell(head);
    const Status s = OpenSpan(Forge(EncodeHead(head), sample.head_offset)).status();
    ASSERT_EQ(s.code(), Code::kDataCorrupt) << lie.what;
    EXPECT_NE(s.message().find(lie.says), std::string::npos) << lie.what << ": " << s.message();
    EXPECT_EQ(s.message().find('\n'), std::string::npos) << lie.what;
  }
}

TEST(HostilePackage, TheWriterDoesNotWriteWhatCannotBeOpened) {
  Head head = SampleHead();
  head.programs[0].slots[2].offset = 192;
  const auto bytes = SampleWriter().ToBytes(head);
  ASSERT_FALSE(bytes.ok());
  EXPECT_NE(bytes.status().message().find("slot 2"), std::string::npos);
}

TEST(HostilePackage, HeadsThatPointElsewhereAreRefused) {
  const Written sample = SampleWritten();
  const Bytes good = Forge(EncodeHead(sample.head), sample.head_offset);
  for (const auto& [offset, length] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, good.size()},
           {63, good.size() - 63},
           {good.size(), 0},
           {good.size() + 64, 0},
           {~std::uint64_t{0}, 1},
           {sample.head_offset, ~std::uint64_t{0}},
           {sample.head_offset, 8},
           {sample.head_offset + 1, good.size() - sample.head_offset - 1}}) {
    Bytes file = good;
    Preamble p;
    p.head_offset = offset;
    p.head_length = length;
    p.file_length = file.size();
    if (offset <= file.size() && length <= file.size() - offset)
      p.head_hash = Hash64(std::span(file).subspan(offset, length));
    const Bytes preamble = EncodePreamble(p);
    std::memcpy(file.data(), preamble.data(), preamble.size());
    EXPECT_EQ(OpenSpan(file).status().code(), Code::kDataCorrupt) << offset << " " << length;
  }
}

// Many fields may point at the same bytes of a FlatBuffer. A head of 200 KB that would unfold to 10
// GB is refused before.
TEST(HostilePackage, SharedTextsDoNotUnfoldWithoutEnd) {
  flatbuffers::FlatBufferBuilder b;
  const auto text = b.CreateString(std::string(100000, 'x'));
  std::vector<flatbuffers::Offset<fb::Metadata>> metadata(100000,
                                                          fb::CreateMetadata(b, text, text));
  const auto empty_profile =
      fb::CreateProfile(b, text, b.CreateVector(std::vector<flatbuffers::Offset<fb::Fact>>()),
                        b.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>()));
  const auto specs = b.CreateVector(std::vector<flatbuffers::Offset<fb::ValueSpec>>());
  const auto states = b.CreateVector(std::vector<flatbuffers::Offset<fb::State>>());
  const auto segments = b.CreateVector(std::vector<flatbuffers::Offset<fb::Segment>>());
  const auto weights = b.CreateVector(std::vector<flatbuffers::Offset<fb::Weight>>());
  const auto programs = b.CreateVector(std::vector<flatbuffers::Offset<fb::Program>>());
  const auto all = b.CreateVector(metadata);
  fb::FinishHeadBuffer(b, fb::CreateHead(b, text, text, text, empty_profile, specs, specs, states,
                                         all, segments, weights, programs));
  const auto head = std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize()));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(OpenSpan(Forge(head, 64)).status().code(), Code::kDataCorrupt);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(HostilePackage, TypesNestedWithoutEndAreRefused) {
  Head head = SampleWritten().head;
  for (int i = 0; i < 5000; ++i) head.inputs[1].type = Type::Sequence(head.inputs[1].type);
  EXPECT_EQ(OpenSpan(Forge(EncodeHead(head), SampleWritten().head_offset)).status().code(),
            Code::kDataCorrupt);
}

// Reads everything a runtime would, as it would: after Open, every index may be followed.
void Walk(const Package& p) {
  const Head& h = p.head();
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < h.weights.size(); ++i) {
    for (const std::byte b : p.Weight(i)) sum += static_cast<std::uint64_t>(b);
  }
  for (std::uint32_t i = 0; i < h.segments.size(); ++i) {
    if (h.segments[i].kind == SegmentKind::kBlob) (void)p.Blob(i);
  }
  for (const Program& program : h.programs) {
    for (const Block& block : program.blocks) {
      for (const Step& step : block.steps) {
        for (const std::uint32_t slot : step.inputs) sum += program.slots.at(slot).offset;
        for (const std::uint32_t slot : step.outputs) sum += program.slots.at(slot).offset;
        if (step.kind == StepKind::kCall) {
          for (const std::uint32_t w : program.executables.at(step.executable).weights)
            sum += h.weights.at(w).length;
        }
      }
    }
    for (const Slot& slot : program.slots) {
      if (slot.kind == SlotKind::kFixed) {
        ASSERT_LE(slot.offset + slot.type.bytes().value(), program.arena_bytes);
      }
    }
  }
  (void)p.VerifySegments();
  ASSERT_GE(sum, 0u);
}

TEST(HostilePackage, RandomDamageUnderRightHashesDoesNoHarm) {
  const auto bytes = SampleWriter().ToBytes(SampleHead());
  ASSERT_TRUE(bytes.ok());
  AlignedBytes file(*bytes);
  std::uint64_t head_offset = 0;
  std::memcpy(&head_offset, &file[8], 8);
  const Bytes head(file.span().begin() + static_cast<std::ptrdiff_t>(head_offset),
                   file.span().end());
  testing::Random random(5);
  int opened = 0, refused = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (int round = 0; round < 30000 && std::chrono::steady_clock::now() < end; ++round) {
    const std::uint64_t changes = 1 + random.Below(4);
    for (std::uint64_t c = 0; c < changes; ++c) {
      const std::size_t at = head_offset + random.Below(head.size());
      switch (random.Below(3)) {
        case 0:
          file[at] ^= static_cast<std::byte>(1 << random.Below(8));
          break;
        case 1:
          file[at] = static_cast<std::byte>(random.Below(2) == 0 ? 0xFF : 0);
          break;
        default: {
          // A whole number, as a forger would aim: an offset, a count, an index.
          const std::size_t word = std::min<std::size_t>(at & ~std::size_t{3}, file.size() - 4);
          const auto x =
              static_cast<std::uint32_t>(random.Below(2) == 0 ? random.Below(64) : random.Bits());
          std::memcpy(&file[word], &x, 4);
        }
      }
    }
    Reseal(file.span());
    const auto package = OpenSpan(file.span());
    if (package.ok()) {
      ++opened;
      Walk(**package);
    } else {
      ++refused;
      ASSERT_EQ(package.status().message().find('\n'), std::string::npos);
    }
    std::memcpy(&file[head_offset], head.data(), head.size());
  }
  EXPECT_GT(opened, 100);  // damage to a name or a figure is still a package
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace npukit::format
