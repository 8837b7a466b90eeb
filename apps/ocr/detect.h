#pragma once
// Where text is: a photo becomes the detector's input, and its probability map becomes boxes in the
// photo (the post-processing of Differentiable Binarization, https://arxiv.org/abs/1911.08947, with
// PaddleOCR's constants).
#include <array>
#include <opencv2/core.hpp>
#include <span>
#include <vector>

#include "network.h"

namespace ocr {

// Corners of one line of text: upper left, upper right, lower right, lower left as one reads it.
using Quad = std::array<cv::Point2f, 4>;

float Distance(cv::Point2f a, cv::Point2f b);

struct DetectInput {
  Array tensor;
  cv::Size used;  // the part that holds the photo; the rest is padding
};

struct DetectOptions {
  float threshold = 0.3f;      // a pixel is text above this
  float box_threshold = 0.5f;  // mean probability inside a box
  float unclip_ratio = 1.6f;   // the network was trained on shrunk boxes; this grows them back
  int max_candidates = 1000;
  float min_side = 5;        // of a box in the map; at PaddleOCR's 3 no recogniser reads anything
  float min_photo_side = 3;  // of the final box in the photo
};

// The shape whose width / height is nearest to the photo's, as a ratio. `shapes` must not be empty.
cv::Size NearestAspect(cv::Size photo, std::span<const cv::Size> shapes);

// Scales the photo to fit `shape`, keeping its aspect but for rounding both sides to a multiple
// of 32.
DetectInput PrepareDetect(const cv::Mat& photo, cv::Size shape);

// `map`: probabilities (CV_32F) of the used part alone. Boxes come in photo coordinates, in reading
// order.
std::vector<Quad> FindBoxes(const cv::Mat& map, cv::Size photo, const DetectOptions& options);

// A rectangle moved out on all sides by area * ratio / perimeter.
cv::RotatedRect Unclip(const cv::RotatedRect& box, float ratio);

// Mean of `map` inside `box`.
float BoxScore(const cv::Mat& map, const cv::RotatedRect& box);

// Four corners in any order become a Quad: least and largest x + y, then least and largest y - x.
Quad OrderCorners(const std::array<cv::Point2f, 4>& corners);

// Top to bottom; lines whose tops differ by less than 10 pixels count as one row, read left to
// right.
void SortReadingOrder(std::vector<Quad>& boxes);

}  // namespace ocr
