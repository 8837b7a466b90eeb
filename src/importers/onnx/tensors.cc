#include "importers/onnx/tensors.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/kept_bytes.h"
#include "base/text.h"
#include "ops/rules.h"

namespace npukit::importers::onnx {

using tensor::Dims;
using tensor::DType;
using tensor::Value;

namespace {

constexpr std::uint64_t kCopyBelow =
    4096;  // bytes; so that a handful of numbers does not keep a model in memory

constexpr std::uint64_t kMaxSparseBytes =
    std::uint64_t{128} << 20;  // all of a model: a few bytes of file may claim any shape

constexpr std::uint64_t kReadBelow =
    64;  // limits, scales and the like are read even from a model that is only looked at

constexpr DType kDTypes[] = {
    DType::kUndefined,  DType::kF32,  DType::kU8,       DType::kI8,         DType::kU16,
    DType::kI16,        DType::kI32,  DType::kI64,      DType::kString,     DType::kBool,
    DType::kF16,        DType::kF64,  DType::kU32,      DType::kU64,        DType::kComplex64,
    DType::kComplex128, DType::kBF16, DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2,
    DType::kF8E5M2FNUZ, DType::kU4,   DType::kI4,       DType::kF4E2M1,     DType::kF8E8M0,
    DType::kU2,         DType::kI2};

Result<Value> Copied(DType dtype, const Dims& dims, const void* data) {
  NPUKIT_ASSIGN_OR_RETURN(Value v, Value::Allocate(dtype, dims));
  if (v.byte_size() != 0) std::memcpy(v.mutable_data(), data, v.byte_size());
  if (dtype == DType::kBool) {  // ours is 0 or 1
    for (std::uint8_t& b : v.as_mutable<std::uint8_t>()) b = b != 0;
  }
  return v;
}

// Bytes that somebody else keeps. Copied when small, when the address does not suit the type, and
// for bool.
Result<Value> SharedBytes(DType dtype, const Dims& dims, std::shared_ptr<const void> owner,
                          const void* data, std::uint64_t bytes) {
  const auto align =
      static_cast<std::uintptr_t>(std::max(1, std::min(64, tensor::DTypeBits(dtype)) / 8));
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % align == 0;
  if (bytes >= kCopyBelow && aligned && dtype != DType::kBool)
    return Value::Shared(dtype, dims, std::move(owner), data);
  NPUKIT_ASSIGN_OR_RETURN(Value v, Copied(dtype, dims, data));
  if (bytes < kKeepInFileFrom) return v;
  DropPages({static_cast<const std::byte*>(data), bytes});
  const KeptBytes kept = KeepBytes(v.bytes(), std::make_shared<const Value>(v));
  DropPages(kept.bytes);
  return Value::Shared(dtype, dims, kept.owner, kept.bytes.data());
}

Status WrongSize(const char* field, std::uint64_t expected, std::uint64_t found, const char* unit) {
  return DataCorrupt(Cat("expected ", expected, " ", unit, " in ", field, ", found ", found));
}

// One element of the repeated field for each element of the tensor, converted to T.
template <class T, class Field>
Result<Value> FromField(DType dtype, const Dims& dims, const Field& field, const char* name) {
  NPUKIT_ASSIGN_OR_RETURN(Value v, Value::Allocate(dtype, dims));
  const auto expected = v.byte_size() / sizeof(T);
  if (static_cast<std::uint64_t>(field.size()) != expected) {
    return WrongSize(name, expected, static_cast<std::uint64_t>(field.size()), "numbers");
  }
  auto* out = static_cast<std::byte*>(v.mutable_data());
  for (int i = 0; i < field.size(); ++i) {
    const T x = static_cast<T>(field.Get(i));
    std::memcpy(out + static_cast<std::size_t>(i) * sizeof(T), &x, sizeof(T));
  }
  return v;
}

Result<Value> FromTypedFields(const pb::TensorProto& t, DType dtype, const Dims& dims,
                              std::int64_t count) {
  switch (dtype) {
    case DType::kF32:
    case DType::kComplex64:
      return FromField<float>(dtype, dims, t.float_data(), "float_data");
    case DType::kF64:
    case DType::kComplex128:
      return FromField<double>(dtype, dims, t.double_data(), "double_data");
    case DType::kI64:
      return FromField<std::int64_t>(dtype, dims, t.int64_data(), "int64_data");
    case DType::kU64:
      return FromField<std::uint64_t>(dtype, dims, t.uint64_data(), "uint64_data");
    case DType::kU32:
      return FromField<std::uint32_t>(dtype, dims, t.uint64_data(), "uint64_data");
    case DType::kI32:
      return FromField<std::int32_t>(dtype, dims, t.int32_data(), "int32_data");
    case DType::kI16:
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return FromField<std::uint16_t>(dtype, dims, t.int32_data(), "int32_data");
    case DType::kString: {
      if (t.string_data_size() != count) {
        return WrongSize("string_data", static_cast<std::uint64_t>(count),
                         static_cast<std::uint64_t>(t.string_data_size()), "strings");
      }
      return Value::Strings(dims, {t.string_data().begin(), t.string_data().end()});
    }
    case DType::kBool: {
      NPUKIT_ASSIGN_OR_RETURN(Value v,
                              FromField<std::uint8_t>(dtype, dims, t.int32_data(), "int32_data"));
      return Copied(dtype, dims, v.data());
    }
    default:
      return FromField<std::uint8_t>(dtype, dims, t.int32_data(),
                                     "int32_data");  // one number for each byte
  }
}

int TypedCount(const pb::TensorProto& t) {
  return t.float_data_size() + t.int32_data_size() + t.int64_data_size() + t.double_data_size() +
         t.uint64_data_size() + t.string_data_size();
}

}  // namespace

std::optional<DType> DTypeOf(std::int64_t onnx) {
  if (onnx < 1 || onnx >= static_cast<std::int64_t>(std::size(kDTypes))) return std::nullopt;
  const DType t = kDTypes[onnx];
  return t == DType::kUndefined ? std::nullopt : std::optional(t);
}

Result<Value> TensorReader::Read(const pb::TensorProto& t) {
  const auto dtype = DTypeOf(t.data_type());
  if (!dtype) return Unsupported(Cat("element type ", t.data_type(), " is not known"));
  if (t.has_segment()) return Unsupported("a tensor in segments");
  if (t.dims_size() > kMaxRank)
    return ResourceExhausted(Cat("rank ", t.dims_size(), ", the limit is ", kMaxRank));
  const Dims dims(t.dims().begin(), t.dims().end());
  for (const std::int64_t d : dims) {
    if (d < 0) return DataCorrupt(Cat("a size is ", d));
  }
  const auto count = tensor::ElementCount(dims);
  const bool string = *dtype == DType::kString;
  const auto bytes = count && !string
                         ? tensor::StorageBytes(*dtype, static_cast<std::uint64_t>(*count))
                         : std::nullopt;
  if (!count || (!string && !bytes))
    return DataCorrupt(Cat("[", JoinInts(dims, ", "), "] is too large"));
  if (t.data_location() == pb::TensorProto::EXTERNAL) {
    if (string) return DataCorrupt("strings cannot be external data");
    if (t.has_raw_data() || TypedCount(t) != 0)
      return DataCorrupt("both external data and data in the model");
    return ReadExternal(t, *dtype, dims);
  }
  if (t.has_raw_data()) {
    if (string) return DataCorrupt("strings cannot be raw data");
    if (TypedCount(t) != 0) return DataCorrupt("both raw_data and typed data");
    if (t.raw_data().size() != *bytes)
      return WrongSize("raw_data", *bytes, t.raw_data().size(), "bytes");
    return SharedBytes(*dtype, dims, model_, t.raw_data().data(), *bytes);
  }
  // Checked before anything is allocated: a few bytes of file may claim any shape.
  const std::uint64_t least = string ? static_cast<std::uint64_t>(*count) : *bytes / 16;
  if (least > static_cast<std::uint64_t>(TypedCount(t))) {
    return DataCorrupt(Cat("[", JoinInts(dims, ", "), "] needs ", *count,
                           " elements, found data for ", TypedCount(t)));
  }
  return FromTypedFields(t, *dtype, dims, *count);
}

Result<Value> TensorReader::ReadSparse(const pb::SparseTensorProto& t) {
  NPUKIT_ASSIGN_OR_RETURN(const Value values, Read(t.values()));
  NPUKIT_ASSIGN_OR_RETURN(const Value indices, Read(t.indices()));
  const Dims dims(t.dims().begin(), t.dims().end());
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (rank > kMaxRank) return ResourceExhausted(Cat("rank ", rank, ", the limit is ", kMaxRank));
  const auto count = tensor::ElementCount(dims);  // no negative size either
  const auto bytes = count
                         ? tensor::StorageBytes(values.dtype(), static_cast<std::uint64_t>(*count))
                         : std::nullopt;
  if (!bytes || *bytes > kMaxSparseBytes - std::min(sparse_bytes_, kMaxSparseBytes)) {
    return ResourceExhausted(Cat("sparse tensors that make more than ", kMaxSparseBytes >> 20,
                                 " MiB: store them as dense tensors"));
  }
  sparse_bytes_ += *bytes;
  const std::int64_t n = values.count();
  const bool linear = indices.dims().size() == 1;
  const Dims expected = linear ? Dims{n} : Dims{n, rank};
  if (indices.dtype() != DType::kI64 || values.dims().size() != 1 || indices.dims() != expected ||
      values.dtype() == DType::kString) {
    return DataCorrupt(Cat("a sparse tensor of ", values.type().ToString(), " at ",
                           indices.type().ToString(), ": expected a list of numbers, and int64[", n,
                           "] or int64[", n, ", ", rank, "]"));
  }
  NPUKIT_ASSIGN_OR_RETURN(Value dense, Value::Allocate(values.dtype(), dims));
  if (dense.byte_size() > 0) std::memset(dense.mutable_data(), 0, dense.byte_size());
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t at = linear ? tensor::ElementAsInt64(indices, i) : 0;
    bool inside = at >= 0 && at < *count;
    for (std::int64_t d = 0; !linear && d < rank; ++d) {
      const std::int64_t size = dims[static_cast<std::size_t>(d)];
      const std::int64_t k = tensor::ElementAsInt64(indices, i * rank + d);
      inside = inside && k >= 0 && k < size;
      at = inside ? at * size + k : 0;
    }
    if (!inside) return DataCorrupt(Cat("the place of sparse value ", i, " is outside its tensor"));
    ops::CopyElement(dense, at, values, i);
  }
  return dense;
}

