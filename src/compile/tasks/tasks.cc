#include "compile/tasks/tasks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "compile/shapes.h"
#include "compile/tasks/cube.h"
#include "ops/slice.h"

namespace npukit::compile {
namespace {

using ir::kNoValue;
using ir::ValueId;

// A task under construction.
struct Group {
  std::vector<std::size_t> nodes;  // in order
  ValueId tail = kNoValue;         // what the next fused operator would read
  int tasks = 1;
};

// Slices of one value, so far.
struct Split {
  std::size_t group = 0;
  std::size_t axis = 0;
  std::int64_t covered = 0;  // from 0
};

// fp16 for every float; whole numbers keep their width.
double ElementBytes(tensor::DType t) {
  return tensor::IsFloat(t) ? 2 : static_cast<double>(tensor::DTypeBits(t)) / 8;
}

class Tasks {
 public:
  Tasks(const ir::Graph& g, const target::Profile& profile, const CubeShape& cube)
      : g_(g),
        profile_(profile),
        cube_(cube),
        uses_(g),
        group_of_(g.nodes.size()),
        channel_block_(std::max<std::int64_t>(
            1, static_cast<std::int64_t>(profile.NumberOr("npu.stack.channel_block", 1)))) {}

  Result<std::vector<StackTask>> Run() {
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) NPUKIT_RETURN_IF_ERROR(Place(i));
    std::vector<StackTask> tasks;
    for (std::size_t i = 0; i < groups_.size(); ++i) Emit(i, &tasks);
    return tasks;
  }

 private:
  // Costs no task and moves nothing: its result is its input by another name.
  bool IsFree(const ir::Node& n) const {
    return n.op->loop == ops::LoopShape::kShape || TasksOf(n) == 0 ||
           (n.op == &op::concat && n.inputs.size() == 1);
  }
  int TasksOf(const ir::Node& n) const {
    return static_cast<int>(profile_.NumberOr(Cat("npu.stack.tasks.", n.op->name), 1));
  }

  // The value behind free operators.
  ValueId Root(ValueId id) const {
    while (id != kNoValue && !g_.is_constant(id)) {
      const std::int32_t producer = uses_.producer[id];
      if (producer < 0) break;
      const ir::Node& n = g_.nodes[static_cast<std::size_t>(producer)];
      if (!IsFree(n) || n.inputs.empty() || n.inputs[0] == kNoValue) break;
      id = n.inputs[0];
    }
    return id;
  }

  // The group that makes `id`; nullopt for the graph's inputs and constants.
  std::optional<std::size_t> GroupOf(ValueId id) const {
    const ValueId root = Root(id);
    if (root == kNoValue || uses_.producer[root] < 0) return std::nullopt;
    return group_of_[static_cast<std::size_t>(uses_.producer[root])];
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
    if (IsFree(n)) return OkStatus();
    // One operator of the file stays one task, however many of ours it became.
    if (const auto it = by_source_.find(n.from); it != by_source_.end() && !n.from.empty()) {
      Join(it->second, i);
      return OkStatus();
    }
    NPUKIT_ASSIGN_OR_RETURN(std::optional<std::size_t> group, FusesInto(n));
    if (!group) group = ContinuesSplit(n);
    if (!group) {
      group = groups_.size();
      groups_.push_back({{}, kNoValue, TasksOf(n)});
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
      splits_.insert_or_assign(n.inputs[0], Split{groups_.size(), *axis, cut.count});
      return std::nullopt;
    }
    if (it == splits_.end() || it->second.axis != *axis || it->second.covered != cut.start)
      return std::nullopt;
    it->second.covered += cut.count;
    return it->second.group;
  }

  void Join(std::size_t group, std::size_t node) {
    groups_[group].nodes.push_back(node);
    groups_[group].tail = g_.nodes[node].outputs[0];
    group_of_[node] = group;
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
    const ir::Node& leader = g_.nodes[groups_[*last].nodes[0]];
    const std::string key = Cat("npu.stack.fuses.", leader.op->name);
    if (!profile_.Has(key)) return std::optional<std::size_t>();
    NPUKIT_ASSIGN_OR_RETURN(const std::vector<std::string> list, profile_.Texts(key));
    if (std::find(list.begin(), list.end(), n.op->name) == list.end())
      return std::optional<std::size_t>();
    const ValueId tail = groups_[*last].tail;
    const bool reads = std::find(n.inputs.begin(), n.inputs.end(), tail) != n.inputs.end();
    if (!reads || uses_.readers[tail].size() != 1 || uses_.is_output[tail] ||
        g_.value(tail).type.dims() != g_.value(n.outputs[0]).type.dims()) {
      return std::optional<std::size_t>();
    }
    return last;
  }

