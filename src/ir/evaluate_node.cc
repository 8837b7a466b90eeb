#include "base/text.h"
#include "ir/node.h"
#include "ops/evaluate.h"

namespace npukit::ir {

Result<std::vector<tensor::Value>> EvaluateNode(const Node& n,
                                                std::span<const tensor::Value> inputs) {
  if (n.is_foreign()) {
    return Unsupported(Cat(
        Describe(n),
        ": no reference for this operator, so it cannot be evaluated: ", WhyForeign(n).sentence));
  }
  auto values = ops::EvaluateToValues(*n.op, n.attrs, n.epilogue, inputs, n.outputs.size());
  if (!values.ok()) return values.status().WithContext(Describe(n));
  return values;
}

}  // namespace npukit::ir
