#include "ops/trees.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/text.h"
#include "ops/strings.h"

namespace npukit::ops {
namespace {

constexpr std::size_t kMostNodes = std::numeric_limits<std::int32_t>::max();

std::optional<Forest::Mode> ModeOf(std::string_view name) {
  constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  for (int i = 0; i < 8; ++i) {
    if (name == kNames[i]) return static_cast<Forest::Mode>(i);
  }
  return std::nullopt;
}

}  // namespace

Status Forest::Check() const {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    const bool children = n.mode == Mode::kLeaf || (n.yes < nodes.size() && n.no < nodes.size());
    if (!children || n.feature < 0)
      return InvalidArgument(Cat("node ", i, " of the trees names a node or feature that is none"));
  }
  for (const std::uint32_t r : roots) {
    if (r >= nodes.size())
      return InvalidArgument(Cat("a tree begins at node ", r, " of ", nodes.size()));
  }
  for (const Vote& v : votes) {
    if (v.target >= targets)
      return InvalidArgument(Cat("a leaf votes for target ", v.target, " of ", targets));
  }
  return OkStatus();
}

Status Forest::Run(std::span<const double> x, std::span<double> scores,
                   std::vector<bool>& voted) const {
  std::fill(scores.begin(), scores.end(), 0);
  voted.assign(scores.size(), false);
  for (const std::uint32_t root : roots) {
    const Node* n = &nodes[root];
    for (std::size_t steps = 0; n->mode != Mode::kLeaf; ++steps) {
      if (steps > nodes.size()) return InvalidArgument("a tree goes round in a circle");
      if (n->feature >= static_cast<std::int64_t>(x.size())) {
        return InvalidArgument(
            Cat("a tree asks for feature ", n->feature, ", input 0 has ", x.size()));
      }
      const double value = x[static_cast<std::size_t>(n->feature)];
      bool yes = false;
      switch (n->mode) {
        case Mode::kLeq:
          yes = value <= n->split;
          break;
        case Mode::kLt:
          yes = value < n->split;
          break;
        case Mode::kGte:
          yes = value >= n->split;
          break;
        case Mode::kGt:
          yes = value > n->split;
          break;
        case Mode::kEq:
          yes = value == n->split;
          break;
        case Mode::kNeq:
          yes = value != n->split;
          break;
        case Mode::kMember:
          yes = std::find(members.begin() + n->begin, members.begin() + n->end, value) !=
                members.begin() + n->end;
          break;
        case Mode::kLeaf:
          break;
      }
      if (std::isnan(value) && n->missing_is_true) yes = true;
      n = &nodes[yes ? n->yes : n->no];
    }
    for (std::uint32_t v = n->begin; v < n->end; ++v) {
      const Vote& vote = votes[v];
      double& s = scores[vote.target];
      const bool first = !voted[vote.target];
      voted[vote.target] = true;
      switch (aggregate) {
        case Aggregate::kSum:
        case Aggregate::kAverage:
          s += vote.weight;
          break;
        case Aggregate::kMin:
          s = first ? vote.weight : std::min(s, vote.weight);
          break;
        case Aggregate::kMax:
          s = first ? vote.weight : std::max(s, vote.weight);
          break;
      }
    }
  }
  if (aggregate == Aggregate::kAverage && !roots.empty()) {
    for (double& s : scores) s /= static_cast<double>(roots.size());
  }
  return OkStatus();
}

Result<std::vector<double>> DoublesOf(const Attrs& attrs, std::string_view name) {
  std::vector<double> out;
  if (const tensor::Value* t = attrs.Tensor(Cat(name, "_as_tensor")); t != nullptr) {
    if (!IsRealFloat(t->dtype())) {
      return InvalidArgument(
          Cat(name, "_as_tensor is ", tensor::DTypeName(t->dtype()), ", expected fp32 or fp64"));
    }
    for (std::int64_t i = 0; i < t->count(); ++i) out.push_back(Load(*t, i));
    return out;
  }
  for (const float f : attrs.FloatList(name)) out.push_back(double{f});
  return out;
}

