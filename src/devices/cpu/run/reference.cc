// A step run by the operator's own reference: slow and sure, for whatever no kernel does.
#include <cstring>

#include "base/text.h"
#include "devices/cpu/run/step.h"

namespace npukit::devices::cpu {
namespace {

using tensor::Value;

// Gives out the memory that was planned, and refuses any other type: a reference cannot write past
// its buffer.
class PlannedContext final : public ops::EvalContext {
 public:
  PlannedContext(std::span<const Operand> outputs, const Frame& frame)
      : outputs_(outputs), frame_(frame) {}

  Result<Value> Output(int i, tensor::DType t, const tensor::Dims& dims) override {
    NPUKIT_RETURN_IF_ERROR(Check(i, t, dims));
    const Operand& o = outputs_[static_cast<std::size_t>(i)];
    return Value::BorrowMutable(t, dims, frame_.At<void>(o.slot));
  }
  Status SetOutput(int i, Value v) override {
    NPUKIT_RETURN_IF_ERROR(Check(i, v.dtype(), v.dims()));
    void* to = frame_.At<void>(outputs_[static_cast<std::size_t>(i)].slot);
    if (v.byte_size() != 0 && to != v.data())
      std::memmove(to, v.data(), static_cast<std::size_t>(v.byte_size()));
    return OkStatus();
  }

 private:
  Status Check(int i, tensor::DType t, const tensor::Dims& dims) const {
    if (i < 0 || static_cast<std::size_t>(i) >= outputs_.size())
      return Internal(Cat("no output ", i));
    const Operand& o = outputs_[static_cast<std::size_t>(i)];
    if (o.dtype != t || o.dims != dims) {
      return Internal(Cat("output ", i, ": planned ",
                          tensor::Type::Tensor(o.dtype, o.dims).ToString(), ", found ",
                          tensor::Type::Tensor(t, dims).ToString()));
    }
    return OkStatus();
  }
  std::span<const Operand> outputs_;
  const Frame& frame_;
};

class ReferenceCall final : public Call {
 public:
  Status Prepare(const StepView& step) {
    def_ = step.def;
    attrs_ = *step.attrs;
    epilogue_.assign(step.epilogue.begin(), step.epilogue.end());
    inputs_ = step.inputs;
    outputs_ = step.outputs;
    for (Operand& in : inputs_) {
      if (!in.present || in.is_raw()) continue;
      // Packed for kernels, but no kernel took the step: the reference reads the plain form.
      const auto spec = SpecFor(in.layout, in.dims, in.groups);
      if (!spec) return DataCorrupt("dims do not suit the packed layout");
      NPUKIT_ASSIGN_OR_RETURN(Value plain, Value::Allocate(in.dtype, in.dims));
      UnpackPanels(*spec, static_cast<const float*>(in.constant),
                   static_cast<float*>(plain.mutable_data()));
      memory_bytes_ += plain.byte_size();
      in.constant = plain.data();
      in.slot = SlotOf(plain.data());
      in.layout = Layout::kRaw;
      unpacked_.push_back(std::move(plain));
    }
    return OkStatus();
  }

  Status Run(const Frame& frame) const override {
    std::vector<Value> inputs;
    inputs.reserve(inputs_.size());
    for (const Operand& in : inputs_) {
      inputs.push_back(in.present ? Value::Borrow(in.dtype, in.dims, frame.At<const void>(in.slot))
                                  : Value());
    }
    PlannedContext context(outputs_, frame);
    return ops::Evaluate(*def_, attrs_, epilogue_, inputs, context);
  }
  const char* kernel() const override { return "reference"; }
  std::uint64_t memory_bytes() const override { return memory_bytes_; }

 private:
  const ops::OpDef* def_ = nullptr;
  ops::Attrs attrs_;
  std::vector<ops::EpilogueStep> epilogue_;
  std::vector<Operand> inputs_;
  std::vector<Operand> outputs_;
  std::vector<Value> unpacked_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<Call>> PrepareReference(const StepView& step) {
  auto call = std::make_unique<ReferenceCall>();
  NPUKIT_RETURN_IF_ERROR(call->Prepare(step));
  return std::unique_ptr<Call>(std::move(call));
}

}  // namespace npukit::devices::cpu
