#include "compile/tasks/tasks.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "compile/shapes.h"
#include "compile/tasks/cube.h"
#include "compile/tasks/group.h"
#include "compile/tasks/memory.h"

namespace npukit::compile {
namespace {

using ir::kNoValue;
using ir::ValueId;

// How an image lies in memory: rows of pixels per channel, or blocks of channels.
enum class Layout : std::uint8_t { kPlain = 0, kBlocked = 1 };

// fp16 for every float; whole numbers keep their width.
double ElementBytes(tensor::DType t) {
  return tensor::IsFloat(t) ? 2 : static_cast<double>(tensor::DTypeBits(t)) / 8;
}

class Tasks {
 public:
  Tasks(const StackGraph& stack, const TaskGroups& groups, const CubeShape& cube,
        std::vector<std::string> blocked)
      : s_(stack),
        g_(stack.g),
        groups_(groups),
        cube_(cube),
        blocked_(std::move(blocked)),
        channel_block_(std::max<std::int64_t>(
            1, static_cast<std::int64_t>(s_.profile.NumberOr("npu.stack.channel_block", 1)))),
        copies_(g_.values.size()) {
    for (const ValueId id : g_.inputs) copies_[id][0] = true;
  }

  std::vector<StackTask> Run() {
    for (std::size_t i = 0; i < groups_.groups.size(); ++i) Emit(i);
    std::vector<std::uint64_t> outputs;
    for (const ValueId id : g_.outputs) {
      if (!g_.is_constant(id)) outputs.push_back(Need(id, Layout::kPlain).tensor);
    }
    return CountTraffic(std::move(out_), outputs, s_.profile.NumberOr("npu.l2_bytes", 0));
  }

 private:
  // --- Layouts. A stack that says nothing of blocks keeps every image in blocks of
  // channel_block, and converts nothing.
  bool IsImage(ValueId id) const { return g_.value(id).type.dims().size() == 4; }

  // A single pixel of whole blocks is the same bytes either way.
  bool IsSameEitherWay(ValueId id) const {
    const tensor::Dims d = g_.value(id).type.dims();
    return d.size() == 4 && d[2] == 1 && d[3] == 1 && d[1] % channel_block_ == 0;
  }

  // Blocks can only be cut and joined at their borders.
  bool KeepsBlocks(const ir::Node& n) const {
    const auto whole = [&](ValueId id) {
      return g_.value(id).type.dims()[1] % channel_block_ == 0;
    };
    if (n.op == &op::concat) {
      const std::int64_t axis = n.attrs.Int("axis");
      if (axis != 1 && axis != -3) return true;
      return std::all_of(n.inputs.begin(), n.inputs.end(), whole);
    }
    // A piece of whole blocks begins at a block's border where those before it are whole as well.
    if (n.op == &op::slice) return whole(n.outputs[0]) && whole(n.inputs[0]);
    return true;
  }

  Layout LayoutOf(const TaskGroup& group) const {
    const ir::Node& leader = g_.nodes[group.nodes[0]];
    if (leader.inputs.empty() || leader.inputs[0] == kNoValue || !IsImage(leader.outputs[0]))
      return Layout::kPlain;
    const auto loop = leader.op->loop;
    if (loop == ops::LoopShape::kUnary || loop == ops::LoopShape::kBinary) {
      // Elementwise: as its operands lie.
      const bool any = std::any_of(leader.inputs.begin(), leader.inputs.end(), [&](ValueId id) {
        return id != kNoValue && !g_.is_constant(id) && copies_[s_.Root(id)][1];
      });
      return any ? Layout::kBlocked : Layout::kPlain;
    }
    const bool listed =
        std::find(blocked_.begin(), blocked_.end(), leader.op->name) != blocked_.end();
    const bool images = IsImage(leader.inputs[0]);
    const bool whole = std::all_of(group.nodes.begin(), group.nodes.end(),
                                   [&](std::size_t i) { return KeepsBlocks(g_.nodes[i]); });
    return listed && images && whole ? Layout::kBlocked : Layout::kPlain;
  }

  double Bytes(ValueId id, Layout layout) const {
    const tensor::Type& t = g_.value(id).type;
    tensor::Dims d = t.dims();
    if (d.size() == 4 && layout == Layout::kBlocked)
      d[1] = (d[1] + channel_block_ - 1) / channel_block_ * channel_block_;
    double n = ElementBytes(t.dtype);
    for (const std::int64_t x : d) n *= static_cast<double>(x);
    return n;
  }

  static std::uint64_t Key(ValueId root, Layout layout) {
    return std::uint64_t{root} * 2 + static_cast<std::uint64_t>(layout);
  }

  // `id` as a reader of that layout finds it; a task that converts comes first where it must.
  Access Need(ValueId id, Layout layout) {
    const ValueId root = s_.Root(id);
    if (blocked_.empty()) return {Key(root, Layout::kPlain), Bytes(id, Layout::kBlocked)};
    const bool image = IsImage(root) || IsImage(id);
    if (!IsImage(id)) layout = Layout::kPlain;
    auto& copies = copies_[root];
    const auto other = layout == Layout::kPlain ? Layout::kBlocked : Layout::kPlain;
    const bool there = copies[static_cast<std::size_t>(layout)];
    if (!image || there || IsSameEitherWay(root) || IsSameEitherWay(id))
      return {Key(root, there ? layout : other), Bytes(id, layout)};
    const ValueId shape = IsImage(root) ? root : id;
    TaskAccesses t;
    t.task.op = "layout";
    t.task.name = g_.value(root).name;
    t.reads = {{Key(root, other), Bytes(shape, other)}};
    t.writes = {{Key(root, layout), Bytes(shape, layout)}};
    out_.push_back(std::move(t));
    copies[static_cast<std::size_t>(layout)] = true;
    return {Key(root, layout), Bytes(id, layout)};
  }

