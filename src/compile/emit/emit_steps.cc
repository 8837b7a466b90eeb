#include "compile/emit/emit_steps.h"

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "base/text.h"
#include "compile/emit/emit.h"
#include "compile/emit/segment.h"
#include "compile/partition/subgraph.h"
#include "compile/shapes.h"
#include "ir/control.h"
#include "ir/node.h"
#include "tensor/strings.h"

namespace npukit::compile {
namespace {

using format::kNoSlot;
using format::SlotKind;
using format::StepKind;

bool IsOpen(const tensor::Type& t) { return !t.is_static() || !t.bytes(); }

class StepEmitter {
 public:
  StepEmitter(const target::Profile& profile, const LoweringList& devices, Goal goal,
              const LowerOptions& options, format::PackageWriter& writer)
      : profile_(profile), devices_(devices), goal_(goal), options_(options), writer_(writer) {
    program_.by_step = true;
    program_.precision = PrecisionName(Precision::kFp32);
    program_.estimate.kind = target::Kind::kModelled;
  }

  Status Emit(const ir::Graph& g, const Partition& partition) {
    for (ir::ValueId v : g.inputs) program_.input_types.push_back(g.value(v).type);
    for (ir::ValueId v : g.outputs) program_.output_types.push_back(g.value(v).type);
    program_.verdicts = partition.verdicts;
    for (target::Verdict& v : program_.verdicts) v.segment = -1;
    program_.compute_units = CountUnits(g, partition.verdicts);
    SlotMap slots(g.values.size(), kNoSlot);
    for (std::size_t i = 0; i < g.inputs.size(); ++i)
      slots[g.inputs[i]] = AddSlot(g.value(g.inputs[i]), SlotKind::kInput, i);
    std::vector<std::uint32_t> results;
    for (std::size_t i = 0; i < g.outputs.size(); ++i)
      results.push_back(AddSlot(g.value(g.outputs[i]), SlotKind::kOutput, i));
    program_.blocks.emplace_back();
    return EmitBlock(g, partition, 0, 0, std::move(slots), results);
  }

  format::Program Take(std::string devices_key) {
    program_.devices = std::move(devices_key);
    return std::move(program_);
  }
  const std::vector<std::string>& used() const { return program_.segment_devices; }

 private:
  using SlotMap = std::vector<std::uint32_t>;  // by value

  std::uint32_t AddSlot(const ir::ValueInfo& info, SlotKind kind, std::size_t index) {
    format::Slot slot;
    slot.name = info.name;
    slot.type = info.type;
    slot.kind = kind;
    slot.index = static_cast<std::uint32_t>(index);
    program_.slots.push_back(std::move(slot));
    return static_cast<std::uint32_t>(program_.slots.size() - 1);
  }

  Result<std::uint32_t> SlotOf(const ir::Graph& g, ir::ValueId v, SlotMap& slots) {
    if (slots[v] != kNoSlot) return slots[v];
    const tensor::Value* c = g.constant(v);
    if (c == nullptr || !c->is_tensor())
      return Internal(Cat("value \"", Printable(g.value(v).name), "\" is read before it is made"));
    const bool strings = c->dtype() == tensor::DType::kString;
    KeptBytes kept = strings ? KeepBytes(tensor::EncodeStrings(*c))
                             : KeptBytes{c->bytes(), std::make_shared<const tensor::Value>(*c)};
    const std::uint64_t hash = Hash64(kept.bytes);
    slots[v] = AddSlot(g.value(v), SlotKind::kConstant,
                       writer_.AddWeight(strings ? "strings" : "raw", std::move(kept), hash));
    return slots[v];
  }

