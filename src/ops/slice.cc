#include "ops/slice.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "ops/given.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Dims;
using tensor::Value;

constexpr std::size_t kStarts = 1, kEnds = 2, kAxes = 3, kSteps = 4;

// One axis of a known size: ONNX's clamping.
Cut CutAxis(std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  step = std::max(step, -std::numeric_limits<std::int64_t>::max());
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  if (dim == 0) return {0, step, 0};
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, dim);
    end = std::clamp<std::int64_t>(end, 0, dim);
    return {start, step, end <= start ? 0 : (end - start - 1) / step + 1};
  }
  start = std::clamp<std::int64_t>(start, 0, dim - 1);
  end = std::clamp<std::int64_t>(end, -1, dim - 1);
  return {start, step, end >= start ? 0 : (start - end - 1) / -step + 1};
}

// The four lists in the order of the axes of x; `known` is false while one of them is not constant.
struct Lists {
  bool known = true;
  std::vector<bool> touched;  // axes that the slice names (all, when the axes are not known)
  Ints start, end, step;      // one per axis of x
};

Result<Lists> ReadLists(std::span<const tensor::Type> inputs,
                        std::span<const Value* const> constants, std::size_t rank) {
  Lists lists;
  lists.touched.assign(rank, true);
  lists.start.assign(rank, 0);
  lists.end.assign(rank, std::numeric_limits<std::int64_t>::max());
  lists.step.assign(rank, 1);
  const auto given = [&](std::size_t i) {
    return i < inputs.size() && (inputs[i].dtype != tensor::DType::kUndefined || inputs[i].shape);
  };
  Ints list[5];
  for (std::size_t i = kStarts; i <= kSteps; ++i) {
    if (!given(i) && i > kEnds) continue;
    if (i < constants.size() && constants[i] != nullptr) {
      list[i] = tensor::ToInt64s(*constants[i]);
      if (list[i].size() > rank) {
        return InvalidArgument(
            Cat("input ", i, " names ", list[i].size(), " axes of a shape of rank ", rank));
      }
    } else {
      lists.known = false;
    }
  }
  const bool axes_known = !given(kAxes) || constants[kAxes] != nullptr;
  if (!axes_known || (!given(kAxes) && !lists.known)) return lists;
  if (!given(kAxes)) {
    for (std::size_t i = 0; i < list[kStarts].size(); ++i)
      list[kAxes].push_back(static_cast<std::int64_t>(i));
  }
  NPUKIT_ASSIGN_OR_RETURN(lists.touched, AxisMask(list[kAxes], rank));
  if (!lists.known) return lists;
  const std::size_t n = list[kAxes].size();
  if (list[kStarts].size() != n || list[kEnds].size() != n ||
      (given(kSteps) && list[kSteps].size() != n)) {
    return InvalidArgument(Cat(
        "starts, ends, axes and steps have ", list[kStarts].size(), ", ", list[kEnds].size(), ", ",
        n, " and ", given(kSteps) ? list[kSteps].size() : n, " numbers, expected as many"));
  }
  for (std::size_t i = 0; i < n; ++i) {
    NPUKIT_ASSIGN_OR_RETURN(const std::size_t a, NormalAxis(list[kAxes][i], rank));
    lists.start[a] = list[kStarts][i];
    lists.end[a] = list[kEnds][i];
    if (given(kSteps)) lists.step[a] = list[kSteps][i];
    if (lists.step[a] == 0) return InvalidArgument(Cat("the step of axis ", a, " is 0"));
  }
  return lists;
}

Status Infer(InferContext& c) {
  for (std::size_t i = kStarts; i < c.inputs.size(); ++i) {
    if (Has(c, i)) NPUKIT_RETURN_IF_ERROR(WantIndexList(c, i, true));
  }
  c.outputs[0] = tensor::Type::Tensor(c.inputs[0].dtype, c.inputs[0].shape);
  if (!c.inputs[0].shape) return OkStatus();
  std::vector<Dim>& dims = c.outputs[0].shape->dims;
  for (const std::size_t i : {kAxes, kSteps}) {
    if (!IsGiven(c, i) || Has(c, i)) continue;
    std::fill(dims.begin(), dims.end(), Dim{});  // a list of which nothing is known
    return OkStatus();
  }
  NPUKIT_ASSIGN_OR_RETURN(const Lists lists, ReadLists(c.inputs, c.constants, dims.size()));
  for (std::size_t a = 0; a < dims.size(); ++a) {
    if (!lists.touched[a]) continue;
    const bool whole = lists.known && lists.start[a] == 0 && lists.step[a] == 1 &&
                       lists.end[a] >= std::numeric_limits<std::int32_t>::max();
    if (dims[a].known() && lists.known) {
      dims[a] = Dim::Of(CutAxis(dims[a].value, lists.start[a], lists.end[a], lists.step[a]).count);
    } else if (!(whole && !dims[a].known())) {
      dims[a] = Dim{};
    }
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<Cut>> ops::PlanSlice(const Dims& x, std::span<const Value> inputs) {
  const KnownInputs known(inputs);
  NPUKIT_ASSIGN_OR_RETURN(const Lists lists, ReadLists(known.types, known.constants, x.size()));
  std::vector<Cut> cuts;
  for (std::size_t a = 0; a < x.size(); ++a) {
    cuts.push_back(CutAxis(x[a], lists.start[a], lists.end[a], lists.step[a]));
  }
  return cuts;
}

namespace {

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<Cut> cuts, PlanSlice(x.dims(), c.inputs));
  Dims strides = tensor::DenseStrides(x.dims());
  std::int64_t first = 0;
  for (std::size_t a = 0; a < strides.size(); ++a) {
    first += cuts[a].start * strides[a];
    strides[a] = cuts[a].count > 1 ? strides[a] * cuts[a].step
                                   : 0;  // with one element the step may be any number
  }
  ForEachIndex<1>(y.dims(), {strides},
                  [&](std::int64_t i, const auto* at) { CopyElement(y, i, x, first + at[0]); });
  return OkStatus();
}

}  // namespace

constinit const OpDef op::slice = {
    .name = "slice",
    .summary =
        "part of x: from start to before end in steps, per axis; negative numbers count from the "
        "end",
    .min_inputs = 3,
    .max_inputs = 5,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Slice", .tflite = "STRIDED_SLICE", .nnrt = "OH_NN_OPS_STRIDED_SLICE"},
};

}  // namespace npukit
