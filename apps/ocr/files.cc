#include "files.h"

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

namespace ocr {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are written as they lie in memory");

constexpr std::size_t kNpyLimitBytes = std::size_t{1} << 30;
constexpr std::string_view kMagic = "\x93NUMPY";

struct Closer {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, Closer>;

std::string Reason() { return std::strerror(errno); }

// The text after 'key': in the header's dictionary, up to the end of the header.
std::optional<std::string_view> After(std::string_view header, std::string_view key) {
  std::size_t at = header.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  header.remove_prefix(at + key.size());
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  return header;
}

// "(1, 3, 48, 320)", "(7,)" or "()".
std::optional<std::vector<std::int64_t>> ParseShape(std::string_view text) {
  if (text.empty() || text.front() != '(') return std::nullopt;
  text.remove_prefix(1);
  std::vector<std::int64_t> shape;
  for (;;) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
    if (text.empty()) return std::nullopt;
    if (text.front() == ')') return shape;
    std::int64_t dim = 0;
    auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (failed != std::errc() || dim < 0 || shape.size() == 8) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    shape.push_back(dim);
  }
}

std::optional<std::size_t> Elements(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (std::int64_t d : shape) {
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(d), &count)) return std::nullopt;
  }
  return count;
}

}  // namespace

Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t limit_bytes) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return BadInput(path.string() + ": no such file");
  if (std::filesystem::is_directory(path, failed))
    return BadInput(path.string() + ": is a folder, expected a file");
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return BadInput(path.string() + ": cannot be opened: " + Reason());
  std::string bytes;
  char block[1 << 16];
  while (std::size_t n = std::fread(block, 1, sizeof block, file.get())) {
    if (bytes.size() + n > limit_bytes) {
      return BadInput(path.string() + ": larger than the " + std::to_string(limit_bytes >> 20) +
                      " MiB allowed here");
    }
    bytes.append(block, n);
  }
  if (std::ferror(file.get())) return Failed(path.string() + ": read error: " + Reason());
  return bytes;
}

MaybeError WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  // Beside the file first, so that nothing half-written bears its name; a device or a pipe is
  // written to as it is.
  std::error_code unknown;
  const auto kind = std::filesystem::status(path, unknown).type();
  const bool plain =
      kind == std::filesystem::file_type::regular || kind == std::filesystem::file_type::not_found;
  std::filesystem::path part = path;
  if (plain) part += ".part";
  File file(std::fopen(part.c_str(), "wb"));
  if (!file) return BadInput(path.string() + ": cannot be written: " + Reason());
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  std::string reason = Reason();
  if (std::fclose(file.release()) != 0 && written) {
    written = false;
    reason = Reason();
  }
  std::error_code failed;
  if (written && plain) std::filesystem::rename(part, path, failed);
  if (written && !failed) return std::nullopt;
  if (failed) reason = failed.message();
  if (plain) std::filesystem::remove(part, failed);
  return Failed(path.string() + ": writing failed: " + reason);
}

MaybeError TryFile(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return BadInput(path.string() + ": cannot be written: it is a folder");
  std::filesystem::path part = path;
  part += ".part";
  File file(std::fopen(part.c_str(), "wb"));
  if (!file) return BadInput(path.string() + ": cannot be written: " + Reason());
  file.reset();
  std::filesystem::remove(part, ignored);
  return std::nullopt;
}

MaybeError MakeFolder(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return std::nullopt;
  return BadInput(path.string() + ": cannot be made a folder" +
                  (failed ? ": " + failed.message() : ""));
}

Result<Array> ReadNpy(const std::filesystem::path& path) {
  Result<std::string> read = ReadFile(path, kNpyLimitBytes);
  if (!read.ok()) return read.error();
  std::string_view bytes = read.value();
  auto bad = [&](std::string_view what) {
    return BadInput(path.string() + ": " + std::string(what));
  };
  if (!bytes.starts_with(kMagic) || bytes.size() < 12) return bad("not a .npy file");
  // Version 1 counts the header's bytes in 16 bits, later ones in 32.
  std::size_t length_bytes = bytes[6] == 1 ? 2 : 4;
  std::uint32_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data() + 8, length_bytes);
  std::size_t start = 8 + length_bytes;
  if (header_bytes > bytes.size() - start) return bad("truncated in its header");
  std::string_view header = bytes.substr(start, header_bytes);
  std::string_view body = bytes.substr(start + header_bytes);

  std::optional<std::string_view> descr = After(header, "'descr':");
  if (!descr || !descr->starts_with("'<f4'"))
    return bad("expected dtype '<f4' (little-endian float32)");
  std::optional<std::string_view> order = After(header, "'fortran_order':");
  if (!order || !order->starts_with("False")) return bad("expected C order");
  std::optional<std::string_view> text = After(header, "'shape':");
  std::optional<std::vector<std::int64_t>> shape = text ? ParseShape(*text) : std::nullopt;
  std::optional<std::size_t> count = shape ? Elements(*shape) : std::nullopt;
  if (!count) return bad("unreadable shape in its header");
  if (body.size() % sizeof(float) != 0 || body.size() / sizeof(float) != *count) {
    return bad("shape " + ShapeText(*shape) + " needs " + std::to_string(*count) +
               " floats, found " + std::to_string(body.size()) + " bytes");
  }
  Array array{std::move(*shape), std::vector<float>(*count)};
  if (*count > 0) std::memcpy(array.data.data(), body.data(), body.size());
  return array;
}

MaybeError WriteNpy(const std::filesystem::path& path, const Array& array) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (std::int64_t d : array.shape) header += std::to_string(d) + ", ";
  header += "), }";
  // The data starts at a multiple of 64 bytes; the header ends with a newline.
  while ((kMagic.size() + 4 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\x00';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(array.data.data()), array.data.size() * sizeof(float));
  return WriteFile(path, bytes);
}

}  // namespace ocr
