#include <algorithm>
#include <limits>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

struct Range {
  std::size_t begin, end;
};

Range ReadRange(const Attrs& attrs, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  const auto place = [r](std::int64_t i) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(i < 0 ? i + r : i, 0, r));
  };
  const std::size_t begin = place(attrs.Int("start", 0));
  return {begin,
          std::max(begin, place(attrs.Int("end", std::numeric_limits<std::int64_t>::max())))};
}

Status Infer(InferContext& c) {
  tensor::Dim n;
  if (c.inputs[0].shape) {
    const Range range = ReadRange(c.attrs, c.inputs[0].shape->rank());
    n = tensor::Dim::Of(static_cast<std::int64_t>(range.end - range.begin));
  }
  c.outputs[0] = tensor::Type::Tensor(tensor::DType::kI64, tensor::Shape({n}));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, Infer));
  const tensor::Dims& dims = c.inputs[0].dims();
  const Range range = ReadRange(*c.attrs, dims.size());
  for (std::size_t i = range.begin; i < range.end; ++i) {
    StoreBits(y, static_cast<std::int64_t>(i - range.begin), static_cast<std::uint64_t>(dims[i]));
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"start", AttrKind::kInt}, {"end", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::shape = {
    .name = "shape",
    .summary = "the sizes of x, from dimension start to before end, as int64",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
    .loop = LoopShape::kShape,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Shape", .tflite = "SHAPE", .nnrt = "OH_NN_OPS_SHAPE"},
};

}  // namespace npukit
