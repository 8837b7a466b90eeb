#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

// (x, roi, scales, sizes); roi matters to tf_crop_and_resize alone.
Result<Outcome> ImportResize(Emitter& e) {
  const ops::Attrs& a = e.op.attrs;
  const std::string_view mode = a.String("mode", "nearest");
  if (mode != "nearest" && mode != "linear")
    return Outcome::Foreign(Cat("mode ", Printable(mode), " is not supported"),
                            "use mode linear or nearest");
  if (a.String("coordinate_transformation_mode") == "tf_crop_and_resize") {
    return Outcome::Foreign("coordinate_transformation_mode tf_crop_and_resize is not supported");
  }
  if (a.Int("antialias", 0) != 0)
    return Outcome::Foreign("antialias is not supported", "resize without antialias");
  if (a.Find("axes") != nullptr) return Outcome::Foreign("attribute axes is not supported");
  if (a.String("keep_aspect_ratio_policy", "stretch") != "stretch") {
    return Outcome::Foreign("keep_aspect_ratio_policy is not supported");
  }
  // An empty list stands for one that is not given.
  const auto given = [&](std::size_t i) {
    const tensor::Value* v = e.Constant(i);
    const bool empty =
        v != nullptr ? v->count() == 0
                     : e.has(i) && e.Type(i).is_static() && e.Type(i).dims() == tensor::Dims{0};
    return empty ? ir::kNoValue : e.input(i);
  };
  auto attrs = Only(a, {"mode", "coordinate_transformation_mode", "nearest_mode"});
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::resize, std::move(attrs), {e.input(0), given(2), given(3)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
