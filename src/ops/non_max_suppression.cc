#include <algorithm>

#include "base/text.h"
#include "ops/indexing.h"
#include "ops/outputs.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Type;
using tensor::Value;

constexpr std::size_t kScores = 1, kMaxBoxes = 2, kOverlap = 3, kScoreLimit = 4;
// Pairs of boxes that inference compares to know how many are left. It is asked again and again.
constexpr double kMostPairsInferred = 1 << 17;

// In fp32, as runtimes do: boxes that just overlap fall on the same side.
struct Box {
  float low[2], high[2];
};

Box ReadBox(const Value& boxes, std::int64_t i, bool center) {
  float v[4];
  for (int k = 0; k < 4; ++k) v[k] = static_cast<float>(Load(boxes, i * 4 + k));
  if (center) {  // x, y, width, height
    return {{v[0] - v[2] / 2, v[1] - v[3] / 2}, {v[0] + v[2] / 2, v[1] + v[3] / 2}};
  }
  return {{std::min(v[1], v[3]), std::min(v[0], v[2])},
          {std::max(v[1], v[3]), std::max(v[0], v[2])}};
}

bool Suppresses(const Box& a, const Box& b, float limit) {
  const float w = std::min(a.high[0], b.high[0]) - std::max(a.low[0], b.low[0]);
  const float h = std::min(a.high[1], b.high[1]) - std::max(a.low[1], b.low[1]);
  if (!(w > 0) || !(h > 0)) return false;
  const float shared = w * h;
  const float area_a = (a.high[0] - a.low[0]) * (a.high[1] - a.low[1]);
  const float area_b = (b.high[0] - b.low[0]) * (b.high[1] - b.low[1]);
  const float both = area_a + area_b - shared;
  if (!(area_a > 0) || !(area_b > 0) || !(both > 0)) return false;
  return shared / both > limit;
}

const Value* Given(std::span<const Value* const> inputs, std::size_t i) {
  return i < inputs.size() && inputs[i] != nullptr && inputs[i]->count() == 1 ? inputs[i] : nullptr;
}

// Rows of batch, class, box. The inputs are checked.
Ints Select(const Attrs& attrs, std::span<const Value* const> inputs) {
  const Value& boxes = *inputs[0];
  const Value& scores = *inputs[kScores];
  const Value* most = Given(inputs, kMaxBoxes);
  const Value* overlap = Given(inputs, kOverlap);
  const Value* score_limit = Given(inputs, kScoreLimit);
  const std::int64_t limit = most != nullptr ? tensor::ElementAsInt64(*most, 0) : 0;
  const float iou = overlap != nullptr ? static_cast<float>(Load(*overlap, 0)) : 0;
  const bool center = attrs.Int("center_point_box", 0) != 0;
  const std::int64_t classes = scores.dims()[1], n = boxes.dims()[1];
  Ints rows;
  for (std::int64_t s = 0; limit > 0 && s < scores.dims()[0] * classes; ++s) {
    const auto score = [&](std::int64_t i) { return Load(scores, s * n + i); };
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < n; ++i) {
      if (score_limit == nullptr || score(i) > Load(*score_limit, 0)) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      const double x = score(a), y = score(b);  // NaN comes last
      return x > y || (x == x && y != y);
    });
    std::vector<Box> kept;
    for (const std::int64_t i : order) {
      if (static_cast<std::int64_t>(kept.size()) >= limit) break;
      const Box box = ReadBox(boxes, s / classes * n + i, center);
      const bool gone = std::any_of(kept.begin(), kept.end(),
                                    [&](const Box& k) { return Suppresses(box, k, iou); });
      if (gone) continue;
      kept.push_back(box);
      rows.insert(rows.end(), {s / classes, s % classes, i});
    }
  }
  return rows;
}

Status CheckTypes(const InferContext& c) {
  for (const std::size_t i : {std::size_t{0}, kScores, kOverlap, kScoreLimit}) {
    if (i < c.inputs.size() && Has(c, i)) NPUKIT_RETURN_IF_ERROR(WantFloat(c, i));
  }
  if (Has(c, kMaxBoxes)) NPUKIT_RETURN_IF_ERROR(WantOneInteger(c, kMaxBoxes));
  for (const std::size_t i : {kOverlap, kScoreLimit}) {
    if (Has(c, i) && c.inputs[i].is_static() && tensor::ElementCount(c.inputs[i].dims()) != 1)
      return InvalidArgument(
          Cat("input ", i, " is ", c.inputs[i].ToString(), ", expected one number"));
  }
  const Type& boxes = c.inputs[0];
  const Type& scores = c.inputs[kScores];
  for (std::size_t i = 0; i < 2; ++i) {
    if (c.inputs[i].shape && c.inputs[i].shape->rank() != 3)
      return InvalidArgument(Cat("input ", i, " is ", c.inputs[i].ToString(), ", expected rank 3"));
  }
  if (boxes.shape && boxes.shape->dims[2].known() && boxes.shape->dims[2].value != 4)
    return InvalidArgument(Cat("input 0 is ", boxes.ToString(), ", expected boxes of 4 numbers"));
  if (!boxes.shape || !scores.shape) return OkStatus();
  NPUKIT_RETURN_IF_ERROR(
      SameDim(boxes.shape->dims[0], scores.shape->dims[0]).status().WithContext("batches"));
  return SameDim(boxes.shape->dims[1], scores.shape->dims[2])
      .status()
      .WithContext("boxes and scores");
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(CheckTypes(c));
  Dim n;
  bool known = c.inputs[0].is_static() && c.inputs[kScores].is_static();
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    known = known && (c.constants[i] != nullptr || (i >= kMaxBoxes && !Has(c, i)));
  if (known) known = CountOf(c.inputs[kScores]) * CountOf(c.inputs[0]) <= kMostPairsInferred * 4;
  if (known) n = Dim::Of(static_cast<std::int64_t>(Select(c.attrs, c.constants).size() / 3));
  c.outputs[0] = Type::Tensor(DType::kI64, tensor::Shape({n, Dim::Of(3)}));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_RETURN_IF_ERROR(TypesWithoutValues(c, Infer, 1).status());
  const KnownInputs known(c.inputs);
  const Ints rows = Select(*c.attrs, known.constants);
  const Type type = Type::Tensor(DType::kI64, {static_cast<std::int64_t>(rows.size() / 3), 3});
  NPUKIT_ASSIGN_OR_RETURN(std::vector<Value> y, MakeOutputs(c, {&type, 1}));
  for (std::size_t i = 0; i < rows.size(); ++i)
    StoreBits(y[0], static_cast<std::int64_t>(i), static_cast<std::uint64_t>(rows[i]));
  return OkStatus();
}

OpCost NmsCost(const CostContext& c) {
  // In the worst case no box suppresses another, and each is compared with all better ones.
  const double scores = CountOf(c.inputs[kScores]);
  const double boxes = c.inputs[kScores].is_static() && c.inputs[kScores].dims().size() == 3
                           ? static_cast<double>(c.inputs[kScores].dims()[2])
                           : 0;
  return {.vector_ops = 100 * scores + scores * boxes / 2, .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"center_point_box", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::non_max_suppression = {
    .name = "non_max_suppression",
    .summary =
        "for each batch and class the boxes of the best scores, without those that overlap a "
        "better one too much",
    .min_inputs = 2,
    .max_inputs = 5,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = NmsCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "NonMaxSuppression"},
};

}  // namespace npukit
