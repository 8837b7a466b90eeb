// What the reductions share: which axes, the shape rule, the walk.
#pragma once

#include "ops/rules.h"

namespace npukit::ops {

enum class Reduction : std::uint8_t { kSum, kMean, kMax, kMin, kProd, kLogSumExp };

// One flag per dimension; no axes: all of them.
Result<std::vector<bool>> ReducedAxes(const Ints& axes, std::size_t rank);
// The type that reducing input 0 gives: any number, bool too for the largest and the smallest.
Status WantReducible(const InferContext& c, Reduction kind);
tensor::Shape ReducedShape(const tensor::Shape& x, const std::vector<bool>& reduced, bool keep);
// y has the elements that stay. Floats in double, rounded once; integers in 64 bits, wrapped, their
// means cut towards zero. NaN wins, as in numpy. Of nothing: 0, NaN (0 for integers), the end of
// the type that any element would replace, 1, -inf.
void Reduce(Reduction kind, const tensor::Value& x, const std::vector<bool>& reduced,
            tensor::Value& y);

// The rules of an operator with the attributes axes and keepdims.
Status InferReduce(InferContext& c, Reduction kind);
Status EvaluateReduce(EvalContext& c, Reduction kind, InferFn infer);
OpCost ReduceCost(const CostContext& c);

inline constexpr AttrDef kReduceAttrs[] = {{"axes", AttrKind::kInts}, {"keepdims", AttrKind::kInt}};

}  // namespace npukit::ops