  // In DRAM, channels padded to whole blocks where the tensor is an image.
  double BytesOf(ValueId id) const {
    const tensor::Type& t = g_.value(id).type;
    tensor::Dims d = t.dims();
    if (d.size() == 4) d[1] = (d[1] + channel_block_ - 1) / channel_block_ * channel_block_;
    double n = ElementBytes(t.dtype);
    for (const std::int64_t x : d) n *= static_cast<double>(x);
    return n;
  }

  double ConstantBytes(ValueId id) const {
    return static_cast<double>(g_.constant(id)->count()) * ElementBytes(g_.value(id).type.dtype);
  }

  void AddWork(const ir::Node& n, StackTask* task, std::set<ValueId>* seen) const {
    const CubeWork cube = CubeWorkOf(g_, n, cube_);
    task->macs += cube.macs;
    task->cube_cycles += cube.cycles;
    if (cube.weight_elements > 0 && seen->insert(n.inputs[1]).second)
      task->weight_bytes += 2 * cube.weight_elements;
    const ops::OpCost cost =
        ops::Cost(*n.op, n.attrs, n.epilogue, g_.InputTypes(n), g_.OutputTypes(n));
    task->vector_bytes += 2 * cost.vector_ops;
  }

  bool ReadOutside(std::size_t group, ValueId id) const {
    if (uses_.is_output[id]) return true;
    return std::any_of(uses_.readers[id].begin(), uses_.readers[id].end(),
                       [&](std::uint32_t reader) { return group_of_[reader] != group; });
  }

  void Emit(std::size_t index, std::vector<StackTask>* tasks) const {
    const Group& group = groups_[index];
    const ir::Node& leader = g_.nodes[group.nodes[0]];
    StackTask task;
    task.op = leader.op->name;
    task.name = leader.name;
    if (group.nodes.size() > 1) task.name += Cat("+", group.nodes.size() - 1);
    std::set<ValueId> seen;
    for (const std::size_t i : group.nodes) {
      const ir::Node& n = g_.nodes[i];
      AddWork(n, &task, &seen);
      for (const ValueId id : n.inputs) {
        if (id == kNoValue || GroupOf(id) == index || !seen.insert(id).second) continue;
        if (g_.is_constant(id)) {
          task.weight_bytes += ConstantBytes(id);
        } else {
          task.read_bytes += BytesOf(id);
        }
      }
      for (const ValueId id : n.outputs) {
        if (id != kNoValue && ReadOutside(index, id)) task.written_bytes += BytesOf(id);
      }
    }
    // Several tasks for one operator: each reads the operands, and all but the first what the one
    // before wrote; the work of the vector unit is divided.
    task.vector_bytes /= group.tasks;
    tasks->push_back(task);
    task.read_bytes += task.written_bytes;
    task.weight_bytes = task.macs = task.cube_cycles = 0;
    for (int i = 1; i < group.tasks; ++i) tasks->push_back(task);
  }

  const ir::Graph& g_;
  const target::Profile& profile_;
  const CubeShape cube_;
  const ir::Uses uses_;
  std::vector<Group> groups_;
  std::vector<std::optional<std::size_t>> group_of_;  // by node; nullopt: free
  std::map<std::vector<std::uint32_t>, std::size_t> by_source_;
  std::map<ValueId, Split> splits_;  // by the value that is cut
  const std::int64_t channel_block_;
};

}  // namespace

Result<std::vector<StackTask>> StackTasks(const ir::Graph& g, const target::Profile& profile) {
  if (!profile.Has("npu.stack.name")) {
    return NotFound(Cat("profile ", Printable(profile.name),
                        " says nothing of a stack that makes tasks (npu.stack.name); "
                        "profiles/README.md lists what it would say"));
  }
  NPUKIT_RETURN_IF_ERROR(RequireStatic(g));
  NPUKIT_ASSIGN_OR_RETURN(const CubeShape cube, ReadCubeShape(profile));
  return Tasks(g, profile, cube).Run();
}

Result<StackRates> ReadStackRates(const target::Profile& p) {
  StackRates r;
  NPUKIT_ASSIGN_OR_RETURN(r.cube_cycles_per_ns, p.Number("npu.clock_ghz"));
  NPUKIT_ASSIGN_OR_RETURN(const double cores, p.Number("npu.cores"));
  NPUKIT_ASSIGN_OR_RETURN(const double vector, p.Number("npu.vector.bytes_per_cycle"));
  r.vector_bytes_per_ns = vector * cores * r.cube_cycles_per_ns;
  NPUKIT_ASSIGN_OR_RETURN(r.dram_bytes_per_ns, p.Number("npu.dram_gbytes_per_s"));
  return r;
}

double StackTime::ns() const { return std::max({cube_ns, vector_ns, dram_ns}); }

StackTime TimeOf(const StackTask& t, const StackRates& r) {
  return {t.cube_cycles / r.cube_cycles_per_ns, t.vector_bytes / r.vector_bytes_per_ns,
          (t.read_bytes + t.weight_bytes + t.written_bytes) / r.dram_bytes_per_ns};
}

}  // namespace npukit::compile
