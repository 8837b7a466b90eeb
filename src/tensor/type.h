// What a value is: tensor(dtype, shape), sequence(type) or optional(type), as in ONNX.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace npukit::tensor {

struct Type {
  enum class Kind : std::uint8_t { kTensor, kSequence, kOptional };
  Kind kind = Kind::kTensor;
  DType dtype = DType::kUndefined;      // kTensor
  std::optional<Shape> shape;           // kTensor; nullopt: rank not known
  std::shared_ptr<const Type> element;  // kSequence, kOptional

  static Type Tensor(DType t, Dims dims);
  static Type Tensor(DType t, std::optional<Shape> shape);
  static Type Sequence(Type element);
  static Type Optional(Type element);

  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_static() const { return is_tensor() && shape && shape->is_static(); }
  // Concrete dims of a static tensor; calling it on anything else is our bug.
  Dims dims() const;
  std::optional<std::uint64_t> bytes() const;  // of a static, non-string tensor
  std::string ToString()
      const;  // "fp32[1, 3, 48, W]", "seq(int64[?])"; rank not known: "fp32[...]"
  bool operator==(const Type& o) const;
};

}  // namespace npukit::tensor