Result<std::shared_ptr<MappedFile>> TensorReader::OpenExternal(const std::string& location) {
  if (const auto at = files_.find(location); at != files_.end()) return at->second;
  namespace fs = std::filesystem;
  const std::string shown = Cat("external data file ", Printable(location));
  const fs::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos)
    return InvalidArgument("external data without a file name");
  if (relative.is_absolute())
    return InvalidArgument(Cat(shown, " must be beside the model, not an absolute path"));
  for (const fs::path& part : relative) {
    if (part == "..") return InvalidArgument(Cat(shown, " leaves the model's folder"));
  }
  std::error_code error;
  const fs::path folder = fs::canonical(folder_.empty() ? "." : folder_, error);
  if (error)
    return IoError(
        Cat("cannot read the model's folder ", Printable(folder_), ": ", error.message()));
  const fs::path full = fs::canonical(folder / relative, error);
  if (error) {
    return NotFound(Cat(shown, " is missing in ", Printable(folder.string(), 300),
                        ": copy it beside the model"));
  }
  const fs::path inside = full.lexically_relative(folder);
  if (inside.empty() || *inside.begin() == "..")
    return InvalidArgument(Cat(shown, " leaves the model's folder by a link"));
  if (!fs::is_regular_file(full, error)) return InvalidArgument(Cat(shown, " is no regular file"));
  NPUKIT_ASSIGN_OR_RETURN(auto file, env_.MapFile(full.string()));
  files_.emplace(location, file);
  return file;
}

