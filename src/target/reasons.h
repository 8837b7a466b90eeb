// Why a device does not take an operator: the codes of reasons.inc, each with one sentence. Codes
// are stable: other tools read them. A device adds its own lines; the support table and
// docs/reasons.md are made from the list.
#pragma once

#include <span>
#include <string_view>

namespace npukit::target {

// One line of reasons.inc, sorted by code: REASON("kernel_too_large", "one sentence").
struct ReasonDef {
  std::string_view code;
  std::string_view sentence;
};

std::span<const ReasonDef> Reasons();
const ReasonDef* FindReason(std::string_view code);  // null: no such code

}  // namespace npukit::target
