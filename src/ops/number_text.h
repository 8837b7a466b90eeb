// Numbers as text and back, as ONNX's Cast has them: plain decimal, "NaN", "INF" and "-INF".
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/value.h"

namespace npukit::ops {

struct ParsedNumber {
  double value = 0;
  bool whole = false;      // written as an integer of 64 bits: `bits` holds it exactly
  std::uint64_t bits = 0;  // two's complement
};
// Blanks around it are skipped; "inf" and "nan" in any case; "True" and "False" are 1 and 0.
// nullopt: no number.
std::optional<ParsedNumber> ParseNumber(std::string_view text);

// The shortest digits that give element i back in its own type: "0.1", "-3.0", "1e-07", "7"; of
// bool "True" and "False", as numpy writes them.
std::string NumberText(const tensor::Value& v, std::int64_t i);

}  // namespace npukit::ops
