// Shape inference, constant folding and every other pass on valid but odd graphs. Refusing is fine;
// a pass that breaks a graph, or a check that calls its own work a bug, is not.
#include "fuzz/fuzz.h"
#include "fuzz/odd_graph.h"
#include "ir/graph.h"
#include "passes/pass.h"
#include "profile_io/profile_io.h"

using namespace npukit;

namespace {

const target::Profile& Chip() {
  static const target::Profile& profile = *[] {
    const auto p = profile_io::LoadProfile(RealEnv(), "kirin9030", {NPUKIT_SOURCE_DIR "/profiles"});
    fuzz::Must(p.ok(), "the profile is there", p.status().message());
    return new target::Profile(*p);
  }();
  return profile;
}

// kInternal is what our own bugs are called.
void MustNotBeOurs(const Status& s, const ir::Graph& g) {
  if (s.ok()) return;
  fuzz::MustBeGoodMessage(s);
  fuzz::Must(s.code() != Code::kInternal, "no bug of ours", s.message() + "\n" + ir::PrintText(g));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  ir::Graph g = fuzz::OddGraph(bytes);
  const Status verified = ir::Verify(g);
  MustNotBeOurs(verified, g);
  if (!verified.ok()) return 0;
  const Status inferred = ir::InferTypes(g);
  MustNotBeOurs(inferred, g);
  if (!inferred.ok()) return 0;
  const ir::Graph before = g;
  MustNotBeOurs(passes::RunPasses(g, Chip(), {}, nullptr), before);
  return 0;
}
