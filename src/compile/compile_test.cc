#include "compile/compile.h"

#include <gtest/gtest.h>

#include "compile/emit/emit.h"
#include "compile/fake_lowering_test.h"
#include "format/reader.h"
#include "ir/builder.h"

namespace npukit::compile {
namespace {

using ir::ValueId;
using tensor::DType;

// x[N, 4] * w + softmax(...), with an open first dimension.
ir::Graph OpenModel() {
  ir::Builder b;
  tensor::Shape shape({tensor::Dim::Symbol("N"), tensor::Dim::Of(4)});
  const ValueId x = b.Input("x", tensor::Type::Tensor(DType::kF32, shape));
  const ValueId y = b.Op(op::mul, {x, b.Floats("w", {4}, {1, 2, 3, 4})});
  return b.Finish({b.Op(op::softmax, {y})});
}

LoweringList Devices() {
  return FakeDevices(
      [](FakeLowering& npu) { npu.can = [](const ir::Node& n) { return n.op != &op::softmax; }; });
}

Result<std::shared_ptr<const format::Package>> Pack(const ir::Graph& g, const CompileOptions& o,
                                                    const target::Profile& chip) {
  auto result = Compile(g, chip, Devices(), o);
  if (!result.ok()) return result.status();
  auto bytes = result->writer.ToBytes(result->head);
  if (!bytes.ok()) return bytes.status();
  auto kept = std::make_shared<std::vector<std::byte>>(std::move(*bytes));
  return format::Package::FromBytes(*kept, kept);
}

TEST(Compile, OneProgramPerShapeAndDeviceSetWithWeightsStoredOnce) {
  CompileOptions o;
  o.shapes = {{{"x", {1, 4}}}, {{"x", {2, 4}}}};
  const auto package = Pack(OpenModel(), o, FakeChip(0));
  ASSERT_TRUE(package.ok()) << package.status().message();
  const format::Head& head = (*package)->head();
  ASSERT_EQ(head.programs.size(), 4u);
  EXPECT_EQ(head.programs[0].devices, "NPU,CPU");
  EXPECT_EQ(head.programs[0].precision, "fp16");
  EXPECT_EQ(head.programs[1].devices, "CPU");
  EXPECT_EQ(head.programs[1].precision, "fp32");
  EXPECT_EQ(head.programs[2].input_types[0].dims(), (tensor::Dims{2, 4}));
  EXPECT_EQ(head.weights.size(), 1u);
  EXPECT_EQ(head.inputs[0].type.ToString(), "fp32[N, 4]");
}

TEST(Compile, NoCpuLeavesTheCpuProgramOut) {
  CompileOptions o;
  o.shapes = {{{"x", {1, 4}}}};
  o.cpu_only_program = false;
  const auto package = Pack(OpenModel(), o, FakeChip(0));
  ASSERT_TRUE(package.ok());
  EXPECT_EQ((*package)->head().programs.size(), 1u);
}

TEST(Compile, AnOpenShapeIsPlannedWhenItRunsAndTheWarningSaysWhatTheNpuNeeds) {
  const auto r = Compile(OpenModel(), FakeChip(0), Devices(), {});
  ASSERT_TRUE(r.ok()) << r.status().message();
  ASSERT_EQ(r->head.programs.size(), 1u);
  EXPECT_TRUE(r->head.programs[0].by_step);
  EXPECT_EQ(r->head.programs[0].devices, "CPU");
  ASSERT_EQ(r->warnings.size(), 1u);
  EXPECT_NE(r->warnings[0].find("--shape x=1x4"), std::string::npos) << r->warnings[0];
  CompileOptions all;
  all.cost_decides = false;  // -d NPU
  const auto refused = Compile(OpenModel(), FakeChip(0), Devices(), all);
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("--shape x=1x4"), std::string::npos)
      << refused.status().message();
}

TEST(Compile, ShapesThatDoNotFitAreRefusedByName) {
  const auto refuse = [](const std::string& name, tensor::Dims dims) {
    CompileOptions o;
    o.shapes = {{{name, std::move(dims)}}};
    return Compile(OpenModel(), FakeChip(0), Devices(), o).status();
  };
  EXPECT_NE(refuse("z", {1, 4}).message().find("--shape: no input z; the model has x"),
            std::string::npos);
  EXPECT_NE(refuse("x", {1, 5}).message().find("contradicts fp32[N, 4] at dimension 1"),
            std::string::npos);
  EXPECT_NE(refuse("x", {4}).message().find("has rank 1"), std::string::npos);
}

TEST(Check, OpenShapesGetAVerdictWithTheRemedy) {
  const auto r = Check(OpenModel(), FakeChip(0), Devices(), {});
  ASSERT_TRUE(r.ok());
  ASSERT_EQ(r->verdicts.size(), 2u);
  EXPECT_EQ(r->verdicts[0].code, "dynamic_shape");
  EXPECT_EQ(r->verdicts[0].remedy, "--shape x=1x4");
}

TEST(Check, FindsTheOperatorOffTheNpuUnlessItIsAllowed) {
  CompileOptions o;
  o.shapes = {{{"x", {1, 4}}}};
  const auto r = Check(OpenModel(), FakeChip(0), Devices(), o);
  ASSERT_TRUE(r.ok());
  const target::Verdict* off = FirstOffNpu(r->verdicts, {});
  ASSERT_NE(off, nullptr);
  EXPECT_EQ(off->op, "softmax");
  EXPECT_EQ(FirstOffNpu(r->verdicts, {"softmax"}), nullptr);
}

TEST(CountUnits, EverySourceNodeOnceWhereItsResultIsComputed) {
  ir::Builder b;
  const ValueId y =
      b.Op(op::relu,
           {b.Op(op::mul, {b.Input("x", DType::kF32, {4}), b.Floats("w", {4}, {1, 2, 3, 4})})});
  ir::Graph g = b.Finish({y});
  g.source_nodes.push_back({"constant", "Constant"});  // folded: no node came from it
  g.source_nodes.push_back({"fused", "Relu"});
  g.nodes[0].from = {0, 3};  // 3 is computed in both; the last one gives the result
  g.nodes[1].from = {1, 3};
  std::vector<target::Verdict> verdicts(2);
  verdicts[0].placed_on = "NPU";
  verdicts[1].placed_on = "CPU";
  const format::ComputeUnits u = CountUnits(g, verdicts);
  EXPECT_EQ(u.npu, 1u);
  EXPECT_EQ(u.cpu, 2u);
  EXPECT_EQ(u.folded, 1u);
  EXPECT_EQ(u.total, 4u);
}

TEST(Emit, OutputsThatNothingComputesAreCopied) {
  ir::Builder b;
  const ValueId x = b.Input("x", DType::kF32, {4});
  const ValueId w = b.Floats("w", {4}, {1, 2, 3, 4});
  const ValueId y = b.Op(op::relu, {x});
  const ir::Graph g = b.Finish({y, x, w, y});
  CompileOptions o;
  const auto result = Compile(g, FakeChip(0), Devices(), o);
  ASSERT_TRUE(result.ok()) << result.status().message();
  const format::Program& p = result->head.programs.back();
  ASSERT_EQ(p.blocks[0].steps.size(), 4u);
  EXPECT_EQ(p.blocks[0].steps[0].kind, format::StepKind::kCall);
  const auto source = [&](std::size_t step) {
    return p.slots[p.blocks[0].steps[step].inputs[0]].kind;
  };
  const auto destination = [&](std::size_t step) {
    return p.slots[p.blocks[0].steps[step].outputs[0]].index;
  };
  for (std::size_t s = 1; s < 4; ++s) EXPECT_EQ(p.blocks[0].steps[s].kind, format::StepKind::kCopy);
  EXPECT_EQ(source(1), format::SlotKind::kInput);
  EXPECT_EQ(source(2), format::SlotKind::kConstant);
  EXPECT_EQ(source(3), format::SlotKind::kOutput);
  EXPECT_EQ(destination(1), 1u);
  EXPECT_EQ(destination(2), 2u);
  EXPECT_EQ(destination(3), 3u);
}

// softmax -> mul -> softmax -> mul: what passes between segments has a place while it is read, and
// no longer.
TEST(Emit, ValuesBetweenSegmentsShareTheArena) {
  ir::Builder b;
  ValueId v = b.Input("x", DType::kF32, {1024});
  const ValueId w = b.Floats("w", {1}, {2});
  for (int i = 0; i < 4; ++i) v = b.Op(op::mul, {b.Op(op::softmax, {v}), w});
  const ir::Graph g = b.Finish({v});
  const auto result = Compile(g, FakeChip(0), Devices(), {});
  ASSERT_TRUE(result.ok());
  const format::Program& p = result->head.programs[0];
  EXPECT_EQ(p.segment_devices.size(), 8u);
  EXPECT_EQ(p.arena_bytes, 2u * 4096u);  // seven values of 4096 bytes, two alive at a time
}

}  // namespace
}  // namespace npukit::compile
