#include "devices/cpu/run/stage.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "memory/plan.h"
#include "ops/evaluate.h"

namespace npukit::devices::cpu {
namespace {

using tensor::Type;
using tensor::Value;

// Shape arithmetic is tiny; anything larger is data.
constexpr std::int64_t kMaxKnownElements = 1024;
constexpr std::uint32_t kNone = 0xFFFFFFFFu;

bool IsSmall(const Type& t) {
  return tensor::ElementCount(t.dims()).value_or(kMaxKnownElements + 1) <= kMaxKnownElements;
}

class Planner {
 public:
  Planner(const Flow& flow, std::size_t begin, std::vector<Type> types)
      : flow_(flow), begin_(begin), types_(std::move(types)), known_(types_.size()) {}

  Result<std::shared_ptr<const Stage>> Plan(const Kernels& kernels, int threads,
                                            const target::Profile& profile) {
    end_ = begin_;
    while (end_ < flow_.steps.size() && InferStep(flow_.steps[end_])) ++end_;
    auto stage = std::make_shared<Stage>();
    stage->begin = begin_;
    stage->end = std::max(end_, begin_ + 1);
    if (end_ == begin_) return std::shared_ptr<const Stage>(std::move(stage));
    NPUKIT_RETURN_IF_ERROR(Build(*stage));
    std::vector<hal::WeightView> weights = flow_.weights;
    for (const Value& v : constants_) {
      static constexpr std::byte kNothing[8] = {};  // a weight without bytes still has an address
      weights.push_back(
          {.id = weights.size(),
           .bytes = v.byte_size() > 0 ? v.bytes() : std::span<const std::byte>(kNothing, 0)});
    }
    NPUKIT_ASSIGN_OR_RETURN(auto executable,
                            CpuExecutable::FromBlob(blob_, weights, kernels, threads, profile));
    executable->Keep(std::move(constants_));
    stage->executable = std::move(executable);
    return std::shared_ptr<const Stage>(std::move(stage));
  }

 private:
  const Value* Constant(std::int32_t t) const {
    if (t < 0) return nullptr;
    const auto at = static_cast<std::size_t>(t);
    if (flow_.constants[at].present()) return &flow_.constants[at];
    return known_[at].present() ? &known_[at] : nullptr;
  }

  // False: the step's results depend on data, or it works on more than plain tensors.
  bool InferStep(const FlowStep& s) {
    std::vector<Type> inputs;
    std::vector<const Value*> constants;
    for (const std::int32_t t : s.inputs) {
      inputs.push_back(t < 0 ? Type() : types_[static_cast<std::size_t>(t)]);
      if (t >= 0 && !IsPlain(inputs.back())) return false;
      constants.push_back(Constant(t));
    }
    std::vector<Type> outputs(s.outputs.size());
    if (!ops::Infer(*s.def, s.attrs, s.epilogue, inputs, constants, outputs).ok()) return false;
    bool small = true;
    for (const Type& t : outputs) {
      if (!IsPlain(t)) return false;
      small = small && IsSmall(t);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) types_[s.outputs[i]] = outputs[i];
    if (small) Follow(s);
    return true;
  }

  // Values that follow from shapes and constants alone are constants of this plan.
  void Follow(const FlowStep& s) {
    std::vector<Value> inputs;
    for (const std::int32_t t : s.inputs) {
      const Value* v = Constant(t);
      if (t < 0) {
        inputs.emplace_back();
      } else if (v != nullptr) {
        if (v->count() > kMaxKnownElements) return;
        inputs.push_back(*v);
      } else {
        std::optional<Value> dims;
        if (s.def->loop == ops::LoopShape::kShape)
          dims = ops::OnlyDims(types_[static_cast<std::size_t>(t)]);
        if (!dims) return;
        inputs.push_back(std::move(*dims));
      }
    }
    auto results = ops::EvaluateToValues(*s.def, s.attrs, s.epilogue, inputs, s.outputs.size());
    if (!results.ok()) return;
    for (std::size_t i = 0; i < results->size(); ++i) {
      const Value& v = (*results)[i];
      if (v.is_tensor() && v.type() == types_[s.outputs[i]]) known_[s.outputs[i]] = v;
    }
  }

