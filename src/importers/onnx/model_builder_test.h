// Small models for tests, built from the protobuf classes. Tests only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "eval/interpret.h"
#include "importers/import.h"
#include "importers/onnx/onnx_ml.pb.h"
#include "testing/env_fake.h"

namespace npukit::importers::onnx {

namespace pb = ::npukit_onnx;

class ModelBuilder {
 public:
  explicit ModelBuilder(int opset = 21) {
    model.set_ir_version(10);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("g");
  }
  pb::GraphProto& graph() { return *model.mutable_graph(); }

  // "N,3,?,8": numbers, names and ? for not known; dims "-" leaves the shape out.
  static void SetType(pb::TypeProto* t, int dtype, const std::string& dims) {
    t->mutable_tensor_type()->set_elem_type(dtype);
    if (dims == "-") return;
    auto* shape = t->mutable_tensor_type()->mutable_shape();
    if (dims.empty()) return;
    for (const std::string& d : Split(dims, ',')) {
      std::int64_t n = 0;
      if (ParseInt64(d, &n)) {
        shape->add_dim()->set_dim_value(n);
      } else if (d == "?") {
        shape->add_dim();
      } else {
        shape->add_dim()->set_dim_param(d);
      }
    }
  }
  ModelBuilder& Input(const std::string& name, const std::string& dims,
                      int dtype = pb::TensorProto::FLOAT) {
    auto* v = graph().add_input();
    v->set_name(name);
    SetType(v->mutable_type(), dtype, dims);
    return *this;
  }
  ModelBuilder& Output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  static void SetFloats(pb::TensorProto* t, const std::vector<std::int64_t>& dims,
                        const std::vector<float>& v) {
    t->set_data_type(pb::TensorProto::FLOAT);
    for (const auto d : dims) t->add_dims(d);
    for (const float x : v) t->add_float_data(x);
  }
  ModelBuilder& Floats(const std::string& name, const std::vector<std::int64_t>& dims,
                       const std::vector<float>& v) {
    auto* t = graph().add_initializer();
    t->set_name(name);
    SetFloats(t, dims, v);
    return *this;
  }
  ModelBuilder& Ints(const std::string& name, const std::vector<std::int64_t>& v) {
    auto* t = graph().add_initializer();
    t->set_name(name);
    t->set_data_type(pb::TensorProto::INT64);
    t->add_dims(static_cast<std::int64_t>(v.size()));
    for (const auto x : v) t->add_int64_data(x);
    return *this;
  }
  // The node just added can be named and given attributes.
  ModelBuilder& Node(const std::string& op, const std::vector<std::string>& in,
                     const std::vector<std::string>& out) {
    auto* n = graph().add_node();
    n->set_op_type(op);
    for (const auto& s : in) n->add_input(s);
    for (const auto& s : out) n->add_output(s);
    return *this;
  }
  pb::NodeProto& last() { return *graph().mutable_node(graph().node_size() - 1); }
  pb::AttributeProto& AddAttr(const std::string& name, pb::AttributeProto::AttributeType type) {
    auto* a = last().add_attribute();
    a->set_name(name);
    a->set_type(type);
    return *a;
  }
  ModelBuilder& Attr(const std::string& name, std::int64_t v) {
    AddAttr(name, pb::AttributeProto::INT).set_i(v);
    return *this;
  }
  ModelBuilder& Attr(const std::string& name, float v) {
    AddAttr(name, pb::AttributeProto::FLOAT).set_f(v);
    return *this;
  }
  ModelBuilder& Attr(const std::string& name, const char* v) {
    AddAttr(name, pb::AttributeProto::STRING).set_s(v);
    return *this;
  }
  ModelBuilder& Attr(const std::string& name, const std::vector<std::int64_t>& v) {
    auto& a = AddAttr(name, pb::AttributeProto::INTS);
    for (const auto x : v) a.add_ints(x);
    return *this;
  }
  ModelBuilder& FloatsAttr(const std::string& name, const std::vector<float>& v) {
    auto& a = AddAttr(name, pb::AttributeProto::FLOATS);
    for (const auto x : v) a.add_floats(x);
    return *this;
  }

  Result<Imported> Import(const ImportOptions& options = {}) const {
    return ImportText(model.SerializeAsString(), options);
  }
  static Result<Imported> ImportText(const std::string& bytes, const ImportOptions& options = {}) {
    testing::FakeEnv env;
    const auto* p = reinterpret_cast<const std::byte*>(bytes.data());
    env.Put("model.onnx", {p, p + bytes.size()});
    return ImportFile(env, "model.onnx", options);
  }

  pb::ModelProto model;
};

}  // namespace npukit::importers::onnx
