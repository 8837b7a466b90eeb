#include "target/profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "target/estimate.h"
#include "target/merge.h"
#include "target/reasons.h"

namespace npukit::target {
namespace {

Profile Small() {
  Profile p;
  p.name = "small";
  p.facts["cpu.cores"] = {4.0, Source::kDatasheet, "sheet", "2026-01-02"};
  p.facts["cpu.dispatch_us"] = {2.5, Source::kAssumed, "ADR", "2026-01-02"};
  return p;
}

TEST(FactDefs, AreSortedUniqueAndExplained) {
  ASSERT_FALSE(FactDefs().empty());
  for (std::size_t i = 0; i < FactDefs().size(); ++i) {
    const FactDef& d = FactDefs()[i];
    if (i > 0) {
      EXPECT_LT(FactDefs()[i - 1].key, d.key);
    }
    EXPECT_FALSE(d.summary.empty()) << d.key;
    EXPECT_LE(d.min, d.max) << d.key;
    EXPECT_GE(d.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.*"), d.key.size())
        << d.key;
    if (d.kind == FactKind::kNumber || d.kind == FactKind::kNumbers) {
      EXPECT_LT(d.min, d.max) << d.key;
      EXPECT_TRUE(std::isfinite(d.min) && std::isfinite(d.max)) << d.key;
    }
    EXPECT_EQ(FindFactDef(d.key), &d);
  }
}

TEST(FactDefs, UnknownKeysHaveNone) {
  EXPECT_EQ(FindFactDef("cpu.coresx"), nullptr);
  EXPECT_EQ(FindFactDef("cpu.core"), nullptr);
  EXPECT_EQ(FindFactDef(""), nullptr);
}

TEST(FactDefs, FamiliesNeedAWordAfterTheDot) {
  for (const FactDef& d : FactDefs()) {
    if (!d.key.ends_with(".*")) continue;
    const std::string stem(d.key.substr(0, d.key.size() - 1));
    EXPECT_EQ(FindFactDef(stem), nullptr) << stem;
    EXPECT_NE(FindFactDef(stem + "some_word"), nullptr) << stem;
  }
}

TEST(Reasons, AreSortedUniqueSnakeCaseSentences) {
  ASSERT_FALSE(Reasons().empty());
  for (std::size_t i = 0; i < Reasons().size(); ++i) {
    const ReasonDef& r = Reasons()[i];
    if (i > 0) {
      EXPECT_LT(Reasons()[i - 1].code, r.code);
    }
    EXPECT_EQ(r.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string_view::npos)
        << r.code;
    EXPECT_TRUE(r.sentence.ends_with(".")) << r.code;
    EXPECT_EQ(FindReason(r.code), &r);
  }
  EXPECT_EQ(FindReason("no_such_code"), nullptr);
}

TEST(Names, GoThereAndBack) {
  for (const Source s :
       {Source::kAssumed, Source::kDatasheet, Source::kVendorApi, Source::kMeasured}) {
    EXPECT_EQ(SourceFromName(SourceName(s)), s);
  }
  EXPECT_EQ(SourceFromName("guessed"), std::nullopt);
  EXPECT_EQ(KindName(Kind::kModelled), "modelled");
}

TEST(Profile, GivesFactsByKey) {
  const Profile p = Small();
  EXPECT_EQ(*p.Number("cpu.cores"), 4);
  EXPECT_EQ(p.NumberOr("cpu.cores", 9), 4);
  EXPECT_EQ(p.NumberOr("cpu.pj_per_flop", 9), 9);
  EXPECT_FALSE(p.has_npu());
}

TEST(Profile, MissingFactNamesKeyAndProfile) {
  const Status s = Small().Number("cpu.pj_per_flop").status();
  EXPECT_EQ(s.code(), Code::kNotFound);
  EXPECT_NE(s.message().find("cpu.pj_per_flop"), std::string::npos);
  EXPECT_NE(s.message().find("small"), std::string::npos);
}

TEST(Profile, WrongKindIsAnError) {
  EXPECT_EQ(Small().Text("cpu.cores").status().code(), Code::kInvalidArgument);
}

TEST(Profile, SetReplacesAndRecords) {
  Profile p = Small();
  ASSERT_TRUE(p.Set("cpu.cores", "2").ok());
  EXPECT_EQ(*p.Number("cpu.cores"), 2);
  EXPECT_EQ(p.Find("cpu.cores")->source, Source::kAssumed);
  EXPECT_EQ(p.Find("cpu.cores")->ref, "--set");
  ASSERT_EQ(p.overrides.size(), 1u);
  EXPECT_EQ(p.overrides[0], "cpu.cores=2");
}

TEST(Profile, SetRefusesWhatTheKeyForbids) {
  Profile p = Small();
  const std::uint64_t before = p.Hash();
  for (const char* bad : {"", "two", "2x", "0", "-1", "1e300", "nan", "inf", " 2"}) {
    const Status s = p.Set("cpu.cores", bad);
    EXPECT_EQ(s.code(), Code::kInvalidArgument) << bad;
    EXPECT_NE(s.message().find("cpu.cores"), std::string::npos) << bad;
  }
  EXPECT_FALSE(p.Set("cpu.bores", "2").ok());
  EXPECT_FALSE(p.Set("npu.model", "").ok());
  EXPECT_EQ(p.Hash(), before);
  EXPECT_TRUE(p.overrides.empty());
}

TEST(Profile, ValidateFindsUnknownKeysKindsAndRanges) {
  EXPECT_TRUE(Validate(Small()).ok());
  Profile p = Small();
  p.facts["cpu.speed"] = {1.0, Source::kAssumed, "r", "2026-01-02"};
  EXPECT_FALSE(Validate(p).ok());
  p = Small();
  p.facts["cpu.cores"].value = std::string("four");
  EXPECT_FALSE(Validate(p).ok());
  p = Small();
  p.facts["cpu.cores"].value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(Validate(p).ok());
}

TEST(Profile, HashSeesNamesKeysAndValuesOnly) {
  const std::uint64_t h = Small().Hash();
  EXPECT_EQ(Small().Hash(), h);
  Profile p = Small();
  p.name = "other";
  EXPECT_NE(p.Hash(), h);
  p = Small();
  p.facts["cpu.cores"].value = 5.0;
  EXPECT_NE(p.Hash(), h);
  p = Small();
  p.facts["npu.model"] = {std::string("x"), Source::kAssumed, "r", "2026-01-02"};
  EXPECT_NE(p.Hash(), h);
  p = Small();
  p.facts["cpu.cores"].ref = "elsewhere";
  EXPECT_EQ(p.Hash(), h);
}

TEST(Merge, StrongerSourceWinsAndTheOtherIsKept) {
  Profile update;
  update.facts["cpu.cores"] = {8.0, Source::kMeasured, "probe", "2026-02-02"};  // beats a datasheet
  update.facts["cpu.dispatch_us"] = {3.0, Source::kAssumed, "later",
                                     "2026-02-02"};  // same source, later
  update.facts["cpu.pj_per_flop"] = {5.0, Source::kAssumed, "new", "2026-02-02"};
  const Merged m = Merge(Small(), update);
  EXPECT_EQ(m.profile.name, "small");
  EXPECT_EQ(*m.profile.Number("cpu.cores"), 8);
  EXPECT_EQ(*m.profile.Number("cpu.dispatch_us"), 3);
  EXPECT_EQ(*m.profile.Number("cpu.pj_per_flop"), 5);
  ASSERT_EQ(m.overridden.size(), 2u);
  EXPECT_EQ(m.overridden[0].key, "cpu.cores");
  EXPECT_EQ(m.overridden[0].kept.ref, "probe");
  EXPECT_EQ(m.overridden[0].beaten.ref, "sheet");

  const Merged back = Merge(m.profile, Small());  // weaker and earlier: nothing changes
  EXPECT_EQ(back.profile.Hash(), m.profile.Hash());
  ASSERT_EQ(back.overridden.size(), 2u);
  EXPECT_EQ(back.overridden[0].kept.ref, "probe");
  EXPECT_EQ(back.overridden[0].beaten.ref, "sheet");
}

TEST(Estimate, AddsUpAndTakesTheWeakerKind) {
  Estimate a;
  a.time_ns = 10;
  a.kind = Kind::kMeasured;
  a.energy_pj["cube"] = 3;
  Estimate b;
  b.time_ns = 5;
  b.kind = Kind::kModelled;
  b.energy_pj["cube"] = 1;
  b.energy_pj["dram"] = 2;
  a += b;
  EXPECT_EQ(a.time_ns, 15);
  EXPECT_EQ(a.kind, Kind::kModelled);
  EXPECT_EQ(a.total_energy_pj(), 6);
}

}  // namespace
}  // namespace npukit::target
