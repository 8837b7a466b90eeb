#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "lab/compare.h"
#include "lab/file_names.h"
#include "lab/npy.h"

namespace npukit::lab {
namespace {

constexpr std::string_view kNpy = ".npy";

// Channels last becomes channels first.
Result<tensor::Value> ToNhwc(const tensor::Value& v) {
  const tensor::Dims& d = v.dims();
  const std::int64_t channels = d[1], pixels = d[2] * d[3];
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value out,
                          tensor::Value::Allocate(v.dtype(), {d[0], d[2], d[3], d[1]}));
  for (std::int64_t n = 0; n < d[0]; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t p = 0; p < pixels; ++p) {
        tensor::StoreDouble(out, (n * pixels + p) * channels + c,
                            tensor::ElementAsDouble(v, (n * channels + c) * pixels + p));
      }
    }
  }
  return out;
}

}  // namespace

Result<Dump> ReadDump(Env& env, const std::string& folder, const std::vector<std::string>& names,
                      const std::map<std::string, tensor::Type>& types,
                      const std::vector<std::string>& outputs) {
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<std::string> there, env.ListFolder(folder));
  std::map<std::string, std::string> name_of;  // by file, without its ending
  const std::vector<std::string> output_files = FileNames(outputs);
  for (const std::string& name : names) name_of.try_emplace(FileNames({name})[0], name);
  for (std::size_t i = 0; i < outputs.size(); ++i) name_of[output_files[i]] = outputs[i];
  Dump dump;
  for (const std::string& file : there) {
    if (!file.ends_with(kNpy)) continue;
    const auto found = name_of.find(file.substr(0, file.size() - kNpy.size()));
    const std::string path = folder + "/" + file;
    if (found == name_of.end()) {
      std::vector<std::string> wanted;
      for (const std::string& f : output_files) wanted.push_back(Printable(f) + ".npy");
      return InvalidArgument(Cat("--against: ", Printable(path, 400),
                                 ": the model has no value of that name; its outputs would be ",
                                 Join(wanted, ", ")));
    }
    NPUKIT_ASSIGN_OR_RETURN(tensor::Value value, ReadNpy(env, path));
    const auto type = types.find(found->second);
    if (type != types.end() && !(value.type() == type->second)) {
      return InvalidArgument(Cat("--against: ", Printable(path, 400), ": expected ",
                                 type->second.ToString(), ", found ", value.type().ToString()));
    }
    dump.values[found->second] = std::move(value);
    dump.files[found->second] = path;
  }
  if (dump.values.empty()) {
    std::vector<std::string> wanted;
    for (const std::string& f : output_files) wanted.push_back(Printable(f) + ".npy");
    return NotFound(Cat("--against: nothing in ", Printable(folder, 400),
                        " belongs to this model; expected ", Join(wanted, ", ")));
  }
  return dump;
}

const tensor::Value* FindDumped(const Dump& dump, const ir::ValueInfo& v, tensor::Value* storage,
                                std::string* file) {
  if (!v.type.is_static()) return nullptr;
  if (const auto it = dump.values.find(v.name);
      it != dump.values.end() && it->second.type() == v.type) {
    *file = dump.files.at(v.name);
    return &it->second;
  }
  constexpr std::string_view kNhwc = "_nhwc";  // as passes/choose_layout names a twin
  if (!v.name.ends_with(kNhwc)) return nullptr;
  const std::string name = v.name.substr(0, v.name.size() - kNhwc.size());
  const auto it = dump.values.find(name);
  if (it == dump.values.end() || it->second.dims().size() != 4) return nullptr;
  auto moved = ToNhwc(it->second);
  if (!moved.ok() || !(moved->type() == v.type)) return nullptr;
  *storage = std::move(*moved);
  *file = dump.files.at(name);
  return storage;
}

Result<report::Closeness> Measure(const tensor::Value& found, const tensor::Value& reference) {
  NPUKIT_ASSIGN_OR_RETURN(const eval::Difference d, eval::Compare(found, reference));
  report::Closeness c;
  c.max_abs = d.max_abs;
  c.cosine = d.cosine;
  c.mismatched = d.mismatched;
  if (d.error_squares > 0) {
    // Of no signal at all the ratio would be minus infinity, which no JSON can say.
    constexpr double kTiny = 1e-300;
    c.snr_db = 10 * std::log10(std::max(d.reference_squares, kTiny) / d.error_squares);
  }
  return c;
}

bool IsWithin(const report::Closeness& c, double min_cosine) {
  return c.mismatched == 0 && c.cosine >= min_cosine;
}

}  // namespace npukit::lab
