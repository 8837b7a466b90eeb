#include "lines.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "files.h"
#include "pixels.h"

namespace ocr {
namespace {

constexpr float kVerticalRatio = 1.5f;
constexpr int kLongestStrip = 1 << 14;  // pixels; narrower networks squeeze it further
constexpr std::size_t kAlphabetLimitBytes = std::size_t{16} << 20;

}  // namespace

cv::Mat CutOut(const cv::Mat& photo, const Quad& quad, int height) {
  Quad corners = quad;
  float along = std::max(Distance(quad[0], quad[1]), Distance(quad[2], quad[3]));
  float across = std::max(Distance(quad[0], quad[3]), Distance(quad[1], quad[2]));
  if (across >= kVerticalRatio * along) {
    std::ranges::rotate(corners, corners.begin() + 1);  // what was upper right comes upper left
    std::swap(along, across);
  }
  const float proportion = along / std::max(across, 1.0f);
  const int width = std::clamp(static_cast<int>(std::ceil(static_cast<float>(height) * proportion)),
                               1, kLongestStrip);
  const float right = static_cast<float>(width);
  const float bottom = static_cast<float>(height);
  const Quad target = {cv::Point2f(0, 0), cv::Point2f(right, 0), cv::Point2f(right, bottom),
                       cv::Point2f(0, bottom)};
  cv::Mat strip;
  cv::warpPerspective(photo, strip, cv::getPerspectiveTransform(corners.data(), target.data()),
                      cv::Size(width, height), cv::INTER_CUBIC, cv::BORDER_REPLICATE);
  return strip;
}

int StripWidth(const cv::Mat& strip, int height, std::span<const int> widths) {
  const int needed = WidthAtHeight(strip, height);
  int best = *std::ranges::max_element(widths);
  for (int width : widths) {
    if (width >= needed && width < best) best = width;
  }
  return best;
}

Result<Alphabet> Alphabet::Read(const std::string& path) {
  Result<std::string> file = ReadFile(path, kAlphabetLimitBytes);
  if (!file.ok()) return file.error();
  std::vector<std::string> characters;
  std::string_view rest = file.value();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    characters.emplace_back(line);
  }
  if (characters.empty()) return BadInput(path + ": empty, expected one character a line");
  return Alphabet(std::move(characters));
}

Reading DecodeCtc(std::span<const float> steps, const Alphabet& alphabet) {
  const std::size_t classes = alphabet.classes();
  Reading reading;
  double sum = 0;
  std::size_t kept = 0;
  std::size_t previous = 0;
  for (; steps.size() >= classes; steps = steps.subspan(classes)) {
    const std::span<const float> row = steps.first(classes);
    const std::size_t best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    if (best != 0 && best != previous) {
      reading.text += alphabet[best];
      sum += row[best];
      ++kept;
    }
    previous = best;
  }
  if (kept > 0) reading.confidence = static_cast<float>(sum / static_cast<double>(kept));
  return reading;
}

}  // namespace ocr
