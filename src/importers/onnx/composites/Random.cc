// The random operators: ONNX's seed is a float and may be absent, ours is a number that makes the
// results. A node without a seed gets one of its own, so that two of them do not draw the same.
#include <bit>

#include "base/text.h"
#include "importers/onnx/source_op.h"
#include "importers/onnx/tensors.h"

namespace npukit::importers::onnx {

namespace {

Result<ops::Attrs> Seeded(const Emitter& e, std::initializer_list<std::string_view> names) {
  ops::Attrs attrs = Only(e.op.attrs, names);
  std::int64_t seed = std::int64_t{1} << 40 | e.op.from;  // above every pattern of a float
  if (const ops::AttrValue* given = e.op.attrs.Find("seed")) {
    const auto* f = std::get_if<float>(given);
    if (f == nullptr) return InvalidArgument("attribute seed is not a float");
    seed = std::bit_cast<std::uint32_t>(*f);
  }
  attrs.Set("seed", seed);
  if (e.op.attrs.Find("dtype") != nullptr) {
    const auto t = DTypeOf(e.op.attrs.Int("dtype"));
    if (!t)
      return InvalidArgument(
          Cat("attribute dtype is ", e.op.attrs.Int("dtype"), ", which is no element type"));
    attrs.Set("dtype", static_cast<std::int64_t>(*t));
  }
  return attrs;
}

Result<Outcome> Fill(Emitter& e, const ops::OpDef& def,
                     std::initializer_list<std::string_view> names) {
  NPUKIT_ASSIGN_OR_RETURN(ops::Attrs attrs, Seeded(e, names));
  if (e.op.attrs.Find("shape") == nullptr) return InvalidArgument("attribute shape is missing");
  const ir::ValueId shape = e.Int64s(e.op.attrs.IntList("shape"));
  NPUKIT_RETURN_IF_ERROR(e.Emit(def, std::move(attrs), {shape}, e.op.outputs[0]));
  return Outcome::Done();
}

Result<Outcome> FillLike(Emitter& e, const ops::OpDef& def,
                         std::initializer_list<std::string_view> names) {
  NPUKIT_ASSIGN_OR_RETURN(ops::Attrs attrs, Seeded(e, names));
  if (!e.has(0)) return InvalidArgument("input 0 is missing");
  if (attrs.Find("dtype") == nullptr) {
    if (e.Type(0).dtype == tensor::DType::kUndefined) {
      return Outcome::Foreign("the type of its input is not known",
                              "run onnx.shape_inference on the model");
    }
    attrs.Set("dtype", static_cast<std::int64_t>(e.Type(0).dtype));
  }
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId shape, e.Emit(op::shape, {}, {e.input(0)}));
  NPUKIT_RETURN_IF_ERROR(e.Emit(def, std::move(attrs), {shape}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportRandomNormal(Emitter& e) {
  return Fill(e, op::random_normal, {"mean", "scale"});
}
Result<Outcome> ImportRandomNormalLike(Emitter& e) {
  return FillLike(e, op::random_normal, {"mean", "scale"});
}
Result<Outcome> ImportRandomUniform(Emitter& e) {
  return Fill(e, op::random_uniform, {"low", "high"});
}
Result<Outcome> ImportRandomUniformLike(Emitter& e) {
  return FillLike(e, op::random_uniform, {"low", "high"});
}

Result<Outcome> ImportBernoulli(Emitter& e) {
  NPUKIT_ASSIGN_OR_RETURN(ops::Attrs attrs, Seeded(e, {}));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::bernoulli, std::move(attrs), {e.input(0)}, e.op.outputs[0]));
  return Outcome::Done();
}

Result<Outcome> ImportMultinomial(Emitter& e) {
  NPUKIT_ASSIGN_OR_RETURN(ops::Attrs attrs, Seeded(e, {"sample_size"}));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::multinomial, std::move(attrs), {e.input(0)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
