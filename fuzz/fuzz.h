// What every fuzz target shares: a claim that must hold, and bytes as choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/status.h"

namespace npukit::fuzz {

// A broken promise is a crash, so that libFuzzer keeps the input.
inline void Must(bool holds, const char* claim, const std::string& found = {}) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s: %s\n", claim, found.c_str());
  std::abort();
}

// What a refusal looks like whatever the input was: one printable line of bearable length.
inline void MustBeGoodMessage(const Status& s) {
  const std::string& m = s.message();
  Must(!m.empty(), "an error says why");
  Must(m.size() < 4096, "an error is a line, not a page", m);
  for (const char c : m) {
    const auto u = static_cast<unsigned char>(c);
    Must(u >= 0x20 && u != 0x7f, "an error is printable", m);
  }
}

// The fuzzer's bytes, read as choices; zeros once they are used up.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ >= size_; }
  std::uint8_t Byte() { return empty() ? 0 : data_[at_++]; }
  std::uint64_t Below(std::uint64_t n) {
    std::uint64_t v = Byte();
    if (n > 256) v = v << 8 | Byte();
    return n == 0 ? 0 : v % n;
  }
  std::uint64_t U64() {
    std::uint64_t v = 0;
    for (int i = 0; i < 8; ++i) v = v << 8 | Byte();
    return v;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

}  // namespace npukit::fuzz
