#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/indexing.h"
#include "ops/rules.h"
#include "ops/windows.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

constexpr std::size_t kBins = 0, kLength = 1, kRate = 2, kLow = 3, kHigh = 4;
constexpr std::int64_t kMaxBins = std::int64_t{1} << 20;

Status Infer(InferContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const tensor::DType t, ReadOutputType(c.attrs));
  std::vector<Dim> dims(2);
  for (const std::size_t i : {kBins, kLength, kRate}) {
    NPUKIT_RETURN_IF_ERROR(WantOneInteger(c, i));
    if (c.constants[i] == nullptr || c.constants[i]->count() != 1) continue;
    const std::int64_t n = tensor::ElementAsInt64(*c.constants[i], 0);
    if (n < (i == kRate ? 1 : 0) || n > kMaxBins)
      return InvalidArgument(Cat("input ", i, " is ", n));
    if (i == kBins) dims[1] = Dim::Of(n);
    if (i == kLength) dims[0] = Dim::Of(n / 2 + 1);
  }
  for (const std::size_t i : {kLow, kHigh}) {
    NPUKIT_RETURN_IF_ERROR(WantFloat(c, i));
    if (c.inputs[i].is_static() && tensor::ElementCount(c.inputs[i].dims()) != 1) {
      return InvalidArgument(
          Cat("input ", i, " is ", c.inputs[i].ToString(), ", expected one number"));
    }
  }
  c.outputs[0] = tensor::Type::Tensor(t, tensor::Shape(std::move(dims)));
  return OkStatus();
}

// Triangles over the bins of a spectrum, evenly spread on the mel scale.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const std::int64_t rows = y.dims()[0], columns = y.dims()[1];
  const auto length = static_cast<double>(tensor::ElementAsInt64(c.inputs[kLength], 0));
  const auto rate = static_cast<double>(tensor::ElementAsInt64(c.inputs[kRate], 0));
  const double low_hertz = Load(c.inputs[kLow], 0), high_hertz = Load(c.inputs[kHigh], 0);
  if (!(low_hertz >= 0) || !(high_hertz >= low_hertz) || !std::isfinite(high_hertz)) {
    return InvalidArgument(
        Cat("the edges are ", low_hertz, " and ", high_hertz, ", expected 0 <= lower <= upper"));
  }
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(low_hertz);
  const double step = (mel(high_hertz) - low) / static_cast<double>(columns + 2);
  const auto bin = [&](std::int64_t i) {
    const double hertz = 700 * (std::pow(10, (low + step * static_cast<double>(i)) / 2595) - 1);
    const double at = std::floor((length + 1) * hertz / rate);
    return static_cast<std::int64_t>(std::min(at, static_cast<double>(kMaxBins)));
  };
  for (std::int64_t i = 0; i < y.count(); ++i) tensor::StoreDouble(y, i, 0);
  const auto put = [&](std::int64_t row, std::int64_t column, double x) {
    if (row < rows)  // what lies above half the rate has no row
      Store(y, row * columns + column, tensor::IsInteger(y.dtype()) ? std::trunc(x) : x);
  };
  for (std::int64_t k = 0; k < columns; ++k) {
    const std::int64_t left = bin(k), center = bin(k + 1), right = bin(k + 2);
    if (left == center) put(center, k, 1);
    for (std::int64_t r = left; left < center && r <= std::min(center, rows); ++r)
      put(r, k, static_cast<double>(r - left) / static_cast<double>(center - left));
    for (std::int64_t r = center; r < std::min(right, rows); ++r)
      put(r, k, static_cast<double>(right - r) / static_cast<double>(right - center));
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"output_datatype", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::mel_weight_matrix = {
    .name = "mel_weight_matrix",
    .summary = "the matrix that turns a spectrum into bins of the mel scale",
    .min_inputs = 5,
    .max_inputs = 5,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kOther,
};

}  // namespace npukit
