#include <gtest/gtest.h>
#include <unistd.h>

#include "base/text.h"
#include "format/sample_test.h"
#include "testing/env_fake.h"
#include "testing/random.h"

namespace npukit::format {
namespace {

// Everything a head holds, as text: what is not carried over shows as a difference.
class Dumper {
 public:
  std::string Run(const Head& h) {
    Add("model", h.model_name, h.model_sha256, h.tool_version, h.profile.name);
    for (const auto& [key, fact] : h.profile.facts) {
      Add("fact", key, fact.value.index(), SourceName(fact.source), fact.ref, fact.date);
      if (const auto* v = std::get_if<double>(&fact.value)) Add(*v);
      if (const auto* v = std::get_if<std::string>(&fact.value)) Add(*v);
      if (const auto* v = std::get_if<std::vector<double>>(&fact.value))
        for (const double x : *v) Add(x);
      if (const auto* v = std::get_if<std::vector<std::string>>(&fact.value))
        for (const auto& x : *v) Add(x);
    }
    for (const auto& o : h.profile.overrides) Add("override", o);
    for (const auto& v : h.inputs) Add("input", v.name, v.type.ToString());
    for (const auto& v : h.outputs) Add("output", v.name, v.type.ToString());
    for (const auto& s : h.states) Add("state", s.name, s.input, s.output);
    for (const auto& [k, v] : h.metadata) Add("meta", k, v);
    for (const Program& p : h.programs) {
      Add("program", p.devices, p.precision, p.arena_bytes);
      for (const auto& t : p.input_types) Add(t.ToString());
      for (const auto& t : p.output_types) Add(t.ToString());
      for (const auto& e : p.executables) {
        Add("exe", e.device, e.blob_segment, e.scratch_bytes);
        AddAll(e.weights);
        Of(e.estimate);
      }
      for (const auto& s : p.slots)
        Add("slot", s.name, s.type.ToString(), static_cast<int>(s.kind), s.offset, s.index);
      for (const auto& b : p.blocks) {
        Add("block");
        for (const auto& s : b.steps) {
          Add("step", static_cast<int>(s.kind), s.executable);
          AddAll(s.inputs);
          AddAll(s.outputs);
          AddAll(s.blocks);
        }
      }
      Of(p.estimate);
      Add(p.compute_units.npu, p.compute_units.gpu, p.compute_units.cpu, p.compute_units.folded,
          p.compute_units.total);
      for (const auto& d : p.segment_devices) Add("on", d);
      for (const target::Verdict& v : p.verdicts) {
        for (const auto& f : v.from) Add("from", f);
        Add(v.op, v.foreign_op, v.device, v.supported, v.code, v.fact, v.limit, v.found, v.reason,
            v.remedy, v.rewrite, v.rewrite_result, v.route, v.segment, v.placed_on);
      }
    }
    return out_;
  }

 private:
  template <class... A>
  void Add(const A&... a) {
    (out_.append(Cat(a)).append("|"), ...);
    out_ += "\n";
  }
  void AddAll(const std::vector<std::uint32_t>& v) {
    for (const std::uint32_t x : v) Add(x);
    Add("end");
  }
  void Of(const target::Estimate& e) {
    Add("estimate", e.time_ns, KindName(e.kind), e.macs);
    for (const auto* m : {&e.energy_pj, &e.busy_ns, &e.bytes}) {
      for (const auto& [k, v] : *m) Add(k, v);
      Add("end");
    }
  }
  std::string out_;
};

TEST(Package, EveryFieldComesBack) {
  const Head head = SampleHead();
  const auto bytes = SampleWriter().ToBytes(head);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const auto package = OpenSpan(*bytes);
  ASSERT_TRUE(package.ok()) << package.status().message();
  EXPECT_EQ(Dumper().Run((*package)->head()), Dumper().Run(head));
  EXPECT_EQ((*package)->head().inputs[0].type, head.inputs[0].type);
  EXPECT_EQ((*package)->file_bytes(), bytes->size());
  EXPECT_TRUE((*package)->VerifySegments().ok());
}

TEST(Package, BlobsAndWeightsComeBackAligned) {
  const auto bytes = SampleWriter().ToBytes(SampleHead());
  ASSERT_TRUE(bytes.ok());
  const auto package = OpenSpan(*bytes);
  ASSERT_TRUE(package.ok());
  const Head& h = (*package)->head();
  const auto equal = [](std::span<const std::byte> a, const Bytes& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  ASSERT_EQ(h.segments.size(), 4u);  // two blobs, two layouts of weights
  EXPECT_TRUE(equal(*(*package)->Blob(0), Fill(100, 1)));
  EXPECT_TRUE(equal(*(*package)->Blob(1), Fill(5000, 2)));
  ASSERT_EQ(h.weights.size(), 3u);
  EXPECT_TRUE(equal((*package)->Weight(0), Fill(100, 100)));
  EXPECT_TRUE(equal((*package)->Weight(1), Fill(64, 64)));
  EXPECT_TRUE(equal((*package)->Weight(2), Fill(33, 33)));
  EXPECT_EQ(h.weights[0].layout, "fractal");
  EXPECT_EQ(h.weights[1].segment, h.weights[2].segment);
  EXPECT_NE(h.weights[0].segment, h.weights[1].segment);
  for (const SegmentInfo& s : h.segments) EXPECT_EQ(s.offset % 4096, 0u);
  for (std::uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*package)->Weight(i).data()) % 64, 0u);
  EXPECT_EQ((*package)->Blob(2).status().code(), Code::kInvalidArgument);  // weights
  EXPECT_EQ((*package)->Blob(99).status().code(), Code::kInvalidArgument);
}

TEST(Package, AnEmptyHeadIsAPackage) {
  const auto bytes = PackageWriter().ToBytes({});
  ASSERT_TRUE(bytes.ok());
  EXPECT_TRUE(LooksLikePackage(*bytes));
  const auto package = OpenSpan(*bytes);
  ASSERT_TRUE(package.ok()) << package.status().message();
  EXPECT_TRUE((*package)->VerifySegments().ok());
}

TEST(Package, BytesThatAreNotAlignedAreCopied) {
  const auto bytes = SampleWriter().ToBytes(SampleHead());
  ASSERT_TRUE(bytes.ok());
  for (const std::size_t shift : {std::size_t{0}, std::size_t{1}, std::size_t{16}}) {
    AlignedBytes shifted(*bytes, shift);
    const auto package = OpenSpan(shifted.span());
    ASSERT_TRUE(package.ok());
    const std::byte* weight = (*package)->Weight(0).data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(weight) % 64, 0u);
    const bool inside =
        weight >= shifted.span().data() && weight < shifted.span().data() + shifted.size();
    EXPECT_EQ(inside, shift == 0);
  }
}