Result<Value> TensorReader::ReadExternal(const pb::TensorProto& t, DType dtype, const Dims& dims) {
  const std::uint64_t bytes =
      *tensor::StorageBytes(dtype, static_cast<std::uint64_t>(*tensor::ElementCount(dims)));
  std::string location;
  std::int64_t offset = 0;
  std::int64_t length = -1;
  for (const auto& entry : t.external_data()) {
    const bool number = entry.key() == "offset" || entry.key() == "length";
    if (entry.key() == "location") location = entry.value();
    if (!number) continue;  // location, checksum
    std::int64_t n = 0;
    if (!ParseInt64(entry.value(), &n) || n < 0) {
      return DataCorrupt(Cat("external data: ", entry.key(), " is ", Printable(entry.value()),
                             ", expected a number"));
    }
    (entry.key() == "offset" ? offset : length) = n;
  }
  if (length >= 0 && static_cast<std::uint64_t>(length) != bytes) {
    return WrongSize("external data", bytes, static_cast<std::uint64_t>(length), "bytes");
  }
  NPUKIT_ASSIGN_OR_RETURN(const auto file, OpenExternal(location));
  const std::uint64_t size = file->bytes().size();
  const auto start = static_cast<std::uint64_t>(offset);
  if (start > size || bytes > size - start) {
    return DataCorrupt(Cat("external data file ", Printable(location), " has ", size,
                           " bytes, expected ", bytes, " from ", start, ": the file is cut short"));
  }
  const std::byte* data = file->bytes().data() + start;
  const bool may_be_a_shape =
      (tensor::IsInteger(dtype) || dtype == DType::kBool) && bytes < kCopyBelow;
  if (structure_only_ && !may_be_a_shape && bytes >= kReadBelow)
    return Value::Shared(dtype, dims, file, data);
  return SharedBytes(dtype, dims, file, data, bytes);
}

