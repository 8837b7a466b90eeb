#include <cmath>

#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

// Limits that are computed: the larger of x and min, then the smaller of that and max.
Result<Outcome> ClipByValues(Emitter& e) {
  if (!e.has(2)) {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::max, {}, {e.input(0), e.input(1)}, e.op.outputs[0]));
    return Outcome::Done();
  }
  ir::ValueId x = e.input(0);
  if (e.has(1)) {
    NPUKIT_ASSIGN_OR_RETURN(x, e.Emit(op::max, {}, {x, e.input(1)}));
  }
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::min, {}, {x, e.input(2)}, e.op.outputs[0]));
  return Outcome::Done();
}

// An integer of 64 bits may lose its last ones as a double already.
bool IsFp32(const tensor::Value& v) {
  const double x = tensor::ElementAsDouble(v, 0);
  const bool whole = tensor::IsInteger(v.dtype());
  return static_cast<double>(static_cast<float>(x)) == x && !(whole && std::fabs(x) >= 0x1p53);
}

}  // namespace

Result<Outcome> ImportClip(Emitter& e) {
  ops::Attrs attrs = Only(e.op.attrs, {"min", "max"});
  constexpr const char* kNames[] = {"x", "min", "max"};
  for (std::size_t i = 1; i < 3; ++i) {
    if (e.has(i) && e.Constant(i) == nullptr) return ClipByValues(e);
  }
  for (std::size_t i = 1; i < 3; ++i) {
    if (!e.has(i)) continue;
    const tensor::Value* v = e.Constant(i);
    if (!v->is_tensor() || v->count() != 1 || v->dtype() == tensor::DType::kString) {
      return InvalidArgument(Cat("node ", Printable(e.op.name), ": ", kNames[i], " is ",
                                 v->type().ToString(), ", expected one number"));
    }
    // Limits that are no fp32 number, and those that make every result NaN, stay values.
    if (!IsFp32(*v)) return ClipByValues(e);
    attrs.Set(kNames[i], static_cast<float>(tensor::ElementAsDouble(*v, 0)));
  }
  for (const char* name : {"min", "max"}) {
    if (std::isnan(attrs.Float(name, 0))) {
      return Outcome::Foreign(Cat("the limit ", name, " is NaN"),
                              "leave the limit out, or give it a number");
    }
  }
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::clip, std::move(attrs), {e.input(0)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
