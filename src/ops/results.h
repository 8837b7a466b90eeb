// Memory for operators with several results: what MakeOutput of rules.h is for those with one.
#pragma once

#include <vector>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit::ops {

// Infers all results from the inputs at hand and asks the context for their memory, in order.
// Afterwards the shapes are known to fit, so a reference that starts with this may index without
// checking. For tensors of fixed size: strings and sequences are the operator's own business.
inline Result<std::vector<tensor::Value>> MakeResults(EvalContext& c, InferFn infer,
                                                      std::size_t count) {
  const KnownInputs known(c.inputs);
  std::vector<tensor::Type> types(count);
  InferContext ic{known.types, known.constants, *c.attrs, types};
  NPUKIT_RETURN_IF_ERROR(infer(ic));
  std::vector<tensor::Value> values;
  for (std::size_t i = 0; i < count; ++i) {
    if (!types[i].is_static() || types[i].dtype == tensor::DType::kUndefined) {
      return Internal(Cat("the type of result ", i, " stayed ", types[i].ToString(),
                          " although all inputs are known"));
    }
    NPUKIT_RETURN_IF_ERROR(CheckAddressable(types[i]));
    NPUKIT_ASSIGN_OR_RETURN(tensor::Value v,
                            c.Output(static_cast<int>(i), types[i].dtype, types[i].dims()));
    values.push_back(std::move(v));
  }
  return values;
}

}  // namespace npukit::ops
