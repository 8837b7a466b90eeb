#include "detect.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "pixels.h"

namespace ocr {
namespace {

constexpr float kRowPixels = 10;
constexpr int kStride = 32;  // of the detector's coarsest feature map

float ShorterSide(const cv::RotatedRect& box) { return std::min(box.size.width, box.size.height); }

// PaddleOCR brings both sides to whole strides of the network: the photo then ends where a cell of
// the coarsest feature map does, and the padding has cells of its own. On a side so short that this
// would change the aspect by more than a twentieth, the photo keeps its aspect instead.
int UsedSide(double side, int limit) {
  const int strides = std::max(1, static_cast<int>(std::lround(side / kStride)));
  const double whole = strides * kStride;
  // At least one stride: the network sees nothing in less.
  const double used =
      std::abs(whole - side) <= side / 20 ? whole : std::max<double>(kStride, std::round(side));
  return std::min(static_cast<int>(used), limit);
}

// From the map to the photo, inside it.
Quad ToPhoto(const cv::RotatedRect& box, cv::Size map, cv::Size photo) {
  std::array<cv::Point2f, 4> corners;
  box.points(corners.data());
  for (cv::Point2f& p : corners) {
    p.x = std::clamp(p.x / map.width * photo.width, 0.0f, photo.width - 1.0f);
    p.y = std::clamp(p.y / map.height * photo.height, 0.0f, photo.height - 1.0f);
  }
  return OrderCorners(corners);
}

}  // namespace

float Distance(cv::Point2f a, cv::Point2f b) { return std::hypot(a.x - b.x, a.y - b.y); }

cv::Size NearestAspect(cv::Size photo, std::span<const cv::Size> shapes) {
  auto gap = [&](cv::Size shape) {
    return std::abs(std::log(double{1} * photo.width * shape.height /
                             (double{1} * photo.height * shape.width)));
  };
  return *std::ranges::min_element(shapes, {}, gap);
}

DetectInput PrepareDetect(const cv::Mat& photo, cv::Size shape) {
  const double scale = std::min(static_cast<double>(shape.width) / photo.cols,
                                static_cast<double>(shape.height) / photo.rows);
  const cv::Size used(UsedSide(photo.cols * scale, shape.width),
                      UsedSide(photo.rows * scale, shape.height));
  cv::Mat scaled;
  cv::resize(photo, scaled, used);
  return {ToTensor(scaled, shape, kImageNet), used};
}

cv::RotatedRect Unclip(const cv::RotatedRect& box, float ratio) {
  const float width = box.size.width;
  const float height = box.size.height;
  const float perimeter = 2 * (width + height);
  const float distance = perimeter > 0 ? width * height * ratio / perimeter : 0;
  return {box.center, cv::Size2f(width + 2 * distance, height + 2 * distance), box.angle};
}

float BoxScore(const cv::Mat& map, const cv::RotatedRect& box) {
  std::array<cv::Point2f, 4> corners;
  box.points(corners.data());
  const auto [left, right] = std::ranges::minmax(corners, {}, &cv::Point2f::x);
  const auto [top, bottom] = std::ranges::minmax(corners, {}, &cv::Point2f::y);
  const int x0 = std::clamp(static_cast<int>(std::floor(left.x)), 0, map.cols - 1);
  const int x1 = std::clamp(static_cast<int>(std::ceil(right.x)), 0, map.cols - 1);
  const int y0 = std::clamp(static_cast<int>(std::floor(top.y)), 0, map.rows - 1);
  const int y1 = std::clamp(static_cast<int>(std::ceil(bottom.y)), 0, map.rows - 1);
  std::vector<cv::Point> polygon;
  for (cv::Point2f p : corners)
    polygon.emplace_back(static_cast<int>(p.x - x0), static_cast<int>(p.y - y0));
  cv::Mat mask = cv::Mat::zeros(y1 - y0 + 1, x1 - x0 + 1, CV_8U);
  cv::fillPoly(mask, std::vector<std::vector<cv::Point>>{polygon}, cv::Scalar(1));
  return static_cast<float>(cv::mean(map(cv::Rect(x0, y0, mask.cols, mask.rows)), mask)[0]);
}

Quad OrderCorners(const std::array<cv::Point2f, 4>& corners) {
  auto sum = [&](int i) { return corners[i].x + corners[i].y; };
  auto difference = [&](int i) { return corners[i].y - corners[i].x; };
  std::array<int, 4> order = {0, 1, 2, 3};
  std::ranges::stable_sort(order, {}, sum);
  // The middle two by x + y are upper right and lower left.
  if (difference(order[1]) > difference(order[2])) std::swap(order[1], order[2]);
  return {corners[order[0]], corners[order[1]], corners[order[3]], corners[order[2]]};
}

std::vector<Quad> FindBoxes(const cv::Mat& map, cv::Size photo, const DetectOptions& options) {
  cv::Mat text = map > options.threshold;
  cv::dilate(text, text, cv::Mat::ones(2, 2, CV_8U));
  std::vector<std::vector<cv::Point>> contours;
  cv::findContours(text, contours, cv::RETR_LIST, cv::CHAIN_APPROX_SIMPLE);
  if (contours.size() > static_cast<std::size_t>(options.max_candidates))
    contours.resize(options.max_candidates);

  std::vector<Quad> boxes;
  for (const std::vector<cv::Point>& contour : contours) {
    const cv::RotatedRect core = cv::minAreaRect(contour);
    if (ShorterSide(core) < options.min_side) continue;
    if (BoxScore(map, core) < options.box_threshold) continue;
    const Quad quad = ToPhoto(Unclip(core, options.unclip_ratio), map.size(), photo);
    // Clipping at the photo's border may have left next to nothing.
    if (Distance(quad[0], quad[1]) < options.min_photo_side) continue;
    if (Distance(quad[0], quad[3]) < options.min_photo_side) continue;
    boxes.push_back(quad);
  }
  SortReadingOrder(boxes);
  return boxes;
}

void SortReadingOrder(std::vector<Quad>& boxes) {
  std::ranges::stable_sort(boxes, [](const Quad& a, const Quad& b) {
    return a[0].y != b[0].y ? a[0].y < b[0].y : a[0].x < b[0].x;
  });
  // Nearness of tops is no equivalence, so no ordinary sort will do: each box moves left past its
  // row's boxes.
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    for (std::size_t j = i; j > 0; --j) {
      const cv::Point2f here = boxes[j][0];
      const cv::Point2f before = boxes[j - 1][0];
      if (std::abs(here.y - before.y) >= kRowPixels || here.x >= before.x) break;
      std::swap(boxes[j], boxes[j - 1]);
    }
  }
}

}  // namespace ocr
