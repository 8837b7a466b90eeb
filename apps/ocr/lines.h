#pragma once
// What a line says: its strip is cut out of the photo, turned upright, and its character scores
// become text.
#include <opencv2/core.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect.h"
#include "network.h"
#include "result.h"

namespace ocr {

// The quad pulled straight at the given height, its width in proportion. A quad at least 1.5 times
// as high as wide is vertical text and is laid on its side. One resampling from photo to strip:
// with a second one the recogniser's answers to small print hang on fractions of a grey level.
cv::Mat CutOut(const cv::Mat& photo, const Quad& quad, int height);

// The least of `widths` that holds the strip at `height`, else the largest: a longer line is
// squeezed into it.
int StripWidth(const cv::Mat& strip, int height, std::span<const int> widths);

// The recogniser's alphabet: class 0 is CTC's blank, then one class per line of the file, then the
// space.
class Alphabet {
 public:
  static Result<Alphabet> Read(const std::string& path);
  explicit Alphabet(std::vector<std::string> characters) : characters_(std::move(characters)) {}

  std::size_t classes() const { return characters_.size() + 2; }
  std::string_view operator[](std::size_t index) const {  // index >= 1
    return index <= characters_.size() ? std::string_view(characters_[index - 1]) : " ";
  }

 private:
  std::vector<std::string> characters_;
};

struct Reading {
  std::string text;      // UTF-8
  float confidence = 0;  // mean probability of the characters kept; 0 for no text
};

// Greedy CTC: the best class of each step, repeats merged, blanks dropped. `steps` holds whole rows
// of alphabet.classes().
Reading DecodeCtc(std::span<const float> steps, const Alphabet& alphabet);

}  // namespace ocr
