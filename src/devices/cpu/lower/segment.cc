#include "devices/cpu/lower/segment.h"

#include <algorithm>

#include "base/text.h"
#include "devices/cpu/lower/weights.h"
#include "memory/plan.h"

namespace npukit::devices::cpu {
bool IsView(const ir::Graph& g, const ir::Node& n) {
  if (n.op != &op::reshape && n.op != &op::squeeze && n.op != &op::unsqueeze &&
      n.op != &op::identity)
    return false;
  if (!n.epilogue.empty() || n.inputs.empty() || n.inputs[0] == ir::kNoValue ||
      g.is_constant(n.inputs[0]))
    return false;
  const tensor::Type& a = g.value(n.inputs[0]).type;
  const tensor::Type& b = g.value(n.outputs[0]).type;
  return a.is_static() && b.is_static() && a.dtype == b.dtype && a.bytes().has_value() &&
         a.bytes() == b.bytes();
}

ir::ValueId SegmentBuilder::Root(ir::ValueId v) const {
  while (parent_[v] != v) v = parent_[v];
  return v;
}

void SegmentBuilder::FindViews() {
  parent_.resize(g_.values.size());
  for (ir::ValueId v = 0; v < parent_.size(); ++v) parent_[v] = v;
  groups_.resize(g_.values.size());
  for (const ir::Node& n : g_.nodes) {
    if (IsView(g_, n)) parent_[n.outputs[0]] = Root(n.inputs[0]);
  }
}

// A stretch that is a boundary input stays there; else the first boundary output it is becomes its
// home, so that its producer writes where the caller reads. Further outputs of the same stretch are
// copies.
void SegmentBuilder::PlaceBoundary() {
  for (std::size_t i = 0; i < g_.inputs.size(); ++i)
    groups_[g_.inputs[i]].input = static_cast<std::int32_t>(i);
  for (std::size_t i = 0; i < g_.outputs.size(); ++i) {
    if (g_.is_constant(g_.outputs[i])) continue;
    Group& group = groups_[Root(g_.outputs[i])];
    if (group.input < 0 && group.output < 0) group.output = static_cast<std::int32_t>(i);
  }
}

void SegmentBuilder::Touch(ir::ValueId v) {
  Group& group = groups_[Root(v)];
  const auto step = static_cast<std::int32_t>(blob_.steps.size());
  if (group.first < 0) group.first = step;
  group.last = step;
}

Result<std::uint32_t> SegmentBuilder::TensorOf(ir::ValueId v, Layout layout, std::uint32_t groups) {
  const auto [it, added] =
      tensors_.try_emplace({v, layout, groups}, static_cast<std::uint32_t>(blob_.tensors.size()));
  if (!added) return it->second;
  const ir::ValueInfo& info = g_.value(v);
  BlobTensor t;
  if (const tensor::Value* c = g_.constant(v)) {
    t.dtype = c->dtype();
    t.dims = c->dims();
    t.place = Place::kWeight;
    t.layout = layout;
    t.groups = groups;
    NPUKIT_ASSIGN_OR_RETURN(t.index, weights_.Add(*c, layout, groups));
  } else {
    const Group& group = groups_[Root(v)];
    t.dtype = info.type.dtype;
    t.dims = info.type.dims();
    t.place = group.input >= 0    ? Place::kInput
              : group.output >= 0 ? Place::kOutput
                                  : Place::kScratch;
    t.index = static_cast<std::uint32_t>(std::max({group.input, group.output, 0}));
    if (group.input >= 0) t.index = static_cast<std::uint32_t>(group.input);
  }
  blob_.tensors.push_back(std::move(t));
  tensor_values_.push_back(g_.is_constant(v) ? ir::kNoValue : v);
  return it->second;
}

Status SegmentBuilder::AddStep(const ir::Node& n) {
  BlobStep s = NameStep(n);
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i] == ir::kNoValue) {
      s.inputs.push_back(-1);
      continue;
    }
    const Form form = FormOf(g_, n, i);
    NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t t, TensorOf(n.inputs[i], form.layout, form.groups));
    s.inputs.push_back(static_cast<std::int32_t>(t));
    if (!g_.is_constant(n.inputs[i])) Touch(n.inputs[i]);
  }
  for (const ir::ValueId v : n.outputs) {
    NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t t, TensorOf(v, Layout::kRaw, 1));
    s.outputs.push_back(t);
    Touch(v);
  }
  blob_.steps.push_back(std::move(s));
  return OkStatus();
}

