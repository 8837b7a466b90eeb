#include "base/text.h"
#include "importers/onnx/source_op.h"
#include "importers/onnx/tensors.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportCast(Emitter& e) {
  const ops::AttrValue* attr = e.op.attrs.Find("to");
  if (attr == nullptr || !std::holds_alternative<std::int64_t>(*attr)) {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": attribute to is not a number"));
  }
  const auto to = DTypeOf(std::get<std::int64_t>(*attr));
  const auto can = [](tensor::DType t) {
    return t == tensor::DType::kBool || tensor::IsInteger(t) ||
           (tensor::IsFloat(t) && tensor::DTypeBits(t) >= 16);
  };
  if (!to)
    return Outcome::Foreign(
        Cat("cast to element type ", std::get<std::int64_t>(*attr), " is not known"));
  if (!can(*to))
    return Outcome::Foreign(Cat("cast to ", tensor::DTypeName(*to), " is not supported"));
  if (e.has(0) && e.Type(0).dtype != tensor::DType::kUndefined && !can(e.Type(0).dtype)) {
    return Outcome::Foreign(
        Cat("cast from ", tensor::DTypeName(e.Type(0).dtype), " is not supported"));
  }
  ops::Attrs attrs;  // saturate and round_mode speak of 8-bit floats only
  attrs.Set("to", static_cast<std::int64_t>(*to));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::cast, std::move(attrs), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
