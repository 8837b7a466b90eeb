#include "base/text.h"
#include "importers/onnx/source_op.h"
#include "importers/onnx/tensors.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportSequenceEmpty(Emitter& e) {
  const std::int64_t given = e.op.attrs.Int("dtype", pb::TensorProto::FLOAT);
  const auto dtype = DTypeOf(given);
  if (!dtype) return Outcome::Foreign(Cat("element type ", given, " is not known"));
  ops::Attrs attrs;
  attrs.Set("dtype", static_cast<std::int64_t>(*dtype));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::sequence_empty, std::move(attrs), {}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
