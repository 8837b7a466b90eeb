#include "importers/onnx/graph_importer.h"

#include "base/text.h"
#include "importers/onnx/onnx.h"

namespace npukit::importers::onnx {

using tensor::Type;
using tensor::Value;

Type GraphImporter::Declared(const std::string& name) const {
  const auto at = declared_.find(name);
  return at == declared_.end() ? Type{} : at->second;
}

// Where it happened, from the outside in; where graphs are nested deeply the outermost places will
// do, or the message would be a page.
Status GraphImporter::At(const Status& s, const std::string& where) const {
  return depth_ < 3 ? s.WithContext(where) : s;
}

Status GraphImporter::ReadDeclaredTypes(const ValueInfos& infos) {
  for (const auto& info : infos) {
    auto type = ReadType(info.type(), model_.limits.max_nesting);
    if (!type.ok() && type.status().code() == Code::kUnsupported) continue;  // then it is not known
    if (!type.ok()) return type.status().WithContext(Cat("value ", Printable(info.name())));
    declared_.emplace(info.name(), std::move(type).value());
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
  if (outer == ir::kNoValue) {
    *id = ir::kNoValue;  // an input of a function that the caller left out
  } else if (const Value* v = parent_->emitter_.KnownValue(outer)) {
    *id = g_.AddConstant(name, *v);
  } else {
    *id = g_.AddValue(name, parent_->g_.value(outer).type);
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
  for (const auto& t : graph.sparse_initializer()) initialized.insert(t.values().name());
  for (const auto& info : graph.input()) {
    if (initialized.contains(info.name()))
      continue;  // a default value: npukit takes it as the value
    if (info.name().empty()) return DataCorrupt("a graph input has no name");
    auto type = ReadType(info.type(), model_.limits.max_nesting);
    if (!type.ok()) return type.status().WithContext(Cat("input ", Printable(info.name())));
    if (type->is_tensor() && type->dtype == tensor::DType::kUndefined && parent_ == nullptr) {
      return DataCorrupt(Cat("input ", Printable(info.name()), " has no type"));
    }
    // What a body says of the sizes of its inputs may hold for the first iteration alone.
    if (parent_ != nullptr && type->is_tensor() && type->shape)
      type->shape = tensor::Shape(std::vector<tensor::Dim>(type->shape->rank()));
    auto id = Define(info.name(), &*type);
    if (!id.ok()) return id.status().WithContext("input");
    g_.inputs.push_back(*id);
  }
  return OkStatus();
}

Status GraphImporter::ImportInitializers(const pb::GraphProto& graph) {
  const auto add = [this](const std::string& name, Result<Value> value) -> Status {
    const std::string where = Cat("initializer ", Printable(name));
    if (name.empty()) return DataCorrupt("an initializer has no name");
    if (!value.ok()) return value.status().WithContext(where);
    const Type type = value->type();
    auto id = Define(name, &type);
    if (!id.ok()) return id.status().WithContext(where);
    g_.value(*id).constant = std::move(value).value();
    return OkStatus();
  };
  for (const auto& t : graph.initializer())
    NPUKIT_RETURN_IF_ERROR(add(t.name(), model_.tensors.Read(t)));
  for (const auto& t : graph.sparse_initializer())
    NPUKIT_RETURN_IF_ERROR(add(t.values().name(), model_.tensors.ReadSparse(t)));
  return OkStatus();
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
    if (id == ir::kNoValue) {
      return DataCorrupt(Cat("graph output ", Printable(info.name()),
                             " is an input that the function's caller left out"));
    }
    g_.outputs.push_back(id);
  }
  return OkStatus();
}

Status GraphImporter::ImportNodes(const Nodes& nodes) {
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes[i].output()) {
      if (!name.empty()) makers_.emplace(name, NodeName(nodes[i], static_cast<std::uint32_t>(i)));
    }
  }
  for (int i = 0; i < nodes.size(); ++i)
    NPUKIT_RETURN_IF_ERROR(ImportNode(nodes[i], static_cast<std::uint32_t>(i)));
  return OkStatus();
}

Result<ir::Graph> GraphImporter::Import(const pb::GraphProto& graph) {
  if (depth_ > model_.limits.max_nesting) {
    return ResourceExhausted(Cat("graphs nested deeper than ", model_.limits.max_nesting));
  }
  g_.name = graph.name();
  NPUKIT_RETURN_IF_ERROR(ReadDeclaredTypes(graph.value_info()));
  NPUKIT_RETURN_IF_ERROR(ReadDeclaredTypes(graph.output()));
  NPUKIT_RETURN_IF_ERROR(ImportInputs(graph));
  NPUKIT_RETURN_IF_ERROR(ImportInitializers(graph));
  NPUKIT_RETURN_IF_ERROR(ImportNodes(graph.node()));
  NPUKIT_RETURN_IF_ERROR(ImportOutputs(graph));
  return std::move(g_);
}

}  // namespace npukit::importers::onnx
