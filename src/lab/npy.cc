#include "lab/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/text.h"
#include "lab/npy_strings.h"

namespace npukit::lab {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMaxHeaderBytes = 10000;  // NumPy's own limit
constexpr std::size_t kMaxRank = 32;            // NumPy's own limit when the format was made
constexpr std::size_t kAlignment = 64;

struct NpyType {
  std::string_view descr;
  tensor::DType dtype;
};
constexpr std::int64_t kMaxEmptyStrings = 1 << 20;  // they take no bytes of the file

constexpr std::array<NpyType, 12> kTypes = {{{"<f4", tensor::DType::kF32},
                                             {"<f2", tensor::DType::kF16},
                                             {"<f8", tensor::DType::kF64},
                                             {"|b1", tensor::DType::kBool},
                                             {"|i1", tensor::DType::kI8},
                                             {"<i2", tensor::DType::kI16},
                                             {"<i4", tensor::DType::kI32},
                                             {"<i8", tensor::DType::kI64},
                                             {"|u1", tensor::DType::kU8},
                                             {"<u2", tensor::DType::kU16},
                                             {"<u4", tensor::DType::kU32},
                                             {"<u8", tensor::DType::kU64}}};

struct Header {
  std::string descr;
  bool fortran = false;
  tensor::Dims shape;
};

// Reads the one Python dict that NumPy writes; nothing else passes.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  bool Parse(Header& h) {
    bool descr = false, order = false, shape = false;
    if (!Take('{')) return false;
    while (!Take('}')) {
      std::string key;
      if (!String(key) || !Take(':')) return false;
      bool* seen = key == "descr"           ? &descr
                   : key == "fortran_order" ? &order
                   : key == "shape"         ? &shape
                                            : nullptr;
      if (seen == nullptr || *seen) return false;
      *seen = true;
      const bool ok = seen == &descr   ? String(h.descr)
                      : seen == &order ? Bool(h.fortran)
                                       : Tuple(h.shape);
      if (!ok) return false;
      if (!Take(',') && Peek() != '}') return false;
    }
    Skip();
    return at_ == text_.size() && descr && order && shape;
  }

 private:
  void Skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char Peek() {
    Skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool Word(std::string_view w) {
    Skip();
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }
  bool String(std::string& out) {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return false;
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return false;
    out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }
  bool Bool(bool& out) {
    if (Word("True")) return out = true;
    out = false;
    return Word("False");
  }
  bool Tuple(tensor::Dims& out) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      Skip();
      const std::size_t start = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      std::int64_t dim = 0;
      if (out.size() == kMaxRank || !ParseInt64(text_.substr(start, at_ - start), &dim))
        return false;
      out.push_back(dim);
      if (!Take(',') && Peek() != ')') return false;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::uint64_t Little(std::span<const std::byte> bytes) {
  std::uint64_t v = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    v = v << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return v;
}

}  // namespace

