// Nothing is known of a device without saying how it is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace npukit::target {

// Weakest first: a stronger source overrides a weaker one (merge.cc).
enum class Source : std::uint8_t { kAssumed = 0, kDatasheet = 1, kVendorApi = 2, kMeasured = 3 };
std::string_view SourceName(Source s);  // "assumed", "datasheet", "vendor_api", "measured"
std::optional<Source> SourceFromName(std::string_view name);

// How a figure came about. Kinds are never summed silently: mixing gives the weakest, and says so.
enum class Kind : std::uint8_t { kAssumed = 0, kModelled = 1, kMeasured = 2 };
std::string_view KindName(Kind k);  // "assumed", "modelled", "measured"

using FactValue = std::variant<double, std::string, std::vector<double>, std::vector<std::string>>;

struct Fact {
  FactValue value{};
  Source source = Source::kAssumed;
  std::string ref;   // which document, call or run
  std::string date;  // YYYY-MM-DD
};

}  // namespace npukit::target
