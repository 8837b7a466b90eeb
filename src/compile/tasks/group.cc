#include "compile/tasks/group.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "compile/shapes.h"
#include "ops/slice.h"

namespace npukit::compile {
namespace {

using ir::kNoValue;
using ir::ValueId;

// Slices of one value, so far.
struct Split {
  std::size_t group = 0;
  std::size_t axis = 0;
  std::int64_t covered = 0;  // from 0
};

class Grouper {
 public:
  explicit Grouper(const StackGraph& stack) : s_(stack), g_(stack.g) {
    out_.group_of.resize(g_.nodes.size());
  }

  Result<TaskGroups> Run() {
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) NPUKIT_RETURN_IF_ERROR(Place(i));
    return std::move(out_);
  }

 private:
  // The group that makes `id`; nullopt for the graph's inputs and constants.
  std::optional<std::size_t> GroupOf(ValueId id) const {
    const auto producer = s_.Producer(id);
    return producer ? out_.group_of[*producer] : std::nullopt;
  }

  Status Place(std::size_t i) {
    const ir::Node& n = g_.nodes[i];
    if (n.is_foreign()) {
      return Unsupported(Cat("node \"", Printable(n.name), "\": unknown operator ",
                             Printable(n.foreign_op), ": its tasks are not known"));
    }
    if (!n.bodies.empty())
      return Unsupported(Cat("node \"", Printable(n.name), "\" (", n.op->name,
                             ") has graphs inside: its tasks are not known"));
    if (!IsStatic(g_, n))
      return InvalidArgument(Cat("node \"", Printable(n.name), "\" (", n.op->name,
                                 "): its shapes depend on the data; tasks need static shapes"));
    if (s_.IsFree(n)) return OkStatus();
    // One operator of the file stays one task, however many of ours it became.
    if (const auto it = by_source_.find(n.from); it != by_source_.end() && !n.from.empty()) {
      Join(it->second, i);
      return OkStatus();
    }
    NPUKIT_ASSIGN_OR_RETURN(std::optional<std::size_t> group, FusesInto(n));
    if (!group) group = ContinuesSplit(n);
    if (!group) {
      group = out_.groups.size();
      out_.groups.push_back({{}, kNoValue, s_.TasksOf(n)});
    }
    if (!n.from.empty()) by_source_[n.from] = *group;
    Join(*group, i);
    return OkStatus();
  }

  // Exporters write a split as slices that cut one value into neighbours, the first one at 0: one
  // task. The group of the pieces before this one; nullopt where it begins a split or is none.
  std::optional<std::size_t> ContinuesSplit(const ir::Node& n) {
    if (n.op != &op::slice) return std::nullopt;
    std::vector<tensor::Value> limits(1);  // the first is not looked at
    for (std::size_t i = 1; i < n.inputs.size(); ++i) {
      const tensor::Value* v = g_.constant(n.inputs[i]);
      if (v == nullptr && n.inputs[i] != kNoValue) return std::nullopt;
      limits.push_back(v == nullptr ? tensor::Value() : *v);
    }
    const tensor::Dims whole = g_.value(n.inputs[0]).type.dims();
    const auto cuts = ops::PlanSlice(whole, limits);
    if (!cuts.ok()) return std::nullopt;
    std::optional<std::size_t> axis;
    for (std::size_t d = 0; d < whole.size(); ++d) {
      const ops::Cut& cut = (*cuts)[d];
      if (cut.start == 0 && cut.step == 1 && cut.count == whole[d]) continue;
      if (axis || cut.step != 1) return std::nullopt;
      axis = d;
    }
    if (!axis) return std::nullopt;
    const ops::Cut& cut = (*cuts)[*axis];
    const auto it = splits_.find(n.inputs[0]);
    if (cut.start == 0) {
      splits_.insert_or_assign(n.inputs[0], Split{out_.groups.size(), *axis, cut.count});
      return std::nullopt;
    }
    if (it == splits_.end() || it->second.axis != *axis || it->second.covered != cut.start)
      return std::nullopt;
    it->second.covered += cut.count;
    return it->second.group;
  }

  void Join(std::size_t group, std::size_t node) {
    out_.groups[group].nodes.push_back(node);
    out_.groups[group].tail = g_.nodes[node].outputs[0];
    out_.group_of[node] = group;
  }

  // The task that takes `n` in: the last one among those it waits for, when its leader's list names
  // n, nobody else reads what it makes, and the shape stays.
  Result<std::optional<std::size_t>> FusesInto(const ir::Node& n) const {
    std::optional<std::size_t> last;
    for (const ValueId id : n.inputs) {
      const auto group = GroupOf(id);
      if (group && (!last || *group > *last)) last = group;
    }
    if (!last) return std::optional<std::size_t>();
    const ir::Node& leader = g_.nodes[out_.groups[*last].nodes[0]];
    const std::string key = Cat("npu.stack.fuses.", leader.op->name);
    if (!s_.profile.Has(key)) return std::optional<std::size_t>();
    NPUKIT_ASSIGN_OR_RETURN(const std::vector<std::string> list, s_.profile.Texts(key));
    if (std::find(list.begin(), list.end(), n.op->name) == list.end())
      return std::optional<std::size_t>();
    const ValueId tail = out_.groups[*last].tail;
    const bool reads = std::find(n.inputs.begin(), n.inputs.end(), tail) != n.inputs.end();
    if (!reads || s_.uses.readers[tail].size() != 1 || s_.uses.is_output[tail] ||
        g_.value(tail).type.dims() != g_.value(n.outputs[0]).type.dims()) {
      return std::optional<std::size_t>();
    }
    return last;
  }

  const StackGraph& s_;
  const ir::Graph& g_;
  TaskGroups out_;
  std::map<std::vector<std::uint32_t>, std::size_t> by_source_;
  std::map<ValueId, Split> splits_;  // by the value that is cut
};

}  // namespace

int StackGraph::TasksOf(const ir::Node& n) const {
  return static_cast<int>(profile.NumberOr(Cat("npu.stack.tasks.", n.op->name), 1));
}

bool StackGraph::IsFree(const ir::Node& n) const {
  return n.op->loop == ops::LoopShape::kShape || TasksOf(n) == 0 ||
         (n.op == &op::concat && n.inputs.size() == 1);
}

ValueId StackGraph::Root(ValueId id) const {
  while (id != kNoValue && !g.is_constant(id)) {
    const std::int32_t producer = uses.producer[id];
    if (producer < 0) break;
    const ir::Node& n = g.nodes[static_cast<std::size_t>(producer)];
    if (!IsFree(n) || n.inputs.empty() || n.inputs[0] == kNoValue) break;
    id = n.inputs[0];
  }
  return id;
}

std::optional<std::size_t> StackGraph::Producer(ValueId id) const {
  const ValueId root = Root(id);
  if (root == kNoValue || uses.producer[root] < 0) return std::nullopt;
  return static_cast<std::size_t>(uses.producer[root]);
}

Result<TaskGroups> GroupNodes(const StackGraph& stack) { return Grouper(stack).Run(); }

}  // namespace npukit::compile
