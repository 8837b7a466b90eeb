#include "tensor/type.h"

#include "base/check.h"
#include "base/text.h"

namespace npukit::tensor {

Type Type::Tensor(DType t, Dims dims) { return Tensor(t, Shape::Of(dims)); }

Type Type::Tensor(DType t, std::optional<Shape> shape) {
  Type out;
  out.dtype = t;
  out.shape = std::move(shape);
  return out;
}

Type Type::Sequence(Type element) {
  Type out;
  out.kind = Kind::kSequence;
  out.element = std::make_shared<const Type>(std::move(element));
  return out;
}

Type Type::Optional(Type element) {
  Type out;
  out.kind = Kind::kOptional;
  out.element = std::make_shared<const Type>(std::move(element));
  return out;
}

Dims Type::dims() const {
  NPUKIT_CHECK(is_static());
  return *shape->Concrete();
}

std::optional<std::uint64_t> Type::bytes() const {
  if (!is_static()) return std::nullopt;
  const std::optional<std::int64_t> count = ElementCount(dims());
  if (!count) return std::nullopt;
  return StorageBytes(dtype, static_cast<std::uint64_t>(*count));
}

std::string Type::ToString() const {
  if (is_tensor()) return Cat(DTypeName(dtype), shape ? shape->ToString() : "[...]");
  return Cat(kind == Kind::kSequence ? "seq(" : "optional(", element ? element->ToString() : "?",
             ")");
}

bool Type::operator==(const Type& o) const {
  if (kind != o.kind) return false;
  if (is_tensor()) return dtype == o.dtype && shape == o.shape;
  if (element == nullptr || o.element == nullptr) return element == o.element;
  return *element == *o.element;
}

}  // namespace npukit::tensor
