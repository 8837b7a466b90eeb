#include "base/text.h"
#include "ir/node.h"

namespace npukit::ir {
namespace {

class OwnMemory final : public ops::EvalContext {
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

Result<std::vector<tensor::Value>> EvaluateNode(const Node& n,
                                                std::span<const tensor::Value> inputs) {
  if (n.is_foreign()) {
    return Unsupported(
        Cat(Describe(n), ": no reference for this operator, so it cannot be evaluated"));
  }
  OwnMemory memory(n.outputs.size());
  const Status s = ops::Evaluate(*n.op, n.attrs, n.epilogue, inputs, memory);
  if (!s.ok()) return s.WithContext(Describe(n));
  return memory.Take();
}

}  // namespace npukit::ir
