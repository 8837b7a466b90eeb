// Expected values are worked out by hand from PaddleOCR's published steps and constants; the sums
// stand beside them.
#include "detect.h"

#include <gtest/gtest.h>

#include <opencv2/imgproc.hpp>

namespace ocr {
namespace {

const std::array<cv::Size, 3> kShapes = {cv::Size(736, 736), cv::Size(1024, 736),
                                         cv::Size(736, 1024)};

Quad Box(float x0, float y0, float x1, float y1) {
  return {cv::Point2f(x0, y0), cv::Point2f(x1, y0), cv::Point2f(x1, y1), cv::Point2f(x0, y1)};
}

void ExpectNear(const Quad& found, const Quad& expected) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(found[i].x, expected[i].x, 1e-2) << "corner " << i;
    EXPECT_NEAR(found[i].y, expected[i].y, 1e-2) << "corner " << i;
  }
}

// A map of zeros with `value` in one rectangle.
cv::Mat MapWith(cv::Rect rectangle, float value) {
  cv::Mat map = cv::Mat::zeros(100, 200, CV_32F);
  map(rectangle) = value;
  return map;
}

TEST(Detect, TakesTheShapeOfTheNearestAspect) {
  EXPECT_EQ(NearestAspect({800, 600}, kShapes), cv::Size(1024, 736));
  EXPECT_EQ(NearestAspect({1004, 958}, kShapes), cv::Size(736, 736));
  EXPECT_EQ(NearestAspect({600, 800}, kShapes), cv::Size(736, 1024));
  EXPECT_EQ(NearestAspect({1, 30000}, kShapes), cv::Size(736, 1024));
}

TEST(Detect, NormalisesInBgrOrderAndPadsWithZeroAfterwards) {
  const cv::Mat blue(600, 800, CV_8UC3, cv::Scalar(255, 0, 0));
  const DetectInput input = PrepareDetect(blue, {1024, 736});
  EXPECT_EQ(input.used, cv::Size(992, 736));  // 800 * 736 / 600 = 981.3, the nearest multiple of 32
  EXPECT_EQ(input.tensor.shape, (std::vector<std::int64_t>{1, 3, 736, 1024}));
  const std::size_t plane = 736 * 1024;
  EXPECT_FLOAT_EQ(input.tensor.data[0], (1.0f - 0.485f) / 0.229f);
  EXPECT_FLOAT_EQ(input.tensor.data[plane], (0.0f - 0.456f) / 0.224f);
  EXPECT_FLOAT_EQ(input.tensor.data[2 * plane + 991], (0.0f - 0.406f) / 0.225f);
  EXPECT_EQ(input.tensor.data[992], 0.0f);
  EXPECT_EQ(input.tensor.data[plane + 1023], 0.0f);
}

TEST(Detect, GivesEvenTheThinnestPhotoOneStride) {
  const cv::Mat thin(1, 5000, CV_8UC3, cv::Scalar::all(7));
  EXPECT_EQ(PrepareDetect(thin, {1024, 736}).used, cv::Size(1024, 32));
}

TEST(Unclip, MovesEachSideOutByAreaTimesRatioOverPerimeter) {
  const cv::RotatedRect grown = Unclip({{50, 50}, {100, 20}, 30}, 1.6f);
  // 2000 * 1.6 / 240 = 13.333 on each side.
  EXPECT_FLOAT_EQ(grown.size.width, 126.66667f);
  EXPECT_FLOAT_EQ(grown.size.height, 46.666668f);
  EXPECT_FLOAT_EQ(grown.angle, 30.0f);
  EXPECT_EQ(Unclip({{50, 50}, {0, 0}, 0}, 1.6f).size, cv::Size2f(0, 0));
}

TEST(FindBoxes, GrowsARectangleOfTextBack) {
  // Columns 40..139, rows 30..49. Dilation by 2x2 adds one column and one row; the contour runs
  // through pixel centres, so the core is 100 x 20 from (40, 30). Grown by 13.333: (26.67, 16.67)
  // to (153.33, 63.33).
  const std::vector<Quad> boxes = FindBoxes(MapWith({40, 30, 100, 20}, 0.9f), {200, 100}, {});
  ASSERT_EQ(boxes.size(), 1u);
  ExpectNear(boxes[0], Box(26.667f, 16.667f, 153.333f, 63.333f));
}

TEST(FindBoxes, ScalesFromTheMapToThePhoto) {
  // As above, times 2 across and times 3 down: (53.33, 50) to (306.67, 190).
  const std::vector<Quad> boxes = FindBoxes(MapWith({40, 30, 100, 20}, 0.9f), {400, 300}, {});
  ASSERT_EQ(boxes.size(), 1u);
  ExpectNear(boxes[0], Box(53.333f, 50, 306.667f, 190));
}

