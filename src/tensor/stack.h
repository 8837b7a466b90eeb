// Rows put behind one another as they come: a loop's scanned outputs. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "tensor/value.h"

namespace npukit::tensor {

class Stack {
 public:
  // kInvalidArgument: no tensor, or of another type than the first row. kResourceExhausted above
  // kMaxValueBytes.
  Status Add(const Value& row);
  // All rows along a new first dimension. `row`: what is known of a row's type, for a stack of
  // none; sizes not known are 0 then. kUnsupported: none, and nothing says the element type.
  Result<Value> Finish(const Type& row) const;

 private:
  std::int64_t rows_ = 0;
  DType dtype_ = DType::kUndefined;
  Dims dims_;
  bool by_bytes_ = false;  // else kept as they are: strings, and elements of parts of bytes
  std::vector<std::byte> bytes_;
  std::vector<Value> values_;
};

}  // namespace npukit::tensor