  // `results`: where the block leaves its graph's outputs.
  Status EmitBlock(const ir::Graph& g, const Partition& partition, std::size_t block, int depth,
                   SlotMap slots, const std::vector<std::uint32_t>& results) {
    if (depth > ir::kMaxBodyDepth)
      return ResourceExhausted(Cat("graphs nested deeper than ", ir::kMaxBodyDepth));
    const auto first_own = static_cast<std::uint32_t>(program_.slots.size());
    const ir::Uses uses(g);
    std::vector<bool> inside(g.nodes.size(), false);
    for (const Segment& segment : partition.segments) {
      const Lowering& device = *devices_[static_cast<std::size_t>(segment.device)];
      std::vector<std::uint32_t> run;  // nodes between two of control
      const auto flush = [&]() -> Status {
        if (run.empty()) return OkStatus();
        const std::vector<std::uint32_t> nodes = std::move(run);
        run.clear();
        return EmitCall(g, uses, nodes, inside, device, block, depth, slots);
      };
      for (const std::uint32_t n : segment.nodes) {
        if (!g.nodes[n].op->control) {
          run.push_back(n);
          continue;
        }
        NPUKIT_RETURN_IF_ERROR(flush());
        NPUKIT_RETURN_IF_ERROR(
            EmitControl(g, g.nodes[n], block, depth, slots).WithContext(ir::Describe(g.nodes[n])));
      }
      NPUKIT_RETURN_IF_ERROR(flush());
    }
    for (std::size_t i = 0; i < g.outputs.size(); ++i) {
      NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t from, SlotOf(g, g.outputs[i], slots));
      format::Step copy;
      copy.kind = StepKind::kCopy;
      copy.inputs = {from};
      copy.outputs = {results[i]};
      program_.blocks[block].steps.push_back(std::move(copy));
    }
    AddReleases(block, first_own);
    return OkStatus();
  }

  Status EmitCall(const ir::Graph& g, const ir::Uses& uses, const std::vector<std::uint32_t>& nodes,
                  std::vector<bool>& inside, const Lowering& device, std::size_t block, int depth,
                  SlotMap& slots) {
    const Subgraph sub = CutOut(g, uses, nodes, inside);
    if (sub.outputs.empty()) return OkStatus();  // nobody reads what these make
    LowerOptions options = options_;
    options.any_shape = device.device_class() == "CPU";
    if (depth == 0) {  // the graph's own verdicts come first, one for each node
      for (const std::uint32_t n : nodes)
        program_.verdicts[n].segment = static_cast<int>(program_.executables.size());
    }
    NPUKIT_ASSIGN_OR_RETURN(
        format::ExecutableInfo executable,
        LowerSegment(sub.graph, device, profile_, options, writer_, program_.executables.size()));
    program_.estimate += executable.estimate;
    format::Step step;
    step.executable = static_cast<std::uint32_t>(program_.executables.size());
    for (ir::ValueId v : sub.inputs) {
      NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t slot, SlotOf(g, v, slots));
      step.inputs.push_back(slot);
    }
    for (ir::ValueId v : sub.outputs) {
      slots[v] = AddSlot(g.value(v), SlotKind::kDynamic, 0);
      step.outputs.push_back(slots[v]);
    }
    program_.blocks[block].steps.push_back(std::move(step));
    program_.executables.push_back(std::move(executable));
    program_.segment_devices.emplace_back(device.device_class());
    if (device.device_class() != "CPU") program_.precision = PrecisionName(device.precision());
    return OkStatus();
  }

  Status EmitControl(const ir::Graph& g, const ir::Node& n, std::size_t block, int depth,
                     SlotMap& slots) {
    return n.op == &op::if_else ? EmitIf(g, n, block, depth, slots)
                                : EmitLoop(g, n, block, depth, slots);
  }

  // Places and emits a body whose inputs lie in `inputs`.
  Status EmitBody(const ir::Graph& body, std::size_t block, int depth,
                  const std::vector<std::uint32_t>& inputs,
                  const std::vector<std::uint32_t>& results) {
    NPUKIT_ASSIGN_OR_RETURN(Partition partition, MakePartition(body, profile_, devices_, goal_));
    SlotMap slots(body.values.size(), kNoSlot);
    for (std::size_t i = 0; i < inputs.size(); ++i) slots[body.inputs[i]] = inputs[i];
    for (target::Verdict v : partition.verdicts) {
      JudgeInBody(v);
      program_.verdicts.push_back(std::move(v));
    }
    return EmitBlock(body, partition, block, depth + 1, std::move(slots), results);
  }

