#include "profile_io/profile_io.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "ops/op_def.h"

namespace npukit::profile_io {
namespace {

using nlohmann::json;
using target::FactKind;

constexpr int kMaxDepth = 4;  // profile, facts, fact, list of values

// JSON text to a tree. What the library would let pass, a key given twice and deep nesting, is
// refused here.
Result<json> ParseStrictly(std::string_view text) {
  if (text.size() > kMaxFileBytes) {
    return InvalidArgument(
        Cat("expected at most ", kMaxFileBytes, " bytes of JSON, found ", text.size()));
  }
  std::string problem;
  std::vector<std::set<std::string>> keys;  // of the objects being read, outermost first
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    const auto note = [&](std::string what) {
      if (problem.empty()) problem = std::move(what);
    };
    switch (event) {
      case json::parse_event_t::object_start:
        keys.emplace_back();
        break;
      case json::parse_event_t::object_end:
        keys.pop_back();
        break;
      case json::parse_event_t::key:
        if (!keys.back().insert(value.get<std::string>()).second) {
          note(Cat("\"", Printable(value.get<std::string>()), "\" is given twice"));
        }
        break;
      default:
        break;
    }
    const bool opens =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= kMaxDepth) note(Cat("nested deeper than ", kMaxDepth, " levels"));
    return problem.empty();
  };
  try {
    json tree = json::parse(text.begin(), text.end(), watch);
    if (!problem.empty()) return InvalidArgument(problem);
    return tree;
  } catch (const json::exception& e) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: ...": the part after the
    // bracket.
    std::string_view what = e.what();
    if (const std::size_t end = what.find("] "); end != std::string_view::npos)
      what.remove_prefix(end + 2);
    return InvalidArgument(Cat("no valid JSON: ", Printable(what, 300)));
  }
}

std::string KindOf(const json& v) {
  return v.is_array() ? "a list" : v.is_object() ? "an object" : Cat("a ", v.type_name());
}

// The members of an object, exactly these.
Status CheckMembers(const json& object, const std::vector<std::string>& names) {
  if (!object.is_object()) {
    return InvalidArgument(
        Cat("expected an object with ", Join(names, ", "), "; found ", KindOf(object)));
  }
  for (const auto& [key, value] : object.items()) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      return InvalidArgument(
          Cat("unknown member \"", Printable(key), "\"; expected ", Join(names, ", ")));
    }
  }
  for (const std::string& name : names) {
    if (!object.contains(name))
      return InvalidArgument(Cat("\"", name, "\" is missing; expected ", Join(names, ", ")));
  }
  return OkStatus();
}

Result<std::string> TextMember(const json& object, const char* name) {
  const json& v = object[name];
  if (!v.is_string())
    return InvalidArgument(Cat("\"", name, "\": expected a text, found ", KindOf(v)));
  if (v.get_ref<const std::string&>().empty())
    return InvalidArgument(Cat("\"", name, "\" is empty"));
  return v.get<std::string>();
}

bool IsDate(std::string_view s) {
  if (s.size() != 10 || s[4] != '-' || s[7] != '-') return false;
  std::int64_t year = 0, month = 0, day = 0;
  if (!ParseInt64(s.substr(0, 4), &year) || !ParseInt64(s.substr(5, 2), &month) ||
      !ParseInt64(s.substr(8, 2), &day))
    return false;
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

template <class T>
bool ReadList(const json& v, bool (json::*is)() const noexcept, std::vector<T>* out) {
  if (!v.is_array()) return false;
  for (const json& item : v) {
    if (!(item.*is)()) return false;
    out->push_back(item.get<T>());
  }
  return true;
}

Result<target::FactValue> ReadValue(const target::FactDef& def, const json& v) {
  switch (def.kind) {
    case FactKind::kNumber:
      if (v.is_number()) return target::FactValue(v.get<double>());
      break;
    case FactKind::kText:
      if (v.is_string()) return target::FactValue(v.get<std::string>());
      break;
    case FactKind::kNumbers: {
      std::vector<double> list;
      if (ReadList(v, &json::is_number, &list)) return target::FactValue(std::move(list));
      break;
    }
    case FactKind::kTexts: {
      std::vector<std::string> list;
      if (ReadList(v, &json::is_string, &list)) return target::FactValue(std::move(list));
      break;
    }
  }
  return InvalidArgument(Cat("\"value\": expected ", target::FactKindName(def.kind), ", found ",
                             KindOf(v), v.is_array() ? " with something else in it" : ""));
}

// "npu.op.conv2d.max_kernel": is there such an operator?
Status CheckOperator(const std::string& key) {
  if (!key.starts_with("npu.op.")) return OkStatus();
  const std::vector<std::string> parts = Split(key, '.');
  if (parts.size() < 4 || ops::FindOp(parts[2]) == nullptr) {
    return InvalidArgument(
        Cat("no operator is named \"", Printable(parts[2]), "\"; src/ops/ops.inc lists them"));
  }
  return OkStatus();
}

Result<target::Fact> ReadFact(const std::string& key, const json& v) {
  const target::FactDef* def = target::FindFactDef(key);
  if (def == nullptr) return InvalidArgument("no such key; profiles/README.md lists them");
  NPUKIT_RETURN_IF_ERROR(CheckOperator(key));
  NPUKIT_RETURN_IF_ERROR(CheckMembers(v, {"value", "source", "ref", "date"}));
  target::Fact fact;
  NPUKIT_ASSIGN_OR_RETURN(fact.value, ReadValue(*def, v["value"]));
  NPUKIT_ASSIGN_OR_RETURN(const std::string source, TextMember(v, "source"));
  const std::optional<target::Source> known = target::SourceFromName(source);
  if (!known) {
    return InvalidArgument(
        Cat("\"source\": expected assumed, datasheet, vendor_api or measured, found \"",
            Printable(source), "\""));
  }
  fact.source = *known;
  NPUKIT_ASSIGN_OR_RETURN(fact.ref, TextMember(v, "ref"));
  NPUKIT_ASSIGN_OR_RETURN(fact.date, TextMember(v, "date"));
  if (!IsDate(fact.date)) {
    return InvalidArgument(
        Cat("\"date\": expected a day as YYYY-MM-DD, found \"", Printable(fact.date), "\""));
  }
  return fact;
}

Result<target::Profile> Read(std::string_view text) {
  NPUKIT_ASSIGN_OR_RETURN(const json tree, ParseStrictly(text));
  NPUKIT_RETURN_IF_ERROR(CheckMembers(tree, {"name", "facts"}));
  target::Profile profile;
  NPUKIT_ASSIGN_OR_RETURN(profile.name, TextMember(tree, "name"));
  if (profile.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") !=
      std::string::npos) {
    return InvalidArgument(Cat("\"name\": expected small letters, digits, '_' and '-', found \"",
                               Printable(profile.name), "\""));
  }
  const json& facts = tree["facts"];
  if (!facts.is_object())
    return InvalidArgument(Cat("\"facts\": expected an object, found ", KindOf(facts)));
  for (const auto& [key, value] : facts.items()) {
    Result<target::Fact> fact = ReadFact(key, value);
    if (!fact.ok()) return fact.status().WithContext(Cat("fact ", Printable(key)));
    NPUKIT_RETURN_IF_ERROR(target::ValidateFact(key, fact->value));
    profile.facts.emplace(key, std::move(fact).value());
  }
  return profile;
}

Result<target::Profile> LoadFile(Env& env, const std::string& path) {
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, env.ReadFile(path, kMaxFileBytes));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  NPUKIT_ASSIGN_OR_RETURN(target::Profile profile, ProfileFromJson(text, path));
  std::string stem = path.substr(path.rfind('/') + 1);  // npos + 1 is 0: no folder
  if (stem.ends_with(".json")) stem.resize(stem.size() - 5);
  if (stem != profile.name) {
    return InvalidArgument(Cat(Printable(path, 300), ": \"name\" is \"", Printable(profile.name),
                               "\", the file's is \"", Printable(stem),
                               "\": a profile is named as its file"));
  }
  return profile;
}

