// Text that came from a model, a photo or a command line, made safe to stand in a page. Everything
// a report prints goes through one of these; hostile bytes become "?" (base/text.h: Printable).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace npukit::report::html {

inline constexpr std::size_t kNameBytes = 200;  // of a name in a table, then "..."
inline constexpr std::size_t kTextBytes = 600;  // of a sentence

// For text and for attributes in double quotes.
std::string Escaped(std::string_view text, std::size_t max_bytes = kTextBytes);
// The same between <bdi> and </bdi>: its direction changes nothing around it.
std::string Isolated(std::string_view text, std::size_t max_bytes = kTextBytes);
// A JSON string with its quotes, without any '<': it cannot end the script that holds it.
std::string JsonText(std::string_view text, std::size_t max_bytes = kNameBytes);
std::string Base64(std::string_view bytes);

}  // namespace npukit::report::html
