// What operators that pick or place elements by index share: which types name places, where a
// named place is, and what happens when several updates meet. Used by the files of this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ops/op_def.h"
#include "tensor/value.h"

namespace npukit::ops {

// Input `input` is int64 (or int32 where `or_int32`), of any shape.
Status WantIndices(const InferContext& c, std::size_t input, bool or_int32);
// Input `input` holds one integer: rank 0, or one element.
Status WantOneInteger(const InferContext& c, std::size_t input);
// Element i of `indices` as a place in a dimension of n; negative ones count from the end.
Result<std::int64_t> PlaceAt(const tensor::Value& indices, std::int64_t i, std::int64_t n);

enum class Reduction : std::uint8_t { kNone, kAdd, kMul, kMin, kMax };
// Attribute `reduction`; anything but "none" needs a number type or bool.
Result<Reduction> ReadReduction(const Attrs& attrs, tensor::DType t);

// Puts updates into a copy of the data. Floats are kept in double until Finish and rounded once;
// integers wrap; of bools add and max are "or", mul and min are "and". NaN wins min and max.
class Scatterer {
 public:
  // `y` holds the data.
  Scatterer(tensor::Value& y, Reduction reduction);
  void Put(std::int64_t i, const tensor::Value& updates, std::int64_t j);
  void Finish();

 private:
  tensor::Value& y_;
  Reduction reduction_;
  std::vector<double> sums_;  // floats that are reduced
};

}  // namespace npukit::ops
