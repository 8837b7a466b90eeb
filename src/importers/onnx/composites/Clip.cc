#include <cmath>

#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportClip(Emitter& e) {
  ops::Attrs attrs = Only(e.op.attrs, {"min", "max"});
  constexpr const char* kNames[] = {"x", "min", "max"};
  for (std::size_t i = 1; i < 3; ++i) {
    if (!e.has(i)) continue;
    const tensor::Value* v = e.Constant(i);
    if (v == nullptr) return Outcome::Foreign(Cat(kNames[i], " is not a constant"));
    if (!v->is_tensor() || v->count() != 1 || v->dtype() == tensor::DType::kString) {
      return InvalidArgument(Cat("node ", Printable(e.op.name), ": ", kNames[i], " is ",
                                 v->type().ToString(), ", expected one number"));
    }
    const double limit = tensor::ElementAsDouble(*v, 0);
    const auto rounded = static_cast<float>(limit);
    if (static_cast<double>(rounded) != limit)
      return Outcome::Foreign(Cat(kNames[i], " ", limit, " is no fp32 number"));
    attrs.Set(kNames[i], rounded);
  }
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::clip, std::move(attrs), {e.input(0)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
