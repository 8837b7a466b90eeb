#include "base/text.h"
#include "ops/indexing.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Value;

constexpr std::int64_t kMaxSize = std::int64_t{1} << 30;  // products of two cannot overflow
constexpr std::size_t kMaxAxes = 16;

// One spatial dimension.
struct Axis {
  std::int64_t image = 0, block = 0, stride = 1, dilation = 1, begin = 0;
  std::int64_t steps = 0;  // blocks that fit
};

Result<std::vector<Axis>> Plan(const Attrs& attrs, const Value& image, const Value& block) {
  const Ints images = tensor::ToInt64s(image), blocks = tensor::ToInt64s(block);
  const std::size_t n = images.size();
  if (blocks.size() != n || n == 0 || n > kMaxAxes) {
    return InvalidArgument(Cat("image_shape has ", n, " sizes and block_shape ", blocks.size(),
                               ", expected as many, 1 to ", kMaxAxes));
  }
  const Ints strides = attrs.IntList("strides", Ints(n, 1));
  const Ints dilations = attrs.IntList("dilations", Ints(n, 1));
  const Ints pads = attrs.IntList("pads", Ints(2 * n, 0));
  if (strides.size() != n || dilations.size() != n || pads.size() != 2 * n) {
    return InvalidArgument(Cat("strides, dilations and pads have ", strides.size(), ", ",
                               dilations.size(), " and ", pads.size(), " numbers for ", n,
                               " dimensions"));
  }
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < n; ++d) {
    for (const std::int64_t v : {images[d], blocks[d], strides[d], dilations[d]}) {
      if (v < 1 || v > kMaxSize)
        return InvalidArgument(Cat("dimension ", d, ": a size, stride or dilation is ", v));
    }
    if (pads[d] < 0 || pads[d] > kMaxSize || pads[d + n] < 0 || pads[d + n] > kMaxSize)
      return InvalidArgument(Cat("dimension ", d, ": pads are ", pads[d], " and ", pads[d + n]));
    Axis a{images[d], blocks[d], strides[d], dilations[d], pads[d], 0};
    const std::int64_t room = a.image + pads[d] + pads[d + n] - a.dilation * (a.block - 1) - 1;
    if (room < 0)
      return InvalidArgument(Cat("dimension ", d, ": the block is larger than the image"));
    a.steps = room / a.stride + 1;
    axes.push_back(a);
  }
  return axes;
}

Status Infer(InferContext& c) {
  const tensor::Type& x = c.inputs[0];
  if (x.dtype != DType::kUndefined && x.dtype != DType::kBool && !IsNumber(x.dtype)) {
    return InvalidArgument(
        Cat("input 0 is ", tensor::DTypeName(x.dtype), ", expected a number type or bool"));
  }
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 1, false));
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 2, false));
  if (x.shape && x.shape->rank() != 3)
    return InvalidArgument(Cat("input 0 is ", x.ToString(), ", expected rank 3"));
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (c.constants[1] == nullptr || c.constants[2] == nullptr) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const auto axes, Plan(c.attrs, *c.constants[1], *c.constants[2]));
  std::vector<Dim> dims(2);
  std::int64_t block = 1, steps = 1;
  for (const Axis& a : axes) {
    if (__builtin_mul_overflow(block, a.block, &block) ||
        __builtin_mul_overflow(steps, a.steps, &steps))
      return ResourceExhausted("the blocks are too large");
    dims.push_back(Dim::Of(a.image));
  }
  if (x.shape) {
    const std::vector<Dim>& in = x.shape->dims;
    if (in[1].known() && in[1].value % block != 0) {
      return InvalidArgument(
          Cat("the ", in[1].value, " rows are no multiple of the ", block, " elements of a block"));
    }
    if (in[2].known() && in[2].value != steps)
      return InvalidArgument(Cat("there are ", in[2].value, " columns, expected ", steps));
    dims[0] = in[0];
    if (in[1].known()) dims[1] = Dim::Of(in[1].value / block);
  }
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const auto axes, Plan(*c.attrs, c.inputs[1], c.inputs[2]));
  for (std::int64_t i = 0; i < y.count(); ++i) tensor::StoreDouble(y, i, 0);
  Scatterer sums(y, Reduction::kAdd);
  std::int64_t block = 1, image = 1;
  for (const Axis& a : axes) {
    block *= a.block;
    image *= a.image;
  }
  const std::int64_t columns = x.dims()[2];
  for (std::int64_t i = 0; i < x.count(); ++i) {
    std::int64_t place = i / columns % block, step = i % columns;
    const std::int64_t channel = i / (columns * block);
    std::int64_t to = 0, unit = 1;
    for (std::size_t d = axes.size(); d-- > 0 && to >= 0;) {
      const Axis& a = axes[d];
      const std::int64_t at = step % a.steps * a.stride + place % a.block * a.dilation - a.begin;
      to = at < 0 || at >= a.image ? -1 : to + at * unit;
      unit *= a.image;
      step /= a.steps;
      place /= a.block;
    }
    if (to >= 0) sums.Put(channel * image + to, x, i);
  }
  sums.Finish();
  return OkStatus();
}

OpCost Col2ImCost(const CostContext& c) {
  return {.vector_ops = CountOf(c.inputs[0]), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {
    {"dilations", AttrKind::kInts}, {"pads", AttrKind::kInts}, {"strides", AttrKind::kInts}};

}  // namespace

constinit const OpDef op::col2im = {
    .name = "col2im",
    .summary = "columns of blocks put back into an image; where blocks overlap they are added",
    .min_inputs = 3,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = Col2ImCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "Col2Im"},
};

}  // namespace npukit
