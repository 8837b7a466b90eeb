#include "tensor/shape.h"

#include "base/text.h"

namespace npukit::tensor {

Shape Shape::Of(const Dims& d) {
  Shape s;
  s.dims.reserve(d.size());
  for (const std::int64_t v : d) s.dims.push_back(Dim::Of(v));
  return s;
}

bool Shape::is_static() const {
  for (const Dim& d : dims) {
    if (!d.known()) return false;
  }
  return true;
}

std::optional<Dims> Shape::Concrete() const {
  if (!is_static()) return std::nullopt;
  Dims out;
  out.reserve(dims.size());
  for (const Dim& d : dims) out.push_back(d.value);
  return out;
}

std::string Shape::ToString() const {
  constexpr std::size_t kEnough = 200;  // a message is a line, whatever the names and the rank
  std::string out = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ", ";
    if (out.size() > kEnough) return out + Cat("and ", dims.size() - i, " more]");
    if (dims[i].known()) {
      out += Cat(dims[i].value);
    } else {
      out += dims[i].symbol.empty() ? "?" : Printable(dims[i].symbol);
    }
  }
  return out + "]";
}

std::optional<std::int64_t> ElementCount(const Dims& dims) {
  // A zero anywhere makes the count zero, even beside sizes whose product overflows.
  bool zero = false;
  for (const std::int64_t d : dims) {
    if (d < 0) return std::nullopt;
    zero = zero || d == 0;
  }
  if (zero) return 0;
  std::int64_t count = 1;
  for (const std::int64_t d : dims) {
    if (__builtin_mul_overflow(count, d, &count)) return std::nullopt;
  }
  return count;
}

Dims DenseStrides(const Dims& dims) {
  Dims strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    // Wraps only where an empty tensor has huge sizes; nobody steps along those.
    stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) *
                                       static_cast<std::uint64_t>(dims[i]));
  }
  return strides;
}

}  // namespace npukit::tensor
