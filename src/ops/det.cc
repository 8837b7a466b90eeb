#include <cmath>
#include <utility>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  c.outputs[0] = tensor::Type::Tensor(c.inputs[0].dtype, std::nullopt);
  if (!c.inputs[0].shape) return OkStatus();
  std::vector<tensor::Dim> dims = c.inputs[0].shape->dims;
  const bool square = dims.size() >= 2 && SameDim(dims[dims.size() - 2], dims.back()).ok();
  if (!square) {
    return InvalidArgument(
        Cat("input 0 is ", c.inputs[0].ToString(), ", expected square matrices"));
  }
  dims.resize(dims.size() - 2);
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

// Elimination with the largest of each column as pivot. `a` is n x n and is used up.
double Determinant(std::vector<double>& a, std::size_t n) {
  double det = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t r = k + 1; r < n; ++r) {
      if (!(std::fabs(a[r * n + k]) <= std::fabs(a[pivot * n + k]))) pivot = r;  // NaN too
    }
    if (a[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      for (std::size_t i = k; i < n; ++i) std::swap(a[pivot * n + i], a[k * n + i]);
      det = -det;
    }
    det *= a[k * n + k];
    for (std::size_t r = k + 1; r < n; ++r) {
      const double factor = a[r * n + k] / a[k * n + k];
      if (factor == 0) continue;
      for (std::size_t i = k + 1; i < n; ++i) a[r * n + i] -= factor * a[k * n + i];
    }
  }
  return det;
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const auto n = static_cast<std::size_t>(x.dims().back());
  std::vector<double> matrix(y.count() == 0 ? 0 : n * n);
  for (std::int64_t i = 0; i < y.count(); ++i) {
    for (std::size_t k = 0; k < matrix.size(); ++k)
      matrix[k] = Load(x, i * static_cast<std::int64_t>(n * n) + static_cast<std::int64_t>(k));
    Store(y, i, Determinant(matrix, n));
  }
  return OkStatus();
}

OpCost DetCost(const CostContext& c) {
  const double elements = CountOf(c.inputs[0]);
  const double n = c.inputs[0].is_static() ? static_cast<double>(c.inputs[0].dims().back()) : 0;
  return {.macs = elements * n / 3, .bytes = AllBytes(c)};
}

}  // namespace

constinit const OpDef op::det = {
    .name = "det",
    .summary = "determinant of each square matrix in the last two dimensions",
    .infer = Infer,
    .reference = Reference,
    .cost = DetCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Det"},
};

}  // namespace npukit