  Result<std::vector<std::uint32_t>> SlotsOf(const ir::Graph& g,
                                             std::span<const ir::ValueId> values, SlotMap& slots) {
    std::vector<std::uint32_t> out;
    for (const ir::ValueId v : values) {
      NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t slot, SlotOf(g, v, slots));
      out.push_back(slot);
    }
    return out;
  }

  std::size_t AddBlock() {
    program_.blocks.emplace_back();
    return program_.blocks.size() - 1;
  }

  Status EmitIf(const ir::Graph& g, const ir::Node& n, std::size_t block, int depth,
                SlotMap& slots) {
    NPUKIT_ASSIGN_OR_RETURN(const ir::IfForm form, ir::ReadIf(n));
    format::Step step;
    step.kind = StepKind::kIf;
    NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t cond, SlotOf(g, n.inputs[0], slots));
    step.inputs = {cond};
    NPUKIT_ASSIGN_OR_RETURN(const auto then_inputs, SlotsOf(g, form.then_captures, slots));
    NPUKIT_ASSIGN_OR_RETURN(const auto else_inputs, SlotsOf(g, form.else_captures, slots));
    for (const ir::ValueId v : n.outputs) {
      slots[v] = AddSlot(g.value(v), SlotKind::kDynamic, 0);
      step.outputs.push_back(slots[v]);
    }
    const std::vector<std::uint32_t> results = step.outputs;
    const std::size_t then_block = AddBlock();
    NPUKIT_RETURN_IF_ERROR(EmitBody(*form.then_branch, then_block, depth, then_inputs, results));
    const std::size_t else_block = AddBlock();
    NPUKIT_RETURN_IF_ERROR(EmitBody(*form.else_branch, else_block, depth, else_inputs, results));
    step.blocks = {static_cast<std::uint32_t>(then_block), static_cast<std::uint32_t>(else_block)};
    program_.blocks[block].steps.push_back(std::move(step));
    return OkStatus();
  }

  Status EmitLoop(const ir::Graph& g, const ir::Node& n, std::size_t block, int depth,
                  SlotMap& slots) {
    NPUKIT_ASSIGN_OR_RETURN(const ir::LoopForm form, ir::ReadLoop(n));
    format::Step step;
    step.kind = StepKind::kLoop;
    for (const ir::ValueId v : {form.trip_count, form.cond}) {
      if (v == ir::kNoValue) {
        step.limits.push_back(kNoSlot);
        continue;
      }
      NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t slot, SlotOf(g, v, slots));
      step.limits.push_back(slot);
    }
    NPUKIT_ASSIGN_OR_RETURN(step.inputs, SlotsOf(g, form.initial, slots));
    NPUKIT_ASSIGN_OR_RETURN(const auto captures, SlotsOf(g, form.captures, slots));
    for (const ir::ValueId v : n.outputs) {
      slots[v] = AddSlot(g.value(v), SlotKind::kDynamic, 0);
      step.outputs.push_back(slots[v]);
    }
    const ir::Graph& body = *form.body;
    std::vector<std::uint32_t> inputs;
    for (std::size_t i = 0; i < 2 + form.carried; ++i) {
      inputs.push_back(AddSlot(body.value(body.inputs[i]), SlotKind::kDynamic, 0));
      step.params.push_back(inputs.back());
    }
    inputs.insert(inputs.end(), captures.begin(), captures.end());
    for (const ir::ValueId v : body.outputs)
      step.results.push_back(AddSlot(body.value(v), SlotKind::kDynamic, 0));
    const std::size_t body_block = AddBlock();
    NPUKIT_RETURN_IF_ERROR(EmitBody(body, body_block, depth, inputs, step.results));
    step.blocks = {static_cast<std::uint32_t>(body_block)};
    program_.blocks[block].steps.push_back(std::move(step));
    return OkStatus();
  }

  // What a step reads, its blocks' steps included.
  void Reads(const format::Step& s, std::vector<std::uint32_t>& out) const {
    for (const auto* list : {&s.inputs, &s.limits, &s.results})
      out.insert(out.end(), list->begin(), list->end());
    for (const std::uint32_t b : s.blocks) {
      for (const format::Step& inner : program_.blocks[b].steps) Reads(inner, out);
    }
  }

  // Values that this block made are forgotten after their last reader in it.
  void AddReleases(std::size_t block, std::uint32_t first_own) {
    std::vector<format::Step> steps = std::move(program_.blocks[block].steps);
    std::unordered_map<std::uint32_t, std::size_t> last;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      std::vector<std::uint32_t> slots = steps[i].outputs;
      Reads(steps[i], slots);
      for (const std::uint32_t s : slots) last[s] = i;
    }
    std::vector<std::vector<std::uint32_t>> gone(steps.size());
    for (const auto& [slot, i] : last) {
      if (slot != kNoSlot && slot >= first_own && program_.slots[slot].kind == SlotKind::kDynamic)
        gone[i].push_back(slot);
    }
    std::vector<format::Step>& out = program_.blocks[block].steps;
    out.clear();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      out.push_back(std::move(steps[i]));
      if (gone[i].empty()) continue;
      std::sort(gone[i].begin(), gone[i].end());
      format::Step release;
      release.kind = StepKind::kRelease;
      release.inputs = std::move(gone[i]);
      out.push_back(std::move(release));
    }
  }

  const target::Profile& profile_;
  const LoweringList& devices_;
  const Goal goal_;
  const LowerOptions& options_;
  format::PackageWriter& writer_;
  format::Program program_;
};

}  // namespace

