#include "importers/onnx/model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <climits>

#include "base/text.h"
#include "importers/onnx/graph_importer.h"
#include "importers/onnx/onnx.h"

namespace npukit::importers::onnx {
namespace {

// Messages nest graph, node, attribute, graph; types nest two for each level.
constexpr int kMessagesPerLevel = 4;

void CollectReads(const pb::GraphProto& graph, std::unordered_set<std::string_view>* read,
                  int depth) {
  if (depth < 0) return;
  for (const auto& node : graph.node()) {
    for (const std::string& name : node.input()) read->insert(name);
    for (const auto& a : node.attribute()) {
      if (a.has_g()) CollectReads(a.g(), read, depth - 1);
      for (const auto& g : a.graphs()) CollectReads(g, read, depth - 1);
    }
  }
  for (const auto& output : graph.output()) read->insert(output.name());
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
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
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
                              const ImportLimits& limits) {
  NPUKIT_ASSIGN_OR_RETURN(const std::shared_ptr<const pb::ModelProto> model,
                          ParseModel(bytes, limits));
  ModelContext context{TensorReader(env, folder, model), limits, {}, {}, {}, 0};
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
  for (const auto& f : model->functions())
    context.functions.insert(Cat(NormalDomain(f.domain()), ":", f.name()));
  CollectReads(model->graph(), &context.read, limits.max_nesting);
  GraphImporter importer(context, nullptr, 0);
  NPUKIT_ASSIGN_OR_RETURN(ir::Graph graph, importer.Import(model->graph()));
  graph.metadata = std::move(metadata);
  return graph;
}

}  // namespace npukit::importers::onnx
