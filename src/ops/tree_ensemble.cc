#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "ops/scores.h"
#include "ops/trees.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

constexpr std::int64_t kMostTargets = std::int64_t{1} << 24;

Result<std::vector<double>> Numbers(const Attrs& attrs, std::string_view name) {
  std::vector<double> out;
  const Value* t = attrs.Tensor(name);
  if (t == nullptr) return out;
  if (!IsNumber(t->dtype()))
    return InvalidArgument(Cat(name, " is ", tensor::DTypeName(t->dtype()), ", expected numbers"));
  for (std::int64_t i = 0; i < t->count(); ++i) out.push_back(tensor::ElementAsDouble(*t, i));
  return out;
}

// Leaves become nodes behind the interior ones.
Result<Forest> ReadNewForest(const Attrs& attrs, Forest f) {
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<double> modes, Numbers(attrs, "nodes_modes"));
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<double> splits, Numbers(attrs, "nodes_splits"));
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<double> weights, Numbers(attrs, "leaf_weights"));
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<double> members, Numbers(attrs, "membership_values"));
  const Ints targets = attrs.IntList("leaf_targetids"), roots = attrs.IntList("tree_roots");
  const Ints features = attrs.IntList("nodes_featureids");
  const Ints yes = attrs.IntList("nodes_truenodeids"), no = attrs.IntList("nodes_falsenodeids");
  const Ints yes_leaf = attrs.IntList("nodes_trueleafs");
  const Ints no_leaf = attrs.IntList("nodes_falseleafs");
  const Ints missing = attrs.IntList("nodes_missing_value_tracks_true");
  const std::size_t n = features.size(), leaves = weights.size();
  if (n == 0 || modes.size() != n || splits.size() != n || yes.size() != n || no.size() != n ||
      yes_leaf.size() != n || no_leaf.size() != n || (!missing.empty() && missing.size() != n)) {
    return InvalidArgument("the lists nodes_* are of different lengths, or empty");
  }
  if (targets.size() != leaves) return InvalidArgument("the lists leaf_* are of different lengths");
  if (n + leaves > std::numeric_limits<std::int32_t>::max())
    return InvalidArgument("there are too many nodes");
  const auto child = [&](std::int64_t id, std::int64_t is_leaf, std::uint32_t* at) {
    const std::size_t base = is_leaf != 0 ? n : 0, size = is_leaf != 0 ? leaves : n;
    if (id < 0 || id >= static_cast<std::int64_t>(size)) return false;
    *at = static_cast<std::uint32_t>(base + static_cast<std::size_t>(id));
    return true;
  };
  std::size_t member = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Forest::Node node;
    if (!(modes[i] >= 0 && modes[i] <= 6))
      return InvalidArgument(Cat("nodes_modes holds ", modes[i], ", expected 0 to 6"));
    node.mode = static_cast<Forest::Mode>(static_cast<int>(modes[i]));
    node.feature = features[i];
    node.split = splits[i];
    node.missing_is_true = !missing.empty() && missing[i] != 0;
    if (!child(yes[i], yes_leaf[i], &node.yes) || !child(no[i], no_leaf[i], &node.no))
      return InvalidArgument(Cat("node ", i, " of the trees has a child that is not there"));
    if (node.mode == Forest::Mode::kMember) {  // its values end at NaN
      node.begin = static_cast<std::uint32_t>(f.members.size());
      for (; member < members.size() && !std::isnan(members[member]); ++member)
        f.members.push_back(members[member]);
      ++member;
      node.end = static_cast<std::uint32_t>(f.members.size());
    }
    f.nodes.push_back(node);
  }
  for (std::size_t i = 0; i < leaves; ++i) {
    if (targets[i] < 0 || targets[i] >= f.targets)
      return InvalidArgument(Cat("leaf ", i, " is for target ", targets[i], " of ", f.targets));
    Forest::Node leaf;
    leaf.begin = static_cast<std::uint32_t>(i);
    leaf.end = leaf.begin + 1;
    f.nodes.push_back(leaf);
    f.votes.push_back({static_cast<std::uint32_t>(targets[i]), weights[i]});
  }
  for (const std::int64_t r : roots) {
    std::uint32_t at = 0;
    if (!child(r, 0, &at)) return InvalidArgument(Cat("a tree begins at node ", r, " of ", n));
    f.roots.push_back(at);
  }
  NPUKIT_RETURN_IF_ERROR(f.Check());
  return f;
}

