#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "base/env.h"
#include "report/html/escape.h"
#include "report/html/page.h"
#include "report/html/pages.h"
#include "report/html_files.h"

namespace npukit::report::html {
namespace {

std::size_t Count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

// RFC 4648, section 10.
TEST(Base64, EqualsTheVectorsOfTheStandard) {
  const std::map<std::string, std::string> vectors = {{"", ""},
                                                      {"f", "Zg=="},
                                                      {"fo", "Zm8="},
                                                      {"foo", "Zm9v"},
                                                      {"foob", "Zm9vYg=="},
                                                      {"fooba", "Zm9vYmE="},
                                                      {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : vectors) EXPECT_EQ(Base64(plain), coded);
  EXPECT_EQ(Base64("\xff\xfe"), "//4=");
}

TEST(Escaped, LeavesNothingThatMeansSomethingInHtml) {
  EXPECT_EQ(Escaped("<a href=\"x\" b='y'>&amp;"),
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;");
  EXPECT_EQ(Escaped("\u202Eevil\x01\xff"), "?evil??");
  EXPECT_EQ(Escaped(std::string(10000, 'x'), 20), std::string(20, 'x') + "...");
}

TEST(JsonText, CannotEndItsScriptNorItsString) {
  EXPECT_EQ(JsonText("</script>\"\\\n"), "\"\\u003c/script>\\u0022\\u005c?\"");
}

TEST(Fixed, GroupsByThreeFromFiveDigitsOn) {
  EXPECT_EQ(Fixed(1234.5, 1), "1234.5");
  EXPECT_EQ(Fixed(12345.678, 2), "12\u202f345.68");
  EXPECT_EQ(Fixed(-1234567, 0), "-1\u202f234\u202f567");
  EXPECT_EQ(Fixed(0.0 / 0.0, 2), "\u2013");
}

TEST(DecimalsFor, ShowThreeFigures) {
  EXPECT_EQ(DecimalsFor(123), 0);
  EXPECT_EQ(DecimalsFor(12.3), 1);
  EXPECT_EQ(DecimalsFor(1.23), 2);
  EXPECT_EQ(DecimalsFor(0.0123), 4);
  EXPECT_EQ(DecimalsFor(0), 0);
}

TEST(ReportPath, IsAPlainNameInTheFolder) {
  EXPECT_EQ(ReportPath("out", "check", "/a/b/net.onnx"), "out/check_net.html");
  EXPECT_EQ(ReportPath("out/", "bench", "net.v2.npk"), "out/bench_net.v2.html");
  EXPECT_EQ(ReportPath("o", "check", "../../<x> \xff"), "o/check__x___.html");
  EXPECT_EQ(ReportPath("o", "check", "a/.onnx"), "o/check_.onnx.html");
  EXPECT_EQ(ReportPath("o", "check", std::string(500, 'n')).size(), 2u + 6u + 80u + 5u);
}

TEST(Table, SaysAKindOnceWhereOneIsEnough) {
  Table t;
  t.title = "t";
  t.headings = {{"name", Column::kName}, {"ms", Column::kNumber}};
  t.rows = {{{.text = "a"}, NumberCell(1, 1, Kind::kModelled)},
            {{.text = "b"}, NumberCell(2, 1, Kind::kModelled)}};
  EXPECT_EQ(Count(Render(t), "class=\"kind"), 1u);
  t.rows.push_back({{.text = "c"}, NumberCell(3, 1, Kind::kMeasured)});
  EXPECT_EQ(Count(Render(t), "3.0 <span class=\"kind measured\">"), 1u);  // beside the figure
  t.headings.push_back({"mJ", Column::kNumber});
  t.rows = {{{.text = "a"}, NumberCell(1, 1, Kind::kModelled), NumberCell(1, 1, Kind::kAssumed)}};
  const std::string by_column = Render(t);
  EXPECT_EQ(Count(by_column, "mJ</button><span class=\"kind assumed\">"), 1u);
  EXPECT_EQ(Count(by_column, "class=\"kind"), 2u);
  t.rows.push_back(
      {{.text = "b"}, NumberCell(1, 1, Kind::kMeasured), NumberCell(1, 1, Kind::kMeasured)});
  const std::string by_row = Render(t);  // row b has one kind, row a has two
  EXPECT_EQ(Count(by_row, "<bdi>b</bdi> <span class=\"kind measured\">"), 1u);
  EXPECT_EQ(Count(by_row, "1.0 <span class=\"kind"), 2u);
}

TEST(Table, CountsTheRowsItLeavesOut) {
  Table t;
  t.title = "t";
  t.headings = {{"name", Column::kName}};
  for (std::size_t i = 0; i < kMaxRows + 7; ++i) t.rows.push_back({{.text = "a"}});
  const std::string html = Render(t);
  EXPECT_EQ(Count(html, "<tr>"), kMaxRows + 1);  // and the heading
  EXPECT_NE(html.find("7 more rows are left out"), std::string::npos);
}

TEST(Timeline, DrawsOneSpanPerTaskAndTrackWhenThereAreTooMany) {
  Timeline t;
  t.id = "t";
  t.title = "t";
  for (std::size_t i = 0; i <= kMaxTimelineSpans; ++i) {
    t.Add(i % 2 ? "a" : "b", {.name = "n",
                              .start_ns = static_cast<double>(i) * 10,
                              .duration_ns = 5,
                              .task = static_cast<std::uint32_t>(i / 5000)});
  }
  const std::string html = Render(t);
  EXPECT_NE(html.find("50001 stretches of work"), std::string::npos);
  // Task 0 on "b": 2500 spans of 5 ns, from 0 to 49985.
  EXPECT_NE(html.find("[0.0,49985.0,0,0,0.2501,"), std::string::npos) << html.substr(0, 4000);
}

TEST(Timeline, LeavesOutWhatIsNoTime) {
  Timeline t;
  t.id = "t";
  t.title = "t";
  t.Add("a", {.name = "n", .start_ns = 0.0 / 0.0, .duration_ns = 5});
  t.Add("a", {.name = "n", .start_ns = 1, .duration_ns = -5});
  t.Add("a", {.name = "n", .start_ns = 1, .duration_ns = HUGE_VAL});
  EXPECT_NE(Render(t).find("\"end\":0.0,"), std::string::npos);
}

TEST(Bar, PartsFillItAndAddUp) {
  const Bar bar{"b",
                "ms",
                1,
                Kind::kModelled,
                {{"x", 1.5, "c0", ""}, {"nothing", 0, "c1", ""}, {"y", 4.5, "rest", ""}}};
  const std::string html = Render(bar);
  EXPECT_NE(html.find("<span>6.0 ms "), std::string::npos);
  EXPECT_NE(html.find("x=\"0.00\" y=\"0\" width=\"248.00\""), std::string::npos) << html;
  EXPECT_NE(html.find("x=\"250.00\" y=\"0\" width=\"748.00\""), std::string::npos) << html;
  EXPECT_NE(html.find("25.0 %"), std::string::npos);
  EXPECT_EQ(Render(Bar{}).find("nan"), std::string::npos);
}

TEST(Page, RunsOneScriptByItsHashAndLoadsNothing) {
  const std::string html = ToPage(Check{}).ToHtml();
  EXPECT_EQ(Count(html, "<script>"), 1u);
  EXPECT_EQ(Count(html, "</script>"), 1u);
  EXPECT_NE(html.find("default-src 'none'; img-src data:; "), std::string::npos);
  EXPECT_NE(html.find(std::string("script-src '") + std::string(kPageJsHash) + "'"),
            std::string::npos);
  EXPECT_EQ(html.find("http:"), std::string::npos);
  EXPECT_EQ(html.find("https:"), std::string::npos);
  EXPECT_EQ(html.find("unsafe-"), std::string::npos);
}

TEST(Page, EmptyRecordsMakePages) {
  EXPECT_GT(ToPage(Bench{}).ToHtml().size(), 1000u);
  EXPECT_GT(ToPage(Explain{}).ToHtml().size(), 1000u);
  EXPECT_GT(ToPage(Compare{}).ToHtml().size(), 1000u);
}

TEST(Explain, EveryCauseHasWordsOfItsOwn) {
  Explain r;
  for (int i = 0; i < target::kCauseCount; ++i) {
    r.causes.push_back({std::string(target::CauseName(static_cast<target::Cause>(i))),
                        1,
                        Kind::kModelled,
                        0.1,
                        {}});
  }
  r.causes.push_back({"hardware_bound", 1, Kind::kModelled, 0.1, {}});
  const std::string html = ToPage(r).ToHtml();
  for (const char* hue : {"c0", "c2", "c3", "c4", "c5", "c6", "cpu", "rest"})
    EXPECT_GE(Count(html, std::string("class=\"f-") + hue + "\""), 2u) << hue;
}

}  // namespace
}  // namespace npukit::report::html
