#include "pixels.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "files.h"

namespace ocr {

constexpr std::size_t kPhotoLimitBytes = std::size_t{256} << 20;

Result<cv::Mat> ReadPhoto(const std::string& path) {
  Result<std::string> file = ReadFile(path, kPhotoLimitBytes);
  if (!file.ok()) return file.error();
  std::string& bytes = file.value();
  cv::Mat photo;
  if (!bytes.empty()) {
    try {
      photo = cv::imdecode(cv::Mat(1, static_cast<int>(bytes.size()), CV_8U, bytes.data()),
                           cv::IMREAD_COLOR);
    } catch (const cv::Exception&) {
      // Reported below: an undecodable picture, whatever the decoder disliked.
    }
  }
  if (photo.empty()) {
    return BadInput(path + ": not a picture that can be decoded (" + std::to_string(bytes.size()) +
                    " bytes); expected JPEG, PNG, WebP, TIFF or BMP");
  }
  return photo;
}

Array ToTensor(const cv::Mat& bgr, cv::Size size, const Normalisation& normalisation) {
  const std::size_t plane = static_cast<std::size_t>(size.area());
  Array tensor{{1, 3, size.height, size.width}, std::vector<float>(3 * plane, 0.0f)};
  for (int y = 0; y < bgr.rows; ++y) {
    const cv::Vec3b* row = bgr.ptr<cv::Vec3b>(y);
    for (int c = 0; c < 3; ++c) {
      float* out = tensor.data.data() + static_cast<std::size_t>(c) * plane +
                   static_cast<std::size_t>(y) * size.width;
      const float mean = normalisation.mean[c];
      const float std = normalisation.std[c];
      for (int x = 0; x < bgr.cols; ++x) out[x] = (row[x][c] / 255.0f - mean) / std;
    }
  }
  return tensor;
}

int WidthAtHeight(const cv::Mat& bgr, int height) {
  const double width = std::ceil(static_cast<double>(height) * bgr.cols / bgr.rows);
  return static_cast<int>(std::clamp(width, 1.0, 1e6));
}

Array StripTensor(const cv::Mat& bgr, cv::Size size) {
  cv::Mat strip;
  cv::resize(bgr, strip,
             cv::Size(std::min(size.width, WidthAtHeight(bgr, size.height)), size.height));
  return ToTensor(strip, size, kHalf);
}

}  // namespace ocr