Status SegmentBuilder::AddSteps(const compile::LowerOptions& options) {
  const int total = static_cast<int>(g_.nodes.size());
  for (int i = 0; i < total; ++i) {
    const ir::Node& n = g_.nodes[static_cast<std::size_t>(i)];
    if (options.progress) options.progress("lower", i, total);
    if (n.is_foreign())
      return Unsupported(
          Cat("cpu: node ", Printable(n.name), ": no operator ", Printable(n.foreign_op)));
    for (const ir::ValueId v : n.outputs) {
      if (v == ir::kNoValue || !g_.value(v).type.is_static() || !g_.value(v).type.bytes()) {
        return Unsupported(Cat("cpu: node ", Printable(n.name), " (", n.op->name,
                               "): its output has no fixed size"));
      }
    }
    if (IsView(g_, n)) continue;
    if (Status st = AddStep(n); !st.ok())
      return st.WithContext(Cat("cpu: node ", Printable(n.name)));
  }
  return OkStatus();
}

// Boundary outputs that are not written by a step: constants, inputs handed through, one value
// under two output names.
Status SegmentBuilder::AddCopies() {
  for (std::size_t i = 0; i < g_.outputs.size(); ++i) {
    const ir::ValueId v = g_.outputs[i];
    const ir::ValueInfo& info = g_.value(v);
    const bool constant = g_.is_constant(v);
    const bool home = !constant && groups_[Root(v)].output == static_cast<std::int32_t>(i);
    if (home) {
      NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t t, TensorOf(v, Layout::kRaw, 1));
      blob_.outputs.push_back(t);
      continue;
    }
    NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t source, TensorOf(v, Layout::kRaw, 1));
    if (!constant) Touch(v);
    BlobTensor t;
    t.dtype = constant ? info.constant->dtype() : info.type.dtype;
    t.dims = constant ? info.constant->dims() : info.type.dims();
    t.place = Place::kOutput;
    t.index = static_cast<std::uint32_t>(i);
    const auto id = static_cast<std::uint32_t>(blob_.tensors.size());
    blob_.tensors.push_back(std::move(t));
    tensor_values_.push_back(ir::kNoValue);
    blob_.steps.push_back({.op = "identity",
                           .name = info.name,
                           .attrs = {},
                           .epilogue = {},
                           .inputs = {static_cast<std::int32_t>(source)},
                           .outputs = {id}});
    blob_.outputs.push_back(id);
  }
  return OkStatus();
}

Status SegmentBuilder::PlanScratch() {
  std::vector<memory::Lifetime> lifetimes;
  std::vector<ir::ValueId> roots;
  for (ir::ValueId v = 0; v < groups_.size(); ++v) {
    const Group& group = groups_[v];
    if (Root(v) != v || group.first < 0 || group.input >= 0 || group.output >= 0) continue;
    lifetimes.push_back({*g_.value(v).type.bytes(), group.first, group.last});
    roots.push_back(v);
  }
  NPUKIT_ASSIGN_OR_RETURN(const memory::Plan plan, memory::PlanArena(lifetimes, kScratchAlignment));
  for (std::size_t i = 0; i < roots.size(); ++i) groups_[roots[i]].offset = plan.offsets[i];
  for (std::size_t t = 0; t < blob_.tensors.size(); ++t) {
    if (blob_.tensors[t].place == Place::kScratch)
      blob_.tensors[t].offset = groups_[Root(tensor_values_[t])].offset;
  }
  blob_.scratch_bytes =
      (plan.arena_bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
  return OkStatus();
}

Status SegmentBuilder::Build(const compile::LowerOptions& options, compile::Lowered* out) {
  FindViews();
  PlaceBoundary();
  for (const ir::ValueId v : g_.inputs) {
    if (!g_.value(v).type.is_static() || !g_.value(v).type.bytes()) {
      return Unsupported(Cat("cpu: input ", Printable(g_.value(v).name), " has no fixed size: ",
                             g_.value(v).type.ToString(), "; give its shape"));
    }
    NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t t, TensorOf(v, Layout::kRaw, 1));
    blob_.inputs.push_back(t);
  }
  NPUKIT_RETURN_IF_ERROR(AddSteps(options));
  NPUKIT_RETURN_IF_ERROR(AddCopies());
  NPUKIT_RETURN_IF_ERROR(PlanScratch());
  blob_.weights = weights_.count();
  out->blob = Write(blob_);
  out->weights = weights_.Take();
  out->scratch_bytes = blob_.scratch_bytes;
  return OkStatus();
}

}  // namespace npukit::devices::cpu
