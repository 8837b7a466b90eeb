#include "passes/list.h"

namespace npukit::passes {
namespace {

Status Run(ir::Graph& g, const target::Profile&, int* changes) {
  const std::size_t before = g.nodes.size();
  ir::RemoveDead(g);
  *changes = static_cast<int>(before - g.nodes.size());
  return OkStatus();
}

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef remove_dead = {
    .name = "remove_dead",
    .summary = "drop nodes nobody reads and values nobody uses",
    .run = passes::Run};
}  // namespace npukit::pass