std::string Quoted(const std::string& s) {
  return json(s).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string ValueText(const target::FactValue& value) {
  std::string out;
  const auto list = [&](const auto& items, const auto& text) {
    out = "[";
    for (std::size_t i = 0; i < items.size(); ++i) out += (i > 0 ? ", " : "") + text(items[i]);
    out += "]";
  };
  if (const auto* v = std::get_if<double>(&value)) out = Cat(*v);
  if (const auto* v = std::get_if<std::string>(&value)) out = Quoted(*v);
  if (const auto* v = std::get_if<std::vector<double>>(&value))
    list(*v, [](double x) { return Cat(x); });
  if (const auto* v = std::get_if<std::vector<std::string>>(&value)) list(*v, Quoted);
  return out;
}

}  // namespace

Result<target::Profile> ProfileFromJson(std::string_view text, std::string_view file) {
  Result<target::Profile> profile = Read(text);
  if (!profile.ok()) return profile.status().WithContext(Printable(file, 300));
  return profile;
}

std::string ProfileToJson(const target::Profile& profile) {
  std::string out = Cat("{\n  \"name\": ", Quoted(profile.name), ",\n  \"facts\": {");
  const char* separator = "\n";
  for (const auto& [key, fact] : profile.facts) {
    out += Cat(separator, "    ", Quoted(key), ": {\"value\": ", ValueText(fact.value),
               ", \"source\": ", Quoted(std::string(target::SourceName(fact.source))),
               ", \"ref\": ", Quoted(fact.ref), ", \"date\": ", Quoted(fact.date), "}");
    separator = ",\n";
  }
  return out + "\n  }\n}\n";
}

Result<target::Profile> LoadProfile(Env& env, const std::string& name_or_path,
                                    const std::vector<std::string>& folders) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json"))
    return LoadFile(env, name_or_path);
  for (const std::string& folder : folders) {
    Result<target::Profile> profile = LoadFile(env, Cat(folder, "/", name_or_path, ".json"));
    if (profile.ok() || profile.status().code() != Code::kNotFound) return profile;
  }
  std::vector<std::string> names;
  for (const ProfileFile& f : ListProfiles(env, folders)) names.push_back(f.name);
  return NotFound(Cat("no target \"", Printable(name_or_path), "\"; ",
                      names.empty() ? Cat("no profile lies in ",
                                          folders.empty() ? "any folder" : Join(folders, ", "))
                                    : Cat("there are ", Join(names, ", "))));
}

std::vector<ProfileFile> ListProfiles(Env& env, const std::vector<std::string>& folders) {
  std::vector<ProfileFile> out;
  for (const std::string& folder : folders) {
    const Result<std::vector<std::string>> names = env.ListFolder(folder);
    if (!names.ok()) continue;
    for (const std::string& file : *names) {
      if (!file.ends_with(".json")) continue;
      const std::string name = file.substr(0, file.size() - 5);
      const bool known =
          std::any_of(out.begin(), out.end(), [&](const ProfileFile& f) { return f.name == name; });
      if (!known) out.push_back({name, Cat(folder, "/", file)});
    }
  }
  std::sort(out.begin(), out.end(),
            [](const ProfileFile& a, const ProfileFile& b) { return a.name < b.name; });
  return out;
}

}  // namespace npukit::profile_io
