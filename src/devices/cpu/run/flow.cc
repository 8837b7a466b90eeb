#include "devices/cpu/run/flow.h"

#include <algorithm>

#include "base/text.h"
#include "devices/cpu/model/model.h"
#include "ops/evaluate.h"
#include "tensor/strings.h"

namespace npukit::devices::cpu {
namespace {

using tensor::Type;
using tensor::Value;

std::string StepText(const FlowStep& s) {
  return Cat("cpu: node ", Printable(s.name), " (", s.def->name, ")");
}

template <class T>
void Append(std::string& key, T v) {
  key.append(reinterpret_cast<const char*>(&v), sizeof v);
}

// A dense tensor that kernels may read in place: numbers aligned like numbers.
Result<Value> InPlace(const Value& v) {
  const auto bytes =
      static_cast<std::uintptr_t>(std::clamp(tensor::DTypeBits(v.dtype()) / 8, 1, 8));
  if (reinterpret_cast<std::uintptr_t>(v.data()) % bytes == 0) return v;
  return v.Clone();
}

}  // namespace

Result<std::shared_ptr<FlowExecutable>> FlowExecutable::Load(
    Blob blob, std::span<const hal::WeightView> weights, const Kernels& kernels, int threads,
    const target::Profile& profile) {
  if (!blob.flow) return DataCorrupt("CPU blob: no flow");
  if (blob.weights > weights.size()) {
    return DataCorrupt(
        Cat("CPU blob: expected ", blob.weights, " weights, found ", weights.size()));
  }
  std::shared_ptr<FlowExecutable> exe(new FlowExecutable(kernels, threads, profile));
  exe->flow_.blob = std::move(blob);
  exe->flow_.weights.assign(weights.begin(), weights.end());
  NPUKIT_RETURN_IF_ERROR(exe->ReadConstants());
  NPUKIT_RETURN_IF_ERROR(exe->CheckSteps());
  exe->FindUses();
  return exe;
}

Status FlowExecutable::ReadConstants() {
  const Blob& blob = flow_.blob;
  flow_.constants.resize(blob.tensors.size());
  for (std::size_t i = 0; i < blob.tensors.size(); ++i) {
    const BlobTensor& t = blob.tensors[i];
    if (t.place != Place::kWeight) continue;
    const std::span<const std::byte> bytes = flow_.weights[t.index].bytes;
    const std::string where = Cat("CPU blob: tensor ", i);
    if (t.dtype == tensor::DType::kString) {
      auto v = tensor::DecodeStrings(t.dims, bytes);
      if (!v.ok()) return v.status().WithContext(where);
      flow_.constants[i] = std::move(v).value();
      continue;
    }
    NPUKIT_ASSIGN_OR_RETURN(const std::uint64_t need, PlacedBytes(t));
    if (bytes.size() < need) {
      return DataCorrupt(Cat(where, ": expected ", need, " bytes, found ", bytes.size()));
    }
    if (t.layout == Layout::kRaw) flow_.constants[i] = Value::Borrow(t.dtype, t.dims, bytes.data());
  }
  return OkStatus();
}

Status FlowExecutable::CheckSteps() {
  Blob& blob = flow_.blob;
  std::vector<bool> made(blob.tensors.size(), false);
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i] = blob.tensors[i].place == Place::kWeight || blob.tensors[i].place == Place::kInput;
  }
  for (std::size_t i = 0; i < blob.steps.size(); ++i) {
    BlobStep& in = blob.steps[i];
    const auto bad = [&](auto... what) {
      return DataCorrupt(Cat("CPU blob: step ", i, " (", Printable(in.op), ", node ",
                             Printable(in.name), "): ", what...));
    };
    auto named = FindNamed(in);
    if (!named.ok()) return named.status().WithContext(Cat("CPU blob: step ", i));
    for (const std::int32_t t : in.inputs) {
      if (t >= 0 && !made[static_cast<std::size_t>(t)])
        return bad("reads tensor ", t, ", which nothing before it makes");
    }
    for (const std::uint32_t t : in.outputs) {
      if (made[t]) return bad("tensor ", t, " is made twice");
      made[t] = true;
    }
    if (named->def->outputs >= 0 &&
        in.outputs.size() != static_cast<std::size_t>(named->def->outputs))
      return bad("expected ", named->def->outputs, " outputs, found ", in.outputs.size());
    FlowStep step;
    static_cast<NamedOp&>(step) = std::move(*named);
    step.inputs = std::move(in.inputs);
    step.outputs = std::move(in.outputs);
    step.name = std::move(in.name);
    flow_.steps.push_back(std::move(step));
  }
  for (const std::uint32_t t : blob.outputs) {
    if (!made[t]) return DataCorrupt(Cat("CPU blob: output tensor ", t, " is made by no step"));
    if (blob.tensors[t].layout != Layout::kRaw)
      return DataCorrupt(Cat("CPU blob: output tensor ", t, " is packed for kernels"));
  }
  blob.steps.clear();
  return OkStatus();
}

