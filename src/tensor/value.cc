#include "tensor/value.h"

#include <new>

#include "base/text.h"

namespace npukit::tensor {
namespace {

constexpr std::align_val_t kAlignment{64};  // a cache line, and the widest vector

std::int64_t CheckedCount(const Dims& dims) {
  const std::optional<std::int64_t> count = ElementCount(dims);
  NPUKIT_CHECK(count.has_value());
  return *count;
}

template <class T>
const std::vector<T>& Empty() {
  static const std::vector<T>& empty =
      *new std::vector<T>;  // leaked on purpose: no destructor at exit
  return empty;
}

}  // namespace

Result<Value> Value::Allocate(DType t, Dims dims) {
  const std::optional<std::int64_t> count = ElementCount(dims);
  const std::uint64_t n = count ? static_cast<std::uint64_t>(*count) : 0;
  const std::optional<std::uint64_t> bytes = !count                ? std::nullopt
                                             : t == DType::kString ? StorageBytes(DType::kU8, n)
                                                                   : StorageBytes(t, n);
  const std::uint64_t limit =
      t == DType::kString ? kMaxValueBytes / sizeof(std::string) : kMaxValueBytes;
  if (count && !bytes) return Internal("a value of undefined type was asked for");
  if (!count || *bytes > limit) {
    return ResourceExhausted(Cat("a value ", Type::Tensor(t, dims).ToString(),
                                 " is larger than the ", kMaxValueBytes >> 30,
                                 " GiB allowed for one value"));
  }
  const auto no_memory = [&] {
    return Status(
        Code::kOutOfMemory,
        Cat("no memory for a value ", Type::Tensor(t, dims).ToString(), " (", *bytes, " bytes)"));
  };
  Value v;
  v.kind_ = Kind::kTensor;
  v.dtype_ = t;
  v.count_ = *count;
  if (t == DType::kString) {
    // vector cannot report that there is no memory: ask first.
    void* probe = ::operator new(n * sizeof(std::string), std::nothrow);
    if (probe == nullptr) return no_memory();
    ::operator delete(probe);
    v.strings_ = std::make_shared<std::vector<std::string>>(n);
  } else {
    // Empty values have an address too, so that kernels need no special case.
    void* p = ::operator new(*bytes == 0 ? 1 : *bytes, kAlignment, std::nothrow);
    if (p == nullptr) return no_memory();
    v.storage_ = std::shared_ptr<const void>(
        p, [](const void* q) { ::operator delete(const_cast<void*>(q), kAlignment); });
    v.data_ = p;
    v.byte_size_ = *bytes;
  }
  v.dims_ = std::move(dims);
  return v;
}

Value Value::Shared(DType t, Dims dims, std::shared_ptr<const void> owner, const void* data) {
  Value v;
  v.kind_ = Kind::kTensor;
  v.dtype_ = t;
  v.count_ = CheckedCount(dims);
  const std::optional<std::uint64_t> bytes = StorageBytes(t, static_cast<std::uint64_t>(v.count_));
  NPUKIT_CHECK(bytes.has_value());
  v.byte_size_ = *bytes;
  v.dims_ = std::move(dims);
  v.storage_ = std::move(owner);
  v.data_ = data;
  return v;
}

Value Value::Borrow(DType t, Dims dims, const void* data) {
  return Shared(t, std::move(dims), nullptr, data);
}
Value Value::BorrowMutable(DType t, Dims dims, void* data) {
  return Shared(t, std::move(dims), nullptr, data);
}

Value Value::Scalar(float v) { return FromVector(DType::kF32, {}, std::vector<float>{v}); }
Value Value::ScalarI64(std::int64_t v) {
  return FromVector(DType::kI64, {}, std::vector<std::int64_t>{v});
}

Value Value::Strings(Dims dims, std::vector<std::string> s) {
  Value v;
  v.kind_ = Kind::kTensor;
  v.dtype_ = DType::kString;
  v.count_ = CheckedCount(dims);
  NPUKIT_CHECK(static_cast<std::uint64_t>(v.count_) == s.size());
  v.dims_ = std::move(dims);
  v.strings_ = std::make_shared<std::vector<std::string>>(std::move(s));
  return v;
}

Value Value::Sequence(Type element, std::vector<Value> items) {
  Value v;
  v.kind_ = Kind::kSequence;
  v.element_ = std::make_shared<const Type>(std::move(element));
  v.items_ = std::make_shared<std::vector<Value>>(std::move(items));
  return v;
}

Value Value::Optional(Type element, std::shared_ptr<Value> item) {
  Value v;
  v.kind_ = Kind::kOptional;
  v.element_ = std::make_shared<const Type>(std::move(element));
  v.items_ = std::make_shared<std::vector<Value>>();
  if (item) v.items_->push_back(std::move(*item));
  return v;
}

const std::vector<std::string>& Value::strings() const {
  return strings_ ? *strings_ : Empty<std::string>();
}

std::vector<std::string>& Value::mutable_strings() {
  NPUKIT_CHECK(strings_ != nullptr);
  return *strings_;
}

const std::vector<Value>& Value::items() const { return is_sequence() ? *items_ : Empty<Value>(); }

const Value* Value::optional_item() const {
  return is_optional() && !items_->empty() ? items_->data() : nullptr;
}

Type Value::type() const {
  switch (kind_) {
    case Kind::kSequence:
      return Type::Sequence(*element_);
    case Kind::kOptional:
      return Type::Optional(*element_);
    case Kind::kTensor:
      return Type::Tensor(dtype_, dims_);
    case Kind::kAbsent:
      break;
  }
  return Type{};
}

Result<Value> Value::Clone() const {
  switch (kind_) {
    case Kind::kAbsent:
      return Value();
    case Kind::kTensor: {
      NPUKIT_ASSIGN_OR_RETURN(Value v, Allocate(dtype_, dims_));
      if (strings_) *v.strings_ = *strings_;
      if (byte_size_ > 0) __builtin_memcpy(v.mutable_data(), data_, byte_size_);
      return v;
    }
    case Kind::kSequence:
    case Kind::kOptional: {
      Value v = *this;
      v.items_ = std::make_shared<std::vector<Value>>();
      v.items_->reserve(items_->size());
      for (const Value& item : *items_) {
        NPUKIT_ASSIGN_OR_RETURN(Value copy, item.Clone());
        v.items_->push_back(std::move(copy));
      }
      return v;
    }
  }
  return Internal("a value of unknown kind");
}

Value Value::Reshaped(Dims dims) const {
  NPUKIT_CHECK(is_tensor() && CheckedCount(dims) == count_);
  Value v = *this;
  v.dims_ = std::move(dims);
  return v;
}

}  // namespace npukit::tensor
