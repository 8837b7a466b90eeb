// SHA-256 of bytes that come in pieces: the same as Sha256Hex of them all, wherever they were cut.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace npukit {

class Sha256 {
 public:
  Sha256();
  void Update(std::span<const std::byte> bytes);
  std::string Hex() const;  // of everything so far

 private:
  std::array<std::uint32_t, 8> state_;
  std::array<std::byte, 64> rest_{};  // what does not fill a block yet
  std::uint64_t length_ = 0;
};

}  // namespace npukit
