#include <limits>

#include "base/text.h"
#include "importers/onnx/composites/log_softmax.h"
#include "importers/onnx/source_op.h"
#include "importers/onnx/tensors.h"

namespace npukit::importers::onnx {

#define UPGRADE(name, below, step) Result<Outcome> step(Emitter& e);
#include "importers/onnx/upgrade.inc"
#undef UPGRADE

// A hint for memory of files before opset 6; it never changed a result.
Result<Outcome> DropConsumedInputs(Emitter& e) {
  e.op.attrs.Erase("consumed_inputs");
  return Outcome::GoOn();
}

// Before opset 7, b was matched to a's dimensions from `axis` on instead of from the last.
Result<Outcome> AlignOldBroadcast(Emitter& e) {
  const bool broadcast = e.op.attrs.Int("broadcast", 0) != 0;
  const bool has_axis = e.op.attrs.Find("axis") != nullptr;
  const std::int64_t axis = e.op.attrs.Int("axis", 0);
  e.op.attrs.Erase("broadcast");
  e.op.attrs.Erase("axis");
  if (!broadcast || !has_axis) return Outcome::GoOn();
  const auto a = e.Rank(0);
  const auto b = e.Rank(1);
  if (!a || !b) return Outcome::Foreign("broadcast along an axis of a tensor of unknown rank");
  const std::int64_t from = axis < 0 ? axis + static_cast<std::int64_t>(*a) : axis;
  const std::int64_t trailing =
      static_cast<std::int64_t>(*a) - from - static_cast<std::int64_t>(*b);
  if (from < 0 || trailing < 0) {
    return InvalidArgument(Cat("axis ", axis, " does not fit ranks ", *a, " and ", *b));
  }
  if (trailing == 0) return Outcome::GoOn();
  ops::Ints axes;
  for (std::int64_t i = 0; i < trailing; ++i) axes.push_back(static_cast<std::int64_t>(*b) + i);
  ops::Attrs attrs;
  attrs.Set("axes", axes);
  NPUKIT_ASSIGN_OR_RETURN(e.op.inputs[1], e.Emit(op::unsqueeze, std::move(attrs), {e.input(1)}));
  return Outcome::GoOn();
}

// Before opset 7, a list of slopes was one for each channel, the second dimension.
Result<Outcome> SlopeOfChannels(Emitter& e) {
  const auto x = e.Rank(0);
  const auto slope = e.Rank(1);
  if (!x || !slope) return Outcome::Foreign("slopes or input of unknown rank");
  if (*slope != 1 || *x <= 2) return Outcome::GoOn();
  ops::Ints axes;
  for (std::size_t i = 2; i < *x; ++i) axes.push_back(static_cast<std::int64_t>(i) - 1);
  ops::Attrs attrs;
  attrs.Set("axes", axes);
  NPUKIT_ASSIGN_OR_RETURN(e.op.inputs[1],
                          e.Emit(op::unsqueeze, std::move(attrs), {e.op.inputs[1]}));
  return Outcome::GoOn();
}

Result<Outcome> ConcatAxisDefault(Emitter& e) {
  if (e.op.attrs.Find("axis") == nullptr) e.op.attrs.Set("axis", std::int64_t{1});
  return Outcome::GoOn();
}

Result<Outcome> ReshapeShapeToInput(Emitter& e) {
  if (e.op.inputs.size() != 1) return Outcome::GoOn();
  e.op.inputs.push_back(e.Int64s(e.op.attrs.IntList("shape")));
  e.op.attrs.Erase("shape");
  return Outcome::GoOn();
}

Result<Outcome> CastNameToNumber(Emitter& e) {
  const auto* name = e.op.attrs.Find("to");
  if (name == nullptr || !std::holds_alternative<std::string>(*name)) return Outcome::GoOn();
  pb::TensorProto::DataType number{};
  if (!pb::TensorProto::DataType_Parse(std::get<std::string>(*name), &number)) {
    return InvalidArgument(
        Cat("cast to ", Printable(std::get<std::string>(*name)), ", which is no type"));
  }
  e.op.attrs.Set("to", static_cast<std::int64_t>(number));
  return Outcome::GoOn();
}

Result<Outcome> DropBatchNormIsTest(Emitter& e) {
  e.op.attrs.Erase("is_test");
  return Outcome::GoOn();
}

Result<Outcome> DropIsTest(Emitter& e) {
  if (e.op.attrs.Int("is_test", 0) == 0)
    return Outcome::Foreign("dropout in training mode (is_test = 0)");
  e.op.attrs.Erase("is_test");
  return Outcome::GoOn();
}

Result<Outcome> SliceListsToInputs(Emitter& e) {
  if (e.op.inputs.size() != 1) return Outcome::GoOn();
  for (const char* name : {"starts", "ends"}) {
    if (e.op.attrs.Find(name) == nullptr)
      return InvalidArgument(Cat("attribute ", name, " is missing"));
    e.op.inputs.push_back(e.Int64s(e.op.attrs.IntList(name)));
  }
  if (e.op.attrs.Find("axes") != nullptr)
    e.op.inputs.push_back(e.Int64s(e.op.attrs.IntList("axes")));
  for (const char* name : {"starts", "ends", "axes"}) e.op.attrs.Erase(name);
  return Outcome::GoOn();
}

Result<Outcome> PadListToInputs(Emitter& e) {
  if (e.op.inputs.size() != 1) return Outcome::GoOn();
  const char* name = e.op.opset < 2 ? "paddings" : "pads";
  if (e.op.attrs.Find(name) == nullptr)
    return InvalidArgument(Cat("attribute ", name, " is missing"));
  tensor::DType t = e.Type(0).dtype;
  if (t == tensor::DType::kUndefined) t = tensor::DType::kF32;
  if (!tensor::IsFloat(t) || tensor::DTypeBits(t) < 16)
    return Outcome::Foreign(Cat("x is ", tensor::DTypeName(t), " in an opset before 11"));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId filler, e.Number(t, e.op.attrs.Float("value", 0)));
  e.op.inputs.push_back(e.Int64s(e.op.attrs.IntList(name)));
  e.op.inputs.push_back(filler);
  for (const char* done : {name, "value"}) e.op.attrs.Erase(done);
  return Outcome::GoOn();
}

