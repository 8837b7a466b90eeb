#include "network.h"

namespace ocr {

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::int64_t d : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(d);
  }
  return text.empty() ? "scalar" : text;
}

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kAssumed:
      return "assumed";
    case Kind::kModelled:
      return "modelled";
    case Kind::kMeasured:
      return "measured";
    case Kind::kNone:
      break;
  }
  return "none";
}

}  // namespace ocr
