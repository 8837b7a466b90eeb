// Expected values are worked out by hand.
#include "lines.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "files.h"
#include "pixels.h"

namespace ocr {
namespace {

// Every pixel tells where it is: (x, y, 0).
cv::Mat Coordinates(int width, int height) {
  cv::Mat photo(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      photo.at<cv::Vec3b>(y, x) = cv::Vec3b(static_cast<uchar>(x), static_cast<uchar>(y), 0);
    }
  }
  return photo;
}

TEST(CutOut, TakesAnUprightBoxPixelByPixel) {
  const cv::Mat strip =
      CutOut(Coordinates(100, 60), {cv::Point2f(10, 20), {50, 20}, {50, 40}, {10, 40}}, 20);
  ASSERT_EQ(strip.size(), cv::Size(40, 20));
  EXPECT_EQ(strip.at<cv::Vec3b>(0, 0), cv::Vec3b(10, 20, 0));
  EXPECT_EQ(strip.at<cv::Vec3b>(19, 39), cv::Vec3b(49, 39, 0));
}

TEST(CutOut, ScalesToTheHeightInProportion) {
  const cv::Mat strip =
      CutOut(Coordinates(100, 60), {cv::Point2f(10, 20), {50, 20}, {50, 40}, {10, 40}}, 48);
  ASSERT_EQ(strip.size(), cv::Size(96, 48));
  // Pixel (48, 24) of the strip lies at (10 + 48 * 40 / 96, 20 + 24 * 20 / 48).
  EXPECT_EQ(strip.at<cv::Vec3b>(24, 48), cv::Vec3b(30, 30, 0));
}

TEST(CutOut, PullsASlantedQuadStraight) {
  // A parallelogram, 40 long, its lower edge pushed right by 20. Its side is sqrt(20^2 + 20^2)
  // = 28.3 long: at height 28 it is 40 * 28 / 28.3 = 39.6 wide. The strip's middle is the quad's.
  const cv::Mat strip =
      CutOut(Coordinates(120, 60), {cv::Point2f(10, 20), {50, 20}, {70, 40}, {30, 40}}, 28);
  ASSERT_EQ(strip.size(), cv::Size(40, 28));
  EXPECT_NEAR(strip.at<cv::Vec3b>(14, 20)[0], 40, 1);
  EXPECT_NEAR(strip.at<cv::Vec3b>(14, 20)[1], 30, 1);
}

TEST(CutOut, LaysVerticalTextOnItsSide) {
  // 10 wide, 15 high: the ratio is just 1.5.
  const cv::Mat strip =
      CutOut(Coordinates(100, 60), {cv::Point2f(10, 20), {20, 20}, {20, 35}, {10, 35}}, 10);
  ASSERT_EQ(strip.size(), cv::Size(15, 10));
  // Turned against the clock: the right edge, downwards, becomes the upper one, from left to right.
  EXPECT_EQ(strip.at<cv::Vec3b>(0, 0), cv::Vec3b(20, 20, 0));
  EXPECT_EQ(strip.at<cv::Vec3b>(0, 14), cv::Vec3b(20, 34, 0));
  EXPECT_EQ(strip.at<cv::Vec3b>(9, 0), cv::Vec3b(11, 20, 0));
}

TEST(CutOut, SurvivesAQuadWithoutArea) {
  const cv::Mat strip =
      CutOut(Coordinates(100, 60), {cv::Point2f(5, 5), {5, 5}, {5, 5}, {5, 5}}, 48);
  EXPECT_EQ(strip.rows, 48);
}

TEST(CutOut, BoundsALineWithoutHeight) {
  const cv::Mat strip =
      CutOut(Coordinates(100, 60), {cv::Point2f(0, 5), {99, 5}, {99, 5}, {0, 5}}, 200);
  EXPECT_EQ(strip.cols, 1 << 14);
}

TEST(StripWidth, IsTheLeastThatHoldsTheLine) {
  constexpr std::array<int, 3> kWidths = {640, 320, 960};
  auto width = [&](int w, int h) { return StripWidth(cv::Mat(h, w, CV_8UC3), 48, kWidths); };
  EXPECT_EQ(width(100, 48), 320);
  EXPECT_EQ(width(320, 48), 320);
  EXPECT_EQ(width(321, 48), 640);
  EXPECT_EQ(width(400, 24), 960);
  EXPECT_EQ(width(5000, 48), 960);
}

TEST(StripTensor, KeepsTheAspectAndPadsRight) {
  const Array tensor = StripTensor(cv::Mat(24, 50, CV_8UC3, cv::Scalar(255, 0, 51)), {320, 48});
  EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{1, 3, 48, 320}));
  const std::size_t plane = 48 * 320;
  EXPECT_FLOAT_EQ(tensor.data[99], 1.0f);  // 50 * 48 / 24 = 100 columns hold text
  EXPECT_EQ(tensor.data[100], 0.0f);
  EXPECT_FLOAT_EQ(tensor.data[plane], -1.0f);
  EXPECT_NEAR(tensor.data[2 * plane], -0.6f, 1e-6);  // (0.2 - 0.5) / 0.5
}

