#include "base/text.h"
#include "importers/onnx/source_op.h"
#include "importers/onnx/tensors.h"

namespace npukit::importers::onnx {

namespace {

Result<Outcome> CastTo(Emitter& e, tensor::DType to) {
  const auto complex = [](tensor::DType t) {
    return t == tensor::DType::kComplex64 || t == tensor::DType::kComplex128;
  };
  const tensor::DType from = e.has(0) ? e.Type(0).dtype : tensor::DType::kUndefined;
  for (const tensor::DType t : {from, to}) {
    if (complex(t)) {
      return Outcome::Foreign(Cat("complex numbers cannot be cast, found ", tensor::DTypeName(t)),
                              "keep real and imaginary parts as a last dimension of 2");
    }
  }
  ops::Attrs attrs = Only(e.op.attrs, {"saturate", "round_mode"});
  attrs.Set("to", static_cast<std::int64_t>(to));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::cast, std::move(attrs), {e.input(0)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportCast(Emitter& e) {
  const ops::AttrValue* attr = e.op.attrs.Find("to");
  if (attr == nullptr || !std::holds_alternative<std::int64_t>(*attr)) {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": attribute to is not a number"));
  }
  const auto to = DTypeOf(std::get<std::int64_t>(*attr));
  if (!to) {
    return Outcome::Foreign(
        Cat("cast to element type ", std::get<std::int64_t>(*attr), " is not known"));
  }
  return CastTo(e, *to);
}

Result<Outcome> ImportCastLike(Emitter& e) {
  if (!e.has(1)) return InvalidArgument("input target_type is missing");
  if (e.Type(1).dtype == tensor::DType::kUndefined) {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::cast_like, Only(e.op.attrs, {"saturate", "round_mode"}),
                                  {e.input(0), e.input(1)}, e.op.outputs[0]));
    return Outcome::Done();
  }
  return CastTo(e, e.Type(1).dtype);
}

Result<Outcome> ImportBitCast(Emitter& e) {
  const ops::AttrValue* attr = e.op.attrs.Find("to");
  const auto* number = attr == nullptr ? nullptr : std::get_if<std::int64_t>(attr);
  const auto to = number == nullptr ? std::nullopt : DTypeOf(*number);
  if (!to) return InvalidArgument("attribute to is no element type");
  ops::Attrs attrs;
  attrs.Set("to", static_cast<std::int64_t>(*to));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::bit_cast, std::move(attrs), {e.input(0)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
