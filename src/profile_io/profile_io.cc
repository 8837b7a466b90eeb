#include "profile_io/profile_io.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "ops/op_def.h"
#include "profile_io/strict_json.h"
#include "target/consistent.h"

namespace npukit::profile_io {
namespace {

using nlohmann::json;
using target::FactKind;

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

// What devices look for behind "npu.op.<operator>.".
constexpr std::string_view kLimits[] = {"max_dilation", "max_elements", "max_kernel",
                                        "max_rank",     "max_stride",   "supported"};

Status CheckOperator(std::string_view name) {
  if (ops::FindOp(name) != nullptr) return OkStatus();
  return InvalidArgument(
      Cat("no operator is named \"", Printable(name), "\"; src/ops/ops.inc lists them"));
}

Result<target::Fact> ReadFact(const std::string& key, const json& v) {
  const target::FactDef* def = target::FindFactDef(key);
  if (def == nullptr) return InvalidArgument("no such key; profiles/README.md lists them");
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
  NPUKIT_ASSIGN_OR_RETURN(fact.date, DateMember(v, "date"));
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
    const Status names = CheckNames(key, fact->value);
    if (!names.ok()) return names.WithContext(Cat("fact ", Printable(key)));
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
  Status whole = target::CheckConsistent(profile);
  if (whole.ok()) whole = target::CheckComplete(profile);
  if (!whole.ok()) return whole.WithContext(Printable(path, 300));
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

Status CheckNames(std::string_view key, const target::FactValue& value) {
  const std::vector<std::string> parts = Split(key, '.');
  if (key.starts_with("npu.op.")) {
    if (parts.size() != 4) return InvalidArgument("expected npu.op.<operator>.<limit>");
    NPUKIT_RETURN_IF_ERROR(CheckOperator(parts[2]));
    if (std::find(std::begin(kLimits), std::end(kLimits), parts[3]) == std::end(kLimits)) {
      return InvalidArgument(Cat("no limit is named \"", Printable(parts[3]), "\"; there are ",
                                 Join({std::begin(kLimits), std::end(kLimits)}, ", ")));
    }
  }
  if (key.starts_with("npu.stack.tasks.") || key.starts_with("npu.stack.fuses.")) {
    if (parts.size() != 4)
      return InvalidArgument(Cat("expected npu.stack.", parts[2], ".<operator>"));
    NPUKIT_RETURN_IF_ERROR(CheckOperator(parts[3]));
  }
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  if (key.starts_with("npu.stack.") && list != nullptr) {
    for (const std::string& name : *list) NPUKIT_RETURN_IF_ERROR(CheckOperator(name));
  }
  return OkStatus();
}

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