Result<tensor::Value> ParseNpy(std::span<const std::byte> bytes, const std::string& name) {
  const auto corrupt = [&](std::string_view what) {
    return DataCorrupt(Cat(Printable(name, 400), ": ", what));
  };
  if (bytes.size() < 10 || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return corrupt("not a .npy file: write it with numpy.save");
  }
  const auto version = std::to_integer<int>(bytes[6]);
  if (version < 1 || version > 3)
    return corrupt(Cat("version ", version, " of the .npy format; expected 1 to 3"));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  if (bytes.size() < start) return corrupt("the header is cut off");
  const std::uint64_t length = Little(bytes.subspan(8, length_bytes));
  if (length > kMaxHeaderBytes)
    return corrupt(Cat("a header of ", length, " bytes; at most ", kMaxHeaderBytes, " are read"));
  if (bytes.size() - start < length) return corrupt("the header is cut off");
  Header h;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + start, length);
  if (!HeaderParser(text).Parse(h))
    return corrupt(Cat("a header that numpy.save does not write: ", Printable(text)));

  const auto type = std::find_if(kTypes.begin(), kTypes.end(),
                                 [&](const NpyType& t) { return t.descr == h.descr; });
  const std::optional<std::uint64_t> width = UnicodeWidth(h.descr);
  if (type == kTypes.end() && !width) {
    return Unsupported(Cat(Printable(name, 400), ": element type \"", Printable(h.descr),
                           "\" is not read; use little-endian floats, integers, bool or strings"));
  }
  if (h.fortran && h.shape.size() > 1) {
    return Unsupported(
        Cat(Printable(name, 400), ": Fortran order; save numpy.ascontiguousarray of it"));
  }
  const auto count = tensor::ElementCount(h.shape);
  if (width) {
    const std::uint64_t have = bytes.size() - start - length;
    const auto per = *width * 4;
    if (!count ||
        (per == 0 ? *count > kMaxEmptyStrings : static_cast<std::uint64_t>(*count) > have / per) ||
        static_cast<std::uint64_t>(*count) * per != have) {
      return corrupt(Cat("the header says [", JoinInts(h.shape, ", "), "] of ", h.descr, ", but ",
                         have, " bytes of data follow"));
    }
    auto strings = ParseUnicode(h.shape, *width, bytes.subspan(start + length));
    if (!strings.ok()) return corrupt(strings.status().message());
    return strings;
  }
  const auto data_bytes =
      count ? tensor::StorageBytes(type->dtype, static_cast<std::uint64_t>(*count)) : std::nullopt;
  const std::uint64_t found = bytes.size() - start - length;
  if (!data_bytes || *data_bytes != found) {
    return corrupt(Cat("the header says [", JoinInts(h.shape, ", "), "] of ",
                       tensor::DTypeName(type->dtype), ", but ", found, " bytes of data follow"));
  }
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value value, tensor::Value::Allocate(type->dtype, h.shape));
  if (found > 0) std::memcpy(value.mutable_data(), bytes.data() + start + length, found);
  if (type->dtype == tensor::DType::kBool) {  // other bytes than 0 and 1 are no bool
    for (std::uint8_t& b : value.as_mutable<std::uint8_t>()) b = b != 0;
  }
  return value;
}

Result<tensor::Value> ReadNpy(Env& env, const std::string& path) {
  NPUKIT_ASSIGN_OR_RETURN(const std::shared_ptr<MappedFile> file, env.MapFile(path));
  return ParseNpy(file->bytes(), path);
}

Result<std::vector<std::byte>> FormatNpy(const tensor::Value& value) {
  const auto type = std::find_if(kTypes.begin(), kTypes.end(),
                                 [&](const NpyType& t) { return t.dtype == value.dtype(); });
  UnicodeArray unicode;
  if (value.is_tensor() && value.dtype() == tensor::DType::kString) {
    NPUKIT_ASSIGN_OR_RETURN(unicode, FormatUnicode(value));
  } else if (!value.is_tensor() || type == kTypes.end()) {
    return Unsupported(
        Cat("a value of type ", value.type().ToString(), " cannot be written as .npy"));
  }
  std::string shape;
  for (std::int64_t d : value.dims()) shape += Cat(d, ", ");
  if (value.dims().size() > 1)
    shape.resize(shape.size() - 2);  // a single one keeps its comma: (3,)
  if (value.dims().size() == 1) shape.pop_back();
  std::string header =
      Cat("{'descr': '", unicode.descr.empty() ? std::string(type->descr) : unicode.descr,
          "', 'fortran_order': False, 'shape': (", shape, "), }");
  const std::size_t fixed = kMagic.size() + 4;
  header.append((kAlignment - (fixed + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string head(kMagic);
  head += '\x01';
  head += '\x00';
  head += static_cast<char>(header.size() & 0xFF);
  head += static_cast<char>(header.size() >> 8);
  head += header;
  const std::span<const std::byte> data =
      unicode.descr.empty() ? value.bytes() : std::span<const std::byte>(unicode.bytes);
  std::vector<std::byte> bytes(head.size() + data.size());
  std::memcpy(bytes.data(), head.data(), head.size());
  if (!data.empty()) std::memcpy(bytes.data() + head.size(), data.data(), data.size());
  return bytes;
}

Status WriteNpy(Env& env, const std::string& path, const tensor::Value& value) {
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, FormatNpy(value));
  return WriteFile(env, path, bytes);
}

}  // namespace npukit::lab
