#include "compile/emit/emit.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "compile/emit/segment.h"
#include "compile/partition/subgraph.h"
#include "memory/plan.h"

namespace npukit::compile {
namespace {

using format::kNoSlot;

// Slots of a program: one per graph input and output, one per value that passes between segments.
class SlotTable {
 public:
  SlotTable(const ir::Graph& g, format::Program& program)
      : g_(g),
        program_(program),
        slot_of_(g.values.size(), kNoSlot),
        life_of_(g.values.size(), -1) {
    for (std::size_t i = 0; i < g.inputs.size(); ++i) {
      const std::uint32_t s = Add(g.inputs[i], format::SlotKind::kInput, i);
      if (slot_of_[g.inputs[i]] == kNoSlot) slot_of_[g.inputs[i]] = s;
    }
    for (std::size_t i = 0; i < g.outputs.size(); ++i) {
      const ir::ValueId v = g.outputs[i];
      const std::uint32_t s = Add(v, format::SlotKind::kOutput, i);
      if (slot_of_[v] == kNoSlot && !g.is_constant(v)) {
        slot_of_[v] = s;  // written in place by its producer
      } else {
        copies_.push_back({v, s});  // an input, a constant, or given out a second time
      }
    }
  }

  std::uint32_t Written(ir::ValueId v, std::int32_t step) {
    if (slot_of_[v] == kNoSlot) {
      slot_of_[v] = Add(v, format::SlotKind::kFixed, 0);
      life_of_[v] = static_cast<std::int32_t>(lifetimes_.size());
      lifetimes_.push_back({g_.value(v).type.bytes().value_or(0), step, step});
      planned_.push_back(slot_of_[v]);
    }
    return slot_of_[v];
  }
  Result<std::uint32_t> Read(ir::ValueId v, std::int32_t step) {
    const std::uint32_t s = slot_of_[v];
    if (s == kNoSlot)
      return Internal(Cat("value \"", Printable(g_.value(v).name), "\" is read before it is made"));
    if (life_of_[v] >= 0)
      lifetimes_[static_cast<std::size_t>(life_of_[v])].last = step;  // steps only go forward
    return s;
  }

  // Copies into outputs that nobody writes in place.
  Status AddCopies(format::PackageWriter& writer, format::Block& block) {
    for (const auto& [v, output] : copies_) {
      if (slot_of_[v] == kNoSlot) {
        const tensor::Value* c = g_.constant(v);
        if (c == nullptr || c->byte_size() == 0) {
          return Unsupported(
              Cat("output \"", Printable(g_.value(v).name), "\": nothing computes it"));
        }
        KeptBytes kept{c->bytes(), std::make_shared<const tensor::Value>(*c)};
        const std::uint64_t hash = Hash64(kept.bytes);
        slot_of_[v] =
            Add(v, format::SlotKind::kConstant, writer.AddWeight("raw", std::move(kept), hash));
      }
      format::Step step;
      step.kind = format::StepKind::kCopy;
      step.inputs = {slot_of_[v]};
      step.outputs = {output};
      block.steps.push_back(std::move(step));
    }
    return OkStatus();
  }

  Status Place() {
    NPUKIT_ASSIGN_OR_RETURN(const memory::Plan plan, memory::PlanArena(lifetimes_));
    for (std::size_t k = 0; k < planned_.size(); ++k)
      program_.slots[planned_[k]].offset = plan.offsets[k];
    program_.arena_bytes = plan.arena_bytes;
    return OkStatus();
  }

 private:
  std::uint32_t Add(ir::ValueId v, format::SlotKind kind, std::size_t index) {
    format::Slot slot;
    slot.name = g_.value(v).name;
    slot.type = g_.value(v).type;
    slot.kind = kind;
    slot.index = static_cast<std::uint32_t>(index);
    program_.slots.push_back(std::move(slot));
    return static_cast<std::uint32_t>(program_.slots.size() - 1);
  }

  const ir::Graph& g_;
  format::Program& program_;
  std::vector<std::uint32_t> slot_of_;  // by value
  std::vector<std::int32_t> life_of_;   // by value: index into lifetimes_, -1 when it needs none
  std::vector<std::pair<ir::ValueId, std::uint32_t>> copies_;
  std::vector<std::uint32_t> planned_;  // slots, beside lifetimes_
  std::vector<memory::Lifetime> lifetimes_;
};

}  // namespace

Result<format::Program> EmitProgram(const ir::Graph& g, const Partition& partition,
                                    const target::Profile& profile, const LoweringList& devices,
                                    const LowerOptions& options, format::PackageWriter& writer) {
  format::Program program;
  for (ir::ValueId v : g.inputs) program.input_types.push_back(g.value(v).type);
  for (ir::ValueId v : g.outputs) program.output_types.push_back(g.value(v).type);
  program.blocks.emplace_back();
  const ir::Uses uses(g);
  SlotTable slots(g, program);
  std::vector<bool> inside(g.nodes.size(), false);
  program.precision = PrecisionName(Precision::kFp32);
  for (std::size_t s = 0; s < partition.segments.size(); ++s) {
    const Segment& segment = partition.segments[s];
    const Lowering& device = *devices[static_cast<std::size_t>(segment.device)];
    const auto now = static_cast<std::int32_t>(s);
    const Subgraph sub = CutOut(g, uses, segment.nodes, inside);
    NPUKIT_ASSIGN_OR_RETURN(format::ExecutableInfo executable,
                            LowerSegment(sub.graph, device, profile, options, writer, s));
    format::Step step;
    step.executable = static_cast<std::uint32_t>(program.executables.size());
    for (ir::ValueId v : sub.inputs) {
      NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t slot, slots.Read(v, now));
      step.inputs.push_back(slot);
    }
    for (ir::ValueId v : sub.outputs) step.outputs.push_back(slots.Written(v, now));
    program.blocks[0].steps.push_back(std::move(step));
    if (s == 0) {
      program.estimate = executable.estimate;
    } else {
      program.estimate += executable.estimate;
    }
    program.executables.push_back(std::move(executable));
    program.segment_devices.emplace_back(device.device_class());
    if (device.device_class() != "CPU") program.precision = PrecisionName(device.precision());
  }
  NPUKIT_RETURN_IF_ERROR(slots.AddCopies(writer, program.blocks[0]));
  NPUKIT_RETURN_IF_ERROR(slots.Place());
  program.devices = DevicesKey(program.segment_devices);
  program.verdicts = partition.verdicts;
  program.compute_units = CountUnits(g, partition.verdicts);
  return program;
}

format::ComputeUnits CountUnits(const ir::Graph& g, const std::vector<target::Verdict>& verdicts) {
  constexpr std::uint32_t kFolded = 0xFFFFFFFFu;
  std::vector<std::uint32_t> node_of(g.source_nodes.size(), kFolded);
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    for (std::uint32_t s : g.nodes[i].from) {
      if (s < node_of.size())
        node_of[s] = static_cast<std::uint32_t>(i);  // the last one gives the result
    }
  }
  format::ComputeUnits units;
  units.total = static_cast<std::uint32_t>(g.source_nodes.size());
  for (std::uint32_t node : node_of) {
    if (node == kFolded) {
      ++units.folded;
      continue;
    }
    const std::string& place = verdicts[node].placed_on;
    if (place == "NPU") ++units.npu;
    if (place == "GPU") ++units.gpu;
    if (place == "CPU") ++units.cpu;
  }
  return units;
}

}  // namespace npukit::compile
