// Mutations that know what an ONNX model is: half of the time one message of the model is changed,
// doubled, dropped or given to another place; the other half libFuzzer changes bytes.
#include <random>
#include <string>
#include <vector>

#include "importers/onnx/onnx_ml.pb.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

namespace pb = ::npukit_onnx;
using Random = std::minstd_rand;

constexpr std::int64_t kNumbers[] = {0,
                                     1,
                                     2,
                                     3,
                                     -1,
                                     -2,
                                     7,
                                     13,
                                     64,
                                     255,
                                     1024,
                                     4096,
                                     1000000,
                                     2147483647,
                                     -2147483648LL,
                                     4294967296LL,
                                     1LL << 40,
                                     1LL << 62,
                                     9223372036854775807LL,
                                     -9223372036854775807LL - 1};
constexpr float kFloats[] = {0, 1, -1, 0.5f, 1e-30f, 1e30f, -0.0f};

int Pick(Random& r, int n) { return n == 0 ? 0 : static_cast<int>(r() % static_cast<unsigned>(n)); }
std::int64_t Number(Random& r) { return kNumbers[Pick(r, static_cast<int>(std::size(kNumbers)))]; }

// A name that is somewhere in the graph already.
std::string SomeName(const pb::GraphProto& g, Random& r) {
  switch (Pick(r, 4)) {
    case 0:
      if (g.input_size() > 0) return g.input(Pick(r, g.input_size())).name();
      break;
    case 1:
      if (g.initializer_size() > 0) return g.initializer(Pick(r, g.initializer_size())).name();
      break;
    default:
      break;
  }
  if (g.node_size() == 0) return {};
  const auto& n = g.node(Pick(r, g.node_size()));
  return n.output_size() == 0 ? std::string() : n.output(Pick(r, n.output_size()));
}

void MutateTensor(pb::TensorProto* t, Random& r) {
  switch (Pick(r, 5)) {
    case 0:
      t->set_data_type(Pick(r, 28));
      break;
    case 1:
      if (t->dims_size() > 0) t->set_dims(Pick(r, t->dims_size()), Number(r));
      break;
    case 2:
      t->add_dims(Number(r));
      break;
    case 3:
      if (t->int64_data_size() > 0) t->set_int64_data(Pick(r, t->int64_data_size()), Number(r));
      break;
    default:
      if (std::string* raw = t->mutable_raw_data(); raw->size() >= 8) {
        const std::int64_t n = Number(r);
        raw->replace(r() % (raw->size() / 8) * 8, 8, reinterpret_cast<const char*>(&n), 8);
      }
  }
}

void MutateType(pb::TypeProto* t, Random& r) {
  if (!t->has_tensor_type() || Pick(r, 12) == 0) {
    pb::TypeProto inner = *t;
    *(Pick(r, 2) ? t->mutable_sequence_type()->mutable_elem_type()
                 : t->mutable_optional_type()->mutable_elem_type()) = inner;
    return;
  }
  auto* tensor = t->mutable_tensor_type();
  auto* shape = tensor->mutable_shape();
  switch (Pick(r, 5)) {
    case 0:
      tensor->set_elem_type(Pick(r, 28));
      break;
    case 1:
      shape->add_dim()->set_dim_value(Number(r));
      break;
    case 2:
      if (shape->dim_size() > 0) shape->mutable_dim()->RemoveLast();
      break;
    case 3:
      tensor->clear_shape();
      break;
    default:
      if (shape->dim_size() > 0) {
        auto* d = shape->mutable_dim(Pick(r, shape->dim_size()));
        Pick(r, 2) ? d->set_dim_value(Number(r)) : d->set_dim_param("N");
      }
  }
}