  bool IsView(const FlowStep& s) const {
    if ((s.def != &op::reshape && s.def != &op::squeeze && s.def != &op::unsqueeze &&
         s.def != &op::identity) ||
        !s.epilogue.empty() || s.inputs.empty() || s.inputs[0] < 0 ||
        flow_.blob.tensors[static_cast<std::size_t>(s.inputs[0])].place == Place::kWeight ||
        Constant(s.inputs[0]) != nullptr)
      return false;
    const Type& a = types_[static_cast<std::size_t>(s.inputs[0])];
    const Type& b = types_[s.outputs[0]];
    return a.dtype == b.dtype && a.bytes() == b.bytes();
  }

  std::uint32_t Root(std::uint32_t t) const {
    while (parent_[t] != kNone) t = parent_[t];
    return t;
  }

  // Which of a stretch's tensors are read after the stage.
  bool ReadLater(std::uint32_t t) const {
    return flow_.last_use[t] >= static_cast<std::int64_t>(end_);
  }

  Status Build(Stage& stage) {
    const std::size_t tensors = types_.size();
    parent_.assign(tensors, kNone);
    input_.assign(tensors, kNone);
    output_.assign(tensors, kNone);
    life_.assign(tensors, -1);
    made_here_.assign(tensors, false);
    for (std::size_t i = begin_; i < end_; ++i) {
      const FlowStep& s = flow_.steps[i];
      for (const std::uint32_t t : s.outputs) made_here_[t] = true;
      if (IsView(s)) parent_[s.outputs[0]] = Root(static_cast<std::uint32_t>(s.inputs[0]));
    }
    PlaceOutputs(stage);
    for (std::size_t i = begin_; i < end_; ++i) {
      const FlowStep& s = flow_.steps[i];
      if (IsView(s) || AllKnown(s)) continue;
      BlobStep out;
      out.op = std::string(s.def->name);
      out.name = s.name;
      out.attrs = s.attrs.all();
      for (const ops::EpilogueStep& e : s.epilogue)
        out.epilogue.push_back({std::string(e.op->name), e.attrs.all(), e.operand, e.swapped});
      for (const std::int32_t t : s.inputs) {
        out.inputs.push_back(
            t < 0 ? -1 : static_cast<std::int32_t>(Tensor(static_cast<std::uint32_t>(t), stage)));
      }
      for (const std::uint32_t t : s.outputs) out.outputs.push_back(Tensor(t, stage));
      ++step_;
      blob_.steps.push_back(std::move(out));
    }
    return PlaceScratch(stage);
  }

  bool AllKnown(const FlowStep& s) const {
    return std::all_of(s.outputs.begin(), s.outputs.end(),
                       [&](std::uint32_t t) { return known_[t].present(); });
  }

  // A stretch that somebody reads afterwards is a value of its own; its views share it.
  void PlaceOutputs(Stage& stage) {
    for (std::size_t i = begin_; i < end_; ++i) {
      for (const std::uint32_t t : flow_.steps[i].outputs) {
        if (!ReadLater(t)) continue;
        Stage::Given given;
        given.tensor = t;
        given.dims = types_[t].dims();
        const std::uint32_t root = Root(t);
        if (known_[t].present()) {
          given.constant = known_[t];
        } else if (!made_here_[root]) {
          given.input = static_cast<std::int32_t>(root);
        } else {
          if (output_[root] == kNone) {
            output_[root] = static_cast<std::uint32_t>(stage.made.size());
            stage.made.push_back({types_[root]});
          }
          given.made = static_cast<std::int32_t>(output_[root]);
        }
        stage.given.push_back(std::move(given));
      }
    }
  }

