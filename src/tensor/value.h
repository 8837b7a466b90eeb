// A value: what flows along an edge of a graph. Copying a Value shares its bytes (they are
// immutable once shared); use Clone for bytes of one's own. Tensors are dense, row-major, in the
// machine's (little-endian) byte order.
//
// Ownership: `storage` keeps the bytes alive; it is null for borrowed memory (a mapped file, a
// user's buffer, an arena), whose owner must outlive the Value. Threads: reading is safe; writing
// needs the only reference.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/type.h"

namespace npukit::tensor {

// More than one value may take. Sizes come from files: a wrong one must not make the system swap
// for minutes.
inline constexpr std::uint64_t kMaxValueBytes = std::uint64_t{16} << 30;

class Value {
 public:
  Value() = default;  // "absent": an optional input that was not given

  // Uninitialised (strings: empty strings), 64-byte aligned. kResourceExhausted above
  // kMaxValueBytes, kOutOfMemory when the system refuses.
  static Result<Value> Allocate(DType t, Dims dims);
  static Value Borrow(DType t, Dims dims, const void* data);  // read-only use
  static Value BorrowMutable(DType t, Dims dims, void* data);
  static Value Shared(DType t, Dims dims, std::shared_ptr<const void> owner, const void* data);
  template <class T>
  static Value FromVector(DType t, Dims dims,
                          const std::vector<T>& v);  // copies; sizes must agree (our bug otherwise)
  static Value Scalar(float v);
  static Value ScalarI64(std::int64_t v);
  static Value Strings(Dims dims, std::vector<std::string> s);
  static Value Sequence(Type element, std::vector<Value> items);
  static Value Optional(Type element, std::shared_ptr<Value> item);  // null item: empty

  bool present() const { return kind_ != Kind::kAbsent; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }
  bool is_sequence() const { return kind_ == Kind::kSequence; }
  bool is_optional() const { return kind_ == Kind::kOptional; }

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  std::int64_t count() const { return count_; }
  std::uint64_t byte_size() const { return byte_size_; }  // 0 for strings
  const void* data() const { return data_; }
  void* mutable_data() { return const_cast<void*>(data_); }
  template <class T>
  std::span<const T> as() const {
    return {static_cast<const T*>(data_), static_cast<std::size_t>(count_)};
  }
  template <class T>
  std::span<T> as_mutable() {
    return {static_cast<T*>(mutable_data()), static_cast<std::size_t>(count_)};
  }
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(data_), static_cast<std::size_t>(byte_size_)};
  }
  const std::vector<std::string>& strings() const;
  std::vector<std::string>& mutable_strings();
  const std::vector<Value>& items() const;  // of a sequence
  const Value* optional_item() const;       // null when empty

  Type type() const;
  Result<Value> Clone() const;
  Value Reshaped(Dims dims) const;  // same bytes, same count (our bug otherwise)

 private:
  enum class Kind : std::uint8_t { kAbsent, kTensor, kSequence, kOptional };
  Kind kind_ = Kind::kAbsent;
  DType dtype_ = DType::kUndefined;
  Dims dims_;
  std::int64_t count_ = 0;
  std::uint64_t byte_size_ = 0;
  const void* data_ = nullptr;
  std::shared_ptr<const void> storage_;
  std::shared_ptr<std::vector<std::string>> strings_;
  std::shared_ptr<std::vector<Value>> items_;
  std::shared_ptr<const Type> element_;
};

template <class T>
Value Value::FromVector(DType t, Dims dims, const std::vector<T>& v) {
  auto r = Allocate(t, std::move(dims));
  NPUKIT_CHECK(r.ok() && r->byte_size() == v.size() * sizeof(T));
  if (!v.empty()) __builtin_memcpy(r->mutable_data(), v.data(), v.size() * sizeof(T));
  return std::move(r).value();
}

// Element i of a numeric or bool tensor as double or int64, whatever the dtype (fp16, bf16, int4,
// ... included). Slow and exact where the target type can hold it; for references, comparison and
// shape arithmetic. As int64, floats are cut towards zero, what is out of range saturates and NaN
// is 0. Of a complex number: its real part.
double ElementAsDouble(const Value& v, std::int64_t i);
std::int64_t ElementAsInt64(const Value& v, std::int64_t i);
// Rounds to nearest even. Integers saturate and take NaN as 0; floats overflow to infinity, or to
// NaN where the type has no infinity, or to the largest number where it has neither (fp4, fp8e8m0).
void StoreDouble(Value& v, std::int64_t i, double x);
std::vector<std::int64_t> ToInt64s(const Value& v);

}  // namespace npukit::tensor
