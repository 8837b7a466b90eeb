// Checksums and content addresses: XXH3, 64 bit. Not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace npukit {

std::uint64_t Hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);
std::string Sha256Hex(std::span<const std::byte> bytes);  // provenance of models: what `sha256sum` prints

}  // namespace npukit
