#include <iterator>

#include "target/profile.h"

namespace npukit::target {
namespace {

constexpr FactDef kDefs[] = {
#define FACT(key, kind, unit, min, max, summary) {key, FactKind::kind, unit, min, max, summary},
#include "target/facts.inc"
#undef FACT
};

}  // namespace

std::string_view SourceName(Source s) {
  switch (s) {
    case Source::kAssumed:
      return "assumed";
    case Source::kDatasheet:
      return "datasheet";
    case Source::kVendorApi:
      return "vendor_api";
    case Source::kMeasured:
      return "measured";
  }
  return "unknown";
}

std::optional<Source> SourceFromName(std::string_view name) {
  for (const Source s :
       {Source::kAssumed, Source::kDatasheet, Source::kVendorApi, Source::kMeasured}) {
    if (SourceName(s) == name) return s;
  }
  return std::nullopt;
}

std::string_view KindName(Kind k) {
  switch (k) {
    case Kind::kAssumed:
      return "assumed";
    case Kind::kModelled:
      return "modelled";
    case Kind::kMeasured:
      return "measured";
  }
  return "unknown";
}

std::string_view FactKindName(FactKind k) {
  switch (k) {
    case FactKind::kNumber:
      return "a number";
    case FactKind::kText:
      return "a text";
    case FactKind::kNumbers:
      return "a list of numbers";
    case FactKind::kTexts:
      return "a list of texts";
  }
  return "unknown";
}

const std::vector<FactDef>& FactDefs() {
  // Leaked on purpose: no destructor at exit.
  static const std::vector<FactDef>& defs =
      *new std::vector<FactDef>(std::begin(kDefs), std::end(kDefs));
  return defs;
}

const FactDef* FindFactDef(std::string_view key) {
  const FactDef* family = nullptr;  // the longest family the key belongs to
  for (const FactDef& def : FactDefs()) {
    if (def.key == key) return &def;
    if (!def.key.ends_with(".*")) continue;
    const std::string_view prefix = def.key.substr(0, def.key.size() - 1);
    if (key.size() > prefix.size() && key.starts_with(prefix) &&
        (family == nullptr || family->key.size() < def.key.size())) {
      family = &def;
    }
  }
  return family;
}

}  // namespace npukit::target
