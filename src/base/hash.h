// Checksums and content addresses: XXH3, 64 bit. Not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace npukit {

std::uint64_t Hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);

// Hash64 of bytes that come in pieces: the same number, wherever they were cut.
class Hasher64 {
 public:
  Hasher64();
  ~Hasher64();
  Hasher64(const Hasher64&) = delete;
  Hasher64& operator=(const Hasher64&) = delete;
  void Update(std::span<const std::byte> bytes);
  std::uint64_t Digest() const;  // of everything so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256Hex(
    std::span<const std::byte> bytes);  // provenance of models: what `sha256sum` prints

}  // namespace npukit
