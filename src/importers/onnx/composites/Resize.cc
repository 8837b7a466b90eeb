#include <algorithm>

#include "base/text.h"
#include "importers/onnx/source_op.h"
#include "ops/rules.h"

namespace npukit::importers::onnx {

namespace {

// A list over the named axes as one over all of them; kNoValue: it depends on what is not known.
ir::ValueId OverAllAxes(Emitter& e, std::size_t input, const ops::Ints& axes) {
  const tensor::Value* list = e.Constant(input);
  const auto rank = e.Rank(0);
  if (list == nullptr || !list->is_tensor() || !rank ||
      list->count() != static_cast<std::int64_t>(axes.size()))
    return ir::kNoValue;
  const bool sizes = tensor::IsInteger(list->dtype());
  if (!sizes && !tensor::IsFloat(list->dtype())) return ir::kNoValue;
  ops::Ints whole(*rank, 0);
  ops::Floats scales(*rank, 1.0f);
  std::vector<bool> named(*rank, false);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = ops::NormalAxis(axes[i], *rank);
    if (!axis.ok() || named[*axis]) return ir::kNoValue;
    named[*axis] = true;
    whole[*axis] = tensor::ElementAsInt64(*list, static_cast<std::int64_t>(i));
    scales[*axis] =
        static_cast<float>(tensor::ElementAsDouble(*list, static_cast<std::int64_t>(i)));
  }
  if (!sizes) {
    return e.Add(
        tensor::Value::FromVector(tensor::DType::kF32, {static_cast<std::int64_t>(*rank)}, scales));
  }
  for (std::size_t d = 0; d < *rank; ++d) {
    const tensor::Dim dim = e.Type(0).shape->dims[d];
    if (named[d]) continue;
    if (!dim.known()) return ir::kNoValue;
    whole[d] = dim.value;
  }
  return e.Int64s(whole);
}

}  // namespace

// (x, roi, scales, sizes). What fits becomes `resize`, for which devices have kernels; the rest
// `resize_nd`.
Result<Outcome> ImportResize(Emitter& e) {
  const ops::Attrs& a = e.op.attrs;
  // An empty list stands for one that is not given.
  const auto given = [&](std::size_t i) {
    const tensor::Value* v = e.Constant(i);
    const bool empty =
        v != nullptr ? v->count() == 0
                     : e.has(i) && e.Type(i).is_static() && e.Type(i).dims() == tensor::Dims{0};
    return empty ? ir::kNoValue : e.input(i);
  };
  const std::string_view mode = a.String("mode", "nearest");
  const tensor::DType t = e.has(0) ? e.Type(0).dtype : tensor::DType::kUndefined;
  bool fits = (mode == "nearest" || mode == "linear") &&
              a.String("coordinate_transformation_mode") != "tf_crop_and_resize" &&
              a.String("nearest_mode") != "simple" && a.Int("antialias", 0) == 0 &&
              a.String("keep_aspect_ratio_policy", "stretch") == "stretch" &&
              (t == tensor::DType::kUndefined || ops::IsNumber(t));
  ir::ValueId scales = given(2), sizes = given(3);
  if (fits && a.Find("axes") != nullptr) {
    const ops::Ints axes = a.IntList("axes");
    if (scales != ir::kNoValue) scales = OverAllAxes(e, 2, axes);
    if (sizes != ir::kNoValue) sizes = OverAllAxes(e, 3, axes);
    fits = (scales != ir::kNoValue) != (sizes != ir::kNoValue);
  }
  if (fits) {
    auto attrs = Only(a, {"mode", "coordinate_transformation_mode", "nearest_mode"});
    NPUKIT_RETURN_IF_ERROR(
        e.Emit(op::resize, std::move(attrs), {e.input(0), scales, sizes}, e.op.outputs[0]));
    return Outcome::Done();
  }
  auto attrs = Only(
      a, {"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside",
          "extrapolation_value", "keep_aspect_ratio_policy", "mode", "nearest_mode"});
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::resize_nd, std::move(attrs),
                                {e.input(0), given(1), given(2), given(3)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