TEST(Package, EqualInputGivesEqualBytes) {
  const auto a = SampleWriter().ToBytes(SampleHead());
  const auto b = SampleWriter().ToBytes(SampleHead());
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(*a, *b);
}

TEST(Package, EqualWeightsAreStoredOnce) {
  PackageWriter w;
  const auto a = std::make_shared<const Bytes>(Fill(64, 1));
  const auto same = std::make_shared<const Bytes>(Fill(64, 1));
  const auto other = std::make_shared<const Bytes>(Fill(64, 2));
  EXPECT_EQ(w.AddWeight("raw", a, Hash64(*a)), 0u);
  EXPECT_EQ(w.AddWeight("raw", same, Hash64(*same)), 0u);
  EXPECT_EQ(w.AddWeight("f32_n16k", a, Hash64(*a)), 1u);  // another layout: another meaning
  EXPECT_EQ(w.AddWeight("raw", other, Hash64(*a)), 2u);   // equal hashes alone are no proof
  EXPECT_EQ(w.AddBlob(Fill(10, 1)), 0u);
  EXPECT_EQ(w.AddBlob(Fill(10, 2)), 1u);
  EXPECT_EQ(w.AddBlob(Fill(10, 1)), 0u);
}

TEST(Package, CountsSharedAndOwnBytes) {
  const PackageWriter w = SampleWriter();
  Head h;
  h.programs.resize(2);
  h.programs[0].executables = {{"npu_sim", 0, {0, 1, 1}, 0, {}}};
  h.programs[1].executables = {{"cpu", 0, {1, 2}, 0, {}}};
  const PackageWriter::Sizes sizes = w.WeightSizes(h);
  EXPECT_EQ(sizes.shared_bytes, 64u);      // weight 1
  EXPECT_EQ(sizes.own_bytes, 100u + 33u);  // weights 0 and 2
}

TEST(Package, FilesHoldTheSameBytes) {
  const auto bytes = SampleWriter().ToBytes(SampleHead());
  ASSERT_TRUE(bytes.ok());
  const std::string path =
      ::testing::TempDir() + "npukit_package_test_" + std::to_string(::getpid()) + ".npk";
  ASSERT_TRUE(SampleWriter().ToFile(SampleHead(), RealEnv(), path).ok());
  EXPECT_EQ(*RealEnv().ReadFile(path, 1 << 20), *bytes);
  const auto package = Package::Open(RealEnv(), path);
  ASSERT_TRUE(package.ok()) << package.status().message();
  EXPECT_EQ(Dumper().Run((*package)->head()), Dumper().Run(SampleHead()));
  std::remove(path.c_str());
  const Status gone = Package::Open(RealEnv(), path).status();
  EXPECT_EQ(gone.code(), Code::kNotFound);
}

TEST(Package, EveryFailingOperationLeavesNothing) {
  const auto bytes = SampleWriter().ToBytes(SampleHead());
  ASSERT_TRUE(bytes.ok());
  int n = 0;
  for (;; ++n) {
    ASSERT_LT(n, 1000);
    testing::FakeEnv env;
    env.FailAt(n, n == 0 ? Code::kUnwritable : Code::kIo);
    const Status s = SampleWriter().ToFile(SampleHead(), env, "out.npk");
    if (s.ok()) {
      EXPECT_EQ(env.files().at("out.npk"), *bytes);
      break;
    }
    EXPECT_EQ(s.code(), n == 0 ? Code::kUnwritable : Code::kIo);
    EXPECT_TRUE(env.files().empty());
  }
  EXPECT_GT(n, 5);  // create, several writes, commit
}

