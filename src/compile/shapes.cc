#include "compile/shapes.h"

#include "base/text.h"
#include "compile/compile.h"

namespace npukit::compile {
namespace {

// What an open dimension could be: one picture at a time, sizes that networks of strides up to 32 accept.
constexpr std::int64_t kExampleSize = 736;

std::string InputNames(const ir::Graph& g) {
  std::vector<std::string> names;
  for (ir::ValueId id : g.inputs) names.push_back(Printable(g.value(id).name));
  return Join(names, ", ");
}

std::string ExampleShape(const ir::ValueInfo& v) {
  tensor::Dims dims;
  for (std::size_t i = 0; i < v.type.shape->rank(); ++i) {
    const tensor::Dim& d = v.type.shape->dims[i];
    dims.push_back(d.known() ? d.value : i == 0 ? 1 : kExampleSize);
  }
  return Cat(Printable(v.name), "=", JoinInts(dims, "x"));
}

}  // namespace

Status FixShapes(ir::Graph& g, const std::map<std::string, tensor::Dims>& shapes) {
  if (shapes.empty()) return OkStatus();
  for (const auto& [name, dims] : shapes) {
    ir::ValueInfo* input = nullptr;
    for (ir::ValueId id : g.inputs) {
      if (g.value(id).name == name) input = &g.value(id);
    }
    if (input == nullptr) {
      return InvalidArgument(Cat("--shape: the model has no input \"", Printable(name), "\"; it has: ", InputNames(g)));
    }
    if (!input->type.is_tensor()) {
      return InvalidArgument(Cat("--shape: input \"", Printable(name), "\" is ", input->type.ToString(), ", not a tensor"));
    }
    if (input->type.shape && input->type.shape->rank() != dims.size()) {
      return InvalidArgument(Cat("--shape: input \"", Printable(name), "\" has rank ", input->type.shape->rank(), " (",
                                 input->type.ToString(), "), found ", JoinInts(dims, "x")));
    }
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] < 0) return InvalidArgument(Cat("--shape: input \"", Printable(name), "\": negative dimension"));
      if (!input->type.shape) continue;
      const tensor::Dim& d = input->type.shape->dims[i];
      if (d.known() && d.value != dims[i]) {
        return InvalidArgument(Cat("--shape: input \"", Printable(name), "\": dimension ", i, " is fixed to ", d.value,
                                   " by the model, found ", dims[i]));
      }
    }
    input->type = tensor::Type::Tensor(input->type.dtype, dims);
  }
  return ir::InferTypes(g);
}

std::string ShapeRemedy(const ir::Graph& g) {
  std::string remedy;
  for (ir::ValueId id : g.inputs) {
    const ir::ValueInfo& v = g.value(id);
    if (v.type.is_static() || !v.type.is_tensor()) continue;
    if (!remedy.empty()) remedy += ' ';
    remedy += v.type.shape ? Cat("--shape ", ExampleShape(v)) : Cat("--shape ", Printable(v.name), "=...");
  }
  return remedy;
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
