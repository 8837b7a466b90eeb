#include "profile_io/published.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "profile_io/profile_io.h"
#include "profile_io/strict_json.h"

namespace npukit::profile_io {
namespace {

using nlohmann::json;

constexpr double kMaxMs = 1e6;

Result<PublishedNetwork> ReadNetwork(const json& v) {
  NPUKIT_RETURN_IF_ERROR(CheckMembers(v, {"name", "file", "published_ms", "model"}));
  PublishedNetwork n;
  NPUKIT_ASSIGN_OR_RETURN(n.name, TextMember(v, "name"));
  NPUKIT_ASSIGN_OR_RETURN(n.file, TextMember(v, "file"));
  NPUKIT_ASSIGN_OR_RETURN(n.model, TextMember(v, "model"));
  if (n.file.find('/') != std::string::npos || n.file == "." || n.file == "..") {
    return InvalidArgument(
        Cat("\"file\": expected a file beside the table, found \"", Printable(n.file), "\""));
  }
  const json& ms = v["published_ms"];
  if (!ms.is_number())
    return InvalidArgument(Cat("\"published_ms\": expected a number, found ", KindOf(ms)));
  n.published_ms = ms.get<double>();
  if (!(n.published_ms > 0 && n.published_ms <= kMaxMs)) {
    return InvalidArgument(Cat("\"published_ms\": expected more than 0 and at most ", kMaxMs,
                               ", found ", n.published_ms));
  }
  return n;
}

Result<PublishedTable> Read(std::string_view text) {
  NPUKIT_ASSIGN_OR_RETURN(const json tree, ParseStrictly(text));
  NPUKIT_RETURN_IF_ERROR(CheckMembers(tree, {"table", "title", "source", "date", "networks"}));
  PublishedTable t;
  NPUKIT_ASSIGN_OR_RETURN(t.table, TextMember(tree, "table"));
  NPUKIT_ASSIGN_OR_RETURN(t.title, TextMember(tree, "title"));
  NPUKIT_ASSIGN_OR_RETURN(t.source, TextMember(tree, "source"));
  NPUKIT_ASSIGN_OR_RETURN(t.date, DateMember(tree, "date"));
  const json& networks = tree["networks"];
  if (!networks.is_array() || networks.size() > kMaxPublishedNetworks) {
    return InvalidArgument(Cat("\"networks\": expected a list of at most ", kMaxPublishedNetworks,
                               ", found ", KindOf(networks)));
  }
  for (std::size_t i = 0; i < networks.size(); ++i) {
    auto n = ReadNetwork(networks[i]);
    if (!n.ok()) return n.status().WithContext(Cat("network ", i + 1));
    const bool twice = std::any_of(t.networks.begin(), t.networks.end(),
                                   [&](const PublishedNetwork& o) { return o.name == n->name; });
    if (twice) {
      return InvalidArgument(
          Cat("network ", i + 1, ": \"", Printable(n->name), "\" is given twice"));
    }
    t.networks.push_back(std::move(n).value());
  }
  return t;
}

}  // namespace

Result<PublishedTable> PublishedTableFromJson(std::string_view text, std::string_view file) {
  Result<PublishedTable> table = Read(text);
  if (!table.ok()) return table.status().WithContext(Printable(file, 300));
  return table;
}

Result<PublishedTable> LoadPublishedTable(Env& env, const std::string& path) {
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, env.ReadFile(path, kMaxFileBytes));
  return PublishedTableFromJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace npukit::profile_io
