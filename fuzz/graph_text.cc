// Graph text: whatever parses is a graph that verifies, and printing it is stable.
#include <string_view>

#include "fuzz/fuzz.h"
#include "ir/graph.h"

using namespace npukit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto g = ir::ParseText({reinterpret_cast<const char*>(data), size});
  if (!g.ok()) {
    fuzz::MustBeGoodMessage(g.status());
    return 0;
  }
  if (const Status s = ir::Verify(*g); !s.ok()) {
    fuzz::MustBeGoodMessage(s);
    return 0;
  }
  const std::string once = ir::PrintText(*g, true);
  const auto again = ir::ParseText(once);
  fuzz::Must(again.ok(), "what was printed can be read", again.status().message());
  const std::string twice = ir::PrintText(*again, true);
  fuzz::Must(once == twice, "printing what was read gives the same text", once + "\nand\n" + twice);
  return 0;
}
