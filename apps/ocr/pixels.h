#pragma once
// From a photo's pixels to a network's input. All three networks of PP-OCR were trained on BGR as
// OpenCV reads it.
#include <array>
#include <opencv2/core.hpp>
#include <string>

#include "network.h"
#include "result.h"

namespace ocr {

// (v / 255 - mean) / std, per channel in the order the pixels have.
struct Normalisation {
  std::array<float, 3> mean;
  std::array<float, 3> std;
};

// PaddleOCR applies ImageNet's figures, published for RGB, to BGR without turning them round; so
// did the training.
inline constexpr Normalisation kImageNet = {{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
inline constexpr Normalisation kHalf = {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}};

// Decodes a JPEG, PNG, ... to 8-bit BGR, turned as its EXIF says.
Result<cv::Mat> ReadPhoto(const std::string& path);

// `bgr` in the upper left of a 1x3xHxW tensor, normalised; the rest is 0. `bgr` must fit into
// `size`.
Array ToTensor(const cv::Mat& bgr, cv::Size size, const Normalisation& normalisation);

// A strip of text brought to the height of `size`, its width in proportion but at most that of
// `size`, padded right with 0.
Array StripTensor(const cv::Mat& bgr, cv::Size size);

// The width `bgr` takes at this height, rounded up.
int WidthAtHeight(const cv::Mat& bgr, int height);

}  // namespace ocr
