// NumPy's fixed-width Unicode arrays ("<U12"): UTF-32, padded with zeros. Strings here are UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/value.h"

namespace npukit::lab {

// "<U12" -> 12; nullopt for any other descr, and above 2^20.
std::optional<std::uint64_t> UnicodeWidth(const std::string& descr);
// `bytes` hold width * count code points. kDataCorrupt: a number that is no character.
Result<tensor::Value> ParseUnicode(tensor::Dims dims, std::uint64_t width,
                                   std::span<const std::byte> bytes);

struct UnicodeArray {
  std::string descr;
  std::vector<std::byte> bytes;
};
// kUnsupported: a string that is not UTF-8, or above 2^20 characters.
Result<UnicodeArray> FormatUnicode(const tensor::Value& strings);

}  // namespace npukit::lab
