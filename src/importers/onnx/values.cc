#include "importers/onnx/values.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/wire_format_lite.h>

#include <climits>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "importers/onnx/model.h"
#include "importers/onnx/tensors.h"

namespace npukit::importers::onnx {
namespace {

using google::protobuf::internal::WireFormatLite;
using tensor::Type;
using tensor::Value;

std::string Folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// What decides whether Dropout trains, as far as the outermost graph says: constants by name.
class Constants {
 public:
  explicit Constants(const pb::GraphProto& graph) {
    for (const auto& t : graph.initializer()) by_name_.emplace(t.name(), &t);
    for (const auto& n : graph.node()) {
      if (n.op_type() != "Constant" || n.output_size() == 0) continue;
      for (const auto& a : n.attribute()) {
        if (a.has_t()) by_name_.emplace(n.output(0), &a.t());
      }
    }
  }
  const pb::TensorProto* Find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : at->second;
  }

 private:
  std::unordered_map<std::string, const pb::TensorProto*> by_name_;
};

bool AllZero(const pb::TensorProto& t) {
  for (const char c : t.raw_data()) {
    if (c != 0) return false;
  }
  for (const float v : t.float_data()) {
    if (v != 0) return false;
  }
  for (const auto v : t.int32_data()) {
    if (v != 0) return false;
  }
  for (const double v : t.double_data()) {
    if (v != 0) return false;
  }
  return true;
}

// Adds Dropout when it may train. Before opset 7 an attribute said so, from 7 to 11 it never did,
// since then an input does.
void AddDropout(const pb::NodeProto& node, std::int64_t opset, const Constants& constants,
                std::vector<RandomNode>* found) {
  RandomNode random{node.op_type(), "", ""};
  if (opset < 7) {
    for (const auto& a : node.attribute()) {
      if (a.name() == "is_test" && a.i() != 0) return;
    }
  } else {
    if (opset < 12 || node.input_size() < 3 || node.input(2).empty()) return;
    const pb::TensorProto* training = constants.Find(node.input(2));
    if (training != nullptr && AllZero(*training)) return;
    if (training == nullptr) random.training = node.input(2);
    const pb::TensorProto* ratio = constants.Find(node.input(1));
    if (ratio != nullptr && AllZero(*ratio)) return;
    if (ratio == nullptr) random.ratio = node.input(1);
  }
  found->push_back(std::move(random));
}

template <class Nodes>
void CollectRandom(const Nodes& nodes, std::int64_t opset, const Constants& constants, int depth,
                   std::vector<RandomNode>* found) {
  static const auto& kOps =
      *new std::unordered_set<std::string>{"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                           "RandomUniformLike", "Bernoulli",        "Multinomial"};
  if (depth < 0) return;
  for (const auto& node : nodes) {
    if (NormalDomain(node.domain()).empty()) {
      if (kOps.contains(node.op_type())) found->push_back({node.op_type(), "", ""});
      if (node.op_type() == "Dropout") AddDropout(node, opset, constants, found);
    }
    for (const auto& a : node.attribute()) {
      if (a.has_g()) CollectRandom(a.g().node(), opset, constants, depth - 1, found);
      for (const auto& g : a.graphs()) CollectRandom(g.node(), opset, constants, depth - 1, found);
    }
  }
}

Result<Port> ReadPort(const pb::ValueInfoProto& info, const char* what, int max_nesting) {
  auto type = ReadType(info.type(), max_nesting);
  if (!type.ok()) return type.status().WithContext(Cat(what, " ", Printable(info.name())));
  return Port{info.name(), std::move(type).value(), false};
}

Result<Value> ReadTensor(Env& env, const std::string& folder, std::string_view bytes) {
  // The reader shares the memory of a model that it keeps alive: the value is its only initializer.
  auto holder = std::make_shared<pb::ModelProto>();
  pb::TensorProto* t = holder->mutable_graph()->add_initializer();
  const google::protobuf::LogSilencer silence;
  if (bytes.size() > INT_MAX || !t->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return DataCorrupt("not a TensorProto: its structure breaks off or is not protobuf");
  }
  return TensorReader(env, folder, holder).Read(*t);
}

// SequenceProto and OptionalProto, whose fields have the same numbers. Their messages are not in
// the schema of models, so the fields are read one by one.
class ValueParser {
 public:
  ValueParser(Env& env, std::string folder) : env_(env), folder_(std::move(folder)) {}

  Result<Value> Parse(std::string_view bytes, const Type& type, int depth) const {
    if (depth <= 0) return ResourceExhausted("a value is nested too deeply");
    if (type.is_tensor()) return ReadTensor(env_, folder_, bytes);
    NPUKIT_CHECK(type.element != nullptr);
    NPUKIT_ASSIGN_OR_RETURN(std::vector<Value> items, Items(bytes, *type.element, depth));
    if (type.kind == Type::Kind::kSequence) return Value::Sequence(*type.element, std::move(items));
    if (items.size() > 1)
      return DataCorrupt(Cat("an optional value with ", items.size(), " elements"));
    return Value::Optional(*type.element,
                           items.empty() ? nullptr : std::make_shared<Value>(std::move(items[0])));
  }

 private:
  enum Field { kName = 1, kElementType, kTensor, kSparse, kSequence, kMap, kOptional };

  Result<std::vector<Value>> Items(std::string_view bytes, const Type& element, int depth) const {
    const Status broken = DataCorrupt(
        "not a SequenceProto or OptionalProto: its structure breaks off or is not protobuf");
    if (bytes.size() > INT_MAX) return broken;
    google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                              static_cast<int>(bytes.size()));
    std::vector<Value> items;
    while (const std::uint32_t tag = in.ReadTag()) {
      const int field = WireFormatLite::GetTagFieldNumber(tag);
      if (field < kTensor || field > kOptional ||
          WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        if (!WireFormatLite::SkipField(&in, tag)) return broken;
        continue;
      }
      std::uint32_t length = 0;
      std::string item;
      if (!in.ReadVarint32(&length) || length > bytes.size() ||
          !in.ReadString(&item, static_cast<int>(length))) {
        return broken;
      }
      if (field == kSparse || field == kMap)
        return Unsupported("sparse tensors and maps are not supported");
      const int expected = element.is_tensor()                     ? kTensor
                           : element.kind == Type::Kind::kSequence ? kSequence
                                                                   : kOptional;
      if (field != expected)
        return DataCorrupt(Cat("an element of another kind than ", element.ToString()));
      NPUKIT_ASSIGN_OR_RETURN(Value value, Parse(item, element, depth - 1));
      items.push_back(std::move(value));
    }
    if (!in.ConsumedEntireMessage()) return broken;
    return items;
  }

  Env& env_;
  const std::string folder_;
};

}  // namespace

