// if_else and loop by definition: bodies run as graphs of their own.
#include <algorithm>

#include "base/text.h"
#include "eval/graph_run.h"
#include "ir/control.h"
#include "tensor/stack.h"

namespace npukit::eval {
namespace {

using tensor::DType;
using tensor::Value;

Status WrongScalar(std::string_view what, DType want, const Value& v) {
  return InvalidArgument(Cat(what, ": expected one ", tensor::DTypeName(want), ", found ",
                             v.present() ? v.type().ToString() : std::string("nothing")));
}

Result<bool> ReadBool(const Value& v, std::string_view what) {
  if (!v.is_tensor() || v.dtype() != DType::kBool || v.count() != 1)
    return WrongScalar(what, DType::kBool, v);
  return tensor::ElementAsInt64(v, 0) != 0;
}

Result<std::vector<Value>> RunIf(const ir::Node& n, std::span<const Value> inputs,
                                 LoopBudget& budget) {
  NPUKIT_ASSIGN_OR_RETURN(const ir::IfForm form, ir::ReadIf(n));
  NPUKIT_ASSIGN_OR_RETURN(const bool cond, ReadBool(inputs[0], "cond"));
  const std::size_t first = cond ? 1 : 1 + form.then_captures.size();
  const std::size_t count = cond ? form.then_captures.size() : form.else_captures.size();
  auto results = GraphRun(cond ? *form.then_branch : *form.else_branch)
                     .Run(inputs.subspan(first, count), {}, budget);
  if (!results.ok())
    return results.status().WithContext(Cat("body ", cond ? ir::kThenBranch : ir::kElseBranch));
  return results;
}

Result<std::vector<Value>> RunLoop(const ir::Node& n, std::span<const Value> inputs,
                                   LoopBudget& budget) {
  NPUKIT_ASSIGN_OR_RETURN(const ir::LoopForm form, ir::ReadLoop(n));
  const bool counted = form.trip_count != ir::kNoValue;
  std::int64_t trips = 0;
  if (counted) {
    if (!inputs[0].is_tensor() || inputs[0].dtype() != DType::kI64 || inputs[0].count() != 1)
      return WrongScalar("trip count (input 0)", DType::kI64, inputs[0]);
    trips = tensor::ElementAsInt64(inputs[0], 0);
  }
  bool go_on = true;
  if (form.cond != ir::kNoValue) {
    NPUKIT_ASSIGN_OR_RETURN(go_on, ReadBool(inputs[1], "cond (input 1)"));
  }
  const GraphRun body(*form.body);
  std::vector<Value> values(inputs.begin() + 2, inputs.end());  // carried, captured
  std::vector<tensor::Stack> stacks(form.scanned);
  for (std::int64_t i = 0; go_on && (!counted || i < trips); ++i) {
    if (budget.left-- <= 0) {
      return ResourceExhausted(Cat("the loops of this run make more than ", budget.limit,
                                   " iterations; if that is meant, raise max_iterations"));
    }
    NPUKIT_ASSIGN_OR_RETURN(Value cond, Value::Allocate(DType::kBool, {}));
    tensor::StoreDouble(cond, 0, 1);
    std::vector<Value> given = {Value::ScalarI64(i), std::move(cond)};
    given.insert(given.end(), values.begin(), values.end());
    const std::string where = Cat("iteration ", i);
    // What was carried is the body's alone now.
    std::fill(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(form.carried), Value());
    auto results = body.Run(given, {}, budget);
    if (!results.ok()) return results.status().WithContext(where);
    auto next = ReadBool((*results)[0], "the condition (output 0) of body");
    if (!next.ok()) return next.status().WithContext(where);
    go_on = *next;
    for (std::size_t k = 0; k < form.carried; ++k) values[k] = std::move((*results)[1 + k]);
    for (std::size_t k = 0; k < form.scanned; ++k) {
      if (const Status s = stacks[k].Add((*results)[1 + form.carried + k]); !s.ok())
        return s.WithContext(Cat(where, ": scanned output ", k));
    }
  }
  std::vector<Value> out(values.begin(),
                         values.begin() + static_cast<std::ptrdiff_t>(form.carried));
  for (std::size_t k = 0; k < form.scanned; ++k) {
    const ir::ValueId row = form.body->outputs[1 + form.carried + k];
    auto v = stacks[k].Finish(form.body->value(row).type);
    if (!v.ok()) return v.status().WithContext(Cat("scanned output ", k));
    out.push_back(std::move(v).value());
  }
  return out;
}

}  // namespace

Result<std::vector<Value>> RunControl(const ir::Node& n, std::span<const Value> inputs,
                                      LoopBudget& budget) {
  if (n.op == &op::if_else) return RunIf(n, inputs, budget);
  if (n.op == &op::loop) return RunLoop(n, inputs, budget);
  return Internal(Cat(n.op->name, " is no operator that the interpreter can run"));
}

}  // namespace npukit::eval
