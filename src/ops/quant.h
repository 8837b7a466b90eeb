// What the quantised operators share: which scale belongs to which element, rounding to a type, and
// products of integers. Rounding is to nearest even and results saturate, as ONNX says; a product
// of 8-bit numbers is exact and its sum wraps in 32 bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "ops/rules.h"

namespace npukit::ops {

// The parameter (scale, zero point) of each element of x: one for all, one for each index along an
// axis, or one for each block of an axis.
struct Granularity {
  std::int64_t inner = 1;   // elements between two indices of the axis
  std::int64_t length = 1;  // of the axis
  std::int64_t block = 0;   // 0: one parameter for all
  std::int64_t blocks = 1;  // along the axis
  bool per_axis = false;    // one parameter for each index, none for the other dimensions
  std::int64_t At(std::int64_t element) const {
    if (block == 0) return 0;
    const std::int64_t index = element / inner % length;
    if (per_axis) return index;
    return (element / (inner * length) * blocks + index / block) * inner + element % inner;
  }
};
// From the attributes `axis` and `block_size`. Checks the scale's shape against x.
Result<Granularity> GranularityOf(const Attrs& attrs, const tensor::Dims& x,
                                  const tensor::Dims& scale);
// Input 1 is a scale for input 0, input 2 (when given) a zero point for the scale.
Status CheckQuantShapes(const InferContext& c);

// Types that hold quantised numbers: integers of 2 to 16 bits, fp8, fp4.
bool IsQuantized(tensor::DType t);
Status WantDType(const InferContext& c, std::size_t input, bool (*accepts)(tensor::DType),
                 const char* expected);
Status WantInt8(const InferContext& c, std::size_t input);  // int8 or uint8
Status WantOneNumber(const InferContext& c, std::size_t input);
// Attribute `name` as a DType; undefined when absent. kInvalidArgument: not one that `accepts`.
Result<tensor::DType> DTypeAttr(const Attrs& attrs, std::string_view name,
                                bool (*accepts)(tensor::DType), const char* expected);

// The nearest number that `t` (fp16, bf16, fp32; else fp64) holds.
double RoundTo(tensor::DType t, double x);
// Element i of y: the quotient of x and its scale, already rounded to the precision asked for, plus
// the zero point. `saturate`: 8-bit floats take their largest number for what is larger.
void StoreQuantized(tensor::Value& y, std::int64_t i, double quotient, double zero, bool saturate);
// An accumulator times a multiplier in fp32, rounded, plus the zero point, saturated.
inline void StoreRequantized(tensor::Value& y, std::int64_t i, std::int32_t sum, float multiplier,
                             double zero) {
  StoreQuantized(y, i, static_cast<float>(sum) * multiplier, zero, true);
}

// One scale of the product of two: computed in the scales' own type, as onnxruntime does.
inline double ScaleOfProduct(tensor::DType t, double a, double b, double y) {
  return RoundTo(t, RoundTo(t, a * b) / y);
}

// --- Products

// The shape of a matrix product of inputs `a` and `b` into result 0, with the given type.
Status InferMatMul(InferContext& c, std::size_t a, std::size_t b, tensor::DType out);
// An optional parameter of a matrix: one number, a list with one for each row (column), or of the
// matrix' rank with a dimension of 1 in place of the columns (rows).
Status CheckMatMulParam(const InferContext& c, std::size_t input, std::size_t matrix, bool rows);

// One product of the batch after the other.
struct MatMulWalk {
  std::int64_t m = 1, k = 1, n = 1;
  tensor::Dims batch;    // of the result
  tensor::Dims batch_a;  // of a and b, in matrices
  tensor::Dims batch_b;
};
MatMulWalk WalkOf(const tensor::Dims& a, const tensor::Dims& b, const tensor::Dims& y);
// Strides through a parameter as CheckMatMulParam allows it: along the batch, then along rows or
// columns.
tensor::Dims ParamStrides(const tensor::Value& p, const MatMulWalk& w, bool rows);

// c[m, n] = a[m, k] b[k, n], wrapping.
void MultiplyIntegers(const std::int32_t* a, const std::int32_t* b, std::int32_t* c, std::int64_t m,
                      std::int64_t k, std::int64_t n);
// `count` elements of an 8-bit tensor from `first` on, as 32 bits.
void Widen(const tensor::Value& v, std::int64_t first, std::int64_t count, std::int32_t* out);

}  // namespace npukit::ops