// The form of TreeEnsemble, or that of the operators before it: lists of nodes under nodes_treeids.
bool IsOldForm(const Attrs& attrs) { return HasAttr(attrs, "nodes_treeids"); }

Result<Forest> ReadForest(const Attrs& attrs) {
  Forest f;
  f.targets = attrs.Int("n_targets", 1);
  const std::int64_t aggregate = attrs.Int("aggregate_function", 1);
  if (f.targets < 1 || f.targets > kMostTargets)
    return InvalidArgument(Cat("n_targets is ", f.targets, ", expected 1 to 2^24"));
  if (aggregate < 0 || aggregate > 3)
    return InvalidArgument(Cat("aggregate_function is ", aggregate, ", expected 0 to 3"));
  f.aggregate = static_cast<Forest::Aggregate>(aggregate);
  return IsOldForm(attrs) ? ReadOldForest(attrs, std::move(f)) : ReadNewForest(attrs, std::move(f));
}

// What is added to each target's score; none, or one for each.
Result<std::vector<double>> BaseOf(const Attrs& attrs, std::int64_t targets) {
  NPUKIT_ASSIGN_OR_RETURN(std::vector<double> base, DoublesOf(attrs, "base_values"));
  if (base.empty() || static_cast<std::int64_t>(base.size()) == targets) return base;
  return InvalidArgument(Cat("there are ", base.size(), " base_values for ", targets, " targets"));
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(
      WantOneOf(c, 0, {DType::kF32, DType::kF64, DType::kF16, DType::kI64, DType::kI32}));
  const bool old = IsOldForm(c.attrs);
  const bool whole = tensor::IsInteger(c.inputs[0].dtype);
  if ((c.inputs[0].shape && c.inputs[0].shape->rank() != 2) || (whole && !old))
    return InvalidArgument(Cat("input 0 is ", c.inputs[0].ToString(), ", expected floats [N,F]"));
  const std::int64_t post = c.attrs.Int("post_transform", 0);
  if (post < 0 || post > 4)
    return InvalidArgument(Cat("post_transform is ", post, ", expected 0 to 4"));
  NPUKIT_ASSIGN_OR_RETURN(const Forest f, ReadForest(c.attrs));
  NPUKIT_RETURN_IF_ERROR(BaseOf(c.attrs, f.targets).status());
  c.outputs[0] = RowsBy(c, old ? DType::kF32 : c.inputs[0].dtype, f.targets);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const Forest f, ReadForest(*c.attrs));
  const auto post = static_cast<PostTransform>(c.attrs->Int("post_transform", 0));
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<double> base, BaseOf(*c.attrs, f.targets));
  const Value& x = c.inputs[0];
  const Rows rows = RowsOf(x.dims());
  std::vector<double> row(static_cast<std::size_t>(rows.features));
  std::vector<double> scores(static_cast<std::size_t>(f.targets));
  std::vector<bool> voted;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    for (std::int64_t k = 0; k < rows.features; ++k)
      row[static_cast<std::size_t>(k)] = tensor::ElementAsDouble(x, r * rows.features + k);
    NPUKIT_RETURN_IF_ERROR(f.Run(row, scores, voted));
    for (std::size_t k = 0; k < base.size(); ++k) scores[k] += base[k];
    Transform(post, scores);
    for (std::int64_t k = 0; k < f.targets; ++k)
      Store(y, r * f.targets + k, scores[static_cast<std::size_t>(k)]);
  }
  return OkStatus();
}

