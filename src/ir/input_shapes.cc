#include "ir/input_shapes.h"

#include <unordered_map>

#include "base/text.h"

namespace npukit::ir {
namespace {

std::string InputNames(const Graph& g) {
  std::vector<std::string> names;
  for (const ValueId id : g.inputs) names.push_back(Printable(g.value(id).name));
  return Join(names, ", ");
}

}  // namespace

Status SetInputShapes(Graph& g, const std::map<std::string, tensor::Dims>& shapes) {
  std::unordered_map<std::string, std::int64_t> bound;  // what the named sizes turn out to be
  for (const auto& [name, dims] : shapes) {
    ValueInfo* info = nullptr;
    for (const ValueId id : g.inputs) {
      if (g.value(id).name == name) info = &g.value(id);
    }
    if (info == nullptr) {
      return InvalidArgument(Cat("no input ", Printable(name), "; the model has ", InputNames(g)));
    }
    tensor::Type& type = info->type;
    const std::string given =
        Cat("input ", Printable(name), ": shape [", JoinInts(dims, ", "), "]");
    if (!type.is_tensor()) return InvalidArgument(Cat(given, " for a ", type.ToString()));
    if (type.shape && type.shape->rank() != dims.size()) {
      return InvalidArgument(Cat(given, " has rank ", dims.size(), ", expected ", type.ToString()));
    }
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] < 0) return InvalidArgument(Cat(given, " has a negative size"));
      if (!type.shape) continue;
      const tensor::Dim& d = type.shape->dims[i];
      bool fits = !d.known() || d.value == dims[i];
      if (!d.known() && !d.symbol.empty()) {
        const auto [at, added] = bound.emplace(d.symbol, dims[i]);
        if (!added && at->second != dims[i]) {
          return InvalidArgument(Cat(given, " makes ", Printable(d.symbol), " ", dims[i],
                                     ", elsewhere it is ", at->second));
        }
      }
      if (!fits)
        return InvalidArgument(Cat(given, " contradicts ", type.ToString(), " at dimension ", i));
    }
    type.shape = tensor::Shape::Of(dims);
  }
  // A symbol stands for one size everywhere.
  for (ValueInfo& info : g.values) {
    if (!info.type.is_tensor() || !info.type.shape) continue;
    for (tensor::Dim& d : info.type.shape->dims) {
      if (d.known() || d.symbol.empty()) continue;
      if (const auto at = bound.find(d.symbol); at != bound.end()) d = tensor::Dim::Of(at->second);
    }
  }
  return InferTypes(g);
}

}  // namespace npukit::ir
