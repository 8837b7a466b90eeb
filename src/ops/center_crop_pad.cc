#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

Result<std::vector<std::size_t>> NamedAxes(const Attrs& attrs, std::size_t rank) {
  Ints named = attrs.IntList("axes");
  if (attrs.Find("axes") == nullptr) {
    for (std::size_t i = 0; i < rank; ++i) named.push_back(static_cast<std::int64_t>(i));
  }
  NPUKIT_RETURN_IF_ERROR(AxisMask(named, rank).status());
  std::vector<std::size_t> axes;
  for (const std::int64_t a : named) {
    NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis, NormalAxis(a, rank));
    axes.push_back(axis);
  }
  return axes;
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 1, true));
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, x.shape);
  if (!x.shape) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const auto axes, NamedAxes(c.attrs, x.shape->rank()));
  const Value* sizes = c.constants[1];
  if (sizes != nullptr && sizes->count() != static_cast<std::int64_t>(axes.size())) {
    return InvalidArgument(Cat("input 1 has ", sizes->count(), " sizes, expected one for each of ",
                               axes.size(), " axes"));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Dim& d = c.outputs[0].shape->dims[axes[i]];
    d = Dim{};
    if (sizes == nullptr) continue;
    const std::int64_t n = tensor::ElementAsInt64(*sizes, static_cast<std::int64_t>(i));
    if (n < 0) return InvalidArgument(Cat("axis ", axes[i], " cannot have ", n, " elements"));
    d = Dim::Of(n);
  }
  return OkStatus();
}

// Half of the difference is in front; of an odd one the smaller half.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(Value zero, Value::Allocate(x.dtype(), {1}));
  if (zero.byte_size() != 0) __builtin_memset(zero.mutable_data(), 0, zero.byte_size());
  const tensor::Dims strides = tensor::DenseStrides(x.dims());
  const tensor::Dims out_strides = tensor::DenseStrides(y.dims());
  for (std::int64_t i = 0; i < y.count(); ++i) {
    std::int64_t from = 0;
    for (std::size_t d = 0; from >= 0 && d < strides.size(); ++d) {
      const std::int64_t n = x.dims()[d], m = y.dims()[d];
      const std::int64_t k = i / out_strides[d] % m;
      const std::int64_t at = m > n ? k - (m - n) / 2 : k + (n - m) / 2;
      from = at < 0 || at >= n ? -1 : from + at * strides[d];
    }
    CopyElement(y, i, from < 0 ? zero : x, from < 0 ? 0 : from);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"axes", AttrKind::kInts}};

}  // namespace

constinit const OpDef op::center_crop_pad = {
    .name = "center_crop_pad",
    .summary =
        "the middle of x where it is larger than the sizes, x amid zeros where it is smaller",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .foreign = {.onnx = "CenterCropPad"},
};

}  // namespace npukit
