// The ONNX reader: refused with a good line, or a graph that verifies and keeps its types when they
// are inferred once more.
#include "fuzz/fuzz.h"
#include "fuzz/memory_env.h"
#include "importers/import.h"
#include "ir/graph.h"

using namespace npukit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::MemoryEnv env({reinterpret_cast<const std::byte*>(data), size});
  auto imported = importers::ImportFile(env, "model.onnx", {});
  if (!imported.ok()) {
    fuzz::MustBeGoodMessage(imported.status());
    return 0;
  }
  ir::Graph& g = imported->graph;
  const Status verified = ir::Verify(g);
  fuzz::Must(verified.ok(), "what was imported verifies", verified.message());
  const Status inferred = ir::InferTypes(g);
  fuzz::Must(inferred.ok(), "types can be inferred once more", inferred.message());
  ir::RemoveDead(g);
  const Status trimmed = ir::Verify(g);
  fuzz::Must(trimmed.ok(), "it verifies without what is dead", trimmed.message());
  return 0;
}
