#include "importers/import.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/kept_bytes.h"
#include "base/sha256.h"
#include "base/text.h"
#include "importers/onnx/onnx.h"
#include "ir/input_shapes.h"

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

// The file's pages are read once and given back.
std::string HashOf(std::span<const std::byte> bytes) {
  constexpr std::size_t kPiece = std::size_t{4} << 20;
  Sha256 hash;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    hash.Update(piece);
    DropPages(piece);
  }
  return hash.Hex();
}

Result<ir::Graph> ImportBytes(Env& env, std::span<const std::byte> bytes, const std::string& path,
                              const ImportOptions& options) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.empty()) return DataCorrupt("not a model: the file is empty");
  if (const auto what = Sniff(text); !what.empty())
    return DataCorrupt(Cat("not an ONNX model: found ", what));
  NPUKIT_ASSIGN_OR_RETURN(ir::Graph g, onnx::ImportModel(env, bytes, Folder(path), options));
  NPUKIT_RETURN_IF_ERROR(ir::Verify(g));
  if (options.shapes.empty()) {
    NPUKIT_RETURN_IF_ERROR(ir::InferTypes(g));
  } else {
    NPUKIT_RETURN_IF_ERROR(ir::SetInputShapes(g, options.shapes));
  }
  return g;
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
    return Imported{std::move(g).value(), HashOf(bytes), bytes.size(), "onnx"};
  } catch (const std::bad_alloc&) {
    return Status(Code::kOutOfMemory, Cat(Printable(path, 300), ": not enough memory to read it"));
  }
}

Status SetInputShapes(ir::Graph& g, const std::map<std::string, tensor::Dims>& shapes) {
  return ir::SetInputShapes(g, shapes);
}

}  // namespace npukit::importers
