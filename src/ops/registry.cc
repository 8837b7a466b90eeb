// The list as a table, and the functions that see an operator together with its epilogue.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "ops/op_def.h"
#include "ops/rules.h"

namespace npukit::ops {
namespace {

using tensor::Type;
using tensor::Value;

constexpr const OpDef* kOps[] = {
#define OP(name) &op::name,
#include "ops/ops.inc"
#undef OP
};

constexpr std::string_view kAttrKindNames[] = {"int",    "float",   "string", "ints",
                                               "floats", "strings", "tensor"};

Status CheckArity(const OpDef& def, std::size_t n) {
  const bool few = n < static_cast<std::size_t>(def.min_inputs);
  const bool many = def.max_inputs >= 0 && n > static_cast<std::size_t>(def.max_inputs);
  if (!few && !many) return OkStatus();
  std::string expected = Cat(def.min_inputs);
  if (def.max_inputs < 0) {
    expected += " or more";
  } else if (def.max_inputs != def.min_inputs) {
    expected += Cat(" to ", def.max_inputs);
  }
  return InvalidArgument(Cat("expected ", expected, " inputs, found ", n));
}

Status CheckKinds(const OpDef& def, std::span<const Type> inputs) {
  if (def.any_kind) return OkStatus();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_tensor()) {
      return InvalidArgument(Cat("input ", i, " is ", inputs[i].ToString(), ", expected a tensor"));
    }
  }
  return OkStatus();
}

Status InferOne(const OpDef& def, const Attrs& attrs, std::span<const Type> inputs,
                std::span<const Value* const> constants, std::span<Type> outputs) {
  NPUKIT_RETURN_IF_ERROR(CheckArity(def, inputs.size()));
  NPUKIT_RETURN_IF_ERROR(CheckKinds(def, inputs));
  NPUKIT_RETURN_IF_ERROR(CheckAttrs(def, attrs));
  for (const Type& t : inputs) NPUKIT_RETURN_IF_ERROR(CheckAddressable(t));
  InferContext c{inputs, constants, attrs, outputs};
  NPUKIT_RETURN_IF_ERROR(def.infer(c));
  for (const Type& t : outputs) NPUKIT_RETURN_IF_ERROR(CheckAddressable(t));
  return OkStatus();
}

// The type after one step. Broadcasting the running result to a larger shape is refused.
Result<Type> InferStep(const EpilogueStep& step, const Type& running,
                       std::span<const Type> inputs) {
  if (step.op == nullptr) return InvalidArgument("an epilogue step has no operator");
  const bool binary = step.operand >= 0;
  if (step.op->loop != (binary ? LoopShape::kBinary : LoopShape::kUnary)) {
    return InvalidArgument(Cat("epilogue step ", step.op->name,
                               " is not an elementwise operator with ", binary ? 2 : 1, " inputs"));
  }
  std::array<Type, 2> in;
  in[step.swapped && binary ? 1 : 0] = running;
  if (binary) in[step.swapped ? 0 : 1] = inputs[static_cast<std::size_t>(step.operand)];
  const std::array<const Value*, 2> constants{};
  const std::size_t n = binary ? 2 : 1;
  Type out;
  NPUKIT_RETURN_IF_ERROR(InferOne(*step.op, step.attrs, std::span(in).first(n),
                                  std::span(constants).first(n), {&out, 1})
                             .WithContext(Cat("epilogue step ", step.op->name)));
  if (running.shape) {
    bool grew = out.shape && out.shape->rank() != running.shape->rank();
    for (std::size_t i = 0; out.shape && !grew && i < running.shape->rank(); ++i) {
      const auto& a = running.shape->dims[i];
      const auto& b = out.shape->dims[i];
      grew = a.known() && b.known() && a.value != b.value;
    }
    if (grew) {
      return InvalidArgument(Cat("epilogue step ", step.op->name, " would change the shape from ",
                                 running.shape->ToString(), " to ", out.shape->ToString()));
    }
    out.shape = running.shape;
  }
  return out;
}

Status EvaluateOne(const OpDef& def, const Attrs& attrs, std::span<const Value> inputs,
                   EvalContext& c) {
  NPUKIT_RETURN_IF_ERROR(CheckArity(def, inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present()) {
      if (i < static_cast<std::size_t>(def.min_inputs))
        return InvalidArgument(Cat("input ", i, " is missing"));
    } else if (!inputs[i].is_tensor() && !def.any_kind) {
      return InvalidArgument(
          Cat("input ", i, " is ", inputs[i].type().ToString(), ", expected a tensor"));
    } else {
      NPUKIT_RETURN_IF_ERROR(CheckAddressable(inputs[i].type()));
    }
  }
  NPUKIT_RETURN_IF_ERROR(CheckAttrs(def, attrs));
  c.inputs = inputs;
  c.attrs = &attrs;
  return def.reference(c);
}

// Holds results between the steps of an epilogue.
class Scratch final : public EvalContext {
 public:
  Result<Value> Output(int, tensor::DType t, const tensor::Dims& dims) override {
    NPUKIT_ASSIGN_OR_RETURN(result, Value::Allocate(t, dims));
    return result;
  }
  Status SetOutput(int, Value v) override {
    result = std::move(v);
    return OkStatus();
  }
  Value result;
};

}  // namespace

std::span<const OpDef* const> AllOps() { return kOps; }

const OpDef* FindOp(std::string_view name) {
  const auto* at =
      std::lower_bound(std::begin(kOps), std::end(kOps), name,
                       [](const OpDef* def, std::string_view n) { return def->name < n; });
  return at != std::end(kOps) && (*at)->name == name ? *at : nullptr;
}

