// Quantisers and attention of ONNX: attributes that name element types get our numbers for them.
#include "importers/onnx/composites/build.h"
#include "importers/onnx/tensors.h"

namespace npukit::importers::onnx {

namespace {

// ONNX's number 0 says "not given".
Result<Outcome> NameTypes(Emitter& e, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const ops::AttrValue* v = e.op.attrs.Find(name);
    if (v == nullptr) continue;
    const std::int64_t n = std::get<std::int64_t>(*v);
    if (n == 0) {
      e.op.attrs.Erase(name);
      continue;
    }
    const auto t = DTypeOf(n);
    if (!t) return Outcome::Foreign(Cat(name, ": element type ", n, " is not known"));
    e.op.attrs.Set(name, static_cast<std::int64_t>(*t));
  }
  return Outcome::GoOn();
}

Result<Outcome> OneNode(Emitter& e, const ops::OpDef& def,
                        std::initializer_list<std::string_view> types) {
  NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, NameTypes(e, types));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  if (e.op.outputs.size() > static_cast<std::size_t>(def.outputs)) {
    return InvalidArgument(
        Cat(e.op.op, " has ", e.op.outputs.size(), " outputs, expected up to ", def.outputs));
  }
  NPUKIT_RETURN_IF_ERROR(e.EmitAll(def, e.op.attrs, e.op.inputs, e.op.outputs));
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportQuantizeLinear(Emitter& e) {
  return OneNode(e, op::quantize_linear, {"output_dtype", "precision"});
}
Result<Outcome> ImportDequantizeLinear(Emitter& e) {
  return OneNode(e, op::dequantize_linear, {"output_dtype"});
}
Result<Outcome> ImportMicrosoftQuantizeLinear(Emitter& e) {
  return OneNode(e, op::quantize_linear, {});
}
Result<Outcome> ImportMicrosoftDequantizeLinear(Emitter& e) {
  return OneNode(e, op::dequantize_linear, {});
}
Result<Outcome> ImportAttention(Emitter& e) {
  return OneNode(e, op::attention, {"softmax_precision"});
}

}  // namespace npukit::importers::onnx
