// From raw scores to what classifiers and regressors of ai.onnx.ml give. Pure functions.
#pragma once

#include <span>
#include <string_view>

#include "ops/strings.h"

namespace npukit::ops {

enum class PostTransform : std::uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
Result<PostTransform> PostTransformOf(const Attrs& attrs);  // attribute post_transform, a text
void Transform(PostTransform t, std::span<double> scores);  // of one row
double Logistic(double x);

// classlabels_strings, or the integers under `ints`; without either, numbers from 0.
struct Labels {
  bool strings = false;
  Strings names;
  Ints numbers;
  std::size_t size() const { return strings ? names.size() : numbers.size(); }
  tensor::DType dtype() const { return strings ? tensor::DType::kString : tensor::DType::kI64; }
};
Result<Labels> LabelsOf(const Attrs& attrs, std::string_view ints);
// Of row i: the label's place in the list.
void StoreLabel(tensor::Value& y, std::int64_t i, const Labels& labels, std::size_t which);

// [N,F] numbers; one row when there is one dimension.
struct Rows {
  std::int64_t rows = 0, features = 0;
};
Status WantRows(const InferContext& c);
Rows RowsOf(const tensor::Dims& dims);
// The rows of input 0, if known, by `columns`.
tensor::Type RowsBy(const InferContext& c, tensor::DType t, std::int64_t columns);

}  // namespace npukit::ops