namespace {

// Do the node's sizes follow from what a device is told, types and constants? What inference knew
// besides (values computed from shapes) is not in the package.
bool FollowsFromConstants(const ir::Graph& g, const ir::Node& n) {
  const std::vector<tensor::Type> inputs = g.InputTypes(n);
  std::vector<const tensor::Value*> constants;
  for (const ir::ValueId v : n.inputs) constants.push_back(g.constant(v));
  std::vector<tensor::Type> outputs(n.outputs.size());
  return ops::Infer(*n.op, n.attrs, n.epilogue, inputs, constants, outputs).ok() &&
         std::none_of(outputs.begin(), outputs.end(), IsOpen);
}

}  // namespace

bool NeedsSteps(const ir::Graph& g) {
  const auto open = [&](ir::ValueId v) { return v != ir::kNoValue && IsOpen(g.value(v).type); };
  for (const ir::Node& n : g.nodes) {
    if (n.op != nullptr && n.op->control) return true;
    if (std::any_of(n.inputs.begin(), n.inputs.end(), open) ||
        std::any_of(n.outputs.begin(), n.outputs.end(), open))
      return true;
    if (n.op != nullptr && !FollowsFromConstants(g, n)) return true;
  }
  return std::any_of(g.inputs.begin(), g.inputs.end(), open) ||
         std::any_of(g.outputs.begin(), g.outputs.end(), open);
}

Result<format::Program> EmitStepProgram(const ir::Graph& g, const Partition& partition,
                                        const target::Profile& profile, const LoweringList& devices,
                                        Goal goal, const LowerOptions& options,
                                        format::PackageWriter& writer) {
  StepEmitter emitter(profile, devices, goal, options, writer);
  NPUKIT_RETURN_IF_ERROR(emitter.Emit(g, partition));
  std::string key = DevicesKey(emitter.used());
  return emitter.Take(std::move(key));
}

}  // namespace npukit::compile