TEST(Package, OpenNamesTheFileAndWhatIsWrong) {
  testing::FakeEnv env;
  env.Put("empty.npk", {});
  env.Put("model.npk", Fill(100, 3));
  for (const char* name : {"empty.npk", "model.npk"}) {
    const Status s = Package::Open(env, name).status();
    EXPECT_EQ(s.code(), Code::kDataCorrupt);
    EXPECT_NE(s.message().find(name), std::string::npos);
    EXPECT_NE(s.message().find("NPK1"), std::string::npos);
  }
  env.FailAt(0, Code::kIo);
  EXPECT_EQ(Package::Open(env, "model.npk").status().code(), Code::kIo);
}

TEST(Package, AnotherVersionIsRefusedAsSuch) {
  auto bytes = SampleWriter().ToBytes(SampleHead());
  ASSERT_TRUE(bytes.ok());
  Reseal(*bytes, kSchemaVersion + 1);
  const Status s = OpenSpan(*bytes).status();
  EXPECT_EQ(s.code(), Code::kUnsupported);
  EXPECT_NE(s.message().find("version 1"), std::string::npos);
}

TEST(Package, EveryBitFlipInPreambleAndHeadIsRefused) {
  const auto bytes = SampleWriter().ToBytes(SampleHead());
  ASSERT_TRUE(bytes.ok());
  AlignedBytes file(*bytes);
  std::uint64_t head_offset = 0;
  std::memcpy(&head_offset, &file[8], 8);
  ASSERT_TRUE(OpenSpan(file.span()).ok());
  for (std::size_t i = 0; i < file.size(); ++i) {
    if (i == kPreambleBytes) i = head_offset;
    for (int bit = 0; bit < 8; ++bit) {
      file[i] ^= static_cast<std::byte>(1 << bit);
      ASSERT_FALSE(OpenSpan(file.span()).ok()) << "byte " << i << " bit " << bit;
      file[i] ^= static_cast<std::byte>(1 << bit);
    }
  }
}

// One flipped bit in each byte of the whole file: refused at open, or at the blob, or found by
// VerifySegments.
TEST(Package, NoFlipAnywhereEscapesVerification) {
  const auto bytes = SampleWriter().ToBytes(SampleHead());
  ASSERT_TRUE(bytes.ok());
  AlignedBytes file(*bytes);
  testing::Random random;
  const auto sound = OpenSpan(file.span());
  ASSERT_TRUE(sound.ok());
  const Head h = (*sound)->head();
  for (std::size_t i = 0; i < file.size(); ++i) {
    const auto mask = static_cast<std::byte>(1 << random.Below(8));
    file[i] ^= mask;
    const auto package = OpenSpan(file.span());
    if (package.ok()) {
      const Status s = (*package)->VerifySegments();
      ASSERT_EQ(s.code(), Code::kDataCorrupt) << "byte " << i;
      for (std::uint32_t b = 0; b < 2; ++b) {
        const bool hit =
            i >= h.segments[b].offset && i < h.segments[b].offset + h.segments[b].length;
        ASSERT_EQ((*package)->Blob(b).ok(), !hit) << "byte " << i;
      }
    }
    file[i] ^= mask;
  }
}

TEST(Package, VerifySegmentsNamesTheFirstBadOneAndSaysHowFarItIs) {
  const auto bytes = SampleWriter().ToBytes(SampleHead());
  ASSERT_TRUE(bytes.ok());
  AlignedBytes file(*bytes);
  const auto package = OpenSpan(file.span());
  ASSERT_TRUE(package.ok());
  std::vector<int> progress;
  ASSERT_TRUE(
      (*package)
          ->VerifySegments([&](int done, int total) { progress.push_back(done * 100 + total); })
          .ok());
  EXPECT_EQ(progress, (std::vector<int>{104, 204, 304, 404}));
  file[(*package)->head().segments[2].offset + 3] ^= std::byte{4};
  file[(*package)->head().segments[3].offset] ^= std::byte{4};
  const Status s = (*package)->VerifySegments();
  EXPECT_EQ(s.code(), Code::kDataCorrupt);
  EXPECT_NE(s.message().find("segment 2 (weights"), std::string::npos) << s.message();
}

TEST(Package, EveryTruncationIsRefused) {
  const auto bytes = SampleWriter().ToBytes(SampleHead());
  ASSERT_TRUE(bytes.ok());
  AlignedBytes file(*bytes);
  for (std::size_t n = 0; n < file.size(); ++n) {
    ASSERT_EQ(OpenSpan(file.span().first(n)).status().code(), Code::kDataCorrupt) << n << " bytes";
  }
  Bytes longer = *bytes;
  longer.push_back(std::byte{0});
  EXPECT_EQ(OpenSpan(longer).status().code(), Code::kDataCorrupt);
}

}  // namespace
}  // namespace npukit::format