  Access Made(ValueId id, Layout layout) {
    if (blocked_.empty()) return {Key(id, Layout::kPlain), Bytes(id, Layout::kBlocked)};
    if (!IsImage(id)) layout = Layout::kPlain;
    copies_[id][static_cast<std::size_t>(layout)] = true;
    return {Key(id, layout), Bytes(id, layout)};
  }

  // --- Work.
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

  bool MadeBy(std::size_t group, ValueId id) const {
    const auto producer = s_.Producer(id);
    return producer && groups_.group_of[*producer] == group;
  }

  bool ReadOutside(std::size_t group, ValueId id) const {
    if (s_.uses.is_output[id]) return true;
    return std::any_of(s_.uses.readers[id].begin(), s_.uses.readers[id].end(),
                       [&](std::uint32_t reader) { return groups_.group_of[reader] != group; });
  }

  void Emit(std::size_t index) {
    const TaskGroup& group = groups_.groups[index];
    const ir::Node& leader = g_.nodes[group.nodes[0]];
    const Layout layout = LayoutOf(group);
    TaskAccesses t;
    t.task.op = leader.op->name;
    t.task.name = leader.name;
    if (group.nodes.size() > 1) t.task.name += Cat("+", group.nodes.size() - 1);
    std::set<ValueId> seen;
    for (const std::size_t i : group.nodes) {
      const ir::Node& n = g_.nodes[i];
      AddWork(n, &t.task, &seen);
      for (const ValueId id : n.inputs) {
        if (id == kNoValue || MadeBy(index, id)) continue;
        if (g_.is_constant(id)) {
          if (!seen.insert(id).second) continue;
          t.task.weight_bytes +=
              static_cast<double>(g_.constant(id)->count()) * ElementBytes(g_.value(id).type.dtype);
        } else if (seen.insert(s_.Root(id)).second) {
          t.reads.push_back(Need(id, layout));
        }
      }
      for (const ValueId id : n.outputs) {
        if (id == kNoValue || !ReadOutside(index, id)) continue;
        t.writes.push_back(Made(id, layout));
      }
    }
    Repeat(std::move(t), group.tasks);
  }

  // Several tasks for one operator: each reads the operands, and all but the first what the one
  // before wrote; the work of the vector unit is divided.
  void Repeat(TaskAccesses t, int times) {
    t.task.vector_bytes /= times;
    const std::vector<Access> operands = t.reads, results = t.writes;
    for (int i = 0; i < times; ++i) {
      if (i + 1 < times) {
        for (Access& a : t.writes) a.tensor = g_.values.size() * 2 + scratch_++;
      } else {
        t.writes = results;
      }
      out_.push_back(t);
      t.reads = operands;
      t.reads.insert(t.reads.end(), t.writes.begin(), t.writes.end());
      t.task.weight_bytes = t.task.macs = t.task.cube_cycles = 0;
    }
  }

  const StackGraph& s_;
  const ir::Graph& g_;
  const TaskGroups& groups_;
  const CubeShape cube_;
  const std::vector<std::string> blocked_;  // operators that take and give blocks
  const std::int64_t channel_block_;
  std::vector<std::array<bool, 2>> copies_;  // by root: which layouts there are
  std::vector<TaskAccesses> out_;
  std::uint64_t scratch_ = 0;
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
  std::vector<std::string> blocked;
  if (profile.Has("npu.stack.blocked")) {
    NPUKIT_ASSIGN_OR_RETURN(blocked, profile.Texts("npu.stack.blocked"));
  }
  const StackGraph stack(g, profile);
  NPUKIT_ASSIGN_OR_RETURN(const TaskGroups groups, GroupNodes(stack));
  return Tasks(stack, groups, cube, std::move(blocked)).Run();
}

Result<StackRates> ReadStackRates(const target::Profile& p) {
  StackRates r;
  NPUKIT_ASSIGN_OR_RETURN(r.cube_cycles_per_ns, p.Number("npu.clock_ghz"));
  NPUKIT_ASSIGN_OR_RETURN(const double cores, p.Number("npu.cores"));
  NPUKIT_ASSIGN_OR_RETURN(const double vector, p.Number("npu.vector.bytes_per_cycle"));
  NPUKIT_ASSIGN_OR_RETURN(r.dram_bytes_per_ns, p.Number("npu.dram_gbytes_per_s"));
  const double per_cycle = cores * r.cube_cycles_per_ns;
  r.vector_bytes_per_ns = vector * per_cycle;
  if (p.NumberOr("npu.l2_bytes", 0) > 0) {
    NPUKIT_ASSIGN_OR_RETURN(const double read, p.Number("npu.bw.l2_read"));
    NPUKIT_ASSIGN_OR_RETURN(const double write, p.Number("npu.bw.l2_write"));
    r.cache_read_bytes_per_ns = read * per_cycle;
    r.cache_written_bytes_per_ns = write * per_cycle;
  }
  return r;
}

double StackTime::ns() const { return std::max({cube_ns, vector_ns, dram_ns, cache_ns}); }

StackTime TimeOf(const StackTask& t, const StackRates& r) {
  return {t.cube_cycles / r.cube_cycles_per_ns, t.vector_bytes / r.vector_bytes_per_ns,
          (t.read_bytes + t.weight_bytes + t.written_bytes) / r.dram_bytes_per_ns,
          std::max(t.cache_read_bytes / r.cache_read_bytes_per_ns,
                   t.cache_written_bytes / r.cache_written_bytes_per_ns)};
}

}  // namespace npukit::compile
