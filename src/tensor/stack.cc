#include "tensor/stack.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace npukit::tensor {

Status Stack::Add(const Value& row) {
  if (!row.is_tensor())
    return InvalidArgument(Cat("is ", row.type().ToString(), ", expected a tensor"));
  if (rows_ == 0) {
    dtype_ = row.dtype();
    dims_ = row.dims();
    by_bytes_ = dtype_ != DType::kString && DTypeBits(dtype_) % 8 == 0;
  } else if (row.dtype() != dtype_ || row.dims() != dims_) {
    return InvalidArgument(Cat("is ", row.type().ToString(), ", expected ",
                               Type::Tensor(dtype_, dims_).ToString(),
                               " as in the first iteration"));
  }
  ++rows_;
  if (!by_bytes_) {
    values_.push_back(row);
    return OkStatus();
  }
  if (row.byte_size() > kMaxValueBytes - bytes_.size()) {
    return ResourceExhausted(
        Cat("takes more than the ", kMaxValueBytes >> 30, " GiB allowed for one value"));
  }
  const auto b = row.bytes();
  bytes_.insert(bytes_.end(), b.begin(), b.end());
  return OkStatus();
}

Result<Value> Stack::Finish(const Type& row) const {
  Dims dims = {rows_};
  if (rows_ == 0) {
    if (row.dtype == DType::kUndefined)
      return Unsupported("has no row, and nothing says its element type");
    for (std::size_t i = 0; row.shape && i < row.shape->rank(); ++i)
      dims.push_back(std::max<std::int64_t>(row.shape->dims[i].value, 0));
    return Value::Allocate(row.dtype, std::move(dims));
  }
  dims.insert(dims.end(), dims_.begin(), dims_.end());
  if (dtype_ == DType::kString) {
    std::vector<std::string> all;
    for (const Value& v : values_) all.insert(all.end(), v.strings().begin(), v.strings().end());
    return Value::Strings(std::move(dims), std::move(all));
  }
  NPUKIT_ASSIGN_OR_RETURN(Value out, Value::Allocate(dtype_, std::move(dims)));
  if (by_bytes_) {
    if (!bytes_.empty()) std::memcpy(out.mutable_data(), bytes_.data(), bytes_.size());
    return out;
  }
  std::int64_t at = 0;
  for (const Value& v : values_) {
    for (std::int64_t i = 0; i < v.count(); ++i) StoreDouble(out, at++, ElementAsDouble(v, i));
  }
  return out;
}

}  // namespace npukit::tensor
