#include "target/reasons.h"

namespace npukit::target {
namespace {

constexpr ReasonDef kReasons[] = {
#define REASON(code, sentence) {code, sentence},
#include "target/reasons.inc"
#undef REASON
};

}  // namespace

std::span<const ReasonDef> Reasons() { return kReasons; }

const ReasonDef* FindReason(std::string_view code) {
  for (const ReasonDef& r : kReasons) {
    if (r.code == code) return &r;
  }
  return nullptr;
}

}  // namespace npukit::target