TEST(FindBoxes, StaysInsideThePhoto) {
  // Columns 0..99, rows 0..19: grown to (-13.3, -13.3) .. (113.3, 33.3).
  const std::vector<Quad> boxes = FindBoxes(MapWith({0, 0, 100, 20}, 0.9f), {200, 100}, {});
  ASSERT_EQ(boxes.size(), 1u);
  ExpectNear(boxes[0], Box(0, 0, 113.333f, 33.333f));
}

TEST(FindBoxes, FollowsTiltedText) {
  cv::Mat map = cv::Mat::zeros(200, 200, CV_32F);
  const cv::RotatedRect text({100, 100}, {80, 20}, 30);
  std::array<cv::Point2f, 4> corners;
  text.points(corners.data());
  std::vector<cv::Point> polygon(corners.begin(), corners.end());
  cv::fillConvexPoly(map, polygon, cv::Scalar(1.0));
  const std::vector<Quad> boxes = FindBoxes(map, {200, 200}, {});
  ASSERT_EQ(boxes.size(), 1u);
  // Filling covers the border (+ 1), dilation moves one corner out by cos 30 + sin 30 = 1.4: the
  // core is about 82.4 x 22.4, its centre moved by 0.5. Grown by 82.4 * 22.4 * 1.6 / 209.6 = 14.1
  // to 110.6 x 50.6. The upper left corner is the centre
  // - 55.3 (cos 30, sin 30) + 25.3 (sin 30, -cos 30).
  EXPECT_NEAR(boxes[0][0].x, 65.2, 2);
  EXPECT_NEAR(boxes[0][0].y, 50.9, 2);
  EXPECT_NEAR(Distance(boxes[0][0], boxes[0][1]), 110.6, 2);
  EXPECT_NEAR(Distance(boxes[0][0], boxes[0][3]), 50.6, 2);
}

TEST(FindBoxes, LeavesOutWhatIsUnsureOrTiny) {
  // Mean inside: 0.45 * 2000 / 2121 = 0.42, since the dilated row and column hold zeros.
  EXPECT_TRUE(FindBoxes(MapWith({40, 30, 100, 20}, 0.45f), {200, 100}, {}).empty());
  EXPECT_TRUE(FindBoxes(MapWith({40, 30, 100, 4}, 1.0f), {200, 100}, {}).empty());
  EXPECT_FALSE(FindBoxes(MapWith({40, 30, 100, 5}, 1.0f), {200, 100}, {}).empty());
  EXPECT_TRUE(FindBoxes(MapWith({40, 30, 100, 20}, 0.25f), {200, 100}, {}).empty());
  // Large enough in the map, but 3 pixels high in the photo: 46.67 / 100 * 6 = 2.8.
  EXPECT_TRUE(FindBoxes(MapWith({40, 30, 100, 20}, 0.9f), {200, 6}, {}).empty());
}

TEST(BoxScore, IsTheMeanInside) {
  // The polygon covers its border: 101 x 21 pixels, of which 100 x 20 hold 0.9.
  EXPECT_NEAR(BoxScore(MapWith({40, 30, 100, 20}, 0.9f), {{90, 40}, {100, 20}, 0}),
              0.9 * 2000 / 2121, 1e-5);
}

TEST(OrderCorners, StartsUpperLeftAndGoesRound) {
  const Quad tilted = {cv::Point2f(10, 12), cv::Point2f(100, 30), cv::Point2f(96, 60),
                       cv::Point2f(6, 42)};
  EXPECT_EQ(OrderCorners({tilted[2], tilted[0], tilted[3], tilted[1]}), tilted);
  EXPECT_EQ(OrderCorners({tilted[1], tilted[2], tilted[3], tilted[0]}), tilted);
}

TEST(SortReadingOrder, ReadsRowsLeftToRightThenDown) {
  const Quad left = Box(20, 15, 80, 30);
  const Quad right = Box(100, 10, 160, 28);
  const Quad below = Box(10, 40, 90, 60);
  std::vector<Quad> boxes = {below, right, left};
  SortReadingOrder(boxes);
  EXPECT_EQ(boxes, (std::vector<Quad>{left, right, below}));
}

TEST(SortReadingOrder, CountsTenPixelsAsANewRow) {
  const Quad left_lower = Box(20, 20, 80, 30);
  const Quad right_upper = Box(100, 10, 160, 28);
  std::vector<Quad> boxes = {left_lower, right_upper};
  SortReadingOrder(boxes);
  EXPECT_EQ(boxes, (std::vector<Quad>{right_upper, left_lower}));
}

}  // namespace
}  // namespace ocr
