// What we know of a chip: a flat map from fact key to Fact. Keys, units and ranges are listed in
// facts.inc; profile_io reads and writes the JSON of profiles/. C++ never tests a chip's name. A
// Profile is a value; reading is thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "target/fact.h"

namespace npukit::target {

// One line of facts.inc, sorted by key: FACT("npu.clock_ghz", kNumber, "GHz", 0.01, 10, "what it
// is"). Texts have no range.
enum class FactKind : std::uint8_t {
  kNumber,
  kText,
  kNumbers,
  kTexts
};  // in the order of FactValue
std::string_view FactKindName(FactKind k);  // "a number", "a list of texts": for messages
struct FactDef {
  std::string_view key;
  FactKind kind;
  std::string_view unit;
  double min;
  double max;
  std::string_view summary;
};
// All keys, sorted. A key ending in ".*" covers a family ("npu.op.*"): what follows the dot is
// free.
const std::vector<FactDef>& FactDefs();
const FactDef* FindFactDef(std::string_view key);

class Profile {
 public:
  std::string name;                    // "kirin9030"; "host" for the machine npukit runs on
  std::map<std::string, Fact> facts;   // by key
  std::vector<std::string> overrides;  // "key=value" of --set, in order; part of every report

  bool Has(std::string_view key) const;
  const Fact* Find(std::string_view key) const;
  // kNotFound names the key and the profile. Number("npu.clock_ghz").
  Result<double> Number(std::string_view key) const;
  double NumberOr(std::string_view key, double otherwise) const;
  Result<std::string> Text(std::string_view key) const;
  Result<std::vector<double>> Numbers(std::string_view key) const;
  Result<std::vector<std::string>> Texts(std::string_view key) const;
  // Checks the key against facts.inc and the value against its range; source becomes assumed, ref
  // "--set". Items of a list are separated by commas; nothing is the empty list.
  Status Set(std::string_view key, std::string_view value);
  bool has_npu() const { return Has("npu.model"); }
  std::uint64_t Hash() const;  // of name, keys and values
};

// One fact: a known key, of its kind and in range (each item of a list; NaN is in no range; no text
// is empty).
Status ValidateFact(std::string_view key, const FactValue& value);
// Every fact a known key, of its kind and in range; the message names file-independent key,
// expected and found.
Status Validate(const Profile& profile);

}  // namespace npukit::target
