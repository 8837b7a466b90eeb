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
  std::unordered_set<std::string> functions;             // "domain:name" of local functions
  std::unordered_set<std::string_view> read;             // names that some node or output reads
  std::uint64_t nodes = 0;                               // seen so far, nested ones too
};

// One graph. A nested one finds names in its parents: a constant is shared, any other value becomes
// an extra input of the nested graph, listed in `captures` in the same order, so that the node that
// owns the body reads it visibly.
class GraphImporter {
 public:
  GraphImporter(ModelContext& model, GraphImporter* parent, int depth)
      : model_(model), parent_(parent), depth_(depth), emitter_(g_) {}

  Result<ir::Graph> Import(const pb::GraphProto& graph);
  const std::vector<ir::ValueId>& captures() const {
    return captures_;
  }  // ids in the parent's graph

 private:
  Status At(const Status& s, const std::string& where) const;
  Status ReadDeclaredTypes(const pb::GraphProto& graph);
  Status ImportInputs(const pb::GraphProto& graph);
  Status ImportInitializers(const pb::GraphProto& graph);
  Status ImportNode(const pb::NodeProto& node, std::uint32_t index);
  Status ImportAttribute(const pb::AttributeProto& a, SourceOp* op,
                         std::vector<ir::ValueId>* captured);
  Status ImportOutputs(const pb::GraphProto& graph);
  Result<ir::ValueId> Define(const std::string& name, const tensor::Type* type);
  Result<ir::ValueId> Resolve(const std::string& name);
  bool Find(const std::string& name, ir::ValueId* id);
  tensor::Type Declared(const std::string& name) const;

  ModelContext& model_;
  GraphImporter* parent_;
  int depth_;
  ir::Graph g_;
  Emitter emitter_;
  std::unordered_map<std::string, ir::ValueId> ids_;
  std::unordered_map<std::string, tensor::Type> declared_;
  std::unordered_map<std::string, std::string>
      makers_;  // value name -> node that makes it, for messages
  std::vector<ir::ValueId> captures_;
};

}  // namespace npukit::importers::onnx
