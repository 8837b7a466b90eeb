#include "profile_io/strict_json.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "profile_io/profile_io.h"

namespace npukit::profile_io {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 4;  // profile, facts, fact, list of values

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

}  // namespace

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

Result<std::string> DateMember(const json& object, const char* name) {
  NPUKIT_ASSIGN_OR_RETURN(std::string date, TextMember(object, name));
  if (!IsDate(date)) {
    return InvalidArgument(
        Cat("\"", name, "\": expected a day as YYYY-MM-DD, found \"", Printable(date), "\""));
  }
  return date;
}

}  // namespace npukit::profile_io
