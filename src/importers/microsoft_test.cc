// Nodes of com.microsoft, imported and run, against onnxruntime's answers in
// tests/importers/microsoft.case (tools/microsoft_cases.py says what its lines mean).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "importers/onnx/model_builder_test.h"
#include "ir/node.h"
#include "testing/cases.h"

namespace npukit::importers::onnx {
namespace {

using tensor::DType;
using tensor::Value;

struct NodeCase {
  std::string op, domain;
  std::vector<std::string> outputs;
  std::vector<std::string> attrs;  // "alpha:f=0.5"
  std::vector<bool> constant;      // by input
  testing::OpCase values;          // inputs, outputs and how near they must be
};

std::vector<std::string> Words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string w; in >> w;) words.push_back(w);
  return words;
}

// What a node is comes from lines of its own; the rest is a case of an operator like any other.
std::vector<NodeCase> ReadCases() {
  std::ifstream in(NPUKIT_SOURCE_DIR "/tests/importers/microsoft.case");
  std::vector<NodeCase> cases;
  std::string rest;
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> words = Words(line);
    const std::string key = words.empty() ? "" : words[0];
    if (key == "case") cases.emplace_back();
    if (key == "node") {
      cases.back().op = words.at(1);
      cases.back().domain = words.at(2) == "-" ? "" : words.at(2);
      for (const std::string& o : Split(words.at(3), ',')) cases.back().outputs.push_back(o);
      line = "#";
    } else if (key == "attr") {
      cases.back().attrs.assign(words.begin() + 1, words.end());
      line = "#";
    } else if (key == "in" || key == "const") {
      cases.back().constant.push_back(key == "const");
      line = "in" + line.substr(key.size());
    }
    rest += line + "\n";
  }
  const auto parsed = testing::ParseCases(op::identity, rest, "microsoft.case");
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok() || parsed->size() != cases.size()) return {};
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].values = (*parsed)[i];
  return cases;
}

int OnnxType(DType t) {
  switch (t) {
    case DType::kF32:
      return pb::TensorProto::FLOAT;
    case DType::kF16:
      return pb::TensorProto::FLOAT16;
    case DType::kU8:
      return pb::TensorProto::UINT8;
    case DType::kI8:
      return pb::TensorProto::INT8;
    case DType::kU16:
      return pb::TensorProto::UINT16;
    case DType::kI32:
      return pb::TensorProto::INT32;
    case DType::kI64:
      return pb::TensorProto::INT64;
    case DType::kBool:
      return pb::TensorProto::BOOL;
    default:
      ADD_FAILURE() << "no number for " << tensor::DTypeName(t);
      return 0;
  }
}

void AddAttribute(ModelBuilder& b, const std::string& text) {
  const std::size_t colon = text.find(':'), equal = text.find('=');
  ASSERT_TRUE(colon != std::string::npos && equal != std::string::npos) << text;
  const std::string name = text.substr(0, colon), kind = text.substr(colon + 1, equal - colon - 1);
  const std::string value = text.substr(equal + 1);
  std::vector<double> list;
  if (kind != "s") {
    const std::string inner = kind.size() == 2 ? value.substr(1, value.size() - 2) : value;
    for (const std::string& part : Split(inner, ',')) {
      list.emplace_back();
      ASSERT_TRUE(ParseDouble(part, &list.back())) << text;
    }
  }
  if (kind == "s") {
    b.Attr(name, value.c_str());
  } else if (kind == "f") {
    b.Attr(name, static_cast<float>(list.at(0)));
  } else if (kind == "i") {
    b.Attr(name, static_cast<std::int64_t>(list.at(0)));
  } else if (kind == "fs") {
    b.FloatsAttr(name, {list.begin(), list.end()});
  } else {
    b.Attr(name, std::vector<std::int64_t>(list.begin(), list.end()));
  }
}

TEST(Microsoft, NodesComputeWhatOnnxruntimeComputes) {
  const std::vector<NodeCase> cases = ReadCases();
  ASSERT_GT(cases.size(), 70u);
  for (const NodeCase& c : cases) {
    SCOPED_TRACE(c.values.name);
    ModelBuilder b(17);
    auto* import = b.model.add_opset_import();
    import->set_domain("com.microsoft");
    import->set_version(1);
    std::vector<std::string> inputs, outputs;
    std::vector<Value> given;
    for (std::size_t i = 0; i < c.values.inputs.size(); ++i) {
      const Value& v = c.values.inputs[i];
      inputs.push_back(v.present() ? Cat("i", i) : "");
      if (!v.present()) continue;
      if (c.constant[i]) {
        auto* t = b.graph().add_initializer();
        t->set_name(inputs.back());
        t->set_data_type(OnnxType(v.dtype()));
        for (const std::int64_t d : v.dims()) t->add_dims(d);
        t->set_raw_data(v.data(), v.byte_size());
      } else {
        b.Input(inputs.back(), JoinInts(v.dims(), ","), OnnxType(v.dtype()));
        given.push_back(v);
      }
    }
    for (const std::string& o : c.outputs) {
      outputs.push_back(o == "-" ? "" : o);
      if (o != "-") b.Output(o);
    }
    b.Node(c.op, inputs, outputs);
    b.last().set_domain(c.domain);
    for (const std::string& a : c.attrs) AddAttribute(b, a);
    const auto imported = b.Import();
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    bool ours = true;
    for (const ir::Node& n : imported->graph.nodes) {
      ours = ours && !n.is_foreign();
      EXPECT_FALSE(n.is_foreign()) << n.attrs.String(ir::kWhyForeign);
    }
    if (!ours) continue;
    const auto out = eval::Interpret(imported->graph, given);
    ASSERT_TRUE(out.ok()) << out.status().message();
    ASSERT_EQ(out->size(), c.values.outputs.size());
    for (std::size_t i = 0; i < out->size(); ++i) {
      const Status same = testing::SameValue((*out)[i], c.values.outputs[i], c.values.tolerance);
      EXPECT_TRUE(same.ok()) << "output " << i << ": " << same.message();
    }
  }
}

}  // namespace
}  // namespace npukit::importers::onnx
