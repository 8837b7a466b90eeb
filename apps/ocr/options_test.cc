#include "options.h"

#include <gtest/gtest.h>

namespace ocr {
namespace {

Result<Options> Parse(std::vector<const char*> arguments) { return ParseOptions(arguments); }

std::string Refusal(std::vector<const char*> arguments) {
  const Result<Options> options = Parse(std::move(arguments));
  return options.ok() ? "" : options.error().message;
}

TEST(Options, AreRead) {
  const Result<Options> options =
      Parse({"--det", "d",      "--cls=c", "a.jpg",           "--rec",     "r",  "--keys",
             "k",     "-d",     "CPU",     "--json",          "--threads", "2",  "-o",
             "f",     "--dump", "x",       "--report-folder", "r",         "--", "--b.jpg"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  const Options& o = options.value();
  EXPECT_EQ(o.det + o.cls + o.rec + o.keys, "dcrk");
  EXPECT_EQ(o.device, "CPU");
  EXPECT_EQ(o.threads, 2);
  EXPECT_EQ(o.dump, "x");
  EXPECT_EQ(o.output, "f");
  EXPECT_EQ(o.report_folder, "r");
  EXPECT_TRUE(o.json);
  EXPECT_EQ(o.photos, (std::vector<std::string>{"a.jpg", "--b.jpg"}));
}

TEST(Options, DefaultToTheNpuWithTheCpuBehindIt) {
  EXPECT_EQ(Parse({"--det", "d", "--cls", "c", "--rec", "r", "--keys", "k", "a"}).value().device,
            "AUTO:NPU,CPU");
}

TEST(Options, ThatMakeNoSenseAreRefusedByName) {
  EXPECT_EQ(Refusal({"--bogus"}), "--bogus: unknown flag; see npukit-ocr --help");
  EXPECT_EQ(Refusal({"--json=1"}), "--json=1: unknown flag; see npukit-ocr --help");
  EXPECT_EQ(Refusal({"--det"}), "--det: needs a value");
  EXPECT_EQ(Refusal({"a", "-d"}), "--device: needs a value");
  EXPECT_EQ(Refusal({"--det="}), "--det: needs a value");
  EXPECT_EQ(Refusal({"--det", "a", "--det", "b"}), "--det: given twice");
  EXPECT_EQ(Refusal({"--threads", "2x", "a"}), "--threads 2x: expected a number from 1 to 1024");
  EXPECT_EQ(Refusal({"--det", "d", "--cls", "c", "--rec", "r", "a"}),
            "--keys FILE is missing; see npukit-ocr --help");
  EXPECT_EQ(Refusal({"--det", "d", "--rec", "r", "--keys", "k", "a"}),
            "--cls PKG is missing; see npukit-ocr --help");
  EXPECT_EQ(Refusal({"--replay", "x", "--keys", "k"}), "no photo given; see npukit-ocr --help");
  EXPECT_EQ(Refusal({"--replay", "x", "--keys", "k", "-d", "CPU", "a"}),
            "--device: has no meaning under --replay");
}

TEST(Options, HelpWinsOverWhatIsMissing) { EXPECT_TRUE(Parse({"--help"}).value().help); }

}  // namespace
}  // namespace ocr
