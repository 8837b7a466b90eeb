#include "eval/equivalence.h"

#include <array>

#include "base/text.h"
#include "eval/interpret.h"

namespace npukit::eval {
namespace {

std::uint64_t Mix(std::uint64_t z) {  // splitmix64
  z += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

double Uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

Result<tensor::Value> RandomValue(const tensor::Type& type, std::uint64_t seed, bool edges,
                                  std::int64_t symbol_size) {
  if (!type.is_tensor() || !type.shape || tensor::DTypeBits(type.dtype) == 0) {
    return Unsupported(Cat("no random value of type ", type.ToString()));
  }
  tensor::Dims dims;
  for (const tensor::Dim& d : type.shape->dims) dims.push_back(d.known() ? d.value : symbol_size);
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value v, tensor::Value::Allocate(type.dtype, dims));
  constexpr std::array<double, 12> kEdges = {0.0, -0.0, 1,    -1,    0.5, -3,
                                             3,   6,    1e-6, -1e-6, 100, -100};
  for (std::int64_t i = 0; i < v.count(); ++i) {
    const std::uint64_t bits = Mix(seed * 0x100000001B3u + static_cast<std::uint64_t>(i));
    double x = edges ? kEdges[bits % kEdges.size()] : 0;
    if (!edges && tensor::IsFloat(type.dtype)) {
      // Twelve uniform numbers make one that is normal enough; three make do.
      x = (Uniform(Mix(bits)) + Uniform(Mix(bits + 1)) + Uniform(Mix(bits + 2)) - 1.5) * 2;
    } else if (!edges) {
      x = type.dtype == tensor::DType::kBool ? static_cast<double>(bits & 1)
                                             : static_cast<double>(bits % 8);
    }
    if (type.dtype == tensor::DType::kBool) x = x != 0;
    tensor::StoreDouble(v, i, x);
  }
  return v;
}

Status CheckEquivalence(const ir::Graph& before, const ir::Graph& after,
                        const EquivalenceOptions& options) {
  if (before.inputs.size() != after.inputs.size() ||
      before.outputs.size() != after.outputs.size()) {
    return InvalidArgument(Cat("expected ", before.inputs.size(), " inputs and ",
                               before.outputs.size(), " outputs, found ", after.inputs.size(),
                               " and ", after.outputs.size()));
  }
  for (int trial = -1; trial < options.trials; ++trial) {
    std::vector<tensor::Value> inputs;
    for (std::size_t i = 0; i < before.inputs.size(); ++i) {
      const std::uint64_t seed =
          Mix(options.seed + static_cast<std::uint64_t>(trial + 1) * 1000 + i);
      NPUKIT_ASSIGN_OR_RETURN(tensor::Value v, RandomValue(before.value(before.inputs[i]).type,
                                                           seed, trial < 0, options.symbol_size));
      inputs.push_back(std::move(v));
    }
    auto want = Interpret(before, inputs);
    if (!want.ok()) return want.status().WithContext("before");
    auto got = Interpret(after, inputs);
    if (!got.ok()) return got.status().WithContext("after");
    for (std::size_t i = 0; i < want->size(); ++i) {
      const std::string where = Cat("output ", Printable(before.value(before.outputs[i]).name),
                                    ", trial ", trial, ", seed ", options.seed);
      auto d = Compare((*got)[i], (*want)[i]);
      if (!d.ok()) return d.status().WithContext(where);
      if (!Within(*d, options.agreement)) return Internal(Cat(where, ": ", d->ToString()));
    }
  }
  return OkStatus();
}

}  // namespace npukit::eval
