// Shapes. `Dims` are concrete sizes; `Shape` is what a type says and may hold named symbols
// ("batch") or unknown sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace npukit::tensor {

using Dims = std::vector<std::int64_t>;

// A number, a named symbol, or unknown (no number and no name). Equal symbols are equal sizes at
// run time.
struct Dim {
  std::int64_t value = -1;  // >= 0 when known
  std::string symbol;       // meaningful when value < 0
  static Dim Of(std::int64_t v) { return Dim{v, {}}; }
  static Dim Symbol(std::string s) { return Dim{-1, std::move(s)}; }
  bool known() const { return value >= 0; }
  bool operator==(const Dim&) const = default;
};

// A rank-known shape. An unknown rank is a Type whose `shape` is nullopt.
struct Shape {
  std::vector<Dim> dims;
  Shape() = default;
  explicit Shape(std::vector<Dim> d) : dims(std::move(d)) {}
  static Shape Of(const Dims& d);
  std::size_t rank() const { return dims.size(); }
  bool is_static() const;
  std::optional<Dims> Concrete() const;  // nullopt unless static
  std::string ToString() const;          // "[1, 3, H, ?]"
  bool operator==(const Shape&) const = default;
};

// Product, with 1 for a scalar; nullopt when it does not fit 63 bits or a size is negative.
std::optional<std::int64_t> ElementCount(const Dims& dims);
// Row-major strides in elements.
Dims DenseStrides(const Dims& dims);

}  // namespace npukit::tensor
