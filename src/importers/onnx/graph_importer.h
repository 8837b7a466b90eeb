// GraphProto to ir::Graph, with the scopes of nested graphs. Inside importers/onnx only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "importers/import.h"
#include "importers/onnx/source_op.h"
#include "importers/onnx/tensors.h"

namespace npukit::importers::onnx {

// What all graphs of one model share.
struct ModelContext {
  TensorReader tensors;
  ImportLimits limits;
  std::unordered_map<std::string, std::int64_t> opsets;  // by domain; "" is ONNX's own
  // Local functions by FunctionKey. They go before operators of the same name.
  std::unordered_map<std::string, const pb::FunctionProto*> functions;
  std::unordered_set<std::string_view> read;  // names that some node or output reads
  std::uint64_t nodes = 0;                    // seen so far, nested and expanded ones too
  std::uint64_t expanded = 0;                 // of local functions, once for each call
};

std::string FunctionKey(const std::string& domain, const std::string& name,
                        const std::string& overload);

// A call of a local function: what its nodes see of their caller. The model's own graph has none.
struct Call {
  const Call* caller = nullptr;
  std::string key;
  std::unordered_map<std::string, std::int64_t> opsets;
  std::unordered_map<std::string, const pb::AttributeProto*> attrs;  // given, else the default
};

// The node's name, or one made of its operator and its place in the file.
std::string NodeName(const pb::NodeProto& node, std::uint32_t index);

// What a call gives for one input of the function.
struct Argument {
  ir::ValueId id = ir::kNoValue;  // in the caller's graph
  tensor::Type type;
  const tensor::Value* known = nullptr;
};

// One graph. A nested one finds names in its parents: a constant is shared, any other value becomes
// an extra input of the nested graph, listed in `captures` in the same order, so that the node that
// owns the body reads it visibly.
class GraphImporter {
 public:
  GraphImporter(ModelContext& model, GraphImporter* parent, int depth, const Call* call)
      : model_(model), parent_(parent), depth_(depth), call_(call), emitter_(g_) {}

  Result<ir::Graph> Import(const pb::GraphProto& graph);
  // The function as a graph of its outputs number `wanted`. Known arguments become constants,
  // absent ones absent values; the rest are the graph's inputs, in order.
  Result<ir::Graph> ImportFunction(const pb::FunctionProto& f,
                                   const std::vector<Argument>& arguments,
                                   const std::vector<int>& wanted);
  const std::vector<ir::ValueId>& captures() const {
    return captures_;
  }  // ids in the parent's graph

 private:
  Status At(const Status& s, const std::string& where) const;
  using ValueInfos = google::protobuf::RepeatedPtrField<pb::ValueInfoProto>;
  using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;
  Status ReadDeclaredTypes(const ValueInfos& infos);
  Status ImportInputs(const pb::GraphProto& graph);
  Status ImportInitializers(const pb::GraphProto& graph);
  Status ImportNodes(const Nodes& nodes);
  Status ImportNode(const pb::NodeProto& node, std::uint32_t index);
  Status ImportAttribute(const pb::AttributeProto& a, SourceOp* op);
  // The attribute itself, or the caller's that it refers to; null when that was not given.
  Result<const pb::AttributeProto*> Referred(const pb::AttributeProto& a) const;
  Status ExpandCall(const pb::NodeProto& node, const pb::FunctionProto& f, std::string key);
  Result<std::int64_t> Opset(const std::string& domain) const;
  Status AllMade(const SourceOp& op, std::size_t first) const;
  Status ImportOutputs(const pb::GraphProto& graph);
  Result<ir::ValueId> Define(const std::string& name, const tensor::Type* type);
  Result<ir::ValueId> Resolve(const std::string& name);
  bool Find(const std::string& name, ir::ValueId* id);
  tensor::Type Declared(const std::string& name) const;

  ModelContext& model_;
  GraphImporter* parent_;
  int depth_;
  const Call* call_;
  ir::Graph g_;
  Emitter emitter_;
  std::unordered_map<std::string, ir::ValueId> ids_;
  std::unordered_map<std::string, tensor::Type> declared_;
  std::unordered_map<std::string, std::string>
      makers_;  // value name -> node that makes it, for messages
  std::vector<ir::ValueId> captures_;
};

}  // namespace npukit::importers::onnx
