// com.microsoft: operators between a quantised input and a quantised result. Each is the float
// operator between a dequantisation and a quantisation.
#include <algorithm>
#include <numeric>

#include "importers/onnx/composites/build.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportAveragePool(Emitter& e);
Result<Outcome> ImportGlobalAveragePool(Emitter& e);

namespace {

// Value, scale and zero point (may be absent) from input `first` on.
ir::ValueId Float(Emitter& e, Build& b, std::size_t first) {
  return b(op::dequantize_linear, {e.input(first), e.input(first + 1), e.input(first + 2)});
}

// The result, as the type of input `like`, with the scale and zero point from input `first` on.
void ToResult(Emitter& e, Build& b, ir::ValueId y, std::size_t first, std::size_t like) {
  ops::Attrs attrs;
  if (!e.has(first + 1)) {
    if (!e.has(like) || !tensor::IsInteger(e.Type(like).dtype)) {
      return b.Fail(InvalidArgument("no zero point and no type says how the result is quantised"));
    }
    attrs.Set("output_dtype", static_cast<std::int64_t>(e.Type(like).dtype));
  }
  b.To(0, op::quantize_linear, {y, e.input(first), e.input(first + 1)}, std::move(attrs));
}

Result<Outcome> Binary(Emitter& e, const ops::OpDef& def) {
  Build b(e);
  ToResult(e, b, b(def, {Float(e, b, 0), Float(e, b, 3)}), 6, 0);
  return b.Done();
}

Result<Outcome> Unary(Emitter& e, const ops::OpDef& def, ops::Attrs attrs) {
  Build b(e);
  ToResult(e, b, b(def, {Float(e, b, 0)}, std::move(attrs)), 3, 0);
  return b.Done();
}

// 0, n, 1, ..., n - 1 and its inverse.
ops::Ints ChannelsFirst(std::size_t rank) {
  ops::Ints perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  return perm;
}
ops::Ints ChannelsLast(std::size_t rank) {
  ops::Ints perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  return perm;
}

// A pool of ONNX between the two, in either order of dimensions.
template <class Import>
Result<Outcome> Pool(Emitter& e, const char* onnx, Import import) {
  const bool last = e.op.attrs.Int("channels_last", 0) != 0;
  const auto rank = e.Rank(0);
  if (!rank) return UnknownRank("x");
  if (*rank < 3)
    return InvalidArgument(Cat("x is ", e.Type(0).ToString(), ", expected rank 3 or more"));
  Build b(e);
  ir::ValueId x = Float(e, b, 0);
  if (last) x = b.Transpose(x, ChannelsFirst(*rank));
  if (!b.ok()) return b.Done();
  const SourceOp original = e.op;
  e.op.domain.clear();
  e.op.op = onnx;
  e.op.attrs.Erase("channels_last");
  e.op.inputs = {x};
  ir::ValueId y = 0;
  NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, Redirected(e, import, &y));
  if (outcome.kind != Outcome::Kind::kDone) return outcome;
  e.op = original;
  if (last) y = b.Transpose(y, ChannelsLast(*rank));
  ToResult(e, b, y, 3, 0);
  return b.Done();
}

}  // namespace

Result<Outcome> ImportMicrosoftQLinearAdd(Emitter& e) { return Binary(e, op::add); }
Result<Outcome> ImportMicrosoftQLinearMul(Emitter& e) { return Binary(e, op::mul); }
Result<Outcome> ImportMicrosoftQLinearSigmoid(Emitter& e) { return Unary(e, op::sigmoid, {}); }
Result<Outcome> ImportMicrosoftQLinearLeakyRelu(Emitter& e) {
  return Unary(e, op::leaky_relu, Only(e.op.attrs, {"alpha"}));
}

// Before opset 13 a softmax goes over all dimensions from the axis on.
Result<Outcome> ImportMicrosoftQLinearSoftmax(Emitter& e) {
  const std::int64_t axis = e.op.attrs.Int("axis", -1);
  if (e.op.attrs.Int("opset", 13) < 13 && axis != -1) {
    const auto rank = e.Rank(0);
    if (!rank) return UnknownRank("x");
    if (axis + 1 != static_cast<std::int64_t>(*rank)) {
      return Outcome::Foreign("a softmax over several dimensions", "export with opset 13 or newer");
    }
  }
  return Unary(e, op::softmax, Attributes({{"axis", axis}}));
}

Result<Outcome> ImportMicrosoftQLinearReduceMean(Emitter& e) {
  return Unary(e, op::reduce_mean, Only(e.op.attrs, {"axes", "keepdims"}));
}

Result<Outcome> ImportMicrosoftQLinearAveragePool(Emitter& e) {
  return Pool(e, "AveragePool", ImportAveragePool);
}
Result<Outcome> ImportMicrosoftQLinearGlobalAveragePool(Emitter& e) {
  return Pool(e, "GlobalAveragePool", ImportGlobalAveragePool);
}

// Scale and zero point of the result, then three inputs for each part.
Result<Outcome> ImportMicrosoftQLinearConcat(Emitter& e) {
  if (e.op.inputs.size() < 5 || (e.op.inputs.size() - 2) % 3 != 0)
    return InvalidArgument(Cat("QLinearConcat has ", e.op.inputs.size(),
                               " inputs, expected 2 and three for each part"));
  Build b(e);
  std::vector<ir::ValueId> parts;
  for (std::size_t i = 2; i < e.op.inputs.size(); i += 3) parts.push_back(Float(e, b, i));
  ToResult(e, b, b(op::concat, std::move(parts), Only(e.op.attrs, {"axis"})), 0, 2);
  return b.Done();
}

Result<Outcome> ImportMicrosoftQLinearWhere(Emitter& e) {
  Build b(e);
  ToResult(e, b, b(op::where, {e.input(0), Float(e, b, 1), Float(e, b, 4)}), 7, 1);
  return b.Done();
}

Result<Outcome> ImportMicrosoftQLinearConv(Emitter& e) {
  Build b(e);
  const bool last = e.op.attrs.Int("channels_last", 0) != 0;
  e.op.attrs.Erase("channels_last");
  if (!last) {
    b.To(0, op::qlinear_conv, e.op.inputs, e.op.attrs);
    return b.Done();
  }
  const auto rank = e.Rank(0) ? e.Rank(0) : e.Rank(3);
  if (!rank) return UnknownRank("x");
  if (*rank < 3)
    return InvalidArgument(Cat("x is ", e.Type(0).ToString(), ", expected rank 3 or more"));
  std::vector<ir::ValueId> inputs = e.op.inputs;
  inputs[0] = b.Transpose(inputs[0], ChannelsFirst(*rank));
  const ir::ValueId y = b(op::qlinear_conv, std::move(inputs), e.op.attrs);
  b.To(0, op::transpose, {y}, Attributes({{"perm", ChannelsLast(*rank)}}));
  return b.Done();
}

}  // namespace npukit::importers::onnx
