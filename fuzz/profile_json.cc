// Profiles as JSON: refused with a good line, or read, and then written and read to the same facts.
#include <string_view>

#include "fuzz/fuzz.h"
#include "profile_io/profile_io.h"

using namespace npukit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto p =
      profile_io::ProfileFromJson({reinterpret_cast<const char*>(data), size}, "chip.json");
  if (!p.ok()) {
    fuzz::MustBeGoodMessage(p.status());
    return 0;
  }
  fuzz::Must(target::Validate(*p).ok(), "a profile that was read is valid");
  const std::string text = profile_io::ProfileToJson(*p);
  const auto again = profile_io::ProfileFromJson(text, "chip.json");
  fuzz::Must(again.ok(), "what was written can be read", again.status().message());
  fuzz::Must(again->Hash() == p->Hash(), "and holds the same facts", text);
  return 0;
}
