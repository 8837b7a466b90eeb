// Expected text follows RFC 8259 (JSON) and RFC 3629 (UTF-8).
#include "json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace ocr {
namespace {

std::string Quoted(std::string_view text) { return JsonWriter().Value(text).text(); }

TEST(JsonWriter, SeparatesMembersAndElements) {
  JsonWriter json;
  json.Begin('{')
      .Member("a", 1)
      .Key("b")
      .Begin('[')
      .Value(true)
      .Value("x")
      .Null()
      .Begin('{')
      .End('}')
      .End(']');
  json.Member("c", 0.5).End('}');
  EXPECT_EQ(json.text(), R"({"a": 1, "b": [true, "x", null, {}], "c": 0.5})");
}

TEST(JsonWriter, EscapesWhatMustBeEscaped) {
  EXPECT_EQ(Quoted("a\"b\\c\nd\x01"), R"("a\"b\\c\u000ad\u0001")");
  EXPECT_EQ(Quoted("\xE4\xB8\xAD\xF0\x9F\x98\x80"), "\"\xE4\xB8\xAD\xF0\x9F\x98\x80\"");
}

TEST(JsonWriter, ReplacesWhatIsNoUtf8) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(Quoted("a\xFF"), "\"a" + mark + "\"");
  EXPECT_EQ(Quoted("\xE4\xB8"), "\"" + mark + mark + "\"");                        // cut short
  EXPECT_EQ(Quoted("\xC0\x80"), "\"" + mark + mark + "\"");                        // overlong
  EXPECT_EQ(Quoted("\xED\xA0\x80"), "\"" + mark + mark + mark + "\"");             // a surrogate
  EXPECT_EQ(Quoted("\xF4\x90\x80\x80"), "\"" + mark + mark + mark + mark + "\"");  // above U+10FFFF
}

TEST(JsonWriter, HasNoNumberForWhatIsNotFinite) {
  EXPECT_EQ(JsonWriter().Value(std::numeric_limits<double>::infinity()).text(), "null");
  EXPECT_EQ(JsonWriter().Value(std::numeric_limits<double>::quiet_NaN()).text(), "null");
}

}  // namespace
}  // namespace ocr