  // The blob's tensor for one of the flow's; made on first use.
  std::uint32_t Tensor(std::uint32_t t, Stage& stage) {
    const auto [it, added] = ids_.try_emplace(t, static_cast<std::uint32_t>(blob_.tensors.size()));
    const std::uint32_t root = Root(t);
    if (life_[root] >= 0) lifetimes_[static_cast<std::size_t>(life_[root])].last = step_;
    if (!added) return it->second;
    BlobTensor b;
    const BlobTensor& from = flow_.blob.tensors[t];
    if (from.place == Place::kWeight) {
      b = from;
    } else {
      b.dtype = types_[t].dtype;
      b.dims = types_[t].dims();
      if (known_[t].present()) {
        b.place = Place::kWeight;
        b.index = static_cast<std::uint32_t>(flow_.weights.size() + constants_.size());
        constants_.push_back(known_[t]);
      } else if (!made_here_[root]) {
        b.place = Place::kInput;
        if (input_[root] == kNone) {
          input_[root] = static_cast<std::uint32_t>(stage.inputs.size());
          stage.inputs.push_back(root);
        }
        b.index = input_[root];
      } else if (output_[root] != kNone) {
        b.place = Place::kOutput;
        b.index = output_[root];
      } else {
        b.place = Place::kScratch;
        if (life_[root] < 0) {
          life_[root] = static_cast<std::int32_t>(lifetimes_.size());
          lifetimes_.push_back({*types_[root].bytes(), step_, step_});
        }
        scratch_.push_back({it->second, static_cast<std::size_t>(life_[root])});
      }
    }
    blob_.tensors.push_back(std::move(b));
    return it->second;
  }

  Status PlaceScratch(const Stage& stage) {
    NPUKIT_ASSIGN_OR_RETURN(const memory::Plan plan,
                            memory::PlanArena(lifetimes_, kScratchAlignment));
    for (const auto& [id, life] : scratch_) blob_.tensors[id].offset = plan.offsets[life];
    blob_.scratch_bytes =
        (plan.arena_bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
    // Boundary tensors carry the types of the stretches, whatever view a step reads.
    const auto add = [&](const Type& type, Place place, std::size_t index) {
      BlobTensor b;
      b.dtype = type.dtype;
      b.dims = type.dims();
      b.place = place;
      b.index = static_cast<std::uint32_t>(index);
      blob_.tensors.push_back(std::move(b));
      return static_cast<std::uint32_t>(blob_.tensors.size() - 1);
    };
    for (std::size_t i = 0; i < stage.inputs.size(); ++i)
      blob_.inputs.push_back(add(types_[stage.inputs[i]], Place::kInput, i));
    for (std::size_t i = 0; i < stage.made.size(); ++i)
      blob_.outputs.push_back(add(stage.made[i].type, Place::kOutput, i));
    blob_.weights = static_cast<std::uint32_t>(flow_.weights.size() + constants_.size());
    return OkStatus();
  }

  const Flow& flow_;
  const std::size_t begin_;
  std::size_t end_ = 0;
  std::vector<Type> types_;   // by tensor
  std::vector<Value> known_;  // by tensor: follows from shapes and constants
  std::vector<std::uint32_t> parent_, input_, output_;
  std::vector<std::int32_t> life_;
  std::vector<bool> made_here_;
  std::map<std::uint32_t, std::uint32_t> ids_;  // flow's tensor to blob's
  std::vector<memory::Lifetime> lifetimes_;
  std::vector<std::pair<std::uint32_t, std::size_t>> scratch_;  // blob's tensor, lifetime
  std::int32_t step_ = 0;
  std::vector<Value> constants_;
  Blob blob_;
};

}  // namespace

bool IsPlain(const Type& t) {
  return t.is_static() && t.dtype != tensor::DType::kUndefined && t.bytes().has_value();
}

Result<std::shared_ptr<const Stage>> PlanStage(const Flow& flow, std::size_t begin,
                                               std::vector<Type> types, const Kernels& kernels,
                                               int threads, const target::Profile& profile) {
  return Planner(flow, begin, std::move(types)).Plan(kernels, threads, profile);
}

}  // namespace npukit::devices::cpu