Result<Face> ReadFace(Env& env, const std::string& path, const ImportLimits& limits) {
  NPUKIT_ASSIGN_OR_RETURN(const auto file, env.MapFile(path));
  NPUKIT_ASSIGN_OR_RETURN(const auto model, ParseModel(file->bytes(), limits));
  const pb::GraphProto& graph = model->graph();
  std::unordered_set<std::string_view> initialized;
  for (const auto& t : graph.initializer()) initialized.insert(t.name());
  Face face;
  for (const auto& info : graph.input()) {
    NPUKIT_ASSIGN_OR_RETURN(Port port, ReadPort(info, "input", limits.max_nesting));
    port.has_default = initialized.contains(info.name());
    face.inputs.push_back(std::move(port));
  }
  for (const auto& info : graph.output()) {
    NPUKIT_ASSIGN_OR_RETURN(Port port, ReadPort(info, "output", limits.max_nesting));
    face.outputs.push_back(std::move(port));
  }
  std::int64_t opset = 1;
  for (const auto& o : model->opset_import()) {
    if (NormalDomain(o.domain()).empty()) opset = o.version();
  }
  const Constants constants(graph);
  CollectRandom(graph.node(), opset, constants, limits.max_nesting, &face.random);
  for (const auto& f : model->functions())
    CollectRandom(f.node(), opset, constants, limits.max_nesting, &face.random);
  return face;
}

Result<Value> ReadValueFile(Env& env, const std::string& path, const Type& type,
                            const ImportLimits& limits) {
  NPUKIT_ASSIGN_OR_RETURN(const auto file, env.MapFile(path));
  const auto bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto value = ValueParser(env, Folder(path)).Parse(text, type, limits.max_nesting);
  if (!value.ok()) return value.status().WithContext(Printable(path, 300));
  return value;
}

}  // namespace npukit::importers::onnx
