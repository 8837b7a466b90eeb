#include <algorithm>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 1, false));
  const tensor::Type& theta = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(theta.dtype, std::nullopt);
  Dim spatial;  // 2 or 3
  if (theta.shape) {
    if (theta.shape->rank() != 3)
      return InvalidArgument(Cat("input 0 is ", theta.ToString(), ", expected rank 3"));
    const Dim& rows = theta.shape->dims[1];
    const Dim& columns = theta.shape->dims[2];
    if (rows.known()) spatial = rows;
    if (columns.known() && !rows.known())
      spatial = Dim::Of(std::max<std::int64_t>(columns.value - 1, 0));
    if (spatial.known() && ((spatial.value != 2 && spatial.value != 3) ||
                            (columns.known() && columns.value != spatial.value + 1))) {
      return InvalidArgument(
          Cat("input 0 is ", theta.ToString(), ", expected [N, 2, 3] or [N, 3, 4]"));
    }
  }
  const Value* size = c.constants[1];
  if (size == nullptr) return OkStatus();
  const Ints sizes = tensor::ToInt64s(*size);
  if ((sizes.size() != 4 && sizes.size() != 5) ||
      (spatial.known() && static_cast<std::int64_t>(sizes.size()) != spatial.value + 2)) {
    return InvalidArgument(Cat("size has ", sizes.size(), " numbers, expected ",
                               spatial.known() ? Cat(spatial.value + 2) : "4 or 5"));
  }
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) return InvalidArgument(Cat("size holds ", sizes[i]));
    if (i != 1) dims.push_back(Dim::Of(sizes[i]));
  }
  if (theta.shape) {
    const auto n = SameDim(theta.shape->dims[0], dims[0]);
    if (!n.ok()) return n.status().WithContext("batches of theta and size");
  }
  dims.push_back(Dim::Of(static_cast<std::int64_t>(sizes.size()) - 2));
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

// Places from -1 to 1, at the centres of the first and last one or at their outer edges.
double PlaceOf(std::int64_t i, std::int64_t n, bool align_corners) {
  const auto x = static_cast<double>(i), count = static_cast<double>(n);
  if (align_corners) return n == 1 ? 0 : -1 + 2 * x / (count - 1);
  return (2 * x + 1) / count - 1;
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& theta = c.inputs[0];
  const bool align = c.attrs->Int("align_corners", 0) != 0;
  const std::size_t spatial = y.dims().size() - 2;
  const auto rows = static_cast<std::int64_t>(spatial);
  const tensor::Dims strides = tensor::DenseStrides(y.dims());
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const std::int64_t row = i % rows, n = i / strides[0];
    const std::int64_t first = (n * rows + row) * (rows + 1);
    double sum = Load(theta, first + rows);
    for (std::size_t d = 0; d < spatial; ++d) {  // x is the last dimension
      const std::size_t axis = spatial - d;
      const std::int64_t k = i / strides[axis] % y.dims()[axis];
      sum += Load(theta, first + static_cast<std::int64_t>(d)) * PlaceOf(k, y.dims()[axis], align);
    }
    Store(y, i, sum);
  }
  return OkStatus();
}

OpCost GridCost(const CostContext& c) {
  return {.vector_ops = 4 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"align_corners", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::affine_grid = {
    .name = "affine_grid",
    .summary = "where an affine map sends each place of an image (2-D or 3-D), in -1 to 1",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = GridCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "AffineGrid"},
};

}  // namespace npukit
