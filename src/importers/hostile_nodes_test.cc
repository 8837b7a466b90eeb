// Nodes that are given too little, too much or something else: every operator that is imported
// either says so or works. What the fuzzer finds ends up here.
#include <gtest/gtest.h>

#include "importers/names.h"
#include "importers/onnx/model_builder_test.h"

namespace npukit::importers::onnx {
namespace {

// A model of one node with these inputs; i: int64 list, x: fp32 of rank 2, c: constant list, s:
// constant strings, w: constant of rank 2, u: nothing known, "": absent.
Result<Imported> One(std::string_view name, int opset, const std::vector<std::string>& inputs,
                     int outputs) {
  ModelBuilder b(opset);
  b.Input("x", "2,3").Input("i", "2", pb::TensorProto::INT64).Input("u", "-").Ints("c", {1, 2});
  b.Floats("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  auto* s = b.graph().add_initializer();
  s->set_name("s");
  s->set_data_type(pb::TensorProto::STRING);
  s->add_dims(1);
  s->add_string_data("a");
  const std::size_t colon = name.find(':');
  std::vector<std::string> results;
  for (int i = 0; i < outputs; ++i) results.push_back(Cat("y", i));
  b.Node(std::string(colon == std::string_view::npos ? name : name.substr(colon + 1)), inputs,
         results);
  if (colon != std::string_view::npos) {
    b.last().set_domain(std::string(name.substr(0, colon)));
    auto* domain = b.model.add_opset_import();
    domain->set_domain(b.last().domain());
    domain->set_version(1);
  }
  for (const std::string& r : results) b.Output(r);
  return b.Import();
}

TEST(HostileNodes, WithoutTheirInputs) {
  const std::vector<std::vector<std::string>> lists = {
      {},
      {"x"},
      {""},
      {"", "x"},
      {"x", ""},
      {"s"},
      {"x", "s"},
      {"s", "s", "s"},
      {"x", "c"},
      {"u", "u"},
      {"x", "", "s"},
      {"c", "c", "c"},
      {"w", "w"},
      {"w", "c"},
      {"x", "", "", "s"},
      {"i", "i", "i", "i", "i"},
      {"x", "x", "x", "x", "x", "x", "x", "x", "x"}};
  int imported = 0;
  int refused = 0;
  for (const OnnxName& n : OnnxNames()) {
    for (const int opset : {7, 10, 13, 21}) {
      for (const auto& inputs : lists) {
        for (const int outputs : {1, 3}) {
          const auto r = One(n.name, opset, inputs, outputs);
          if (r.ok()) {
            ++imported;
            continue;
          }
          ++refused;
          EXPECT_NE(r.status().code(), Code::kInternal) << r.status().message();
          EXPECT_NE(r.status().message().find("node "), std::string::npos)
              << n.name << ": " << r.status().message();
        }
      }
    }
  }
  EXPECT_GT(imported, 1000);
  EXPECT_GT(refused, 1000);
}

// A composite asks for the shape of an input whose elements cannot be counted (found by a fuzzer).
TEST(HostileNodes, MoreElementsThanCanBeCounted) {
  ModelBuilder b(17);
  b.Input("x", "2,3,4,5,9223372036854775807").Input("w", "4,5").Input("bias", "4,5");
  b.Node("LayerNormalization", {"x", "w", "bias"}, {"y", "mean", "deviation"});
  b.Attr("axis", std::int64_t{-2});
  for (const char* name : {"y", "mean", "deviation"}) b.Output(name);
  const auto r = b.Import();
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.status().message().find("LayerNormalization"), std::string::npos)
      << r.status().message();
  EXPECT_NE(r.status().message().find("too large to address"), std::string::npos)
      << r.status().message();
}

// Nothing to compute, yet rows of a length that no memory holds.
TEST(HostileNodes, LongRowsOfNothing) {
  for (const char* dims : {"0,1099511627776", "1099511627776,0"}) {
    ModelBuilder b(17);
    b.Input("x", dims);
    b.Node("Softmax", {"x"}, {"y"});
    b.Output("y");
    const auto r = b.Import();
    ASSERT_FALSE(r.ok());
    EXPECT_NE(r.status().message().find("has no element, yet a dimension of more than 16777216"),
              std::string::npos)
        << r.status().message();
  }
}

TEST(HostileNodes, ManyRowsOfNothing) {
  ModelBuilder b(17);
  b.Input("x", "16777216,16777216,0").Input("w", "0,0");
  b.Node("MatMul", {"x", "w"}, {"y"});
  b.Output("y");
  const auto r = b.Import();
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.status().message().find("yet sizes of 281474976710656 beside the 0"),
            std::string::npos)
      << r.status().message();
}

// Constants of the type that the file chose, where that is text.
TEST(HostileNodes, TextWhereNumbersAreComputed) {
  struct Case {
    const char* op;
    std::size_t inputs;
    std::int64_t opset;
    const char* attr;
    float value;
  };
  for (const Case& c :
       {Case{"Gemm", 2, 13, "alpha", 2}, Case{"Gemm", 3, 13, "beta", 0.5f},
        Case{"BatchNormalization", 5, 7, "epsilon", 1}, Case{"Dropout", 1, 7, "ratio", 0.5f},
        Case{"Swish", 1, 24, "alpha", 2}, Case{"ai.onnx.preview.training:Adam", 6, 13, "alpha", 1},
        Case{"com.microsoft:FusedMatMul", 2, 13, "alpha", 2},
        Case{"com.microsoft:QuickGelu", 1, 13, "alpha", 2}}) {
    ModelBuilder b(static_cast<int>(c.opset));
    const std::string_view name = c.op;
    const std::size_t colon = name.find(':');
    b.Input("s", "2,2", pb::TensorProto::STRING);
    b.Node(std::string(colon == std::string_view::npos ? name : name.substr(colon + 1)),
           std::vector<std::string>(c.inputs, "s"), {"y", "mask"});
    b.Attr(c.attr, c.value);
    if (name == "BatchNormalization") b.Attr("spatial", std::int64_t{0});
    if (colon != std::string_view::npos) {
      b.last().set_domain(std::string(name.substr(0, colon)));
      auto* domain = b.model.add_opset_import();
      domain->set_domain(b.last().domain());
      domain->set_version(1);
    }
    b.Output("y");
    if (name == "Dropout") b.Output("mask");
    const auto r = b.Import();
    if (r.ok()) {  // refused, or kept as what it is
      EXPECT_TRUE(r->graph.nodes.back().is_foreign()) << c.op;
      continue;
    }
    EXPECT_NE(r.status().message().find("node "), std::string::npos) << r.status().message();
  }
}

}  // namespace
}  // namespace npukit::importers::onnx