Result<Forest> ReadOldForest(const Attrs& attrs, Forest f) {
  const Ints trees = attrs.IntList("nodes_treeids"), ids = attrs.IntList("nodes_nodeids");
  const Ints features = attrs.IntList("nodes_featureids");
  const Ints yes = attrs.IntList("nodes_truenodeids"), no = attrs.IntList("nodes_falsenodeids");
  const Ints missing = attrs.IntList("nodes_missing_value_tracks_true");
  const Strings& modes = StringList(attrs, "nodes_mode_names");
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<double> splits, DoublesOf(attrs, "nodes_values"));
  const std::size_t n = ids.size();
  const bool alike = trees.size() == n && features.size() == n && yes.size() == n &&
                     no.size() == n && modes.size() == n && splits.size() == n &&
                     (missing.empty() || missing.size() == n);
  if (!alike || n == 0 || n > kMostNodes)
    return InvalidArgument("the lists nodes_* are of different lengths, or empty");
  using Id = std::pair<std::int64_t, std::int64_t>;  // tree, node
  std::map<Id, std::uint32_t> at;
  for (std::size_t i = 0; i < n; ++i) {
    if (!at.emplace(Id{trees[i], ids[i]}, static_cast<std::uint32_t>(i)).second)
      return InvalidArgument(Cat("node ", ids[i], " of tree ", trees[i], " is there twice"));
  }
  std::vector<bool> is_child(n, false);
  for (std::size_t i = 0; i < n; ++i) {
    Forest::Node node;
    const auto mode = ModeOf(modes[i]);
    if (!mode || *mode == Forest::Mode::kMember)
      return InvalidArgument(Cat("nodes_modes holds ", Printable(modes[i], 40)));
    node.mode = *mode;
    node.feature = features[i];
    node.split = splits[i];
    node.missing_is_true = !missing.empty() && missing[i] != 0;
    if (node.mode == Forest::Mode::kLeaf) {
      node.feature = 0;
    } else {
      const auto y = at.find({trees[i], yes[i]}), x = at.find({trees[i], no[i]});
      if (y == at.end() || x == at.end())
        return InvalidArgument(
            Cat("node ", ids[i], " of tree ", trees[i], " has a child that is not there"));
      node.yes = y->second;
      node.no = x->second;
      is_child[node.yes] = is_child[node.no] = true;
    }
    f.nodes.push_back(node);
  }
  // A tree begins at the node that nobody goes on to; one that goes round has none.
  std::map<std::int64_t, std::uint32_t> roots;
  for (std::size_t i = 0; i < n; ++i) {
    if (is_child[i]) continue;
    if (!roots.emplace(trees[i], static_cast<std::uint32_t>(i)).second)
      return InvalidArgument(Cat("tree ", trees[i], " has more than one root"));
  }
  if (roots.empty()) return InvalidArgument("a tree goes round in a circle");
  for (const auto& [tree, root] : roots) f.roots.push_back(root);

  const Ints vote_trees = attrs.IntList("target_treeids");
  const Ints vote_nodes = attrs.IntList("target_nodeids");
  const Ints vote_targets = attrs.IntList("target_ids");
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<double> weights, DoublesOf(attrs, "target_weights"));
  const std::size_t votes = vote_trees.size();
  if (vote_nodes.size() != votes || vote_targets.size() != votes || weights.size() != votes)
    return InvalidArgument("the lists of votes are of different lengths");
  std::vector<std::pair<std::uint32_t, std::size_t>> by_node;
  for (std::size_t i = 0; i < votes; ++i) {
    const auto it = at.find({vote_trees[i], vote_nodes[i]});
    if (it == at.end() || vote_targets[i] < 0 || vote_targets[i] >= f.targets) {
      return InvalidArgument(Cat("vote ", i, " is of node ", vote_nodes[i], " of tree ",
                                 vote_trees[i], " for target ", vote_targets[i], " of ", f.targets,
                                 ": one of them is not there"));
    }
    by_node.emplace_back(it->second, i);
  }
  std::stable_sort(by_node.begin(), by_node.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [node, i] : by_node) {
    Forest::Node& leaf = f.nodes[node];
    const auto here = static_cast<std::uint32_t>(f.votes.size());
    if (leaf.mode == Forest::Mode::kLeaf) {
      if (leaf.end == 0) leaf.begin = here;
      leaf.end = here + 1;
    }
    f.votes.push_back({static_cast<std::uint32_t>(vote_targets[i]), weights[i]});
  }
  NPUKIT_RETURN_IF_ERROR(f.Check());
  return f;
}

}  // namespace npukit::ops
