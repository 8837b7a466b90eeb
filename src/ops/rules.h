// What definitions share: shape rules, broadcasting, element access, the elementwise loops. Used by
// the files of this folder; devices may use the shape arithmetic too, so that it is said once. All
// functions are pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ops/op_def.h"
#include "tensor/type.h"
#include "tensor/value.h"

namespace npukit::ops {

// --- Types
// -----------------------------------------------------------------------------------------------------------
// A type may be unknown (dtype undefined) or of unknown rank anywhere: rules refuse only what is
// certainly wrong.

bool IsRealFloat(
    tensor::DType t);  // fp16, bf16, fp32, fp64: the floating types that operators compute with
bool IsNumber(tensor::DType t);  // IsRealFloat, or an integer of 8 bits or more

Status WantFloat(const InferContext& c, std::size_t input);
Status WantNumber(const InferContext& c, std::size_t input);
Status WantBool(const InferContext& c, std::size_t input);
Status WantSameDType(const InferContext& c, std::size_t a, std::size_t b);
// int64 (or int32 where `or_int32`) list: rank 1 when the rank is known.
Status WantIndexList(const InferContext& c, std::size_t input, bool or_int32);
// kResourceExhausted when the product of all sizes that are not 0, in bytes, does not fit 63 bits:
// what can never be held is refused before anybody multiplies its sizes. So is a size over 2^24
// beside one of 0, and 2^31 places for rows of nothing.
Status CheckAddressable(const tensor::Type& t);
bool Has(const InferContext& c,
         std::size_t input);  // given (or of unknown type): index below inputs.size()

// `axis` counted from the back when negative. The message names the axis and the rank.
Result<std::size_t> NormalAxis(std::int64_t axis, std::size_t rank);
// One flag per dimension; a repeated axis is an error.
Result<std::vector<bool>> AxisMask(const Ints& axes, std::size_t rank);
// Both are the same dimension: the known one wins, two different numbers are an error.
Result<tensor::Dim> SameDim(const tensor::Dim& a, const tensor::Dim& b);
// numpy broadcasting; nullopt when a rank is not known.
Result<std::optional<tensor::Shape>> BroadcastShapes(const std::optional<tensor::Shape>& a,
                                                     const std::optional<tensor::Shape>& b);

Status InferSameAny(InferContext& c);     // result 0 has the type of input 0
Status InferSameNumber(InferContext& c);  // ... which is a number
Status InferSameFloat(InferContext& c);   // ... which is a floating type
Status InferBroadcast(InferContext& c);   // two numbers of one dtype, shapes broadcast
Status InferLogical(InferContext& c);     // ... two bools
Status InferCompare(InferContext& c);     // two numbers of one dtype make a bool, shapes broadcast
Status InferEqual(InferContext& c);       // ... or two bools

// --- Cost
// ------------------------------------------------------------------------------------------------------------
double CountOf(const tensor::Type& t);  // elements of a static tensor, else 0
double BytesOf(const tensor::Type& t);  // bytes of a static tensor, else 0
double AllBytes(const CostContext& c);
OpCost CostPerElement(const CostContext& c);  // one vector operation for each element of the result
OpCost CostPerElement10(const CostContext& c);  // about ten: exp and the like
OpCost CostMove(const CostContext& c);          // bytes only
OpCost CostShape(const CostContext& c);         // nothing worth counting

// --- Elements
// --------------------------------------------------------------------------------------------------------
inline double Load(const tensor::Value& v, std::int64_t i) {
  if (v.dtype() != tensor::DType::kF32) return tensor::ElementAsDouble(v, i);
  float x;
  __builtin_memcpy(&x, static_cast<const char*>(v.data()) + i * 4,
                   4);  // a mapped file need not be aligned
  return x;
}
inline void Store(tensor::Value& v, std::int64_t i, double x) {
  if (v.dtype() != tensor::DType::kF32) return tensor::StoreDouble(v, i, x);
  const auto f = static_cast<float>(x);
  __builtin_memcpy(static_cast<char*>(v.mutable_data()) + i * 4, &f, 4);
}
// Integers and bool as 64 bits, sign-extended where the type is signed; storing keeps the low bits
// (wraps).
std::uint64_t LoadBits(const tensor::Value& v, std::int64_t i);
void StoreBits(tensor::Value& v, std::int64_t i, std::uint64_t bits);
// dst[i] = src[j], any dtype, both the same.
void CopyElement(tensor::Value& dst, std::int64_t i, const tensor::Value& src, std::int64_t j);
// All elements in order; counts and dtypes are equal.
void CopyAll(tensor::Value& dst, const tensor::Value& src);

// What inference is told about values at hand: their types, and all of them as constants.
struct KnownInputs {
  explicit KnownInputs(std::span<const tensor::Value> inputs);
  std::vector<tensor::Type> types;
  std::vector<const tensor::Value*> constants;  // null for absent ones
};
// Infers the result from the inputs at hand and asks the context for its memory. Afterwards the
// shapes are known to fit, so a reference that starts with this may index without checking.
Result<tensor::Value> MakeOutput(EvalContext& c, InferFn infer);

// Calls f(i, at) for every index of `dims` in row-major order: i counts up, at[k] is the offset
// that strides[k] give.
using IndexFn = void (*)(void* ctx, std::int64_t i, const std::int64_t* at);
void WalkIndices(const tensor::Dims& dims, std::span<const tensor::Dims> strides, IndexFn f,
                 void* ctx);
template <std::size_t N, class F>
void ForEachIndex(const tensor::Dims& dims, const std::array<tensor::Dims, N>& strides, F f) {
  WalkIndices(
      dims, strides,
      [](void* ctx, std::int64_t i, const std::int64_t* at) { (*static_cast<F*>(ctx))(i, at); },
      &f);
}
// Strides that walk `from` as if it had the shape `to`, which it broadcasts to.
tensor::Dims BroadcastStrides(const tensor::Dims& from, const tensor::Dims& to);

// --- Elementwise references
// ------------------------------------------------------------------------------------------ Every
// element through `f` in double, rounded once.
using UnaryFn = double (*)(double x, const Attrs& attrs);
Status EvaluateUnary(EvalContext& c, InferFn infer, UnaryFn f);
// The same for any number type: integers in 64 bits, wrapped to the type.
using UnaryIntFn = std::uint64_t (*)(std::uint64_t x, bool is_signed);
Status EvaluateUnaryNumber(EvalContext& c, UnaryFn f, UnaryIntFn integers);
// Floats in double, rounded once; integers in 64 bits, wrapped to the type. `integers` returns
// false where there is no answer (division by zero).
using BinaryFn = double (*)(double a, double b);
using BinaryIntFn = bool (*)(std::uint64_t a, std::uint64_t b, bool is_signed, std::uint64_t* y);
Status EvaluateBinary(EvalContext& c, BinaryFn f, BinaryIntFn integers,
                      InferFn infer = InferBroadcast);
// How a stands to b; kUnordered where one of them is NaN.
enum class Order : std::uint8_t { kLess, kEqual, kGreater, kUnordered };
Status EvaluateCompare(EvalContext& c, InferFn infer, bool (*holds)(Order order));

}  // namespace npukit::ops
