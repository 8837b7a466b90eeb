#include <algorithm>

#include "base/text.h"
#include "importers/onnx/source_op.h"
#include "ir/inline.h"
#include "ir/node.h"
#include "ops/evaluate.h"

namespace npukit::importers::onnx {

using tensor::Value;

namespace {

constexpr std::int64_t kMaxKnownElements =
    1024;  // limits, axes and shapes are small; weights are not computed here
constexpr std::size_t kMaxKnownStringBytes = 1 << 14;
constexpr double kMaxKnownWork = 1e8;  // elements and multiply-accumulates, for the whole graph

// Strings have no size of their own: a chain of them could double in each node.
bool IsSmall(const Value& v) {
  if (!v.is_tensor() || v.count() > kMaxKnownElements) return false;
  if (v.dtype() != tensor::DType::kString) return true;
  std::size_t bytes = 0;
  for (const std::string& s : v.strings()) bytes += s.size();
  return bytes <= kMaxKnownStringBytes;
}

bool IsSmall(const tensor::Type& t) {
  return t.is_static() &&
         tensor::ElementCount(t.dims()).value_or(kMaxKnownElements + 1) <= kMaxKnownElements;
}

}  // namespace

const Value* Emitter::Constant(std::size_t input) const {
  if (!has(input)) return nullptr;
  return KnownValue(op.inputs[input]);
}

std::optional<std::size_t> Emitter::Rank(std::size_t input) const {
  if (!has(input) || !Type(input).shape) return std::nullopt;
  return Type(input).shape->rank();
}

ir::ValueId Emitter::Int64s(const std::vector<std::int64_t>& v) {
  return Add(Value::FromVector(tensor::DType::kI64, {static_cast<std::int64_t>(v.size())}, v));
}

Result<ir::ValueId> Emitter::Number(tensor::DType t, double x) {
  if (!tensor::IsFloat(t) && !tensor::IsInteger(t))
    return InvalidArgument(Cat("it computes with ", tensor::DTypeName(t), ", expected numbers"));
  NPUKIT_ASSIGN_OR_RETURN(Value v, Value::Allocate(t, {}));
  tensor::StoreDouble(v, 0, x);
  return Add(std::move(v));
}

Status Emitter::Emit(const ops::OpDef& def, ops::Attrs attrs, std::vector<ir::ValueId> inputs,
                     ir::ValueId output) {
  return EmitAll(def, std::move(attrs), std::move(inputs), {output});
}

Status Emitter::EmitAll(const ops::OpDef& def, ops::Attrs attrs, std::vector<ir::ValueId> inputs,
                        std::vector<ir::ValueId> outputs, Bodies bodies) {
  // A control node's inputs are told apart by their number.
  while (!def.control && !inputs.empty() && inputs.back() == ir::kNoValue) inputs.pop_back();
  for (std::size_t i = 0; i < static_cast<std::size_t>(def.min_inputs); ++i) {
    if (i < inputs.size() && inputs[i] != ir::kNoValue) continue;
    return InvalidArgument(Cat("node ", Printable(op.name), " (", Printable(op.op), "): input ", i,
                               " is required and absent; expected ", def.min_inputs,
                               " inputs at least, found ", op.inputs.size()));
  }
  while (def.outputs >= 0 && outputs.size() < static_cast<std::size_t>(def.outputs))
    outputs.push_back(g_.AddValue("", {}));
  ir::Node node;
  node.op = &def;
  node.name = op.name;
  node.attrs = std::move(attrs);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.bodies = std::move(bodies);
  node.from = {op.from};
  return Append(std::move(node));
}

Status Emitter::Append(ir::Node node) {
  if (node.is_foreign()) {
    g_.nodes.push_back(std::move(node));
    return OkStatus();
  }
  std::vector<const Value*> constants;
  std::vector<Value> values;
  bool all_known = !node.op->control;
  for (const ir::ValueId id : node.inputs) {
    const Value* v = id == ir::kNoValue ? nullptr : KnownValue(id);
    constants.push_back(v);
    values.push_back(v != nullptr ? *v : Value());
    if (id == ir::kNoValue || (v != nullptr && IsSmall(*v))) continue;
    // Of a value whose size is fixed, Shape and Size are known.
    std::optional<Value> sized;
    if (node.op->loop == ops::LoopShape::kShape) sized = ops::OnlyDims(g_.value(id).type);
    all_known = all_known && sized.has_value();
    if (sized) values.back() = std::move(*sized);
  }
  NPUKIT_RETURN_IF_ERROR(ir::InferNode(g_, node, constants));
  for (const ir::ValueId id : node.outputs) all_known = all_known && IsSmall(g_.value(id).type);
  if (all_known && TakeWork(node)) {
    if (auto results = ir::EvaluateNode(node, values); results.ok()) {
      known_.resize(std::max(known_.size(), g_.values.size()));
      for (std::size_t i = 0; i < results->size(); ++i)
        known_[node.outputs[i]] = std::move((*results)[i]);
    }
  }
  g_.nodes.push_back(std::move(node));
  return OkStatus();
}

bool Emitter::TakeWork(const ir::Node& node) {
  if (node.op->loop == ops::LoopShape::kShape) return true;  // reads no elements
  const auto inputs = g_.InputTypes(node);
  const auto outputs = g_.OutputTypes(node);
  const ops::OpCost cost = ops::Cost(*node.op, node.attrs, node.epilogue, inputs, outputs);
  double work = cost.macs + cost.vector_ops;
  for (const auto* list : {&inputs, &outputs}) {
    for (const tensor::Type& t : *list) {
      const auto count = t.is_static() ? tensor::ElementCount(t.dims()) : std::nullopt;
      work += static_cast<double>(count.value_or(0));
    }
  }
  if (!(known_work_ + work <= kMaxKnownWork)) return false;
  known_work_ += work;
  return true;
}

Status Emitter::Splice(const ir::Graph& body, const std::vector<ir::ValueId>& inputs,
                       const std::vector<ir::ValueId>& outputs) {
  std::vector<ir::Node> nodes =
      ir::CopyNodes(g_, body, inputs, outputs, Cat(op.name, "/"), {op.from});
  for (ir::Node& n : nodes) NPUKIT_RETURN_IF_ERROR(Append(std::move(n)));
  return OkStatus();
}

Result<ir::ValueId> Emitter::Emit(const ops::OpDef& def, ops::Attrs attrs,
                                  std::vector<ir::ValueId> inputs) {
  const ir::ValueId output = g_.AddValue(op.name, {});
  NPUKIT_RETURN_IF_ERROR(Emit(def, std::move(attrs), std::move(inputs), output));
  return output;
}

void Emitter::SetConstant(Value v) {
  ir::ValueInfo& info = g_.value(op.outputs[0]);
  info.type = v.type();
  info.constant = std::move(v);
}

Status Emitter::EmitForeign(const Outcome& why) {
  ir::Node node;
  node.foreign_domain = op.domain;
  node.foreign_op = op.op;
  node.name = op.name;
  node.attrs = op.attrs;
  node.attrs.Set(ir::kWhyForeign, why.why);
  if (why.kind == Outcome::Kind::kForeign) node.attrs.Set(ir::kFormRemedy, why.remedy);
  node.inputs = op.inputs;
  node.outputs = op.outputs;
  node.bodies = op.bodies;
  node.from = {op.from};
  g_.nodes.push_back(std::move(node));
  return OkStatus();
}

ops::Attrs Only(const ops::Attrs& from, std::initializer_list<std::string_view> names) {
  ops::Attrs out;
  for (const std::string_view name : names) {
    if (const ops::AttrValue* v = from.Find(name)) out.Set(name, *v);
  }
  return out;
}

Axes ReadAxes(const Emitter& e, std::size_t input) {
  if (e.op.attrs.Find("axes") != nullptr) return {true, true, e.op.attrs.IntList("axes")};
  if (!e.has(input)) return {};
  const Value* v = e.Constant(input);
  if (v == nullptr || !v->is_tensor() || !tensor::IsInteger(v->dtype()) || v->count() > 64)
    return {true, false, {}};
  return {true, true, tensor::ToInt64s(*v)};
}

}  // namespace npukit::importers::onnx