TEST(StripTensor, SqueezesALongLine) {
  const Array tensor = StripTensor(cv::Mat(48, 4000, CV_8UC3, cv::Scalar::all(255)), {960, 48});
  EXPECT_FLOAT_EQ(tensor.data[959], 1.0f);
}

TEST(DecodeCtc, MergesRepeatsDropsBlanksAndKeepsDoubledLetters) {
  const Alphabet alphabet({"a", "\xE4\xB8\xAD"});  // classes: blank, a, U+4E2D, space
  const std::vector<float> steps = {
      0.1f, 0.9f, 0.0f, 0.0f,  // a
      0.2f, 0.8f, 0.0f, 0.0f,  // a again: the same letter
      0.7f, 0.3f, 0.0f, 0.0f,  // blank
      0.4f, 0.6f, 0.0f, 0.0f,  // a: a new letter
      0.0f, 0.0f, 0.1f, 0.9f,  // space
      0.0f, 0.0f, 1.0f, 0.0f,  // U+4E2D
  };
  const Reading reading = DecodeCtc(steps, alphabet);
  EXPECT_EQ(reading.text, "aa \xE4\xB8\xAD");
  EXPECT_FLOAT_EQ(reading.confidence, (0.9f + 0.6f + 0.9f + 1.0f) / 4);
}

TEST(DecodeCtc, OfBlanksIsNothing) {
  const Reading reading = DecodeCtc(std::vector<float>{1, 0, 0, 1, 0, 0}, Alphabet({"a"}));
  EXPECT_EQ(reading.text, "");
  EXPECT_EQ(reading.confidence, 0.0f);
}

class AlphabetFile : public testing::Test {
 protected:
  ~AlphabetFile() override { std::filesystem::remove(path_); }
  Result<Alphabet> Read(std::string_view bytes) {
    EXPECT_FALSE(WriteFile(path_, bytes).has_value());
    return Alphabet::Read(path_);
  }
  std::string path_ = testing::TempDir() + "ocr_alphabet_test.txt";
};

TEST_F(AlphabetFile, HoldsOneCharacterALine) {
  const Result<Alphabet> alphabet = Read("a\r\n\xE4\xB8\xAD\nc");
  ASSERT_TRUE(alphabet.ok());
  EXPECT_EQ(alphabet.value().classes(), 5u);
  EXPECT_EQ(alphabet.value()[1], "a");
  EXPECT_EQ(alphabet.value()[2], "\xE4\xB8\xAD");
  EXPECT_EQ(alphabet.value()[3], "c");
  EXPECT_EQ(alphabet.value()[4], " ");
}

TEST_F(AlphabetFile, IsRefusedWhenEmptyOrMissing) {
  EXPECT_EQ(Read("").error().exit_code, kExitBadInput);
  EXPECT_EQ(Alphabet::Read("/no/such/file").error().message, "/no/such/file: no such file");
}

}  // namespace
}  // namespace ocr
