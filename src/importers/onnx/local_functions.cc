// Local functions of a model: every call becomes the function's nodes. A call of a call multiplies,
// so what all of them make together is bounded.
#include "base/text.h"
#include "importers/onnx/graph_importer.h"
#include "importers/onnx/model.h"

namespace npukit::importers::onnx {
namespace {

constexpr std::uint64_t kMaxExpandedNodes = 200'000;

// "A > B > A": how a function came to call itself.
std::string Chain(const Call* call, const std::string& name) {
  std::vector<std::string> names;
  for (; call != nullptr; call = call->caller) names.push_back(Printable(call->key, 40));
  std::string s;
  for (std::size_t i = names.size(); i-- > 0;) s += names[i] + " > ";
  return s + Printable(name, 40);
}

}  // namespace

std::string FunctionKey(const std::string& domain, const std::string& name,
                        const std::string& overload) {
  std::string key = Cat(NormalDomain(domain), ":", name);
  return overload.empty() ? key : Cat(key, ":", overload);
}

Result<ir::Graph> GraphImporter::ImportFunction(const pb::FunctionProto& f,
                                                const std::vector<Argument>& arguments,
                                                const std::vector<int>& wanted) {
  g_.name = f.name();
  NPUKIT_RETURN_IF_ERROR(ReadDeclaredTypes(f.value_info()));
  for (int i = 0; i < f.input_size(); ++i) {
    const std::string& name = f.input(i);
    if (name.empty()) return DataCorrupt(Cat("input ", i, " of the function has no name"));
    const auto at = static_cast<std::size_t>(i);
    const bool given = at < arguments.size() && arguments[at].id != ir::kNoValue;
    ir::ValueId id = ir::kNoValue;
    if (given && arguments[at].known != nullptr) {
      id = g_.AddConstant(name, *arguments[at].known);
    } else if (given) {
      id = g_.AddValue(name, arguments[at].type);
      g_.inputs.push_back(id);
    }
    if (!ids_.emplace(name, id).second)
      return DataCorrupt(Cat("input ", Printable(name), " of the function is given twice"));
  }
  NPUKIT_RETURN_IF_ERROR(ImportNodes(f.node()));
  for (const int i : wanted) {
    ir::ValueId id = ir::kNoValue;
    if (!Find(f.output(i), &id)) {
      return DataCorrupt(
          Cat("output ", Printable(f.output(i)), " of the function is made by no node"));
    }
    if (id == ir::kNoValue) {
      return DataCorrupt(Cat("output ", Printable(f.output(i)),
                             " of the function is an input that its caller left out"));
    }
    g_.outputs.push_back(id);
  }
  return std::move(g_);
}

// emitter_.op is the call.
Status GraphImporter::ExpandCall(const pb::NodeProto& node, const pb::FunctionProto& f,
                                 std::string key) {
  Call call;
  call.caller = call_;
  for (const Call* c = call_; c != nullptr; c = c->caller) {
    if (c->key == key)
      return DataCorrupt(Cat("the function calls itself, without an end: ", Chain(call_, key)));
  }
  if (depth_ >= model_.limits.max_nesting) {
    return ResourceExhausted(
        Cat("functions and graphs nested deeper than ", model_.limits.max_nesting));
  }
  model_.expanded += static_cast<std::uint64_t>(f.node_size()) + 1;
  if (model_.expanded > kMaxExpandedNodes) {
    return ResourceExhausted(
        Cat("the calls of local functions make more than ", kMaxExpandedNodes, " nodes"));
  }
  call.key = std::move(key);
  for (const auto& opset : f.opset_import())
    call.opsets[NormalDomain(opset.domain())] = opset.version();
  for (const auto& a : node.attribute()) {
    auto referred = Referred(a);
    if (!referred.ok())
      return referred.status().WithContext(Cat("attribute ", Printable(a.name())));
    if (*referred != nullptr) call.attrs.emplace(a.name(), *referred);
  }
  for (const auto& a : f.attribute_proto()) call.attrs.emplace(a.name(), &a);

  const SourceOp op = emitter_.op;
  if (op.inputs.size() > static_cast<std::size_t>(f.input_size())) {
    return DataCorrupt(
        Cat("the function has ", f.input_size(), " inputs, found ", op.inputs.size()));
  }
  if (op.outputs.size() > static_cast<std::size_t>(f.output_size())) {
    return DataCorrupt(
        Cat("the function has ", f.output_size(), " outputs, found ", op.outputs.size()));
  }
  std::vector<Argument> arguments;
  std::vector<ir::ValueId> inputs;
  for (const ir::ValueId id : op.inputs) {
    Argument a{id, {}, nullptr};
    if (id != ir::kNoValue) {
      a.type = g_.value(id).type;
      a.known = emitter_.KnownValue(id);
      if (a.known == nullptr) inputs.push_back(id);
    }
    arguments.push_back(std::move(a));
  }
  std::vector<int> wanted;
  std::vector<ir::ValueId> outputs;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (node.output(static_cast<int>(i)).empty()) continue;
    wanted.push_back(static_cast<int>(i));
    outputs.push_back(op.outputs[i]);
  }
  GraphImporter callee(model_, nullptr, depth_ + 1, &call);
  NPUKIT_ASSIGN_OR_RETURN(const ir::Graph body, callee.ImportFunction(f, arguments, wanted));
  emitter_.op = op;
  return emitter_.Splice(body, inputs, outputs);
}

}  // namespace npukit::importers::onnx
