#include "compile/shapes.h"

#include "base/text.h"
#include "compile/compile.h"

namespace npukit::compile {
namespace {

// What an open dimension could be: one picture at a time, sizes that networks of strides up to 32
// accept.
constexpr std::int64_t kExampleSize = 736;

std::string ExampleShape(const ir::ValueInfo& v) {
  tensor::Dims dims;
  for (std::size_t i = 0; i < v.type.shape->rank(); ++i) {
    const tensor::Dim& d = v.type.shape->dims[i];
    dims.push_back(d.known() ? d.value : i == 0 ? 1 : kExampleSize);
  }
  return Cat(Printable(v.name), "=", JoinInts(dims, "x"));
}

}  // namespace

std::string ShapeRemedy(const ir::Graph& g) {
  constexpr int kShown = 32;  // every verdict of the graph carries the text
  std::string remedy;
  int shown = 0;
  for (ir::ValueId id : g.inputs) {
    const ir::ValueInfo& v = g.value(id);
    if (v.type.is_static() || !v.type.is_tensor()) continue;
    if (!remedy.empty()) remedy += ' ';
    if (++shown > kShown) return remedy + "... (and the other open inputs)";
    remedy += v.type.shape ? Cat("--shape ", ExampleShape(v))
                           : Cat("--shape ", Printable(v.name), "=...");
  }
  return remedy;
}

void JudgeInBody(target::Verdict& v) {
  v.segment = -1;
  if (v.code == "dynamic_shape")
    v.remedy = "export the model so that what the loop or branch works on keeps its sizes";
}

Status RequireStatic(const ir::Graph& g) {
  for (ir::ValueId id : g.inputs) {
    const ir::ValueInfo& v = g.value(id);
    if (v.type.is_static()) continue;
    return InvalidArgument(Cat("input \"", Printable(v.name), "\" is ", v.type.ToString(),
                               ": its shape is open and must be chosen; try ", ShapeRemedy(g)));
  }
  return OkStatus();
}

bool IsStatic(const ir::Graph& g, const ir::Node& n) {
  for (ir::ValueId id : n.inputs) {
    if (id != ir::kNoValue && !g.value(id).type.is_static()) return false;
  }
  for (ir::ValueId id : n.outputs) {
    if (id != ir::kNoValue && !g.value(id).type.is_static()) return false;
  }
  return true;
}

}  // namespace npukit::compile
