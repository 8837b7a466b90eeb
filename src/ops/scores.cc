#include "ops/scores.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace npukit::ops {
namespace {

constexpr double kPi = 3.14159265358979323846;

// The inverse of the error function, by the approximation (Winitzki) that the standard's runtime
// uses: with it alone results agree.
double InverseErf(double x) {
  const double log = std::log((1 - x) * (1 + x));
  const double v = 2 / (kPi * 0.147) + 0.5 * log;
  const double root = std::sqrt(-v + std::sqrt(v * v - log / 0.147));
  return x < 0 ? -root : root;
}

void Softmax(std::span<double> scores, bool keeps_zeros) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& s : scores) {
    if (keeps_zeros && std::fabs(s) <= 1e-7) {
      s *= std::exp(-largest);
      continue;
    }
    s = std::exp(s - largest);
    sum += s;
  }
  for (double& s : scores) s /= sum;
}

}  // namespace

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

Result<PostTransform> PostTransformOf(const Attrs& attrs) {
  const std::string_view name = attrs.String("post_transform", "NONE");
  constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  for (int i = 0; i < 5; ++i) {
    if (name == kNames[i]) return static_cast<PostTransform>(i);
  }
  return InvalidArgument(Cat("post_transform is ", Printable(name),
                             ", expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT"));
}

void Transform(PostTransform t, std::span<double> scores) {
  if (scores.empty()) return;
  switch (t) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return Softmax(scores, false);
    case PostTransform::kSoftmaxZero:
      return Softmax(scores, true);
    case PostTransform::kLogistic:
      for (double& s : scores) s = Logistic(s);
      return;
    case PostTransform::kProbit:
      for (double& s : scores) s = std::sqrt(2.0) * InverseErf(2 * s - 1);
      return;
  }
}

Result<Labels> LabelsOf(const Attrs& attrs, std::string_view ints) {
  Labels l;
  l.strings = HasAttr(attrs, "classlabels_strings");
  if (l.strings == HasAttr(attrs, ints))
    return InvalidArgument(Cat("expected one of classlabels_strings and ", ints));
  l.names = StringList(attrs, "classlabels_strings");
  l.numbers = attrs.IntList(ints);
  if (l.size() == 0) return InvalidArgument("there are no class labels");
  return l;
}

void StoreLabel(tensor::Value& y, std::int64_t i, const Labels& labels, std::size_t which) {
  if (labels.strings) {
    y.mutable_strings()[static_cast<std::size_t>(i)] = labels.names[which];
  } else {
    StoreBits(y, i, static_cast<std::uint64_t>(labels.numbers[which]));
  }
}

Status WantRows(const InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantMlNumber(c, 0));
  if (!c.inputs[0].shape || c.inputs[0].shape->rank() == 1 || c.inputs[0].shape->rank() == 2)
    return OkStatus();
  return InvalidArgument(Cat("input 0 is ", c.inputs[0].ToString(), ", expected [N,F] or [F]"));
}

Rows RowsOf(const tensor::Dims& dims) {
  return dims.size() == 1 ? Rows{1, dims[0]} : Rows{dims[0], dims[1]};
}

tensor::Type RowsBy(const InferContext& c, tensor::DType t, std::int64_t columns) {
  if (!c.inputs[0].shape) return tensor::Type::Tensor(t, std::nullopt);
  const tensor::Shape& x = *c.inputs[0].shape;
  std::vector<tensor::Dim> dims{x.rank() == 2 ? x.dims[0] : tensor::Dim::Of(1)};
  if (columns >= 0) dims.push_back(tensor::Dim::Of(columns));
  return tensor::Type::Tensor(t, tensor::Shape(std::move(dims)));
}

}  // namespace npukit::ops
