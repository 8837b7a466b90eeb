#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

using tensor::DType;

// The mask of what is kept, where that is everything.
Status KeepAll(Emitter& e) {
  const DType t = e.op.opset < 10 ? e.Type(0).dtype : DType::kBool;
  if (t != DType::kBool && !tensor::IsFloat(t))
    return InvalidArgument(Cat("x is ", tensor::DTypeName(t), ", expected floating numbers"));
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value one, tensor::Value::Allocate(t, {1}));
  tensor::StoreDouble(one, 0, 1);
  ops::Attrs attrs;
  attrs.Set("value", std::move(one));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId shape, e.Emit(op::shape, {}, {e.input(0)}));
  return e.Emit(op::constant_of_shape, std::move(attrs), {shape}, e.op.outputs[1]);
}

// A known scalar, or nothing.
std::optional<double> Scalar(const Emitter& e, std::size_t input) {
  const tensor::Value* v = e.Constant(input);
  if (v == nullptr || !v->is_tensor() || v->count() != 1 || v->dtype() == DType::kString)
    return std::nullopt;
  return tensor::ElementAsDouble(*v, 0);
}

Result<ir::ValueId> CastTo(Emitter& e, ir::ValueId x, DType t) {
  ops::Attrs to;
  to.Set("to", static_cast<std::int64_t>(t));
  return e.Emit(op::cast, std::move(to), {x});
}

// Training, or what may be training: which elements are kept is drawn; the kept ones are scaled so
// that the mean stays. Without a seed, every node draws numbers of its own.
Result<Outcome> Drop(Emitter& e) {
  const DType t = e.Type(0).dtype;
  if (t == DType::kUndefined)
    return Outcome::Foreign("training_mode is on and the type of x is not known",
                            "run onnx.shape_inference on the model");
  NPUKIT_ASSIGN_OR_RETURN(ir::ValueId ratio, e.has(1) ? CastTo(e, e.input(1), DType::kF32)
                                                      : e.Number(DType::kF32, 0.5));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId one, e.Number(DType::kF32, 1));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId keep, e.Emit(op::sub, {}, {one, ratio}));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId shape, e.Emit(op::shape, {}, {e.input(0)}));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId each, e.Emit(op::expand, {}, {keep, shape}));
  ops::Attrs draw;
  draw.Set("dtype", static_cast<std::int64_t>(DType::kBool));
  std::int64_t seed = static_cast<std::int64_t>(e.op.from) + 1;
  if (const ops::AttrValue* given = e.op.attrs.Find("seed")) {
    const auto* number = std::get_if<std::int64_t>(given);
    if (number == nullptr) return InvalidArgument("attribute seed is not an integer");
    seed = *number;
  }
  draw.Set("seed", seed);
  NPUKIT_ASSIGN_OR_RETURN(ir::ValueId mask, e.Emit(op::bernoulli, std::move(draw), {each}));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId by, CastTo(e, keep, t));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId scaled, e.Emit(op::div, {}, {e.input(0), by}));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId nothing, e.Number(t, 0));
  NPUKIT_ASSIGN_OR_RETURN(ir::ValueId y, e.Emit(op::where, {}, {mask, scaled, nothing}));
  if (!Scalar(e, 2)) {  // known only when running
    NPUKIT_ASSIGN_OR_RETURN(y, e.Emit(op::where, {}, {e.input(2), y, e.input(0)}));
    NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId off, e.Emit(op::logical_not, {}, {e.input(2)}));
    NPUKIT_ASSIGN_OR_RETURN(mask, e.Emit(op::logical_or, {}, {mask, off}));
  }
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::identity, {}, {y}, e.op.outputs[0]));
  if (e.op.outputs.size() > 1)
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::identity, {}, {mask}, e.op.outputs[1]));
  return Outcome::Done();
}

}  // namespace

// In inference dropout does nothing, and so does a ratio of 0.
Result<Outcome> ImportDropout(Emitter& e) {
  if (!e.has(0)) return InvalidArgument(Cat("node ", Printable(e.op.name), ": it has no input"));
  const bool training = e.has(2) && Scalar(e, 2).value_or(1) != 0;
  if (training && !(e.has(1) && Scalar(e, 1).value_or(1) == 0)) return Drop(e);
  if (e.op.outputs.size() > 1) {
    if (e.op.opset < 10 && e.Type(0).dtype == DType::kUndefined)
      return Outcome::Foreign("the mask is read and the type of x is not known",
                              "run onnx.shape_inference on the model");
    NPUKIT_RETURN_IF_ERROR(KeepAll(e));
  }
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::identity, {}, {e.input(0)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
