#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

// Statistics for each place, not for each channel (spatial = 0 of opset 7): scale, bias, mean and
// var have the shape of x without the batch.
Result<Outcome> ByPlace(Emitter& e) {
  const tensor::DType t = e.Type(0).dtype;
  if (t == tensor::DType::kUndefined) return Outcome::Foreign("the type of x is not known");
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId epsilon,
                          e.Number(t, e.op.attrs.Float("epsilon", 1e-5f)));
  NPUKIT_ASSIGN_OR_RETURN(ir::ValueId root, e.Emit(op::add, {}, {e.input(4), epsilon}));
  NPUKIT_ASSIGN_OR_RETURN(root, e.Emit(op::sqrt, {}, {root}));
  NPUKIT_ASSIGN_OR_RETURN(ir::ValueId y, e.Emit(op::sub, {}, {e.input(0), e.input(3)}));
  NPUKIT_ASSIGN_OR_RETURN(y, e.Emit(op::div, {}, {y, root}));
  NPUKIT_ASSIGN_OR_RETURN(y, e.Emit(op::mul, {}, {y, e.input(1)}));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::add, {}, {y, e.input(2)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportBatchNormalization(Emitter& e) {
  if (e.op.inputs.size() != 5) {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": it has ", e.op.inputs.size(),
                               " inputs, expected X, scale, B, mean and var"));
  }
  for (std::size_t i = 0; i < 5; ++i) {
    if (!e.has(i))
      return InvalidArgument(Cat("node ", Printable(e.op.name), ": input ", i, " is missing"));
  }
  const bool training = e.op.attrs.Int("training_mode", 0) != 0;
  const std::size_t read = e.op.outputs.size();
  if (!training && read != 1) {
    return Outcome::Foreign("the statistics of a batch are read outside training_mode",
                            e.op.opset < 14 ? "convert the model to opset 14 or newer"
                                            : "export with training_mode or without them");
  }
  if (training && read > 3) {
    return InvalidArgument(
        Cat("node ", Printable(e.op.name), ": it has ", read, " outputs, expected 3 or fewer"));
  }
  if (e.op.attrs.Int("spatial", 1) == 0) return ByPlace(e);
  // A single dimension is a batch of one channel.
  const bool flat = e.Rank(0) == std::size_t{1};
  std::vector<ir::ValueId> inputs = e.op.inputs;
  std::vector<ir::ValueId> outputs = e.op.outputs;
  ops::Attrs channel;
  channel.Set("axes", ops::Ints{1});
  if (flat) {
    NPUKIT_ASSIGN_OR_RETURN(inputs[0], e.Emit(op::unsqueeze, channel, {inputs[0]}));
    outputs[0] = e.Fresh();
  }
  const ir::ValueId y = outputs[0];
  NPUKIT_RETURN_IF_ERROR(
      training
          ? e.EmitAll(op::batch_normalization_training, Only(e.op.attrs, {"epsilon", "momentum"}),
                      std::move(inputs), std::move(outputs))
          : e.Emit(op::batch_normalization, Only(e.op.attrs, {"epsilon"}), std::move(inputs), y));
  if (flat) NPUKIT_RETURN_IF_ERROR(e.Emit(op::squeeze, channel, {y}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
