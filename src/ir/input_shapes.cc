#include "ir/input_shapes.h"

#include <unordered_map>

#include "base/text.h"

namespace npukit::ir {
namespace {

constexpr std::int64_t kContradicted = -1;  // a name that inputs of different sizes bear

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
        // Files name sizes alike that are not: a decoder's caches are empty in its first step, a
        // mask has one number for each sample and not for each frame. The shapes that are given
        // hold, and such a name stands for nothing.
        const auto [at, added] = bound.emplace(d.symbol, dims[i]);
        if (!added && at->second != dims[i]) at->second = kContradicted;
      }
      if (!fits)
        return InvalidArgument(Cat(given, " contradicts ", type.ToString(), " at dimension ", i));
    }
    type.shape = tensor::Shape::Of(dims);
  }
  // A symbol stands for one size everywhere, or for none.
  for (ValueInfo& info : g.values) {
    if (!info.type.is_tensor() || !info.type.shape) continue;
    for (tensor::Dim& d : info.type.shape->dims) {
      if (d.known() || d.symbol.empty()) continue;
      const auto at = bound.find(d.symbol);
      if (at == bound.end()) continue;
      d = at->second == kContradicted ? tensor::Dim{} : tensor::Dim::Of(at->second);
    }
  }
  return InferTypes(g);
}

}  // namespace npukit::ir
