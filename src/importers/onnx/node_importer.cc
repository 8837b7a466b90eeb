// One node of the file: its inputs by name, its attributes and bodies, then what it becomes.
#include <algorithm>

#include "base/text.h"
#include "importers/onnx/graph_importer.h"
#include "importers/onnx/model.h"
#include "ops/kinds.h"

namespace npukit::importers::onnx {
namespace {

std::string NodeText(const std::string& name, const std::string& op) {
  return Cat("node ", Printable(name), " (", Printable(op), ")");
}

// Exporters of old files leave the type out; then the field that is there says it.
pb::AttributeProto::AttributeType TypeOf(const pb::AttributeProto& a) {
  if (a.type() != pb::AttributeProto::UNDEFINED) return a.type();
  if (a.has_f()) return pb::AttributeProto::FLOAT;
  if (a.has_i()) return pb::AttributeProto::INT;
  if (a.has_s()) return pb::AttributeProto::STRING;
  if (a.has_t()) return pb::AttributeProto::TENSOR;
  if (a.has_g()) return pb::AttributeProto::GRAPH;
  if (a.floats_size() != 0) return pb::AttributeProto::FLOATS;
  if (a.ints_size() != 0) return pb::AttributeProto::INTS;
  if (a.strings_size() != 0) return pb::AttributeProto::STRINGS;
  return pb::AttributeProto::UNDEFINED;
}

}  // namespace

std::string NodeName(const pb::NodeProto& node, std::uint32_t index) {
  return node.name().empty() ? Cat(node.op_type(), "_", index) : node.name();
}

Result<const pb::AttributeProto*> GraphImporter::Referred(const pb::AttributeProto& a) const {
  if (a.ref_attr_name().empty()) return &a;
  if (call_ == nullptr) return DataCorrupt("refers to an attribute of a function, outside of one");
  const auto at = call_->attrs.find(a.ref_attr_name());
  if (at == call_->attrs.end()) return static_cast<const pb::AttributeProto*>(nullptr);
  const auto type = TypeOf(*at->second);
  if (a.type() != pb::AttributeProto::UNDEFINED && a.type() != type) {
    return DataCorrupt(Cat("refers to ", Printable(a.ref_attr_name()),
                           " of the function, which holds a value of another kind"));
  }
  if (type == pb::AttributeProto::GRAPH || type == pb::AttributeProto::GRAPHS)
    return Unsupported("refers to a graph that the function's caller gives: inline the function");
  return at->second;
}

Status GraphImporter::ImportAttribute(const pb::AttributeProto& given, SourceOp* op) {
  const std::string& name = given.name();
  const std::string where = Cat("attribute ", Printable(name));
  if (name.empty()) return DataCorrupt("an attribute has no name");
  if (op->attrs.Find(name) != nullptr) return DataCorrupt(Cat(where, " is given twice"));
  auto referred = Referred(given);
  if (!referred.ok()) return referred.status().WithContext(where);
  if (*referred == nullptr) return OkStatus();  // the caller left it out: so does the function
  const pb::AttributeProto& a = **referred;
  const auto body = [&](const pb::GraphProto& graph, std::string body_name) -> Status {
    GraphImporter nested(model_, this, depth_ + 1, call_);
    auto g = nested.Import(graph);
    if (!g.ok()) return At(g.status(), Cat("body ", Printable(body_name)));
    op->captures.insert(op->captures.end(), nested.captures().begin(), nested.captures().end());
    op->captured.push_back(nested.captures().size());
    op->bodies.emplace_back(std::move(body_name),
                            std::make_shared<ir::Graph>(std::move(g).value()));
    return OkStatus();
  };
  const auto tensor = [&](Result<tensor::Value> value) -> Status {
    if (!value.ok()) return value.status().WithContext(where);
    op->attrs.Set(name, std::move(value).value());
    return OkStatus();
  };
  switch (TypeOf(a)) {
    case pb::AttributeProto::FLOAT:
      op->attrs.Set(name, a.f());
      break;
    case pb::AttributeProto::INT:
      op->attrs.Set(name, static_cast<std::int64_t>(a.i()));
      break;
    case pb::AttributeProto::STRING:
      op->attrs.Set(name, a.s());
      break;
    case pb::AttributeProto::FLOATS:
      op->attrs.Set(name, ops::Floats(a.floats().begin(), a.floats().end()));
      break;
    case pb::AttributeProto::INTS:
      op->attrs.Set(name, ops::Ints(a.ints().begin(), a.ints().end()));
      break;
    case pb::AttributeProto::STRINGS:
      op->attrs.Set(name, ops::Strings(a.strings().begin(), a.strings().end()));
      break;
    case pb::AttributeProto::TENSOR:
      return tensor(model_.tensors.Read(a.t()));
    case pb::AttributeProto::SPARSE_TENSOR:
      return tensor(model_.tensors.ReadSparse(a.sparse_tensor()));
    case pb::AttributeProto::TYPE_PROTO: {
      auto type = ReadType(a.tp(), model_.limits.max_nesting);
      if (!type.ok()) return type.status().WithContext(where);
      op->attrs.Set(name, ops::TypeText(*type));
      break;
    }
    case pb::AttributeProto::GRAPH:
      return body(a.g(), name);
    case pb::AttributeProto::GRAPHS:
      for (int i = 0; i < a.graphs_size(); ++i)
        NPUKIT_RETURN_IF_ERROR(body(a.graphs(i), Cat(name, "[", i, "]")));
      break;
    default:
      op->odd_attrs.push_back(name);
      break;
  }
  return OkStatus();
}

// 1 for a domain that the model does not name.
Result<std::int64_t> GraphImporter::Opset(const std::string& domain) const {
  if (call_ != nullptr) {
    if (const auto at = call_->opsets.find(domain); at != call_->opsets.end()) return at->second;
  }
  if (const auto at = model_.opsets.find(domain); at != model_.opsets.end()) return at->second;
  if (domain.empty()) return DataCorrupt("the model names no opset for ONNX's own operators");
  return std::int64_t{1};
}

// Our nodes, those from `first` on, must give every output that somebody reads.
Status GraphImporter::AllMade(const SourceOp& op, std::size_t first) const {
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const ir::ValueId id = op.outputs[i];
    const std::string& name = g_.value(id).name;
    bool made = g_.is_constant(id) || name.empty() || !model_.read.contains(name);
    for (std::size_t n = first; n < g_.nodes.size() && !made; ++n) {
      const auto& outputs = g_.nodes[n].outputs;
      made = std::find(outputs.begin(), outputs.end(), id) != outputs.end();
    }
    if (made) continue;
    return InvalidArgument(Cat("output ", i, ", ", Printable(name),
                               ", is read, and the operator gives no such output; expected ", i,
                               " outputs at most, found ", op.outputs.size()));
  }
  return OkStatus();
}