void MutateAttribute(pb::AttributeProto* a, Random& r) {
  switch (Pick(r, 6)) {
    case 0:
      a->set_i(Number(r));
      break;
    case 1:
      a->set_f(kFloats[Pick(r, static_cast<int>(std::size(kFloats)))]);
      break;
    case 2:
      if (a->ints_size() > 0) a->set_ints(Pick(r, a->ints_size()), Number(r));
      break;
    case 3:
      a->add_ints(Number(r));
      break;
    case 4:
      a->set_type(static_cast<pb::AttributeProto::AttributeType>(Pick(r, 15)));
      break;
    default:
      if (a->has_t()) MutateTensor(a->mutable_t(), r);
  }
}

void MutateGraph(pb::GraphProto* g, Random& r, int depth);

void MutateNode(pb::NodeProto* n, const pb::GraphProto& g, Random& r, int depth) {
  if (n->attribute_size() > 0 && Pick(r, 2) == 0) {
    auto* a = n->mutable_attribute(Pick(r, n->attribute_size()));
    a->has_g() && depth < 3 ? MutateGraph(a->mutable_g(), r, depth + 1) : MutateAttribute(a, r);
    return;
  }
  switch (Pick(r, 7)) {
    case 0:
      if (n->input_size() > 0) n->set_input(Pick(r, n->input_size()), SomeName(g, r));
      break;
    case 1:
      if (n->input_size() > 0) n->set_input(Pick(r, n->input_size()), "");
      break;
    case 2:
      n->add_input(SomeName(g, r));
      break;
    case 3:
      if (n->input_size() > 0) n->mutable_input()->RemoveLast();
      break;
    case 4:
      n->add_output("more" + std::to_string(r() % 1000));
      break;
    case 5:
      if (n->attribute_size() > 0) n->mutable_attribute()->RemoveLast();
      break;
    default:
      if (g.node_size() > 0) n->set_op_type(g.node(Pick(r, g.node_size())).op_type());
  }
}

void MutateGraph(pb::GraphProto* g, Random& r, int depth) {
  switch (Pick(r, 9)) {
    case 0:
      if (g->node_size() > 1)
        g->mutable_node()->SwapElements(Pick(r, g->node_size()), Pick(r, g->node_size()));
      break;
    case 1:
      if (g->node_size() > 0) {
        pb::NodeProto copy = g->node(Pick(r, g->node_size()));
        for (auto& name : *copy.mutable_output()) name += "'";
        *g->add_node() = copy;
      }
      break;
    case 2:
      if (g->initializer_size() > 0)
        MutateTensor(g->mutable_initializer(Pick(r, g->initializer_size())), r);
      break;
    case 3:
      if (g->input_size() > 0)
        MutateType(g->mutable_input(Pick(r, g->input_size()))->mutable_type(), r);
      break;
    case 4:
      if (g->input_size() > 0) {  // an input becomes a constant
        auto* t = g->add_initializer();
        t->set_name(g->input(Pick(r, g->input_size())).name());
        t->set_data_type(Pick(r, 2) ? pb::TensorProto::INT64 : pb::TensorProto::FLOAT);
        const int n = Pick(r, 6);
        t->add_dims(n);
        for (int i = 0; i < n; ++i) {
          if (t->data_type() == pb::TensorProto::INT64)
            t->add_int64_data(Number(r));
          else
            t->add_float_data(kFloats[Pick(r, static_cast<int>(std::size(kFloats)))]);
        }
      }
      break;
    case 5:
      g->add_output()->set_name(SomeName(*g, r));
      break;
    default:
      if (g->node_size() > 0) MutateNode(g->mutable_node(Pick(r, g->node_size())), *g, r, depth);
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  Random r(seed);
  if (r() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  pb::ModelProto model;
  if (!model.ParseFromArray(data, static_cast<int>(size)) || !model.has_graph())
    return LLVMFuzzerMutate(data, size, max_size);
  for (int n = 1 + Pick(r, 3); n > 0; --n) {
    if (Pick(r, 12) == 0 && model.opset_import_size() > 0) {
      model.mutable_opset_import(0)->set_version(1 + Pick(r, 28));
    } else {
      MutateGraph(model.mutable_graph(), r, 0);
    }
  }
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  bytes.copy(reinterpret_cast<char*>(data), bytes.size());
  return bytes.size();
}
