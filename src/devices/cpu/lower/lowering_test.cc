#include "devices/cpu/lower/lowering.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "devices/cpu/blob/blob.h"

namespace npukit::devices::cpu {
namespace {

using tensor::Dims;
using tensor::DType;
using tensor::Type;
using tensor::Value;

Value Ramp(Dims dims) {
  Value v = Value::Allocate(DType::kF32, std::move(dims)).value();
  float x = 1;
  for (float& f : v.as_mutable<float>()) f = x++;
  return v;
}

ir::ValueId Add(ir::Graph& g, const ops::OpDef& op, std::vector<ir::ValueId> inputs,
                const char* name, ops::Attrs attrs = {}) {
  ir::Node n;
  n.op = &op;
  n.name = name;
  n.attrs = std::move(attrs);
  n.inputs = std::move(inputs);
  n.outputs = {g.AddValue(name, {})};
  const ir::ValueId out = n.outputs[0];
  const auto added = g.AddNode(std::move(n));
  EXPECT_TRUE(added.ok()) << added.status().message();
  return out;
}

ir::ValueId Input(ir::Graph& g, Dims dims) {
  g.inputs.push_back(g.AddValue("x", Type::Tensor(DType::kF32, std::move(dims))));
  return g.inputs.back();
}

Blob LowerAndRead(const ir::Graph& g, compile::Lowered* out) {
  auto lowered = MakeLowering()->Lower(g, target::Profile(), {});
  EXPECT_TRUE(lowered.ok()) << lowered.status().message();
  *out = std::move(*lowered);
  auto blob = Read(out->blob);
  EXPECT_TRUE(blob.ok()) << blob.status().message();
  return *blob;
}

TEST(CpuLowering, MakesReshapesSecondNamesOfTheSameBytes) {
  ir::Graph g;
  const auto x = Input(g, {2, 12});
  const auto a = Add(g, op::relu, {x}, "a");
  const auto shape =
      g.AddConstant("shape", Value::FromVector<std::int64_t>(DType::kI64, {3}, {2, 3, 4}));
  const auto b = Add(g, op::reshape, {a, shape}, "b");
  g.outputs = {Add(g, op::sigmoid, {b}, "c")};
  compile::Lowered l;
  const Blob blob = LowerAndRead(g, &l);
  ASSERT_EQ(blob.steps.size(), 2u);
  EXPECT_EQ(blob.steps[0].op, "relu");
  EXPECT_EQ(blob.steps[1].op, "sigmoid");
  const BlobTensor& written = blob.tensors[blob.steps[0].outputs[0]];
  const BlobTensor& read = blob.tensors[static_cast<std::size_t>(blob.steps[1].inputs[0])];
  EXPECT_EQ(written.offset, read.offset);
  EXPECT_EQ(written.dims, (Dims{2, 12}));
  EXPECT_EQ(read.dims, (Dims{2, 3, 4}));
  EXPECT_TRUE(l.weights.empty());  // the shape is not needed to run
}

TEST(CpuLowering, WritesAViewOfTheResultIntoTheCallersBuffer) {
  ir::Graph g;
  const auto a = Add(g, op::relu, {Input(g, {1, 6})}, "a");
  ops::Attrs axes;
  axes.Set("axes", ops::Ints{0});
  g.outputs = {Add(g, op::squeeze, {a}, "b", axes)};
  compile::Lowered l;
  const Blob blob = LowerAndRead(g, &l);
  ASSERT_EQ(blob.steps.size(), 1u);
  EXPECT_EQ(blob.tensors[blob.steps[0].outputs[0]].place, Place::kOutput);
  EXPECT_EQ(blob.tensors[blob.outputs[0]].dims, (Dims{6}));
  EXPECT_EQ(l.scratch_bytes, 0u);
}

TEST(CpuLowering, CopiesWhatNoStepWrites) {
  ir::Graph g;
  const auto x = Input(g, {4});
  const auto c = g.AddConstant("c", Ramp({3}));
  const auto a = Add(g, op::relu, {x}, "a");
  g.outputs = {x, c, a, a};
  compile::Lowered l;
  const Blob blob = LowerAndRead(g, &l);
  ASSERT_EQ(blob.steps.size(), 4u);  // relu into output 2; x, c and a once more are copied
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(blob.tensors[blob.outputs[i]].place, Place::kOutput);
    EXPECT_EQ(blob.tensors[blob.outputs[i]].index, i);
  }
}

TEST(CpuLowering, ReusesScratchOfValuesThatAreDone) {
  ir::Graph g;
  ir::ValueId v = Input(g, {1024});
  for (int i = 0; i < 6; ++i) v = Add(g, op::relu, {v}, "r");
  g.outputs = {v};
  compile::Lowered l;
  LowerAndRead(g, &l);
  EXPECT_EQ(l.scratch_bytes, 2u * 4096);  // a value and the one made from it
}

TEST(CpuLowering, PacksWeightsOfNhwcConvolutionsOnce) {
  ir::Graph g;
  const auto x = Input(g, {1, 5, 5, 17});
  const auto w = g.AddConstant("w", Ramp({17, 17, 1, 1}));
  const auto bias = g.AddConstant("b", Ramp({17}));
  ops::Attrs nhwc;
  nhwc.Set("layout", std::string("NHWC"));
  const auto a = Add(g, op::conv2d, {x, w, bias}, "a", nhwc);
  g.outputs = {Add(g, op::conv2d, {a, w, bias}, "b", nhwc)};
  compile::Lowered l;
  const Blob blob = LowerAndRead(g, &l);
  ASSERT_EQ(l.weights.size(), 2u);  // both convolutions share both weights
  EXPECT_EQ(l.weights[0].layout, "f32_n16k");
  EXPECT_EQ(l.weights[0].kept.bytes.size(), 2u * 17 * 16 * 4);
  EXPECT_EQ(l.weights[0].hash, Hash64(l.weights[0].kept.bytes));
  EXPECT_EQ(l.weights[1].layout, "f32_pad16");
  float second_panel =
      0;  // channel 16, input channel 0: element 16 * 17 of the ramp that begins at 1
  std::memcpy(&second_panel, l.weights[0].kept.bytes.data() + 17 * 16 * 4, 4);
  EXPECT_EQ(second_panel, 273);
  EXPECT_EQ(blob.tensors[static_cast<std::size_t>(blob.steps[1].inputs[1])].layout, Layout::kConv);
}

TEST(CpuLowering, ChoosesWinogradForConvolutionsThatAreWorthIt) {
  const auto layout = [](Dims x, Dims w, ops::Attrs attrs = {}, float tap = 1) {
    ir::Graph g;
    attrs.Set("layout", std::string("NHWC"));
    if (w[2] == 3) attrs.Set("pads", ops::Ints{1, 1, 1, 1});
    const std::int64_t channels = w[1];
    Value v = Ramp(std::move(w));
    v.as_mutable<float>()[3] = tap;
    const auto weight = g.AddConstant("w", std::move(v));
    EXPECT_EQ(x[3], channels * attrs.Int("group", 1));
    g.outputs = {Add(g, op::conv2d, {Input(g, std::move(x)), weight}, "a", attrs)};
    compile::Lowered l;
    LowerAndRead(g, &l);
    // Four, and 1.78 times the weight's bytes: they are there to be seen in the package.
    const double bytes = static_cast<double>(l.weights[0].kept.bytes.size());
    const double raw = static_cast<double>(g.constant(weight)->byte_size());
    EXPECT_DOUBLE_EQ(bytes / raw, l.weights[0].layout == "f32_n16k_winograd4"   ? 4
                                  : l.weights[0].layout == "f32_n16k_winograd2" ? 16.0 / 9
                                                                                : 1);
    return l.weights[0].layout;
  };
  ops::Attrs stride, group;
  stride.Set("strides", ops::Ints{2, 2});
  group.Set("group", std::int64_t{2});
  EXPECT_EQ(layout({1, 56, 56, 32}, {32, 32, 3, 3}), "f32_n16k_winograd4");
  EXPECT_EQ(layout({1, 16, 16, 16}, {16, 16, 3, 3}), "f32_n16k_winograd4");
  EXPECT_EQ(layout({4, 7, 7, 16}, {16, 16, 3, 3}), "f32_n16k_winograd4");  // tiles of all images
  EXPECT_EQ(layout({1, 14, 14, 16}, {16, 16, 3, 3}), "f32_n16k_winograd2");
  EXPECT_EQ(layout({1, 7, 7, 16}, {16, 16, 3, 3}), "f32_n16k_winograd2");
  EXPECT_EQ(layout({1, 2, 2, 16}, {16, 16, 3, 3}), "f32_n16k");    // too few tiles
  EXPECT_EQ(layout({1, 56, 56, 3}, {16, 3, 3, 3}), "f32_n16k");    // too few channels
  EXPECT_EQ(layout({1, 56, 56, 16}, {16, 16, 1, 1}), "f32_n16k");  // no 3x3
  EXPECT_EQ(layout({1, 56, 56, 16}, {16, 16, 3, 3}, stride), "f32_n16k");
  EXPECT_EQ(layout({1, 56, 56, 32}, {32, 16, 3, 3}, group), "f32_n16k");
  EXPECT_EQ(layout({1, 56, 56, 16}, {16, 16, 3, 3}, {}, INFINITY), "f32_n16k");
  EXPECT_EQ(layout({1, 56, 56, 16}, {16, 16, 3, 3}, {}, NAN), "f32_n16k");
  EXPECT_EQ(layout({1, 56, 56, 16}, {16, 16, 3, 3}, {}, 1e30f), "f32_n16k");
}

TEST(CpuLowering, LeavesNchwWeightsAsTheReferenceReadsThem) {
  ir::Graph g;
  const auto w = g.AddConstant("w", Ramp({2, 3, 1, 1}));
  g.outputs = {Add(g, op::conv2d, {Input(g, {1, 3, 4, 4}), w}, "a")};
  compile::Lowered l;
  LowerAndRead(g, &l);
  ASSERT_EQ(l.weights.size(), 1u);
  EXPECT_EQ(l.weights[0].layout, "raw");
}

TEST(CpuLowering, MakesAFlowOfOpenShapesAndRefusesForeignOperators) {
  ir::Graph g;
  const auto x = g.AddValue(
      "x",
      Type::Tensor(DType::kF32, tensor::Shape({tensor::Dim::Symbol("n"), tensor::Dim::Of(3)})));
  g.inputs = {x};
  g.outputs = {Add(g, op::relu, {x}, "r")};
  const auto lowering = MakeLowering();
  const target::Verdict v = lowering->Supports(g, g.nodes[0], target::Profile());
  EXPECT_TRUE(v.supported);
  EXPECT_EQ(v.device, "CPU");
  EXPECT_EQ(lowering->Lower(g, target::Profile(), {}).status().code(), Code::kUnsupported);
  compile::LowerOptions any_shape;
  any_shape.any_shape = true;
  const auto flow = lowering->Lower(g, target::Profile(), any_shape);
  ASSERT_TRUE(flow.ok()) << flow.status().message();
  const auto blob = Read(flow->blob);
  ASSERT_TRUE(blob.ok()) << blob.status().message();
  EXPECT_TRUE(blob->flow);
  ASSERT_EQ(blob->steps.size(), 1u);
  EXPECT_EQ(blob->steps[0].op, "relu");
  ir::Node foreign;
  foreign.foreign_op = "Mystery";
  EXPECT_EQ(lowering->Supports(g, foreign, target::Profile()).code, "unknown_operator");
}

TEST(CpuLowering, PricesViewsAtNothingAndSumsTheRest) {
  ir::Graph g;
  const auto x = Input(g, {2, 12});
  const auto a = Add(g, op::relu, {x}, "a");
  const auto shape =
      g.AddConstant("shape", Value::FromVector<std::int64_t>(DType::kI64, {1}, {24}));
  g.outputs = {Add(g, op::reshape, {a, shape}, "b")};
  const auto lowering = MakeLowering();
  EXPECT_EQ(lowering->Cost(g, g.nodes[1], target::Profile()).time_ns, 0);
  const double relu = lowering->Cost(g, g.nodes[0], target::Profile()).time_ns;
  EXPECT_GT(relu, 0);
  EXPECT_DOUBLE_EQ(lowering->Lower(g, target::Profile(), {})->estimate.time_ns, relu);
}

}  // namespace
}  // namespace npukit::devices::cpu