void FlowExecutable::FindUses() {
  flow_.last_use.assign(flow_.blob.tensors.size(), -1);
  for (std::size_t i = 0; i < flow_.steps.size(); ++i) {
    for (const std::int32_t t : flow_.steps[i].inputs) {
      if (t >= 0) flow_.last_use[static_cast<std::size_t>(t)] = static_cast<std::int64_t>(i);
    }
  }
  for (const std::uint32_t t : flow_.blob.outputs) flow_.last_use[t] = kAlways;
}

Result<std::vector<Type>> FlowExecutable::Prepare(std::span<const Type> inputs) {
  if (inputs.size() != this->inputs()) {
    return InvalidArgument(Cat("cpu: expected ", this->inputs(), " inputs, found ", inputs.size()));
  }
  return std::vector<Type>(outputs());
}

const std::vector<std::uint32_t>& FlowExecutable::LiveAt(std::size_t step) {
  if (live_total_ > kMaxLive) {  // of a flow cut into very many stretches: looked up again
    live_.clear();
    live_total_ = 0;
  }
  const auto [it, added] = live_.try_emplace(step);
  if (!added) return it->second;
  std::vector<bool> made(flow_.blob.tensors.size(), false);
  for (std::size_t i = step; i < flow_.steps.size(); ++i) {
    for (const std::uint32_t t : flow_.steps[i].outputs) made[t] = true;
  }
  for (std::uint32_t t = 0; t < made.size(); ++t) {
    if (!made[t] && flow_.blob.tensors[t].place != Place::kWeight &&
        flow_.last_use[t] >= static_cast<std::int64_t>(step))
      it->second.push_back(t);
  }
  live_total_ += it->second.size();
  return it->second;
}

Result<std::shared_ptr<const Stage>> FlowExecutable::StageAt(std::size_t step,
                                                             std::span<const Value> values) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::vector<std::uint32_t>& live = LiveAt(step);
  std::string key;
  Append(key, step);
  for (const std::uint32_t t : live) {
    const Value& v = values[t];
    const bool plain = v.is_tensor() && v.dtype() != tensor::DType::kString;
    Append(key, plain ? v.dtype() : tensor::DType::kUndefined);
    if (!plain) continue;
    Append(key, static_cast<std::uint8_t>(v.dims().size()));
    for (const std::int64_t d : v.dims()) Append(key, d);
  }
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    ++hits_;
    plans_.splice(plans_.begin(), plans_, found->second);
    return plans_.front().stage;
  }
  if (evaluated_.contains(key)) return AsItComes(step);
  ++misses_;
  std::vector<Type> types(values.size());
  for (const std::uint32_t t : live) {
    if (values[t].is_tensor()) types[t] = values[t].type();
  }
  for (std::size_t t = 0; t < types.size(); ++t) {
    const BlobTensor& b = flow_.blob.tensors[t];
    if (b.place == Place::kWeight) types[t] = Type::Tensor(b.dtype, b.dims);
  }
  NPUKIT_ASSIGN_OR_RETURN(std::shared_ptr<const Stage> stage,
                          PlanStage(flow_, step, std::move(types), kernels_, threads_, profile_));
  if (stage->executable == nullptr) {  // nothing to keep but that it is so
    if (evaluated_.size() == kMaxEvaluated) evaluated_.clear();
    evaluated_.insert(std::move(key));
    return stage;
  }
  starts_.insert(step);
  plan_bytes_ += BytesOf(*stage);
  plans_.push_front({key, stage});
  by_key_.emplace(std::move(key), plans_.begin());
  // A run uses one plan for each stretch it is cut into, so the bound grows with those.
  while (plans_.size() > 1 &&
         (plans_.size() > kMaxPlans * starts_.size() || plan_bytes_ > kMaxPlanBytes)) {
    plan_bytes_ -= BytesOf(*plans_.back().stage);
    by_key_.erase(plans_.back().key);
    plans_.pop_back();
  }
  return stage;
}

std::uint64_t FlowExecutable::BytesOf(const Stage& stage) {
  return stage.executable == nullptr ? 0 : stage.executable->memory_bytes();
}

std::shared_ptr<const Stage> FlowExecutable::AsItComes(std::size_t step) {
  auto stage = std::make_shared<Stage>();
  stage->begin = step;
  stage->end = step + 1;
  return stage;
}

FlowExecutable::PlanCounts FlowExecutable::counts() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {plans_.size(), hits_, misses_, plan_bytes_};
}

