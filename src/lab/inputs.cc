#include "lab/inputs.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "lab/file_names.h"
#include "lab/npy.h"

namespace npukit::lab {
namespace {

// SplitMix64: short, known, and the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }  // [0, 1)

 private:
  std::uint64_t state_;
};

}  // namespace

Result<std::map<std::string, InputFile>> ReadInputs(Env& env, const std::vector<std::string>& names,
                                                    const InputOptions& options) {
  std::map<std::string, InputFile> inputs;
  for (const auto& [name, path] : options.files) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      std::vector<std::string> printable;
      for (const std::string& n : names) printable.push_back(Printable(n));
      return InvalidArgument(Cat("--input: the model has no input \"", Printable(name),
                                 "\"; it has: ", Join(printable, ", ")));
    }
    NPUKIT_ASSIGN_OR_RETURN(tensor::Value value, ReadNpy(env, path));
    inputs[name] = {std::move(value), path};
  }
  if (options.folder.empty()) return inputs;
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<std::string> there, env.ListFolder(options.folder));
  const std::vector<std::string> files = FileNames(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string file = files[i] + ".npy";
    if (inputs.contains(names[i]) || !std::binary_search(there.begin(), there.end(), file))
      continue;
    const std::string path = options.folder + "/" + file;
    NPUKIT_ASSIGN_OR_RETURN(tensor::Value value, ReadNpy(env, path));
    inputs[names[i]] = {std::move(value), path};
  }
  if (inputs.empty()) {
    std::vector<std::string> wanted;
    for (const std::string& f : files) wanted.push_back(Printable(f) + ".npy");
    return NotFound(Cat("--inputs: nothing in ", Printable(options.folder, 400),
                        " belongs to this model; expected ", Join(wanted, ", ")));
  }
  return inputs;
}

Result<tensor::Value> RandomInput(const std::string& name, const tensor::Type& type,
                                  std::uint64_t seed) {
  if (!type.is_static() || !(tensor::IsFloat(type.dtype) || tensor::IsInteger(type.dtype) ||
                             type.dtype == tensor::DType::kBool)) {
    return Unsupported(
        Cat("input \"", Printable(name), "\" is ", type.ToString(),
            ": no random values are made for that; give its shape (--shape) or a file"));
  }
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value value, tensor::Value::Allocate(type.dtype, type.dims()));
  Random random(Hash64(std::as_bytes(std::span(name.data(), name.size())), seed));
  for (std::int64_t i = 0; i < value.count(); ++i) {
    const double u = random.Unit();
    const bool index = type.dtype == tensor::DType::kI64 || type.dtype == tensor::DType::kI32;
    // The smallest tables (token types) have two rows.
    const int range = index || type.dtype == tensor::DType::kBool ? 2 : 8;
    tensor::StoreDouble(value, i,
                        tensor::IsFloat(type.dtype) ? 2 * u - 1 : static_cast<int>(range * u));
  }
  return value;
}

}  // namespace npukit::lab
