// com.microsoft: matrix products and convolutions with what optimisers fuse to them.
#include <algorithm>
#include <numeric>

#include "importers/onnx/composites/build.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportConv(Emitter& e);
Result<Outcome> ImportConvTranspose(Emitter& e);
Result<Outcome> ImportGemm(Emitter& e);
Result<Outcome> ImportMaxPool(Emitter& e);

namespace {

// How an operand lies in the file: `batch` has its rows first and the batch behind them, `last`
// its last two dimensions swapped.
Result<Outcome> Turned(Emitter& e, std::size_t input, bool batch, bool last, ir::ValueId* out) {
  *out = e.input(input);
  if (!batch && !last) return Outcome::GoOn();
  const auto rank = e.Rank(input);
  if (!rank) return UnknownRank(input == 0 ? "A" : "B");
  if (*rank < 2) return Outcome::GoOn();
  ops::Ints perm(*rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (batch) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (last) std::swap(perm[*rank - 1], perm[*rank - 2]);
  NPUKIT_ASSIGN_OR_RETURN(*out, e.Emit(op::transpose, Attributes({{"perm", perm}}), {*out}));
  return Outcome::GoOn();
}

void Rename(Emitter& e, const char* op, std::size_t inputs) {
  e.op.domain.clear();
  e.op.op = op;
  if (e.op.inputs.size() > inputs) e.op.inputs.resize(inputs);
}

}  // namespace

// alpha * A' B'
Result<Outcome> ImportMicrosoftFusedMatMul(Emitter& e) {
  if (!e.has(0) || !e.has(1)) return InvalidArgument("FusedMatMul needs A and B");
  const ops::Attrs& attrs = e.op.attrs;
  ir::ValueId a = 0, b = 0;
  NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, Turned(e, 0, attrs.Int("transBatchA", 0) != 0,
                                                  attrs.Int("transA", 0) != 0, &a));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  NPUKIT_ASSIGN_OR_RETURN(
      outcome, Turned(e, 1, attrs.Int("transBatchB", 0) != 0, attrs.Int("transB", 0) != 0, &b));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  const float alpha = attrs.Float("alpha", 1);
  Build build(e);
  if (alpha == 1) {
    build.To(0, op::matmul, {a, b});
    return build.Done();
  }
  const tensor::DType t =
      e.Type(0).dtype != tensor::DType::kUndefined ? e.Type(0).dtype : e.Type(1).dtype;
  if (!tensor::IsFloat(t)) return UnknownType("A");
  build.To(0, op::mul, {build(op::matmul, {a, b}), build.Scalar(t, alpha)});
  return build.Done();
}

Result<Outcome> ImportMicrosoftFusedGemm(Emitter& e) {
  const std::string activation(e.op.attrs.String("activation"));
  ops::Floats params;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (e.op.attrs.Find(name) == nullptr) break;
    params.push_back(e.op.attrs.Float(name));
  }
  Rename(e, "Gemm", 3);
  if (activation.empty()) return ImportGemm(e);
  ir::ValueId x = 0;
  NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, Redirected(e, ImportGemm, &x));
  if (outcome.kind != Outcome::Kind::kDone) return outcome;
  return EmitActivation(e, activation, params, x, e.op.outputs[0]);
}

// activation(conv(X, W, B) + Z)
Result<Outcome> ImportMicrosoftFusedConv(Emitter& e) {
  const std::string activation(e.op.attrs.String("activation"));
  const ops::Floats params = e.op.attrs.FloatList("activation_params");
  const ir::ValueId z = e.input(3);
  Rename(e, "Conv", 3);
  if (activation.empty() && z == ir::kNoValue) return ImportConv(e);
  ir::ValueId x = 0;
  NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, Redirected(e, ImportConv, &x));
  if (outcome.kind != Outcome::Kind::kDone) return outcome;
  if (activation.empty()) {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::add, {}, {x, z}, e.op.outputs[0]));
    return Outcome::Done();
  }
  if (z != ir::kNoValue) {
    NPUKIT_ASSIGN_OR_RETURN(x, e.Emit(op::add, {}, {x, z}));
  }
  return EmitActivation(e, activation, params, x, e.op.outputs[0]);
}

Result<Outcome> ImportMicrosoftConvTransposeWithDynamicPads(Emitter& e) {
  if (e.has(2)) {
    const tensor::Value* pads = e.Constant(2);
    if (pads == nullptr || !pads->is_tensor() || !tensor::IsInteger(pads->dtype()) ||
        pads->count() > 64) {
      return Outcome::Foreign("Pads is not a constant", "export with pads that are constants");
    }
    e.op.attrs.Set("pads", tensor::ToInt64s(*pads));
  }
  const ir::ValueId bias = e.input(3);
  Rename(e, "ConvTranspose", 2);
  if (bias != ir::kNoValue) e.op.inputs.push_back(bias);
  return ImportConvTranspose(e);
}

// Channels last; the file's kernel, pads and strides speak of the dimensions between.
Result<Outcome> ImportMicrosoftNhwcMaxPool(Emitter& e) {
  const auto rank = e.Rank(0);
  if (!rank) return UnknownRank("x");
  if (*rank < 3) return InvalidArgument("x has no spatial dimension");
  ops::Ints first(*rank), last(*rank);
  std::iota(first.begin(), first.end(), 0);
  std::iota(last.begin(), last.end(), 0);
  std::rotate(first.begin() + 1, first.end() - 1, first.end());  // 0, n, 1, ...
  std::rotate(last.begin() + 1, last.begin() + 2, last.end());   // 0, 2, ..., 1
  NPUKIT_ASSIGN_OR_RETURN(e.op.inputs[0],
                          e.Emit(op::transpose, Attributes({{"perm", first}}), {e.input(0)}));
  ir::ValueId pooled = 0;
  Rename(e, "MaxPool", 1);
  NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, Redirected(e, ImportMaxPool, &pooled));
  if (outcome.kind != Outcome::Kind::kDone) return outcome;
  Build b(e);
  b.To(0, op::transpose, {pooled}, Attributes({{"perm", last}}));
  return b.Done();
}

Result<Outcome> ImportMicrosoftPad(Emitter& e) {
  Build b(e);
  ir::ValueId pads = e.input(1);
  if (e.Rank(1).value_or(2) != 1) pads = b.Reshape(pads, {-1});  // [1, 2 * rank] too
  ir::ValueId value = e.input(2);
  if (e.has(2) && e.Rank(2).value_or(1) != 0) value = b(op::reshape, {value, b.Ints({})});
  b.To(0, op::pad, {e.input(0), pads, value}, Only(e.op.attrs, {"mode"}));
  return b.Done();
}

Result<Outcome> ImportMicrosoftGatherND(Emitter& e) {
  Build b(e);
  b.To(0, op::gather_nd, e.op.inputs);
  return b.Done();
}

}  // namespace npukit::importers::onnx
