#include "target/profile.h"

#include <cstring>
#include <span>

#include "base/hash.h"
#include "base/text.h"

namespace npukit::target {
namespace {

FactKind KindOf(const FactValue& v) {
  return static_cast<FactKind>(v.index());
}  // the variant lists them in this order

Status NoFact(const Profile& p, std::string_view key) {
  return NotFound(Cat("profile ", Printable(p.name), " has no fact ", Printable(key),
                      "; add it to the profile or pass --set ", Printable(key), "=..."));
}

Status WrongKind(std::string_view key, FactKind expected, FactKind found) {
  return InvalidArgument(Cat("fact ", Printable(key), ": expected ", FactKindName(expected),
                             ", found ", FactKindName(found)));
}

template <class T>
Result<T> Get(const Profile& p, std::string_view key, FactKind expected) {
  const Fact* fact = p.Find(key);
  if (fact == nullptr) return NoFact(p, key);
  const T* value = std::get_if<T>(&fact->value);
  if (value == nullptr) return WrongKind(key, expected, KindOf(fact->value));
  return *value;
}

Status CheckNumber(const FactDef& def, std::string_view key, double v) {
  if (v >= def.min && v <= def.max) return OkStatus();  // false for NaN too
  return InvalidArgument(Cat("fact ", Printable(key), ": expected ", def.min, " to ", def.max,
                             def.unit.empty() ? "" : " ", def.unit, ", found ", v));
}

Status CheckText(std::string_view key, const std::string& v) {
  if (v.empty())
    return InvalidArgument(Cat("fact ", Printable(key), ": expected a text, found an empty one"));
  return OkStatus();
}

Status UnknownKey(std::string_view key) {
  return InvalidArgument(
      Cat("unknown fact ", Printable(key),
          "; the keys are listed in src/target/facts.inc and profiles/README.md"));
}

void AppendText(std::string& out, std::string_view s) {
  out += Cat(s.size(), ":");
  out += s;
}

void AppendNumber(std::string& out, double v) {
  char bytes[sizeof(v)];
  std::memcpy(bytes, &v, sizeof(v));
  out.append(bytes, sizeof(bytes));
}

}  // namespace

Status ValidateFact(std::string_view key, const FactValue& value) {
  const FactDef* def = FindFactDef(key);
  if (def == nullptr) return UnknownKey(key);
  if (KindOf(value) != def->kind) return WrongKind(key, def->kind, KindOf(value));
  switch (def->kind) {
    case FactKind::kNumber:
      return CheckNumber(*def, key, std::get<double>(value));
    case FactKind::kText:
      return CheckText(key, std::get<std::string>(value));
    case FactKind::kNumbers:
      for (const double v : std::get<std::vector<double>>(value))
        NPUKIT_RETURN_IF_ERROR(CheckNumber(*def, key, v));
      return OkStatus();
    case FactKind::kTexts:
      for (const std::string& v : std::get<std::vector<std::string>>(value))
        NPUKIT_RETURN_IF_ERROR(CheckText(key, v));
      return OkStatus();
  }
  return Internal("a fact of unknown kind");
}

bool Profile::Has(std::string_view key) const { return Find(key) != nullptr; }

const Fact* Profile::Find(std::string_view key) const {
  const auto it = facts.find(std::string(key));
  return it == facts.end() ? nullptr : &it->second;
}

Result<double> Profile::Number(std::string_view key) const {
  return Get<double>(*this, key, FactKind::kNumber);
}

double Profile::NumberOr(std::string_view key, double otherwise) const {
  const Result<double> r = Number(key);
  return r.ok() ? *r : otherwise;
}

Result<std::string> Profile::Text(std::string_view key) const {
  return Get<std::string>(*this, key, FactKind::kText);
}

Result<std::vector<double>> Profile::Numbers(std::string_view key) const {
  return Get<std::vector<double>>(*this, key, FactKind::kNumbers);
}

Result<std::vector<std::string>> Profile::Texts(std::string_view key) const {
  return Get<std::vector<std::string>>(*this, key, FactKind::kTexts);
}

Status Profile::Set(std::string_view key, std::string_view value) {
  const FactDef* def = FindFactDef(key);
  if (def == nullptr) return UnknownKey(key);
  const auto number = [&](std::string_view s, double* out) {
    if (ParseDouble(s, out)) return OkStatus();
    return InvalidArgument(
        Cat("fact ", Printable(key), ": expected a number, found \"", Printable(s), "\""));
  };
  FactValue parsed;
  switch (def->kind) {
    case FactKind::kNumber: {
      double v = 0;
      NPUKIT_RETURN_IF_ERROR(number(value, &v));
      parsed = v;
      break;
    }
    case FactKind::kText:
      parsed = std::string(value);
      break;
    case FactKind::kNumbers: {
      std::vector<double> list;
      for (const std::string& part : Split(value, ',')) {
        double v = 0;
        NPUKIT_RETURN_IF_ERROR(number(part, &v));
        list.push_back(v);
      }
      parsed = std::move(list);
      break;
    }
    case FactKind::kTexts:
      parsed = value.empty() ? std::vector<std::string>() : Split(value, ',');
      break;
  }
  NPUKIT_RETURN_IF_ERROR(ValidateFact(key, parsed));
  facts[std::string(key)] = Fact{std::move(parsed), Source::kAssumed, "--set", ""};
  overrides.push_back(Cat(key, "=", value));
  return OkStatus();
}

std::uint64_t Profile::Hash() const {
  // Every part carries its length or its kind, so that different profiles give different texts.
  std::string text;
  AppendText(text, name);
  for (const auto& [key, fact] : facts) {
    AppendText(text, key);
    text += static_cast<char>('0' + fact.value.index());
    if (const auto* v = std::get_if<double>(&fact.value)) AppendNumber(text, *v);
    if (const auto* v = std::get_if<std::string>(&fact.value)) AppendText(text, *v);
    if (const auto* v = std::get_if<std::vector<double>>(&fact.value)) {
      text += Cat(v->size(), ":");
      for (const double x : *v) AppendNumber(text, x);
    }
    if (const auto* v = std::get_if<std::vector<std::string>>(&fact.value)) {
      text += Cat(v->size(), ":");
      for (const std::string& x : *v) AppendText(text, x);
    }
  }
  return Hash64(std::as_bytes(std::span(text)));
}

Status Validate(const Profile& profile) {
  for (const auto& [key, fact] : profile.facts)
    NPUKIT_RETURN_IF_ERROR(ValidateFact(key, fact.value));
  return OkStatus();
}

}  // namespace npukit::target
