// What the losses share: scores x [N, C, D...], a class for each place [N, D...], a weight for each
// class [C]?, and the reduction of the losses of all places.
#pragma once

#include "base/text.h"
#include "ops/rules.h"

namespace npukit::ops {

inline Result<tensor::Type> InferLoss(const InferContext& c) {
  using tensor::DType;
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  const DType t = c.inputs[1].dtype;
  if (t != DType::kUndefined && t != DType::kI32 && t != DType::kI64) {
    return InvalidArgument(Cat("input 1 is ", tensor::DTypeName(t), ", expected int32 or int64"));
  }
  const auto& x = c.inputs[0].shape;
  const auto& target = c.inputs[1].shape;
  if (x && x->rank() < 2)
    return InvalidArgument(Cat("x is ", c.inputs[0].ToString(), ", expected rank 2 or more"));
  if (target && target->rank() < 1)
    return InvalidArgument("input 1 is a scalar, expected one class for each place of x");
  tensor::Type none = tensor::Type::Tensor(c.inputs[0].dtype, std::nullopt);
  if (x && target) {
    bool fits = x->rank() == target->rank() + 1;
    std::vector<tensor::Dim> dims(target->dims);
    for (std::size_t d = 0; fits && d < dims.size(); ++d) {
      auto same = SameDim(dims[d], x->dims[d == 0 ? 0 : d + 1]);
      fits = same.ok();
      if (fits) dims[d] = *same;
    }
    if (!fits) {
      return InvalidArgument(Cat("input 1 is ", c.inputs[1].ToString(),
                                 ", expected one class for each place of ",
                                 c.inputs[0].ToString()));
    }
    none.shape = tensor::Shape(std::move(dims));
  } else if (target) {
    none.shape = target;
  } else if (x) {
    std::vector<tensor::Dim> dims(x->dims);
    dims.erase(dims.begin() + 1);
    none.shape = tensor::Shape(std::move(dims));
  }
  if (Has(c, 2)) {
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 2));
    const auto& w = c.inputs[2].shape;
    if (w && (w->rank() != 1 || (x && !SameDim(w->dims[0], x->dims[1]).ok()))) {
      return InvalidArgument(
          Cat("weights are ", c.inputs[2].ToString(), ", expected one number for each class"));
    }
  }
  const std::string_view reduction = c.attrs.String("reduction", "mean");
  if (reduction == "none") return none;
  if (reduction == "mean" || reduction == "sum")
    return tensor::Type::Tensor(c.inputs[0].dtype, tensor::Shape());
  return InvalidArgument(
      Cat("reduction is ", Printable(reduction), ", expected none, sum or mean"));
}

// `log_likelihood(offset in x)` of each place's class becomes the loss. A class outside [0, C) is
// an error unless it is ignore_index.
template <class F>
Status ReduceLoss(const EvalContext& c, F log_likelihood, tensor::Value& loss) {
  const tensor::Value& x = c.inputs[0];
  const tensor::Value& target = c.inputs[1];
  const tensor::Value* weight =
      c.inputs.size() > 2 && c.inputs[2].present() ? &c.inputs[2] : nullptr;
  const AttrValue* ignored = c.attrs->Find("ignore_index");
  const std::int64_t ignore = ignored ? std::get<std::int64_t>(*ignored) : 0;
  const std::string_view reduction = c.attrs->String("reduction", "mean");
  const std::int64_t classes = x.dims()[1];
  const std::int64_t plane = tensor::DenseStrides(x.dims())[1];
  double sum = 0, weights = 0;
  for (std::int64_t i = 0; i < target.count(); ++i) {
    const std::int64_t k = tensor::ElementAsInt64(target, i);
    double one = 0;
    if (!ignored || k != ignore) {
      if (k < 0 || k >= classes)
        return InvalidArgument(Cat("class ", k, " of place ", i, " is outside 0 to ", classes - 1));
      const double w = weight ? Load(*weight, k) : 1;
      one = -w * log_likelihood((i / plane * classes + k) * plane + i % plane);
      weights += w;
    }
    if (reduction == "none") {
      Store(loss, i, one);
    } else {
      sum += one;
    }
  }
  if (reduction == "sum") Store(loss, 0, sum);
  if (reduction == "mean") Store(loss, 0, sum / weights);
  return OkStatus();
}

inline constexpr AttrDef kLossAttrs[] = {{"ignore_index", AttrKind::kInt},
                                         {"reduction", AttrKind::kString}};

inline OpCost LossCost(const CostContext& c) {
  return {.vector_ops = 12 * CountOf(c.inputs[0]), .bytes = AllBytes(c)};
}

}  // namespace npukit::ops