Result<Outcome> UpsampleToResize(Emitter& e) {
  if (e.op.inputs.size() == 1) {  // opset 7: an attribute
    const ops::Floats scales = e.op.attrs.FloatList("scales");
    e.op.inputs.push_back(e.Add(tensor::Value::FromVector(
        tensor::DType::kF32, {static_cast<std::int64_t>(scales.size())}, scales)));
    e.op.attrs.Erase("scales");
  }
  e.op.op = "Resize";
  return Outcome::GoOn();
}

// Opset 10 had (x, scales), sampled from the corner, and rounded down when enlarging, up when
// shrinking.
Result<Outcome> ResizeScalesToThird(Emitter& e) {
  if (e.op.inputs.size() != 2) return Outcome::GoOn();
  const tensor::Value* scales = e.Constant(1);
  bool down = scales != nullptr && scales->is_tensor() && tensor::IsFloat(scales->dtype());
  for (std::int64_t i = 0; down && i < scales->count(); ++i)
    down = tensor::ElementAsDouble(*scales, i) >= 1;
  down = down || e.op.attrs.String("mode", "nearest") != "nearest";  // then nothing is rounded
  e.op.inputs = {e.op.inputs[0], ir::kNoValue, e.op.inputs[1]};
  e.op.attrs.Set("coordinate_transformation_mode", std::string("asymmetric"));
  e.op.attrs.Set("nearest_mode", std::string(down ? "floor" : "simple"));
  return Outcome::GoOn();
}

Result<Outcome> TopKCountToInput(Emitter& e) {
  if (e.op.inputs.size() != 1) return Outcome::GoOn();
  if (e.op.attrs.Find("k") == nullptr) return InvalidArgument("attribute k is missing");
  e.op.inputs.push_back(e.Int64s({e.op.attrs.Int("k")}));
  e.op.attrs.Erase("k");
  return Outcome::GoOn();
}

// Before opset 16 the regions were not moved by half a pixel.
Result<Outcome> RoiAlignFromTheCorner(Emitter& e) {
  e.op.attrs.Set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return Outcome::GoOn();
}

Result<Outcome> DftAxisToInput(Emitter& e) {
  const std::int64_t axis = e.op.attrs.Int("axis", 1);
  e.op.attrs.Erase("axis");
  e.op.inputs.resize(3, ir::kNoValue);
  e.op.inputs[2] = e.Int64s({axis});
  return Outcome::GoOn();
}

// Before opset 11 an absent limit was the largest finite number.
Result<Outcome> ClipFiniteLimits(Emitter& e) {
  if (e.op.attrs.Find("min") == nullptr)
    e.op.attrs.Set("min", std::numeric_limits<float>::lowest());
  if (e.op.attrs.Find("max") == nullptr) e.op.attrs.Set("max", std::numeric_limits<float>::max());
  return Outcome::GoOn();
}

// Before opset 13 softmax and its kin ran over all dimensions from `axis` on, taken as one. The
// same as today's where axis is the last.
Result<Outcome> SoftmaxOverTheRest(Emitter& e) {
  const auto rank = e.Rank(0);
  std::int64_t axis = e.op.attrs.Int("axis", 1);
  if (e.op.outputs.size() != 1) return InvalidArgument("it has more than one output");
  if (!rank && (axis < 0 || axis > 64))
    return Outcome::Foreign(Cat(e.op.op, " over several axes of a tensor of unknown rank"));
  if (rank) {
    const auto r = static_cast<std::int64_t>(*rank);
    if (axis < -r || axis > r) return InvalidArgument(Cat("axis ", axis, " of rank ", r));
    if (axis < 0) axis += r;
    if (axis == r - 1) {
      e.op.attrs.Set("axis", std::int64_t{-1});
      return Outcome::GoOn();
    }
    if (axis == r) return Outcome::Foreign(Cat(e.op.op, " over no axis"));
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(axis), 0);  // 0 copies a size
  rows.push_back(-1);
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId flat,
                          e.Emit(op::reshape, {}, {e.input(0), e.Int64s(rows)}));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId shape, e.Emit(op::shape, {}, {e.input(0)}));
  ir::ValueId y = ir::kNoValue;
  if (e.op.op == "LogSoftmax") {
    NPUKIT_ASSIGN_OR_RETURN(y, EmitLogSoftmax(e, flat, -1, ir::kNoValue));
  } else {
    ops::Attrs last;
    last.Set("axis", std::int64_t{-1});
    NPUKIT_ASSIGN_OR_RETURN(
        y, e.Emit(e.op.op == "Hardmax" ? op::hardmax : op::softmax, std::move(last), {flat}));
  }
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::reshape, {}, {y, shape}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
