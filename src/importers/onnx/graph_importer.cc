#include "importers/onnx/graph_importer.h"

#include "base/text.h"
#include "importers/onnx/onnx.h"

namespace npukit::importers::onnx {

using tensor::Type;
using tensor::Value;

namespace {

std::string NodeName(const pb::NodeProto& node, std::uint32_t index) {
  return node.name().empty() ? Cat(node.op_type(), "_", index) : node.name();
}

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

Type GraphImporter::Declared(const std::string& name) const {
  const auto at = declared_.find(name);
  return at == declared_.end() ? Type{} : at->second;
}

// Where it happened, from the outside in; where graphs are nested deeply the outermost places will
// do, or the message would be a page.
Status GraphImporter::At(const Status& s, const std::string& where) const {
  return depth_ < 3 ? s.WithContext(where) : s;
}

Status GraphImporter::ReadDeclaredTypes(const pb::GraphProto& graph) {
  for (const auto* list : {&graph.value_info(), &graph.output()}) {
    for (const auto& info : *list) {
      auto type = ReadType(info.type(), model_.limits.max_nesting);
      if (!type.ok() && type.status().code() == Code::kUnsupported)
        continue;  // then it is not known
      if (!type.ok()) return type.status().WithContext(Cat("value ", Printable(info.name())));
      declared_.emplace(info.name(), std::move(type).value());
    }
  }
  return OkStatus();
}

Result<ir::ValueId> GraphImporter::Define(const std::string& name, const Type* type) {
  const ir::ValueId id = g_.AddValue(name, type ? *type : Declared(name));
  if (!name.empty() && !ids_.emplace(name, id).second) {
    return DataCorrupt(
        Cat("the name ", Printable(name), " is given twice: each value has one maker"));
  }
  return id;
}

bool GraphImporter::Find(const std::string& name, ir::ValueId* id) {
  if (const auto at = ids_.find(name); at != ids_.end()) {
    *id = at->second;
    return true;
  }
  ir::ValueId outer = 0;
  if (parent_ == nullptr || !parent_->Find(name, &outer)) return false;
  const ir::ValueInfo info = parent_->g_.value(outer);
  if (info.constant) {
    *id = g_.AddConstant(name, *info.constant);
  } else {
    *id = g_.AddValue(name, info.type);
    g_.inputs.push_back(*id);
    captures_.push_back(outer);
  }
  ids_.emplace(name, *id);
  return true;
}

Result<ir::ValueId> GraphImporter::Resolve(const std::string& name) {
  if (name.empty()) return ir::kNoValue;
  ir::ValueId id = 0;
  if (Find(name, &id)) return id;
  for (const GraphImporter* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const auto maker = scope->makers_.find(name); maker != scope->makers_.end()) {
      return DataCorrupt(Cat("reads ", Printable(name), ", which node ", Printable(maker->second),
                             " makes only later: nodes must be in order, without a cycle"));
    }
  }
  return DataCorrupt(Cat("reads ", Printable(name), ", which nothing in the model makes"));
}

Status GraphImporter::ImportInputs(const pb::GraphProto& graph) {
  std::unordered_set<std::string_view> initialized;
  for (const auto& t : graph.initializer()) initialized.insert(t.name());
  for (const auto& info : graph.input()) {
    if (initialized.contains(info.name()))
      continue;  // a default value: npukit takes it as the value
    if (info.name().empty()) return DataCorrupt("a graph input has no name");
    auto type = ReadType(info.type(), model_.limits.max_nesting);
    if (!type.ok()) return type.status().WithContext(Cat("input ", Printable(info.name())));
    if (type->is_tensor() && type->dtype == tensor::DType::kUndefined && parent_ == nullptr) {
      return DataCorrupt(Cat("input ", Printable(info.name()), " has no type"));
    }
    auto id = Define(info.name(), &*type);
    if (!id.ok()) return id.status().WithContext("input");
    g_.inputs.push_back(*id);
  }
  return OkStatus();
}

Status GraphImporter::ImportInitializers(const pb::GraphProto& graph) {
  if (graph.sparse_initializer_size() != 0) {
    return Unsupported(Cat("sparse initializer ",
                           Printable(graph.sparse_initializer(0).values().name()),
                           ": store it as a dense tensor"));
  }
  for (const auto& t : graph.initializer()) {
    const std::string where = Cat("initializer ", Printable(t.name()));
    if (t.name().empty()) return DataCorrupt("an initializer has no name");
    auto value = model_.tensors.Read(t);
    if (!value.ok()) return value.status().WithContext(where);
    const Type type = value->type();
    auto id = Define(t.name(), &type);
    if (!id.ok()) return id.status().WithContext(where);
    g_.value(*id).constant = std::move(value).value();
  }
  return OkStatus();
}

Status GraphImporter::ImportAttribute(const pb::AttributeProto& a, SourceOp* op,
                                      std::vector<ir::ValueId>* captured) {
  const std::string where = Cat("attribute ", Printable(a.name()));
  if (a.name().empty()) return DataCorrupt("an attribute has no name");
  if (a.has_ref_attr_name() && !a.ref_attr_name().empty()) {
    return DataCorrupt(Cat(where, " refers to an attribute of a function, outside of one"));
  }
  if (op->attrs.Find(a.name()) != nullptr) return DataCorrupt(Cat(where, " is given twice"));
  const auto body = [&](const pb::GraphProto& graph, std::string name) -> Status {
    GraphImporter nested(model_, this, depth_ + 1);
    auto g = nested.Import(graph);
    if (!g.ok()) return At(g.status(), Cat("body ", Printable(name)));
    captured->insert(captured->end(), nested.captures().begin(), nested.captures().end());
    op->bodies.emplace_back(std::move(name), std::make_shared<ir::Graph>(std::move(g).value()));
    return OkStatus();
  };
  switch (TypeOf(a)) {
    case pb::AttributeProto::FLOAT:
      op->attrs.Set(a.name(), a.f());
      break;
    case pb::AttributeProto::INT:
      op->attrs.Set(a.name(), static_cast<std::int64_t>(a.i()));
      break;
    case pb::AttributeProto::STRING:
      op->attrs.Set(a.name(), a.s());
      break;
    case pb::AttributeProto::FLOATS:
      op->attrs.Set(a.name(), ops::Floats(a.floats().begin(), a.floats().end()));
      break;
    case pb::AttributeProto::INTS:
      op->attrs.Set(a.name(), ops::Ints(a.ints().begin(), a.ints().end()));
      break;
    case pb::AttributeProto::STRINGS:
      op->attrs.Set(a.name(), ops::Strings(a.strings().begin(), a.strings().end()));
      break;
    case pb::AttributeProto::TENSOR: {
      auto value = model_.tensors.Read(a.t());
      if (!value.ok()) return value.status().WithContext(where);
      op->attrs.Set(a.name(), std::move(value).value());
      break;
    }
    case pb::AttributeProto::GRAPH:
      return body(a.g(), a.name());
    case pb::AttributeProto::GRAPHS:
      for (int i = 0; i < a.graphs_size(); ++i)
        NPUKIT_RETURN_IF_ERROR(body(a.graphs(i), Cat(a.name(), "[", i, "]")));
      break;
    default:
      op->odd_attrs.push_back(a.name());
      break;
  }
  return OkStatus();
}

Status GraphImporter::ImportNode(const pb::NodeProto& node, std::uint32_t index) {
  if (++model_.nodes > model_.limits.max_nodes) {
    return ResourceExhausted(Cat("more than ", model_.limits.max_nodes, " nodes"));
  }
  SourceOp op;
  op.op = node.op_type();
  op.domain = node.domain() == "ai.onnx" ? "" : node.domain();
  op.name = NodeName(node, index);
  op.from = index;
  const std::string where = NodeText(op.name, op.op);
  g_.source_nodes.push_back(ir::SourceNode{op.name, op.op});
  if (op.op.empty()) return DataCorrupt(Cat(where, ": no operator is named"));
  for (const std::string& name : node.input()) {
    auto id = Resolve(name);
    if (!id.ok()) return id.status().WithContext(where);
    op.inputs.push_back(*id);
  }
  while (!op.inputs.empty() && op.inputs.back() == ir::kNoValue) op.inputs.pop_back();

  std::vector<ir::ValueId> captured;
  for (const auto& a : node.attribute()) {
    if (const Status s = ImportAttribute(a, &op, &captured); !s.ok()) return At(s, where);
  }
  for (const std::string& name : node.output()) {
    auto id = Define(name, nullptr);
    if (!id.ok()) return id.status().WithContext(where);
    op.outputs.push_back(*id);
  }
  op.declared_outputs = op.outputs.size();
  const bool function = model_.functions.contains(Cat(op.domain, ":", op.op));
  if (op.domain.empty() && !function) {  // an output nobody reads is as good as absent:
                                         // BatchNormalization of old files names
                                         // five
    int i = node.output_size();
    while (op.outputs.size() > 1 && !model_.read.contains(node.output(--i))) op.outputs.pop_back();
  }
  const auto opset = model_.opsets.find(op.domain);
  if (opset == model_.opsets.end() && op.domain.empty() && !function) {
    return DataCorrupt(Cat(where, ": the model names no opset for ONNX's own operators"));
  }
  op.opset = opset == model_.opsets.end() ? 1 : opset->second;
  op.captures = captured;

  emitter_.op = std::move(op);
  Outcome outcome = Outcome::Unknown("a local function of the model; functions are not expanded");
  if (!function) {
    const SourceOp original =
        emitter_.op;  // steps change it; a foreign node shows what the file says
    auto converted = Convert(emitter_);
    if (!converted.ok()) {
      // Infer's messages name the node already, in the words of our operator.
      const bool named = converted.status().message().starts_with("node ");
      return named ? converted.status() : converted.status().WithContext(where);
    }
    outcome = std::move(converted).value();
    if (outcome.kind == Outcome::Kind::kDone) return OkStatus();
    emitter_.op = original;
  }
  emitter_.op.inputs.insert(emitter_.op.inputs.end(), captured.begin(), captured.end());
  return emitter_.EmitForeign(outcome);
}

Status GraphImporter::ImportOutputs(const pb::GraphProto& graph) {
  std::unordered_set<std::string_view> seen;
  for (const auto& info : graph.output()) {
    if (info.name().empty()) return DataCorrupt("a graph output has no name");
    if (!seen.insert(info.name()).second)
      return DataCorrupt(Cat("graph output ", Printable(info.name()), " is listed twice"));
    ir::ValueId id = 0;
    if (!Find(info.name(), &id)) {
      return DataCorrupt(Cat("graph output ", Printable(info.name()), " is made by no node"));
    }
    g_.outputs.push_back(id);
  }
  return OkStatus();
}

Result<ir::Graph> GraphImporter::Import(const pb::GraphProto& graph) {
  if (depth_ > model_.limits.max_nesting) {
    return ResourceExhausted(Cat("graphs nested deeper than ", model_.limits.max_nesting));
  }
  g_.name = graph.name();
  NPUKIT_RETURN_IF_ERROR(ReadDeclaredTypes(graph));
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& name : graph.node(i).output()) {
      if (!name.empty())
        makers_.emplace(name, NodeName(graph.node(i), static_cast<std::uint32_t>(i)));
    }
  }
  NPUKIT_RETURN_IF_ERROR(ImportInputs(graph));
  NPUKIT_RETURN_IF_ERROR(ImportInitializers(graph));
  for (int i = 0; i < graph.node_size(); ++i) {
    NPUKIT_RETURN_IF_ERROR(ImportNode(graph.node(i), static_cast<std::uint32_t>(i)));
  }
  NPUKIT_RETURN_IF_ERROR(ImportOutputs(graph));
  return std::move(g_);
}

}  // namespace npukit::importers::onnx
