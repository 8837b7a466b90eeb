#include "devices/cpu/run/executable.h"

#include "base/text.h"
#include "devices/cpu/model/model.h"
#include "devices/cpu/run/named_op.h"

namespace npukit::devices::cpu {
namespace {

using tensor::Type;
using tensor::Value;

// Numbers are read in place, so they must be aligned like numbers.
bool IsAligned(const void* p, tensor::DType t) {
  const int bytes = tensor::DTypeBits(t) / 8;
  return bytes <= 1 ||
         reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(bytes > 8 ? 8 : bytes) ==
             0;
}

Result<Operand> ToOperand(const Blob& blob, std::uint32_t index,
                          std::span<const hal::WeightView> weights) {
  const BlobTensor& t = blob.tensors[index];
  Operand o;
  o.present = true;
  o.dtype = t.dtype;
  o.dims = t.dims;
  o.layout = t.layout;
  o.groups = t.groups;
  switch (t.place) {
    case Place::kInput:
      o.slot = {kFirstBoundaryBase + t.index, 0};
      break;
    case Place::kOutput:
      o.slot = {kFirstBoundaryBase + static_cast<std::uint32_t>(blob.inputs.size()) + t.index, 0};
      break;
    case Place::kValue:
      return DataCorrupt("a value without a place, outside a flow");
    case Place::kScratch:
      o.slot = {kScratchBase, t.offset};
      break;
    case Place::kWeight: {
      const std::span<const std::byte> bytes = weights[t.index].bytes;
      NPUKIT_ASSIGN_OR_RETURN(const std::uint64_t need, PlacedBytes(t));
      if (bytes.size() < need) {
        return DataCorrupt(
            Cat("weight ", t.index, ": expected ", need, " bytes, found ", bytes.size()));
      }
      if (!IsAligned(bytes.data(), t.dtype))
        return DataCorrupt(Cat("weight ", t.index, " is not aligned"));
      o.constant = bytes.data();
      o.slot = SlotOf(bytes.data());
      break;
    }
  }
  return o;
}

bool Overlap(const Operand& a, const Operand& b) {
  const auto bytes = [](const Operand& o) {
    return o.constant != nullptr
               ? 0
               : *tensor::StorageBytes(o.dtype, static_cast<std::uint64_t>(o.count()));
  };
  return a.slot.base == b.slot.base && a.slot.offset < b.slot.offset + bytes(b) &&
         b.slot.offset < a.slot.offset + bytes(a);
}

// No kernel works in place: a result that shares bytes with what it is made from would be garbage.
Status CheckApart(const StepView& v) {
  for (std::size_t i = 0; i < v.outputs.size(); ++i) {
    for (std::size_t k = 0; k < v.inputs.size(); ++k) {
      if (v.inputs[k].present && Overlap(v.outputs[i], v.inputs[k])) {
        return DataCorrupt(Cat("output ", i, " overlaps input ", k));
      }
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (Overlap(v.outputs[i], v.outputs[k]))
        return DataCorrupt(Cat("outputs ", k, " and ", i, " overlap"));
    }
  }
  return OkStatus();
}

}  // namespace

Status CpuExecutable::AddStep(const Blob& blob, const BlobStep& step,
                              std::span<const hal::WeightView> weights, Preparation& prep,
                              const target::Profile& profile) {
  NPUKIT_ASSIGN_OR_RETURN(const NamedOp named, FindNamed(step));
  const ops::Attrs& attrs = named.attrs;
  const std::vector<ops::EpilogueStep>& epilogue = named.epilogue;
  StepView v;
  v.def = named.def;
  v.attrs = &attrs;
  v.epilogue = epilogue;

  std::vector<Type> input_types;
  std::vector<Value> constants(step.inputs.size());
  std::vector<const Value*> constant_pointers(step.inputs.size(), nullptr);
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.inputs[i] < 0) {
      v.inputs.emplace_back();
      input_types.emplace_back();
      continue;
    }
    NPUKIT_ASSIGN_OR_RETURN(Operand o,
                            ToOperand(blob, static_cast<std::uint32_t>(step.inputs[i]), weights));
    input_types.push_back(Type::Tensor(o.dtype, o.dims));
    if (o.constant != nullptr && o.is_raw()) {
      constants[i] = Value::Borrow(o.dtype, o.dims, o.constant);
      constant_pointers[i] = &constants[i];
    }
    v.inputs.push_back(std::move(o));
  }
  std::vector<Type> output_types;
  for (const std::uint32_t i : step.outputs) {
    NPUKIT_ASSIGN_OR_RETURN(Operand o, ToOperand(blob, i, weights));
    output_types.push_back(Type::Tensor(o.dtype, o.dims));
    v.outputs.push_back(std::move(o));
  }
  NPUKIT_ASSIGN_OR_RETURN(v.own_inputs, ops::OwnInputCount(epilogue, v.inputs.size()));
  if (v.def->outputs >= 0 && static_cast<int>(step.outputs.size()) != v.def->outputs) {
    return DataCorrupt(Cat("expected ", v.def->outputs, " outputs, found ", step.outputs.size()));
  }
  NPUKIT_RETURN_IF_ERROR(CheckApart(v));
  std::vector<Type> inferred(output_types.size());
  if (Status s = ops::Infer(*v.def, attrs, epilogue, input_types, constant_pointers, inferred);
      !s.ok()) {
    return DataCorrupt(s.message());
  }
  for (std::size_t i = 0; i < inferred.size(); ++i) {
    if (!(inferred[i] == output_types[i])) {
      return DataCorrupt(Cat("output ", i, ": the operator gives ", inferred[i].ToString(),
                             ", the blob says ", output_types[i].ToString()));
    }
  }

  Prepared p;
  NPUKIT_ASSIGN_OR_RETURN(p.call, PrepareStep(v, prep));
  const ops::OpCost cost = ops::Cost(*v.def, attrs, epilogue, input_types, output_types);
  std::string op(v.def->name);
  for (const ops::EpilogueStep& e : epilogue) op += Cat("+", e.op->name);
  p.info = {std::move(op),
            step.name,
            p.call->kernel(),
            cost.macs,
            output_types.empty() ? std::string() : output_types[0].ToString(),
            cost.vector_ops,
            cost.bytes};
  estimate_ += Roofline({cost.macs, cost.vector_ops, cost.bytes}, profile);
  memory_bytes_ += p.call->memory_bytes();
  calls_.push_back(std::move(p));
  return OkStatus();
}

