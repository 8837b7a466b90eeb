#include "ops/evaluate.h"

#include "base/text.h"

namespace npukit::ops {
namespace {

class OwnMemory final : public EvalContext {
 public:
  explicit OwnMemory(std::size_t outputs) : outputs_(outputs) {}

  Result<tensor::Value> Output(int i, tensor::DType t, const tensor::Dims& dims) override {
    NPUKIT_ASSIGN_OR_RETURN(tensor::Value v, tensor::Value::Allocate(t, dims));
    NPUKIT_RETURN_IF_ERROR(SetOutput(i, v));
    return v;
  }
  Status SetOutput(int i, tensor::Value v) override {
    if (i < 0 || static_cast<std::size_t>(i) >= outputs_.size()) {
      return Internal(Cat("output ", i, " asked for; there are ", outputs_.size()));
    }
    outputs_[static_cast<std::size_t>(i)] = std::move(v);
    return OkStatus();
  }
  std::vector<tensor::Value> Take() { return std::move(outputs_); }

 private:
  std::vector<tensor::Value> outputs_;
};

}  // namespace

Result<std::vector<tensor::Value>> EvaluateToValues(const OpDef& def, const Attrs& attrs,
                                                    std::span<const EpilogueStep> epilogue,
                                                    std::span<const tensor::Value> inputs,
                                                    std::size_t outputs) {
  OwnMemory memory(outputs);
  NPUKIT_RETURN_IF_ERROR(Evaluate(def, attrs, epilogue, inputs, memory));
  return memory.Take();
}

std::optional<tensor::Value> OnlyDims(const tensor::Type& t) {
  if (!t.is_static() || !tensor::ElementCount(t.dims())) return std::nullopt;
  return tensor::Value::Borrow(tensor::DType::kU8, t.dims(), nullptr);
}

}  // namespace npukit::ops
