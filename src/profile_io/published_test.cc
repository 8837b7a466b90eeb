#include "profile_io/published.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace npukit::profile_io {
namespace {

std::string Network(std::string_view name = "\"A\"", std::string_view file = "\"a.onnx\"",
                    std::string_view ms = "1.5") {
  return Cat("{\"name\": ", name, ", \"file\": ", file, ", \"published_ms\": ", ms,
             ", \"model\": \"m\"}");
}
std::string Table(std::string_view networks, std::string_view date = "2026-11-30") {
  return Cat("{\"table\": \"chip\", \"title\": \"t\", \"source\": \"s\", \"date\": \"", date,
             "\", \"networks\": ", networks, "}");
}

TEST(PublishedTable, ReadsNetworksInOrder) {
  const auto t = PublishedTableFromJson(
      Table(Cat("[", Network("\"B\"", "\"b.onnx\"", "2"), ", ", Network(), "]")), "f");
  ASSERT_TRUE(t.ok()) << t.status().message();
  EXPECT_EQ(t->table, "chip");
  EXPECT_EQ(t->date, "2026-11-30");
  ASSERT_EQ(t->networks.size(), 2u);
  EXPECT_EQ(t->networks[0].name, "B");
  EXPECT_EQ(t->networks[0].published_ms, 2);
  EXPECT_EQ(t->networks[1].file, "a.onnx");
  EXPECT_EQ(t->networks[1].model, "m");
}

TEST(PublishedTable, RefusesInOneLineThatNamesTheFile) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "no valid JSON"},
      {"[]", "expected an object"},
      {"{}", "\"table\" is missing"},
      {Table("[]", "yesterday"), "yesterday"},
      {Table("{}"), "\"networks\""},
      {Table("[1]"), "network 1: expected an object"},
      {Table("[{}]"), "network 1: \"name\" is missing"},
      {Table(Cat("[", Network(), ", ", Network(), "]")), "network 2: \"A\" is given twice"},
      {Table(Cat("[", Network("\"\""), "]")), "\"name\" is empty"},
      {Table(Cat("[", Network("\"A\"", "\"../a.onnx\""), "]")), "\"file\""},
      {Table(Cat("[", Network("\"A\"", "\"/etc/passwd\""), "]")), "\"file\""},
      {Table(Cat("[", Network("\"A\"", "\"..\""), "]")), "\"file\""},
      {Table(Cat("[", Network("\"A\"", "\"a\"", "0"), "]")), "\"published_ms\""},
      {Table(Cat("[", Network("\"A\"", "\"a\"", "-1"), "]")), "\"published_ms\""},
      {Table(Cat("[", Network("\"A\"", "\"a\"", "1e9"), "]")), "\"published_ms\""},
      {Table(Cat("[", Network("\"A\"", "\"a\"", "\"1\""), "]")), "\"published_ms\""},
      {Table(Cat("[", Network("\"A\"", "\"a\"", "null"), "]")), "\"published_ms\""},
      {Table(Cat("[", Network("\"A\"", "\"a\"", "1, \"x86_ms\": 2"), "]")), "x86_ms"},
  };
  for (const auto& [text, says] : cases) {
    const auto t = PublishedTableFromJson(text, "table.json");
    ASSERT_FALSE(t.ok()) << text;
    const std::string& m = t.status().message();
    EXPECT_EQ(t.status().code(), Code::kInvalidArgument) << text;
    EXPECT_TRUE(m.starts_with("table.json: ")) << m;
    EXPECT_NE(m.find(says), std::string::npos) << says << " in: " << m;
    EXPECT_EQ(m.find('\n'), std::string::npos) << m;
  }
}

}  // namespace
}  // namespace npukit::profile_io