Result<std::shared_ptr<CpuExecutable>> CpuExecutable::Load(std::span<const std::byte> bytes,
                                                           std::span<const hal::WeightView> weights,
                                                           const Kernels& kernels, int threads,
                                                           const target::Profile& profile) {
  NPUKIT_ASSIGN_OR_RETURN(const Blob blob, Read(bytes));
  return FromBlob(blob, weights, kernels, threads, profile);
}

Result<std::shared_ptr<CpuExecutable>> CpuExecutable::FromBlob(
    const Blob& blob, std::span<const hal::WeightView> weights, const Kernels& kernels, int threads,
    const target::Profile& profile) {
  if (blob.flow) return DataCorrupt("CPU blob: a flow has no fixed places");
  if (blob.weights > weights.size()) {
    return DataCorrupt(
        Cat("CPU blob: expected ", blob.weights, " weights, found ", weights.size()));
  }
  std::shared_ptr<CpuExecutable> exe(new CpuExecutable());
  exe->estimate_.kind = target::Kind::kModelled;
  for (const std::uint32_t i : blob.inputs) {
    exe->input_types_.push_back(Type::Tensor(blob.tensors[i].dtype, blob.tensors[i].dims));
  }
  for (const std::uint32_t i : blob.outputs) {
    exe->output_types_.push_back(Type::Tensor(blob.tensors[i].dtype, blob.tensors[i].dims));
  }
  Preparation prep(kernels, threads, blob.scratch_bytes);
  for (std::size_t i = 0; i < blob.steps.size(); ++i) {
    const BlobStep& step = blob.steps[i];
    if (Status s = exe->AddStep(blob, step, weights, prep, profile); !s.ok()) {
      return s.WithContext(Cat("CPU blob: step ", i, " (", Printable(step.op), ", node ",
                               Printable(step.name), ")"));
    }
  }
  exe->scratch_bytes_ = blob.scratch_bytes + prep.workspace_bytes();
  return exe;
}

Result<std::vector<Type>> CpuExecutable::Prepare(std::span<const Type> inputs) {
  if (inputs.size() != input_types_.size()) {
    return InvalidArgument(
        Cat("cpu: expected ", input_types_.size(), " inputs, found ", inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!(inputs[i] == input_types_[i])) {
      return Unsupported(Cat("cpu: input ", i, ": compiled for ", input_types_[i].ToString(),
                             ", found ", inputs[i].ToString(), "; compile for this shape too"));
    }
  }
  return output_types_;
}

std::vector<hal::StepInfo> CpuExecutable::steps() const {
  std::vector<hal::StepInfo> out;
  for (const Prepared& p : calls_) out.push_back(p.info);
  return out;
}

Status CpuExecutable::Run(const Frame& frame, const std::atomic<bool>* cancel,
                          const std::function<void(std::size_t)>* after) const {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
      return Status(Code::kCancelled, Cat("cpu: cancelled before step ", i, " of ", calls_.size()));
    }
    if (Status s = calls_[i].call->Run(frame); !s.ok()) {
      return s.WithContext(Cat("cpu: step ", i, " (", calls_[i].info.op, ", node ",
                               Printable(calls_[i].info.name), ")"));
    }
    if (after != nullptr) (*after)(i);
  }
  return OkStatus();
}

}  // namespace npukit::devices::cpu