const OpDef* FindOnnxOp(std::string_view onnx_name) {
  if (onnx_name.empty()) return nullptr;
  for (const OpDef* def : kOps) {
    if (def->foreign.onnx == onnx_name) return def;
  }
  return nullptr;
}

Result<std::size_t> OwnInputCount(std::span<const EpilogueStep> epilogue, std::size_t inputs) {
  std::size_t own = inputs;
  for (const EpilogueStep& step : epilogue) {
    if (step.operand < 0) continue;
    const auto operand = static_cast<std::size_t>(step.operand);
    if (operand >= inputs) {
      return InvalidArgument(
          Cat("epilogue operand ", step.operand, " is not among ", inputs, " inputs"));
    }
    own = std::min(own, operand);
  }
  return own;
}

Status Evaluate(const OpDef& def, const Attrs& attrs, std::span<const EpilogueStep> epilogue,
                std::span<const Value> inputs, EvalContext& out) {
  if (def.control) return Internal(Cat(def.name, ": whoever runs graphs runs its bodies"));
  if (epilogue.empty()) return EvaluateOne(def, attrs, inputs, out).WithContext(def.name);
  if (def.outputs != 1)
    return InvalidArgument(Cat(def.name, ": an epilogue needs exactly one result"));
  const auto own = OwnInputCount(epilogue, inputs.size());
  if (!own.ok()) return own.status().WithContext(def.name);
  const std::vector<Type> types = KnownInputs(inputs).types;

  Scratch scratch;
  NPUKIT_RETURN_IF_ERROR(
      EvaluateOne(def, attrs, inputs.first(*own), scratch).WithContext(def.name));
  for (std::size_t i = 0; i < epilogue.size(); ++i) {
    const EpilogueStep& step = epilogue[i];
    NPUKIT_RETURN_IF_ERROR(
        InferStep(step, scratch.result.type(), types).status().WithContext(def.name));
    const bool binary = step.operand >= 0;
    std::array<Value, 2> in;
    in[step.swapped && binary ? 1 : 0] = scratch.result;
    if (binary) in[step.swapped ? 0 : 1] = inputs[static_cast<std::size_t>(step.operand)];
    EvalContext& c = i + 1 == epilogue.size() ? out : scratch;
    const Status s = EvaluateOne(*step.op, step.attrs, std::span(in).first(binary ? 2 : 1), c);
    c.inputs = {};  // `in` ends here
    NPUKIT_RETURN_IF_ERROR(s.WithContext(Cat(def.name, ": epilogue step ", step.op->name)));
  }
  return OkStatus();
}

Status Infer(const OpDef& def, const Attrs& attrs, std::span<const EpilogueStep> epilogue,
             std::span<const Type> inputs, std::span<const Value* const> constants,
             std::span<Type> outputs) {
  NPUKIT_CHECK(inputs.size() == constants.size());
  if (def.control) return Internal(Cat(def.name, ": its types follow from its bodies"));
  if (def.outputs >= 0 && outputs.size() != static_cast<std::size_t>(def.outputs)) {
    return InvalidArgument(
        Cat(def.name, ": expected ", def.outputs, " outputs, found ", outputs.size()));
  }
  if (!epilogue.empty() && def.outputs != 1) {
    return InvalidArgument(Cat(def.name, ": an epilogue needs exactly one result"));
  }
  const auto own = OwnInputCount(epilogue, inputs.size());
  if (!own.ok()) return own.status().WithContext(def.name);
  NPUKIT_RETURN_IF_ERROR(InferOne(def, attrs, inputs.first(*own), constants.first(*own), outputs)
                             .WithContext(def.name));
  for (const EpilogueStep& step : epilogue) {
    auto t = InferStep(step, outputs[0], inputs);
    if (!t.ok()) return t.status().WithContext(def.name);
    outputs[0] = std::move(t).value();
  }
  return OkStatus();
}

OpCost Cost(const OpDef& def, const Attrs& attrs, std::span<const EpilogueStep> epilogue,
            std::span<const Type> inputs, std::span<const Type> outputs) {
  const auto own = OwnInputCount(epilogue, inputs.size());
  if (def.control) return {};
  OpCost cost = def.cost({inputs.first(own.ok() ? *own : inputs.size()), outputs, attrs});
  for (const EpilogueStep& step : epilogue) {
    if (!outputs.empty()) cost.vector_ops += CountOf(outputs[0]);
    if (step.operand >= 0 && static_cast<std::size_t>(step.operand) < inputs.size()) {
      cost.bytes += BytesOf(inputs[static_cast<std::size_t>(step.operand)]);
    }
  }
  return cost;
}

Status CheckAttrs(const OpDef& def, const Attrs& attrs) {
  for (const auto& [name, value] : attrs.all()) {
    const auto at = std::find_if(def.attrs.begin(), def.attrs.end(),
                                 [&](const AttrDef& d) { return d.name == name; });
    if (at == def.attrs.end())
      return InvalidArgument(Cat(def.name, ": unknown attribute ", Printable(name)));
    if (value.index() != static_cast<std::size_t>(at->kind)) {
      return InvalidArgument(Cat(def.name, ": attribute ", name, ": expected ",
                                 kAttrKindNames[static_cast<std::size_t>(at->kind)], ", found ",
                                 kAttrKindNames[value.index()]));
    }
  }
  for (const AttrDef& d : def.attrs) {
    if (d.required && attrs.Find(d.name) == nullptr) {
      return InvalidArgument(Cat(def.name, ": attribute ", d.name, " is missing"));
    }
  }
  return OkStatus();
}

}  // namespace npukit::ops
