#include "tensor/strings.h"

#include <cstring>

#include "base/text.h"

namespace npukit::tensor {

std::vector<std::byte> EncodeStrings(const Value& v) {
  std::vector<std::byte> out;
  for (const std::string& s : v.strings()) {
    NPUKIT_CHECK(s.size() <= UINT32_MAX);
    const auto n = static_cast<std::uint32_t>(s.size());
    const auto* length = reinterpret_cast<const std::byte*>(&n);
    const auto* text = reinterpret_cast<const std::byte*>(s.data());
    out.insert(out.end(), length, length + sizeof n);
    out.insert(out.end(), text, text + s.size());
  }
  return out;
}

Result<Value> DecodeStrings(Dims dims, std::span<const std::byte> bytes) {
  const auto count = ElementCount(dims);
  if (!count || static_cast<std::uint64_t>(*count) > bytes.size() / sizeof(std::uint32_t)) {
    return DataCorrupt(
        Cat("strings: ", bytes.size(), " bytes cannot hold as many as their shape says"));
  }
  std::vector<std::string> strings;
  strings.reserve(static_cast<std::size_t>(*count));
  for (std::int64_t i = 0; i < *count; ++i) {
    std::uint32_t n = 0;
    if (bytes.size() < sizeof n) return DataCorrupt("strings: their bytes break off");
    std::memcpy(&n, bytes.data(), sizeof n);
    bytes = bytes.subspan(sizeof n);
    if (bytes.size() < n) return DataCorrupt("strings: their bytes break off");
    strings.emplace_back(reinterpret_cast<const char*>(bytes.data()), n);
    bytes = bytes.subspan(n);
  }
  if (!bytes.empty()) return DataCorrupt(Cat("strings: ", bytes.size(), " bytes too many"));
  return Value::Strings(std::move(dims), std::move(strings));
}

}  // namespace npukit::tensor