Status GraphImporter::ImportNode(const pb::NodeProto& node, std::uint32_t index) {
  if (++model_.nodes > model_.limits.max_nodes) {
    return ResourceExhausted(Cat("more than ", model_.limits.max_nodes, " nodes"));
  }
  SourceOp op;
  op.op = node.op_type();
  op.domain = NormalDomain(node.domain());
  op.name = NodeName(node, index);
  op.from = static_cast<std::uint32_t>(g_.source_nodes.size());
  const std::string where = NodeText(op.name, op.op);
  g_.source_nodes.push_back(ir::SourceNode{op.name, op.op});
  if (op.op.empty()) return DataCorrupt(Cat(where, ": no operator is named"));
  for (const std::string& name : node.input()) {
    auto id = Resolve(name);
    if (!id.ok()) return id.status().WithContext(where);
    op.inputs.push_back(*id);
  }
  while (!op.inputs.empty() && op.inputs.back() == ir::kNoValue) op.inputs.pop_back();

  std::string key = FunctionKey(op.domain, op.op, node.overload());
  const auto function = model_.functions.find(key);
  const bool called = function != model_.functions.end();
  for (const auto& a : node.attribute()) {
    if (called) break;  // its attributes are read where it refers to them
    if (const Status s = ImportAttribute(a, &op); !s.ok()) return At(s, where);
  }
  for (const std::string& name : node.output()) {
    auto id = Define(name, nullptr);
    if (!id.ok()) return id.status().WithContext(where);
    op.outputs.push_back(*id);
  }
  op.declared_outputs = op.outputs.size();
  if (called) {
    emitter_.op = std::move(op);
    return ExpandCall(node, *function->second, std::move(key)).WithContext(where);
  }
  if (op.domain.empty()) {  // an output nobody reads is as good as absent: BatchNormalization of
                            // old files names five
    int i = node.output_size();
    while (op.outputs.size() > 1 && !model_.read.contains(node.output(--i))) op.outputs.pop_back();
  }
  auto opset = Opset(op.domain);
  if (!opset.ok()) return opset.status().WithContext(where);
  op.opset = *opset;

  emitter_.op = std::move(op);
  const SourceOp original =
      emitter_.op;  // steps change it; a foreign node shows what the file says
  const std::size_t before = g_.nodes.size();
  auto converted = Convert(emitter_);
  if (!converted.ok()) {
    // Infer's messages name the node already, in the words of our operator.
    const bool named = converted.status().message().starts_with("node ");
    return named ? converted.status() : converted.status().WithContext(where);
  }
  const Outcome outcome = std::move(converted).value();
  if (outcome.kind == Outcome::Kind::kDone) return AllMade(original, before).WithContext(where);
  emitter_.op = original;
  emitter_.op.inputs.insert(emitter_.op.inputs.end(), original.captures.begin(),
                            original.captures.end());
  return emitter_.EmitForeign(outcome);
}

}  // namespace npukit::importers::onnx