Result<tensor::Type> ReadType(const pb::TypeProto& t, int max_nesting) {
  if (max_nesting <= 0) return ResourceExhausted("a type is nested too deeply");
  if (t.has_sequence_type()) {
    NPUKIT_ASSIGN_OR_RETURN(auto element, ReadType(t.sequence_type().elem_type(), max_nesting - 1));
    return tensor::Type::Sequence(std::move(element));
  }
  if (t.has_optional_type()) {
    NPUKIT_ASSIGN_OR_RETURN(auto element, ReadType(t.optional_type().elem_type(), max_nesting - 1));
    return tensor::Type::Optional(std::move(element));
  }
  if (t.has_tensor_type()) {
    const auto& tt = t.tensor_type();
    const auto dtype = tt.elem_type() == 0 ? DType::kUndefined : DTypeOf(tt.elem_type());
    if (!dtype) return Unsupported(Cat("element type ", tt.elem_type(), " is not known"));
    if (!tt.has_shape()) return tensor::Type::Tensor(*dtype, std::nullopt);
    if (tt.shape().dim_size() > kMaxRank) {
      return ResourceExhausted(Cat("rank ", tt.shape().dim_size(), ", the limit is ", kMaxRank));
    }
    tensor::Shape shape;
    for (const auto& d : tt.shape().dim()) {
      // A negative size means "not known" in files of some exporters.
      if (d.has_dim_value() && d.dim_value() >= 0) {
        shape.dims.push_back(tensor::Dim::Of(d.dim_value()));
      } else {
        shape.dims.push_back(tensor::Dim::Symbol(d.has_dim_param() ? d.dim_param() : ""));
      }
    }
    return tensor::Type::Tensor(*dtype, std::move(shape));
  }
  if (t.value_case() == pb::TypeProto::VALUE_NOT_SET) return tensor::Type{};
  return Unsupported("maps, sparse tensors and opaque types are not supported");
}

}  // namespace npukit::importers::onnx
