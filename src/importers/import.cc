#include "importers/import.h"

#include <cstring>
#include <new>
#include <unordered_map>

#include "base/hash.h"
#include "base/text.h"
#include "importers/onnx/onnx.h"

namespace npukit::importers {
namespace {

struct Magic {
  std::size_t offset;
  std::string_view bytes;
  std::string_view what;
};
using namespace std::string_view_literals;
constexpr Magic kMagics[] = {
    {4, "TFL3"sv, "a TFLite model, which is not supported yet"},
    {0, "\x89PNG"sv, "a PNG image"},
    {0, "\xFF\xD8\xFF"sv, "a JPEG image"},
    {0, "GIF8"sv, "a GIF image"},
    {0, "PK\x03\x04"sv, "a zip archive (a PyTorch checkpoint is one: export it to ONNX)"},
    {0, "\x1F\x8B"sv, "a gzip archive: unpack it"},
    {0, "\x89HDF\r\n"sv, "an HDF5 file (a Keras model is one: export it to ONNX)"},
    {0, "\x80\x02"sv, "a Python pickle (an old PyTorch checkpoint is one: export it to ONNX)"},
    {0, "GGUF"sv, "a GGUF model, which is not supported"},
    {0,
     "\x7F"
     "ELF"sv,
     "a program"},
    {0, "\x93NUMPY"sv, "a NumPy array"},
    {0, "version https://git-lfs"sv, "a Git LFS pointer: fetch the file itself with git lfs pull"},
    {0, "NPK1"sv, "an npukit package, which is compiled already: pass it to run, bench or info"},
};

// What the first bytes say, or empty.
std::string_view Sniff(std::string_view text) {
  for (const Magic& m : kMagics) {
    if (text.size() >= m.offset + m.bytes.size() &&
        text.substr(m.offset, m.bytes.size()) == m.bytes)
      return m.what;
  }
  const std::string_view head = text.substr(0, 256);
  for (const char c : head) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x20 && c != '\n' && c != '\r' && c != '\t') return {};
  }
  return "text";
}

std::string Folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Result<ir::Graph> ImportBytes(Env& env, std::span<const std::byte> bytes, const std::string& path,
                              const ImportOptions& options) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.empty()) return DataCorrupt("not a model: the file is empty");
  if (const auto what = Sniff(text); !what.empty())
    return DataCorrupt(Cat("not an ONNX model: found ", what));
  NPUKIT_ASSIGN_OR_RETURN(ir::Graph g, onnx::ImportModel(env, bytes, Folder(path), options.limits));
  NPUKIT_RETURN_IF_ERROR(ir::Verify(g));
  if (options.shapes.empty()) {
    NPUKIT_RETURN_IF_ERROR(ir::InferTypes(g));
  } else {
    NPUKIT_RETURN_IF_ERROR(SetInputShapes(g, options.shapes));
  }
  return g;
}

std::string InputNames(const ir::Graph& g) {
  std::vector<std::string> names;
  for (const ir::ValueId id : g.inputs) names.push_back(Printable(g.value(id).name));
  return Join(names, ", ");
}

}  // namespace

Result<Imported> ImportFile(Env& env, const std::string& path, const ImportOptions& options) {
  try {
    NPUKIT_ASSIGN_OR_RETURN(const auto file, env.MapFile(path));
    const auto bytes = file->bytes();
    if (bytes.size() > options.limits.max_file_bytes) {
      return ResourceExhausted(Cat(Printable(path, 300), ": ", bytes.size(),
                                   " bytes, the limit is ", options.limits.max_file_bytes));
    }
    auto g = ImportBytes(env, bytes, path, options);
    if (!g.ok()) return g.status().WithContext(Printable(path, 300));
    return Imported{std::move(g).value(), Sha256Hex(bytes), bytes.size(), "onnx"};
  } catch (const std::bad_alloc&) {
    return Status(Code::kOutOfMemory, Cat(Printable(path, 300), ": not enough memory to read it"));
  }
}

Status SetInputShapes(ir::Graph& g, const std::map<std::string, tensor::Dims>& shapes) {
  std::unordered_map<std::string, std::int64_t> bound;  // what the named sizes turn out to be
  for (const auto& [name, dims] : shapes) {
    ir::ValueInfo* info = nullptr;
    for (const ir::ValueId id : g.inputs) {
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
  for (ir::ValueInfo& info : g.values) {
    if (!info.type.is_tensor() || !info.type.shape) continue;
    for (tensor::Dim& d : info.type.shape->dims) {
      if (d.known() || d.symbol.empty()) continue;
      if (const auto at = bound.find(d.symbol); at != bound.end()) d = tensor::Dim::Of(at->second);
    }
  }
  return ir::InferTypes(g);
}

}  // namespace npukit::importers