// The longest way from each node to a leaf, members and votes counted; infinite on a circle.
std::vector<double> WorkFrom(const Forest& f) {
  constexpr double kOpen = std::numeric_limits<double>::infinity(), kNew = -1;
  std::vector<double> work(f.nodes.size(), kNew);
  std::vector<std::uint32_t> stack(f.roots);
  while (!stack.empty()) {
    const std::uint32_t at = stack.back();
    const Forest::Node& n = f.nodes[at];
    const double own = 1 + static_cast<double>(n.end - n.begin);
    if (n.mode == Forest::Mode::kLeaf) {
      work[at] = own;
      stack.pop_back();
      continue;
    }
    if (work[at] == kNew) {  // its children first; open until then
      work[at] = kOpen;
      for (const std::uint32_t child : {n.yes, n.no}) {
        if (work[child] == kNew) stack.push_back(child);
      }
      continue;
    }
    if (work[at] == kOpen) work[at] = own + std::max(work[n.yes], work[n.no]);
    stack.pop_back();
  }
  return work;
}

OpCost TreeCost(const CostContext& c) {
  OpCost cost{.vector_ops = 10 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
  const auto f = ReadForest(c.attrs);
  if (!f.ok() || !c.inputs[0].is_static()) return cost;
  const std::vector<double> work = WorkFrom(*f);
  double row = 0;
  // On a circle the reference gives up after as many steps as there are nodes.
  const double circle = static_cast<double>(f->nodes.size()) *
                        static_cast<double>(1 + f->members.size() + f->votes.size());
  for (const std::uint32_t r : f->roots) row += std::isfinite(work[r]) ? work[r] : circle;
  cost.vector_ops += row * static_cast<double>(RowsOf(c.inputs[0].dims()).rows);
  return cost;
}

constexpr AttrDef kAttrs[] = {{"aggregate_function", AttrKind::kInt},
                              {"base_values", AttrKind::kFloats},
                              {"base_values_as_tensor", AttrKind::kTensor},
                              {"leaf_targetids", AttrKind::kInts},
                              {"leaf_weights", AttrKind::kTensor},
                              {"membership_values", AttrKind::kTensor},
                              {"n_targets", AttrKind::kInt},
                              {"nodes_falseleafs", AttrKind::kInts},
                              {"nodes_falsenodeids", AttrKind::kInts, true},
                              {"nodes_featureids", AttrKind::kInts, true},
                              {"nodes_hitrates", AttrKind::kTensor},
                              {"nodes_missing_value_tracks_true", AttrKind::kInts},
                              {"nodes_mode_names", AttrKind::kStrings},
                              {"nodes_modes", AttrKind::kTensor},
                              {"nodes_nodeids", AttrKind::kInts},
                              {"nodes_splits", AttrKind::kTensor},
                              {"nodes_treeids", AttrKind::kInts},
                              {"nodes_trueleafs", AttrKind::kInts},
                              {"nodes_truenodeids", AttrKind::kInts, true},
                              {"nodes_values", AttrKind::kFloats},
                              {"nodes_values_as_tensor", AttrKind::kTensor},
                              {"post_transform", AttrKind::kInt},
                              {"target_ids", AttrKind::kInts},
                              {"target_nodeids", AttrKind::kInts},
                              {"target_treeids", AttrKind::kInts},
                              {"target_weights", AttrKind::kFloats},
                              {"target_weights_as_tensor", AttrKind::kTensor},
                              {"tree_roots", AttrKind::kInts}};

}  // namespace

constinit const OpDef op::tree_ensemble = {
    .name = "tree_ensemble",
    .summary = "scores of decision trees for each row, aggregated for each target",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = TreeCost,
    .foreign = {.onnx = "ai.onnx.ml:TreeEnsemble"},
};

}  // namespace npukit