Status FlowExecutable::RunStage(const Stage& stage, std::span<Value> values, ThreadPool* pool,
                                const std::atomic<bool>* cancel) const {
  const CpuExecutable& exe = *stage.executable;
  NPUKIT_ASSIGN_OR_RETURN(
      Value scratch,
      Value::Allocate(tensor::DType::kU8, {static_cast<std::int64_t>(exe.scratch_bytes())}));
  std::vector<std::uintptr_t> bases = {0, reinterpret_cast<std::uintptr_t>(scratch.data())};
  std::vector<Value> inputs, made;  // keep what the addresses name
  for (const std::uint32_t t : stage.inputs) {
    NPUKIT_ASSIGN_OR_RETURN(Value v, InPlace(values[t]));
    bases.push_back(reinterpret_cast<std::uintptr_t>(v.data()));
    inputs.push_back(std::move(v));
  }
  for (const Stage::Made& m : stage.made) {
    NPUKIT_ASSIGN_OR_RETURN(Value v, Value::Allocate(m.type.dtype, m.type.dims()));
    bases.push_back(reinterpret_cast<std::uintptr_t>(v.data()));
    made.push_back(std::move(v));
  }
  NPUKIT_RETURN_IF_ERROR(exe.Run({bases.data(), pool}, cancel, nullptr));
  for (const Stage::Given& g : stage.given) {
    const Value& from = g.made >= 0    ? made[static_cast<std::size_t>(g.made)]
                        : g.input >= 0 ? values[static_cast<std::size_t>(g.input)]
                                       : g.constant;
    values[g.tensor] = from.Reshaped(g.dims);
  }
  return OkStatus();
}

Status FlowExecutable::EvaluateStep(const FlowStep& step, std::span<Value> values,
                                    target::Estimate* estimate) const {
  std::vector<Value> inputs;
  std::vector<Type> input_types, output_types;
  bool plain = true;
  for (const std::int32_t t : step.inputs) {
    inputs.emplace_back();
    if (t >= 0) {
      const BlobTensor& b = flow_.blob.tensors[static_cast<std::size_t>(t)];
      if (b.place == Place::kWeight && b.layout != Layout::kRaw) {
        // Packed for kernels; the reference reads the plain form.
        const auto spec = SpecFor(b.layout, b.dims, b.groups);
        if (!spec) return DataCorrupt(Cat(StepText(step), ": dims do not suit the packed layout"));
        NPUKIT_ASSIGN_OR_RETURN(inputs.back(), Value::Allocate(b.dtype, b.dims));
        UnpackPanels(*spec, reinterpret_cast<const float*>(flow_.weights[b.index].bytes.data()),
                     static_cast<float*>(inputs.back().mutable_data()));
      } else {
        inputs.back() = values[static_cast<std::size_t>(t)];
      }
    }
    input_types.push_back(inputs.back().present() ? inputs.back().type() : Type());
    plain = plain && (t < 0 || IsPlain(input_types.back()));
  }
  auto results =
      ops::EvaluateToValues(*step.def, step.attrs, step.epilogue, inputs, step.outputs.size());
  if (!results.ok()) return results.status().WithContext(StepText(step));
  for (std::size_t i = 0; i < results->size(); ++i) {
    Value& v = (*results)[i];
    output_types.push_back(v.present() ? v.type() : Type());
    plain = plain && v.present() && IsPlain(output_types.back());
    values[step.outputs[i]] = std::move(v);
  }
  CallSize size;  // of what is no tensor nothing is known but that it was called
  if (plain) {
    const ops::OpCost c =
        ops::Cost(*step.def, step.attrs, step.epilogue, input_types, output_types);
    size = {c.macs, c.vector_ops, c.bytes};
  }
  *estimate += Roofline(size, profile_);
  return OkStatus();
}

Status FlowExecutable::Run(std::span<const Value> inputs, std::span<Value> outputs,
                           ThreadPool* pool, const std::atomic<bool>* cancel,
                           target::Estimate* estimate) {
  NPUKIT_CHECK(inputs.size() == this->inputs() && outputs.size() == this->outputs());
  std::vector<Value> values = flow_.constants;
  for (std::size_t i = 0; i < inputs.size(); ++i) values[flow_.blob.inputs[i]] = inputs[i];
  for (std::size_t at = 0; at < flow_.steps.size();) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
      return Status(Code::kCancelled,
                    Cat("cpu: cancelled before step ", at, " of ", flow_.steps.size()));
    }
    NPUKIT_ASSIGN_OR_RETURN(const std::shared_ptr<const Stage> stage, StageAt(at, values));
    if (stage->executable != nullptr) {
      NPUKIT_RETURN_IF_ERROR(RunStage(*stage, values, pool, cancel));
      *estimate += stage->executable->estimate();
    } else {
      NPUKIT_RETURN_IF_ERROR(EvaluateStep(flow_.steps[at], values, estimate));
    }
    for (; at < stage->end; ++at) {  // what nobody reads any more goes
      for (const std::int32_t t : flow_.steps[at].inputs) {
        if (t >= 0 &&
            flow_.last_use[static_cast<std::size_t>(t)] < static_cast<std::int64_t>(stage->end) &&
            flow_.blob.tensors[static_cast<std::size_t>(t)].place != Place::kWeight)
          values[static_cast<std::size_t>(t)] = Value();
      }
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = values[flow_.blob.outputs[i]];
    if (!outputs[i].present()) {
      return Internal(Cat("cpu: output ", i, " was not made"));
    }
  }
  return OkStatus();
}

}  // namespace npukit::devices::cpu
