#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

constexpr std::size_t kMaxRank = 1024;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 1, false));
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (c.constants[1] == nullptr) {  // the length of the list is the rank
    const auto& list = c.inputs[1].shape;
    if (list && list->dims[0].known() &&
        list->dims[0].value <= static_cast<std::int64_t>(kMaxRank)) {
      c.outputs[0].shape =
          tensor::Shape(std::vector<Dim>(static_cast<std::size_t>(list->dims[0].value), Dim{}));
    }
    return OkStatus();
  }
  const Ints wanted = tensor::ToInt64s(*c.constants[1]);
  if (wanted.size() > kMaxRank)
    return ResourceExhausted(Cat("the shape has ", wanted.size(), " sizes"));
  const bool allow_zero = c.attrs.Int("allowzero", 0) != 0;
  std::vector<Dim> dims;
  std::optional<std::size_t> guess;
  std::int64_t rest = 1;  // product of the known sizes
  bool rest_known = true;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Dim d = Dim::Of(wanted[i]);
    if (wanted[i] == -1) {
      if (guess)
        return InvalidArgument(Cat("shape [", JoinInts(wanted, ", "), "] has more than one -1"));
      guess = i;
      dims.push_back(Dim{});
      continue;
    }
    if (wanted[i] < -1)
      return InvalidArgument(Cat("shape [", JoinInts(wanted, ", "), "] has a negative size"));
    if (wanted[i] == 0 && !allow_zero) {
      if (!x.shape) {
        d = Dim{};
      } else if (i < x.shape->rank()) {
        d = x.shape->dims[i];
      } else {
        return InvalidArgument(Cat("shape [", JoinInts(wanted, ", "), "] copies dimension ", i,
                                   ", which ", x.ToString(), " does not have"));
      }
    }
    rest_known = rest_known && d.known();
    if (d.known() && __builtin_mul_overflow(rest, d.value, &rest)) {
      return ResourceExhausted(Cat("shape [", JoinInts(wanted, ", "), "] is too large"));
    }
    dims.push_back(std::move(d));
  }
  if (guess && allow_zero && rest == 0) {
    return InvalidArgument(
        Cat("shape [", JoinInts(wanted, ", "), "] has both 0 and -1, so -1 could be anything"));
  }
  if (x.is_static() && rest_known) {
    const auto count = tensor::ElementCount(x.dims());
    if (!count) return ResourceExhausted(Cat(x.ToString(), " is too large"));
    const bool fits = guess ? rest != 0 && *count % rest == 0 : *count == rest;
    if (!fits) {
      return InvalidArgument(Cat("the ", *count, " elements of ", x.ToString(),
                                 " do not fill shape [", JoinInts(wanted, ", "), "]"));
    }
    if (guess) dims[*guess] = Dim::Of(*count / rest);
  } else if (guess && x.shape) {
    // Sizes that both sides copy cancel: [N, 3, 4] to [0, -1] is [N, 12] although N is not known.
    std::int64_t left = 1;
    bool left_known = true;
    for (std::size_t i = 0; i < x.shape->rank() && left_known; ++i) {
      const bool copied = i < wanted.size() && wanted[i] == 0 && !allow_zero;
      if (copied) continue;
      left_known =
          x.shape->dims[i].known() && !__builtin_mul_overflow(left, x.shape->dims[i].value, &left);
    }
    std::int64_t right = 1;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] > 0) right *= wanted[i];  // fits: `rest` did
    }
    if (left_known && left % right == 0) dims[*guess] = Dim::Of(left / right);
  }
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  CopyAll(y, c.inputs[0]);
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"allowzero", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::reshape = {
    .name = "reshape",
    .summary = "the same elements in another shape; -1 is worked out, 0 copies (unless allowzero)",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Reshape", .tflite = "RESHAPE", .nnrt = "OH_NN_OPS_RESHAPE"},
};

}  // namespace npukit
