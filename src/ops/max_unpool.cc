#include "base/text.h"
#include "ops/given.h"
#include "ops/indexing.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

constexpr std::size_t kIndices = 1, kOutputShape = 2;
constexpr std::int64_t kMaxSize = std::int64_t{1} << 30;  // products of two cannot overflow

// The sizes that a pool of this window would have come from.
Result<tensor::Shape> Unpooled(const Attrs& attrs, const tensor::Shape& x) {
  const Ints kernel = attrs.IntList("kernel_shape");
  const std::size_t n = kernel.size();
  const Ints strides = attrs.IntList("strides", Ints(n, 1));
  const Ints pads = attrs.IntList("pads", Ints(2 * n, 0));
  if (n == 0 || x.rank() != n + 2 || strides.size() != n || pads.size() != 2 * n) {
    return InvalidArgument(Cat("kernel_shape, strides and pads have ", n, ", ", strides.size(),
                               " and ", pads.size(), " numbers for a shape of rank ", x.rank()));
  }
  tensor::Shape out = x;
  for (std::size_t d = 0; d < n; ++d) {
    for (const std::int64_t v : {kernel[d], strides[d]}) {
      if (v < 1 || v > kMaxSize) return InvalidArgument(Cat("kernel_shape or strides holds ", v));
    }
    if (pads[d] < 0 || pads[d] > kMaxSize || pads[d + n] < 0 || pads[d + n] > kMaxSize)
      return InvalidArgument(Cat("pads are ", pads[d], " and ", pads[d + n]));
    Dim& dim = out.dims[d + 2];
    if (!dim.known()) {
      dim = Dim{};
      continue;
    }
    if (dim.value > kMaxSize) return ResourceExhausted(Cat("dimension ", d + 2, " is too long"));
    const std::int64_t size = (dim.value - 1) * strides[d] - pads[d] - pads[d + n] + kernel[d];
    if (size < 0)
      return InvalidArgument(Cat("dimension ", d + 2, " would have ", size, " elements"));
    dim = Dim::Of(size);
  }
  return out;
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantIndices(c, kIndices, false));
  const tensor::Type& x = c.inputs[0];
  const tensor::Type& indices = c.inputs[kIndices];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (x.is_static() && indices.is_static() && x.dims() != indices.dims()) {
    return InvalidArgument(
        Cat("input 1 is ", indices.ToString(), ", expected the shape of ", x.ToString()));
  }
  if (IsGiven(c, kOutputShape)) {
    NPUKIT_RETURN_IF_ERROR(WantIndexList(c, kOutputShape, false));
    if (!x.shape) return OkStatus();
    NPUKIT_RETURN_IF_ERROR(Unpooled(c.attrs, *x.shape).status());
    tensor::Shape shape(std::vector<Dim>(x.shape->rank()));
    if (const Value* given = c.constants[kOutputShape]) {
      if (given->count() != static_cast<std::int64_t>(shape.rank())) {
        return InvalidArgument(
            Cat("output_shape has ", given->count(), " sizes, expected ", shape.rank()));
      }
      for (std::size_t d = 0; d < shape.rank(); ++d) {
        const std::int64_t n = tensor::ElementAsInt64(*given, static_cast<std::int64_t>(d));
        if (n < 0) return InvalidArgument(Cat("output_shape holds ", n));
        shape.dims[d] = Dim::Of(n);
      }
    }
    c.outputs[0].shape = std::move(shape);
    return OkStatus();
  }
  if (!x.shape) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(c.outputs[0].shape, Unpooled(c.attrs, *x.shape));
  return OkStatus();
}

// The indices count in the tensor that the pool came from; a larger output_shape only adds zeros
// behind it.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const tensor::Shape from,
                          Unpooled(*c.attrs, tensor::Shape::Of(x.dims())));
  const tensor::Dims dims = *from.Concrete();
  const auto count = tensor::ElementCount(dims);
  if (!count) return ResourceExhausted(Cat(from.ToString(), " is too large"));
  for (std::int64_t i = 0; i < y.count(); ++i) tensor::StoreDouble(y, i, 0);
  const tensor::Dims strides = tensor::DenseStrides(dims);
  const tensor::Dims out_strides = tensor::DenseStrides(y.dims());
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::int64_t given = tensor::ElementAsInt64(c.inputs[kIndices], i);
    if (given < 0 || given >= *count)
      return InvalidArgument(Cat("index ", given, " is outside ", from.ToString()));
    std::int64_t to = 0;
    for (std::size_t d = 0; to >= 0 && d < dims.size(); ++d) {
      const std::int64_t at = given / strides[d] % dims[d];
      to = at >= y.dims()[d] ? -1 : to + at * out_strides[d];
    }
    if (to >= 0) CopyElement(y, to, x, i);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"kernel_shape", AttrKind::kInts, true},
                              {"pads", AttrKind::kInts},
                              {"strides", AttrKind::kInts}};

}  // namespace

constinit const OpDef op::max_unpool = {
    .name = "max_unpool",
    .summary = "the elements that a max pool kept, back at their places; zeros elsewhere",
    .min_inputs = 2,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "MaxUnpool"},
};

}  // namespace npukit
