// One tile's pieces alternate between two halves of a buffer, so that the next piece comes while
// the one before is still used.
#pragma once

#include <cstdint>

namespace npukit::devices::npu_sim {

// A buffer cut in two where a piece of `bytes` fits each half, else one.
class Halves {
 public:
  Halves() = default;
  Halves(std::int64_t begin, std::int64_t bytes, std::int64_t buffer, std::int64_t align)
      : begin_(begin), half_((buffer - begin) / 2 / align * align), two_(bytes <= half_) {}
  // The half for the next piece.
  std::int64_t Next() { return begin_ + (turn_ = two_ ? 1 - turn_ : 0) * half_; }

 private:
  std::int64_t begin_ = 0, half_ = 0;
  bool two_ = false;
  int turn_ = 1;
};

}  // namespace npukit::devices::npu_sim
