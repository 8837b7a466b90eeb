#include "profile_io/profile_io.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace npukit::profile_io {
namespace {

const std::string kFolder = NPUKIT_SOURCE_DIR "/profiles";

std::string With(std::string_view facts) {
  return Cat("{\"name\": \"chip\", \"facts\": {", facts, "}}");
}
std::string Fact(
    std::string_view key, std::string_view value,
    std::string_view rest = "\"source\": \"assumed\", \"ref\": \"r\", \"date\": \"2026-02-28\"") {
  return Cat("\"", key, "\": {\"value\": ", value, rest.empty() ? "" : ", ", rest, "}");
}

TEST(ProfileIo, EveryProfileOfTheFolderOpens) {
  const std::vector<ProfileFile> files = ListProfiles(RealEnv(), {kFolder});
  ASSERT_GE(files.size(), 4u);
  bool host = false;
  for (const ProfileFile& f : files) {
    const auto p = LoadProfile(RealEnv(), f.path, {});
    ASSERT_TRUE(p.ok()) << p.status().message();
    EXPECT_EQ(p->name, f.name);
    EXPECT_FALSE(p->facts.empty());
    EXPECT_TRUE(target::Validate(*p).ok());
    const auto by_name = LoadProfile(RealEnv(), f.name, {"/nowhere", kFolder});
    ASSERT_TRUE(by_name.ok());
    EXPECT_EQ(by_name->Hash(), p->Hash());
    host = host || f.name == "host";
    EXPECT_EQ(p->has_npu(), f.name != "host") << f.name;
  }
  EXPECT_TRUE(host);
}

TEST(ProfileIo, WritingAndReadingGivesTheSame) {
  for (const ProfileFile& f : ListProfiles(RealEnv(), {kFolder})) {
    const auto p = LoadProfile(RealEnv(), f.path, {});
    ASSERT_TRUE(p.ok());
    const std::string text = ProfileToJson(*p);
    const auto again = ProfileFromJson(text, "text");
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(again->Hash(), p->Hash());
    ASSERT_EQ(again->facts.size(), p->facts.size());
    for (const auto& [key, fact] : p->facts) {
      EXPECT_EQ(again->Find(key)->value, fact.value) << key;
      EXPECT_EQ(again->Find(key)->source, fact.source) << key;
      EXPECT_EQ(again->Find(key)->ref, fact.ref) << key;
      EXPECT_EQ(again->Find(key)->date, fact.date) << key;
    }
  }
}

TEST(ProfileIo, ReadsAFact) {
  const auto p = ProfileFromJson(
      With(Fact("cpu.cores", "4", R"("source": "measured", "ref": "run 7", "date": "2024-02-29")")),
      "f");
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(p->name, "chip");
  EXPECT_EQ(*p->Number("cpu.cores"), 4);
  EXPECT_EQ(p->Find("cpu.cores")->source, target::Source::kMeasured);
  EXPECT_EQ(p->Find("cpu.cores")->ref, "run 7");
  EXPECT_EQ(p->Find("cpu.cores")->date, "2024-02-29");
}

struct BadCase {
  std::string what;
  std::string text;
  std::string says;  // part of the message
};

TEST(ProfileIo, RefusesInOneLineThatNamesFileAndKey) {
  const std::string deep =
      Cat("{\"name\": ", std::string(20000, '['), std::string(20000, ']'), "}");
  const std::vector<BadCase> cases = {
      {"empty", "", "no valid JSON"},
      {"no JSON", "hello", "no valid JSON"},
      {"cut short", With(Fact("cpu.cores", "4")).substr(0, 40), "no valid JSON"},
      {"text after it", With("") + "x", "no valid JSON"},
      {"not an object", "[]", "expected an object"},
      {"null", "null", "expected an object"},
      {"no name", "{\"facts\": {}}", "\"name\" is missing"},
      {"no facts", "{\"name\": \"chip\"}", "\"facts\" is missing"},
      {"name no text", "{\"name\": 3, \"facts\": {}}", "\"name\""},
      {"name with a slash", "{\"name\": \"a/b\", \"facts\": {}}", "\"name\""},
      {"facts a list", "{\"name\": \"chip\", \"facts\": []}", "\"facts\""},
      {"member too many", "{\"name\": \"chip\", \"facts\": {}, \"vendor\": \"x\"}", "vendor"},
      {"unknown key", With(Fact("cpu.speed", "4")), "cpu.speed"},
      {"fact a number", With("\"cpu.cores\": 4"), "cpu.cores"},
      {"text for number", With(Fact("cpu.cores", "\"4\"")), "cpu.cores"},
      {"bool for number", With(Fact("cpu.cores", "true")), "cpu.cores"},
      {"list for number", With(Fact("cpu.cores", "[4]")), "cpu.cores"},
      {"null for number", With(Fact("cpu.cores", "null")), "cpu.cores"},
      {"number for text", With(Fact("npu.model", "4")), "npu.model"},
      {"empty text", With(Fact("npu.model", "\"\"")), "npu.model"},
      {"NaN", With(Fact("cpu.cores", "NaN")), "no valid JSON"},
      {"overflow", With(Fact("cpu.cores", "1e999")), "number overflow"},
      {"negative", With(Fact("cpu.cores", "-1")), "cpu.cores"},
      {"too large", With(Fact("cpu.cores", "1e30")), "cpu.cores"},
      {"no source", With(Fact("cpu.cores", "4", R"("ref": "r", "date": "2026-01-01")")),
       "\"source\" is missing"},
      {"no ref", With(Fact("cpu.cores", "4", R"("source": "assumed", "date": "2026-01-01")")),
       "\"ref\" is missing"},
      {"no date", With(Fact("cpu.cores", "4", R"("source": "assumed", "ref": "r")")),
       "\"date\" is missing"},
      {"no value", With(R"("cpu.cores": {"source": "assumed", "ref": "r", "date": "2026-01-01"})"),
       "\"value\" is missing"},
      {"empty ref",
       With(Fact("cpu.cores", "4", R"("source": "assumed", "ref": "", "date": "2026-01-01")")),
       "\"ref\" is empty"},
      {"unknown source",
       With(Fact("cpu.cores", "4", R"("source": "guessed", "ref": "r", "date": "2026-01-01")")),
       "guessed"},
      {"no such day",
       With(Fact("cpu.cores", "4", R"("source": "assumed", "ref": "r", "date": "2025-02-29")")),
       "2025-02-29"},
      {"no such month",
       With(Fact("cpu.cores", "4", R"("source": "assumed", "ref": "r", "date": "2025-13-01")")),
       "2025-13-01"},
      {"date in words",
       With(Fact("cpu.cores", "4", R"("source": "assumed", "ref": "r", "date": "yesterday")")),
       "yesterday"},
      {"member of fact too many",
       With(Fact("cpu.cores", "4",
                 R"("source": "assumed", "ref": "r", "date": "2026-01-01", "unit": "GHz")")),
       "unit"},
      {"key twice", With(Cat(Fact("cpu.cores", "4"), ", ", Fact("cpu.cores", "8"))),
       "\"cpu.cores\" is given twice"},
      {"member twice",
       With(
           R"("cpu.cores": {"value": 4, "value": 8, "source": "assumed", "ref": "r", "date": "2026-01-01"})"),
       "\"value\" is given twice"},
      {"name twice", "{\"name\": \"chip\", \"name\": \"chip2\", \"facts\": {}}",
       "\"name\" is given twice"},
      {"too deep", deep, "deeper"},
      {"too long", Cat("{\"name\": \"", std::string(kMaxFileBytes, 'a'), "\", \"facts\": {}}"),
       "bytes"},
      {"control characters", "{\"name\": \"a\x01\", \"facts\": {}}", "no valid JSON"},
      {"invalid UTF-8", "{\"name\": \"\xff\", \"facts\": {}}", "no valid JSON"},
      {"unknown operator", With(Fact("npu.op.convolve.max_kernel", "7")), "convolve"},
      {"unknown limit", With(Fact("npu.op.conv2d.max_kernal", "7")), "max_kernal"},
      {"limit of nothing", With(Fact("npu.op.conv2d", "7")), "npu.op.<operator>.<limit>"},
      {"tasks of an unknown operator", With(Fact("npu.stack.tasks.convolve", "1")), "convolve"},
      {"tasks of too much", With(Fact("npu.stack.tasks.conv2d.fast", "1")), "<operator>"},
      {"fuses an unknown operator", With(Fact("npu.stack.fuses.conv2d", "[\"rleu\"]")), "rleu"},
  };
  for (const BadCase& c : cases) {
    const auto p = ProfileFromJson(c.text, "the_file.json");
    ASSERT_FALSE(p.ok()) << c.what;
    EXPECT_EQ(p.status().code(), Code::kInvalidArgument) << c.what;
    const std::string& m = p.status().message();
    EXPECT_TRUE(m.starts_with("the_file.json: ")) << c.what << ": " << m;
    EXPECT_NE(m.find(c.says), std::string::npos) << c.what << ": " << m;
    EXPECT_EQ(m.find('\n'), std::string::npos) << c.what << ": " << m;
    EXPECT_LT(m.size(), 500u) << c.what;
  }
}

TEST(ProfileIo, FileAndNameMustAgree) {
  const std::string path = ::testing::TempDir() + "npukit_other_name.json";
  const std::string text = With(Fact("cpu.cores", "4"));
  ASSERT_TRUE(WriteFile(RealEnv(), path, std::as_bytes(std::span(text))).ok());
  const auto p = LoadProfile(RealEnv(), path, {});
  EXPECT_EQ(p.status().code(), Code::kInvalidArgument);
  EXPECT_NE(p.status().message().find("npukit_other_name"), std::string::npos);
  std::remove(path.c_str());
}

TEST(ProfileIo, AFileIsCompleteAndFreeOfContradictions) {
  const auto load = [](const std::string& from, const std::string& to) {
    const auto bytes = RealEnv().ReadFile(kFolder + "/kirin9030.json", kMaxFileBytes);
    EXPECT_TRUE(bytes.ok());
    std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, to.empty() ? text.find('\n', at) + 1 - at : from.size(), to);  // "": the line
    text.replace(text.find("\"kirin9030\""), 11, "\"npukit_altered\"");
    const std::string path = ::testing::TempDir() + "npukit_altered.json";
    EXPECT_TRUE(WriteFile(RealEnv(), path, std::as_bytes(std::span(text))).ok());
    const Status s = LoadProfile(RealEnv(), path, {}).status();
    std::remove(path.c_str());
    return s;
  };
  EXPECT_TRUE(
      load("\"npu.dram_burst_bytes\": {\"value\": 64", "\"npu.dram_burst_bytes\": {\"value\": 128")
          .ok());
  Status s =
      load("\"npu.dram_burst_bytes\": {\"value\": 64", "\"npu.dram_burst_bytes\": {\"value\": 96");
  EXPECT_EQ(s.code(), Code::kInvalidArgument);
  EXPECT_NE(s.message().find("npukit_altered.json: "), std::string::npos) << s.message();
  EXPECT_NE(s.message().find("power of two"), std::string::npos) << s.message();
  s = load("\"npu.clock_ghz\": ", "");
  EXPECT_EQ(s.code(), Code::kInvalidArgument);
  EXPECT_NE(s.message().find("npu.clock_ghz is missing"), std::string::npos) << s.message();
}

TEST(ProfileIo, MissingProfileListsWhatThereIs) {
  const Status s = LoadProfile(RealEnv(), "kirin1", {kFolder}).status();
  EXPECT_EQ(s.code(), Code::kNotFound);
  EXPECT_NE(s.message().find("kirin1\""), std::string::npos);
  EXPECT_NE(s.message().find("kirin9030"), std::string::npos);
  EXPECT_EQ(LoadProfile(RealEnv(), "./no_such.json", {kFolder}).status().code(), Code::kNotFound);
  EXPECT_EQ(LoadProfile(RealEnv(), "host", {}).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace npukit::profile_io
