#include "importers/onnx/model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <climits>

#include "base/kept_bytes.h"
#include "base/text.h"
#include "importers/onnx/graph_importer.h"
#include "importers/onnx/onnx.h"

namespace npukit::importers::onnx {
namespace {

// Messages nest graph, node, attribute, graph; types nest two for each level.
constexpr int kMessagesPerLevel = 4;

// A mapped file in pieces, each given back once it was read: what is parsed is a copy.
class Pieces final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit Pieces(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool Next(const void** data, int* size) override {
    Drop();
    if (at_ == bytes_.size()) return false;
    piece_ = at_;
    const std::size_t n = std::min(kPiece, bytes_.size() - at_);
    *data = bytes_.data() + at_;
    *size = static_cast<int>(n);
    at_ += n;
    return true;
  }
  void BackUp(int count) override { at_ -= static_cast<std::size_t>(count); }
  bool Skip(int count) override {
    const std::size_t n = std::min(static_cast<std::size_t>(count), bytes_.size() - at_);
    at_ += n;
    return n == static_cast<std::size_t>(count);
  }
  std::int64_t ByteCount() const override { return static_cast<std::int64_t>(at_); }

 private:
  static constexpr std::size_t kPiece = std::size_t{4} << 20;
  void Drop() {
    if (at_ > piece_) DropPages(bytes_.subspan(piece_, at_ - piece_));
    piece_ = at_;
  }
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;     // what comes next
  std::size_t piece_ = 0;  // where the last piece began
};

using Names = std::unordered_set<std::string_view>;

void CollectReads(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes, Names* read,
                  int depth) {
  if (depth < 0) return;
  const auto body = [&](const pb::GraphProto& g) {
    CollectReads(g.node(), read, depth - 1);
    for (const auto& output : g.output()) read->insert(output.name());
  };
  for (const auto& node : nodes) {
    for (const std::string& name : node.input()) read->insert(name);
    for (const auto& a : node.attribute()) {
      if (a.has_g()) body(a.g());
      for (const auto& g : a.graphs()) body(g);
    }
  }
}

Status CollectFunctions(const pb::ModelProto& model, ModelContext* context) {
  for (const auto& f : model.functions()) {
    const std::string key = FunctionKey(f.domain(), f.name(), f.overload());
    if (!context->functions.emplace(key, &f).second)
      return DataCorrupt(Cat("the function ", Printable(key), " is given twice"));
    CollectReads(f.node(), &context->read, context->limits.max_nesting);
    for (const std::string& name : f.output()) context->read.insert(name);
  }
  return OkStatus();
}

}  // namespace

Result<std::shared_ptr<pb::ModelProto>> ParseModel(std::span<const std::byte> bytes,
                                                   const ImportLimits& limits) {
  if (bytes.size() > INT_MAX) {
    return ResourceExhausted(Cat("not an ONNX model: ", bytes.size(),
                                 " bytes, and such a file is at most 2 GiB; keep the "
                                 "weights as external data"));
  }
  const google::protobuf::LogSilencer silence;  // one line on failure, ours
  auto model = std::make_shared<pb::ModelProto>();
  Pieces pieces(bytes);
  google::protobuf::io::CodedInputStream in(&pieces);
  in.SetRecursionLimit(kMessagesPerLevel * limits.max_nesting + 16);
  if (!model->ParseFromCodedStream(&in) || !in.ConsumedEntireMessage()) {
    return DataCorrupt(
        "not an ONNX model: its structure breaks off or is not protobuf; if it is one, copy it "
        "again");
  }
  if (!model->has_graph()) {
    return DataCorrupt("not an ONNX model: it holds no graph");
  }
  return model;
}

std::string NormalDomain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

Result<ir::Graph> ImportModel(Env& env, std::span<const std::byte> bytes, const std::string& folder,
                              const ImportOptions& options) {
  const ImportLimits& limits = options.limits;
  NPUKIT_ASSIGN_OR_RETURN(const std::shared_ptr<const pb::ModelProto> model,
                          ParseModel(bytes, limits));
  ModelContext context{
      TensorReader(env, folder, model, options.structure_only), limits, {}, {}, {}};
  std::vector<std::pair<std::string, std::string>> metadata;
  const auto note = [&](std::string key, std::string value) {
    if (!value.empty()) metadata.emplace_back(std::move(key), std::move(value));
  };
  note("producer", model->producer_name());
  note("producer_version", model->producer_version());
  note("ir_version", Cat(static_cast<long long>(model->ir_version())));
  for (const auto& opset : model->opset_import()) {
    const std::string domain = NormalDomain(opset.domain());
    if (opset.version() < 1)
      return DataCorrupt(Cat("opset ", opset.version(), " of domain ", Printable(opset.domain())));
    context.opsets[domain] = opset.version();
    note(domain.empty() ? "opset" : Cat("opset:", Printable(domain)),
         Cat(static_cast<long long>(opset.version())));
  }
  // Files before IR version 3 had no list of opsets: they are of the first.
  if (model->opset_import_size() == 0 && model->ir_version() < 3) context.opsets[""] = 1;
  for (const auto& p : model->metadata_props()) metadata.emplace_back(p.key(), p.value());
  CollectReads(model->graph().node(), &context.read, limits.max_nesting);
  for (const auto& output : model->graph().output()) context.read.insert(output.name());
  NPUKIT_RETURN_IF_ERROR(CollectFunctions(*model, &context));
  GraphImporter importer(context, nullptr, 0, nullptr);
  NPUKIT_ASSIGN_OR_RETURN(ir::Graph graph, importer.Import(model->graph()));
  graph.metadata = std::move(metadata);
  return graph;
}

}  // namespace npukit::importers::onnx
