#include "compile/partition/partition.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "compile/fake_lowering_test.h"
#include "ir/builder.h"
#include "ir/node.h"

namespace npukit::compile {
namespace {

using ir::ValueId;
using tensor::DType;

bool IsNot(const ir::Node& n, const ops::OpDef& op) { return n.op != &op; }

std::string PlacedOn(const Partition& p, std::size_t node) { return p.verdicts[node].placed_on; }

TEST(Partition, WhatTheNpuCanDoFasterGoesThere) {
  ir::Builder b;
  const ir::Graph g =
      b.Finish({b.Op(op::relu, {b.Op(op::sigmoid, {b.Input("x", DType::kF32, {4})})})});
  const auto devices = FakeDevices([](FakeLowering&) {});
  const auto p = MakePartition(g, FakeChip(0), devices, Goal::kFastest);
  ASSERT_TRUE(p.ok()) << p.status().message();
  ASSERT_EQ(p->segments.size(), 1u);
  EXPECT_EQ(PlacedOn(*p, 0), "NPU");
  EXPECT_EQ(PlacedOn(*p, 1), "NPU");
  EXPECT_EQ(p->verdicts[0].code, "");
}

// Two nodes save 2 * (1000 - 100) = 1800 ns; two hand-overs cost 2 * 1000 = 2000 ns.
TEST(Partition, AnIslandThatCostsMoreThanItSavesStaysOnTheCpuAndSaysSo) {
  ir::Builder b;
  const ir::Graph g =
      b.Finish({b.Op(op::relu, {b.Op(op::sigmoid, {b.Input("x", DType::kF32, {4})})})});
  const auto devices = FakeDevices([](FakeLowering& npu) { npu.hand_over_ns = 1000; });
  const auto p = MakePartition(g, FakeChip(0), devices, Goal::kFastest);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(PlacedOn(*p, 0), "CPU");
  const target::Verdict& v = p->verdicts[0];
  EXPECT_TRUE(v.supported);
  EXPECT_EQ(v.code, "costs_more_than_it_saves");
  EXPECT_EQ(v.fact, "npu.boundary_us");
  EXPECT_EQ(v.limit, "gain 0.0018 ms");
  EXPECT_EQ(v.found, "copy 0.002 ms");
  EXPECT_EQ(v.from, std::vector<std::string>{"sigmoid_0"});
}

// Priced alone each node is slower on the NPU, but as one segment they take 500 ns instead of the
// CPU's 2000.
TEST(Partition, ASegmentIsJudgedAsItIsLowered) {
  ir::Builder b;
  const ir::Graph g =
      b.Finish({b.Op(op::relu, {b.Op(op::sigmoid, {b.Input("x", DType::kF32, {4})})})});
  const auto devices = FakeDevices([](FakeLowering& npu) {
    npu.cost_ns = [](const ir::Node&) { return 1500.0; };
    npu.lowered_ns = [](const ir::Graph&) { return 500.0; };
  });
  const auto p = MakePartition(g, FakeChip(0), devices, Goal::kFastest);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(PlacedOn(*p, 0), "NPU");
  EXPECT_EQ(PlacedOn(*p, 1), "NPU");
}

TEST(Partition, WithoutCostEverythingTheNpuCanRunGoesThere) {
  ir::Builder b;
  const ir::Graph g = b.Finish({b.Op(op::relu, {b.Input("x", DType::kF32, {4})})});
  const auto devices = FakeDevices([](FakeLowering& npu) { npu.hand_over_ns = 1e9; });
  const auto p = MakePartition(g, FakeChip(0), devices, Goal::kMostOnNpu);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(PlacedOn(*p, 0), "NPU");
}

// Three nodes save 2700 ns and hand over 2000 ns: 700 ns are left, so a start of 0.6 us pays and
// one of 0.8 us does not.
TEST(Partition, TheStartOfASegmentIsWeighed) {
  ir::Builder b;
  ValueId v = b.Input("x", DType::kF32, {4});
  for (int i = 0; i < 3; ++i) v = b.Op(op::relu, {v});
  const ir::Graph g = b.Finish({v});
  const auto devices = FakeDevices([](FakeLowering& npu) { npu.hand_over_ns = 1000; });
  const auto cheap = MakePartition(g, FakeChip(0.6), devices, Goal::kFastest);
  const auto dear = MakePartition(g, FakeChip(0.8), devices, Goal::kFastest);
  ASSERT_TRUE(cheap.ok() && dear.ok());
  EXPECT_EQ(PlacedOn(*cheap, 0), "NPU");
  EXPECT_EQ(PlacedOn(*dear, 0), "CPU");
  EXPECT_EQ(dear->verdicts[0].limit, "gain 0.0027 ms");
  EXPECT_EQ(dear->verdicts[0].found, "copy 0.0028 ms");
}

// relu -> softmax (CPU only) -> relu, and a direct way round it: one NPU segment of both relus
// would wait for itself.
TEST(Partition, SegmentsNeverWaitForThemselves) {
  ir::Builder b;
  const ValueId a = b.Op(op::relu, {b.Input("x", DType::kF32, {4})});
  const ir::Graph g = b.Finish({b.Op(op::add, {a, b.Op(op::softmax, {a})})});
  const auto devices = FakeDevices(
      [](FakeLowering& npu) { npu.can = [](const ir::Node& n) { return IsNot(n, op::softmax); }; });
  const auto p = MakePartition(g, FakeChip(0), devices, Goal::kFastest);
  ASSERT_TRUE(p.ok());
  ASSERT_EQ(p->segments.size(), 3u);
  EXPECT_EQ(PlacedOn(*p, 1), "CPU");
  EXPECT_EQ(p->verdicts[1].code, "kernel_too_large");
  EXPECT_LT(p->verdicts[0].segment, p->verdicts[1].segment);
  EXPECT_LT(p->verdicts[1].segment, p->verdicts[2].segment);
}

ir::Graph RandomGraph(std::mt19937& random, int nodes) {
  ir::Builder b;
  std::vector<ValueId> values = {b.Input("x", DType::kF32, {4})};
  const auto pick = [&] { return values[random() % values.size()]; };
  for (int i = 0; i < nodes; ++i) {
    switch (random() % 3) {
      case 0:
        values.push_back(b.Op(op::relu, {pick()}));
        break;
      case 1:
        values.push_back(b.Op(op::softmax, {pick()}));
        break;
      default:
        values.push_back(b.Op(op::add, {pick(), pick()}));
        break;
    }
  }
  return b.Finish({values.back()});
}

TEST(Partition, RandomGraphsRunInOrderEachNodeOnceAndTheSameEveryTime) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const ir::Graph g = RandomGraph(random, 1 + static_cast<int>(random() % 60));
    std::vector<double> cost(g.nodes.size());
    for (double& c : cost) c = static_cast<double>(random() % 2000);
    const auto devices = FakeDevices([&](FakeLowering& npu) {
      npu.can = [](const ir::Node& n) { return IsNot(n, op::softmax); };
      npu.cost_ns = [&](const ir::Node& n) { return cost[n.from[0]]; };
      npu.hand_over_ns = static_cast<double>(random() % 600);
    });
    const target::Profile chip = FakeChip(static_cast<double>(random() % 2));
    const auto p = MakePartition(g, chip, devices, Goal::kFastest);
    const auto again = MakePartition(g, chip, devices, Goal::kFastest);
    ASSERT_TRUE(p.ok() && again.ok());
    std::vector<int> ran(g.values.size(), -1);  // the position at which a value is there
    for (ValueId v : g.inputs) ran[v] = 0;
    int position = 0;
    std::set<std::uint32_t> seen;
    for (std::size_t s = 0; s < p->segments.size(); ++s) {
      EXPECT_EQ(p->segments[s].nodes, again->segments[s].nodes);
      for (std::uint32_t n : p->segments[s].nodes) {
        EXPECT_TRUE(seen.insert(n).second);
        for (ValueId v : g.nodes[n].inputs) EXPECT_GE(ran[v], 0) << "round " << round;
        for (ValueId v : g.nodes[n].outputs) ran[v] = ++position;
        EXPECT_EQ(p->verdicts[n].segment, static_cast<int>(s));
        EXPECT_EQ(p->verdicts[n].placed_on,
                  devices[static_cast<std::size_t>(p->segments[s].device)]->device_class());
      }
    }
    EXPECT_EQ(seen.size(), g.nodes.size());
  }
}

TEST(Partition, AForeignNodeIsListedAndRefused) {
  ir::Builder b;
  const ValueId x = b.Input("x", DType::kF32, {4});
  ir::Graph& g = b.graph();
  ir::Node n;
  n.foreign_op = "Frobnicate";
  n.foreign_domain = "my.ops";
  n.name = "frob";
  n.inputs = {x};
  n.outputs = {g.AddValue("y", tensor::Type::Tensor(DType::kF32, tensor::Dims{4}))};
  n.from = {0};
  g.source_nodes.push_back({"frob", "Frobnicate"});
  const ValueId y = n.outputs[0];
  ASSERT_TRUE(g.AddNode(std::move(n)).ok());
  const ir::Graph done = b.Finish({y});
  const auto devices = FakeDevices([](FakeLowering&) {});
  const auto verdicts = AskAndPlace(done, FakeChip(0), devices, Goal::kFastest);
  ASSERT_TRUE(verdicts.ok());
  EXPECT_EQ((*verdicts)[0].code, "unknown_operator");
  EXPECT_EQ((*verdicts)[0].foreign_op, "Frobnicate");
  EXPECT_EQ((*verdicts)[0].placed_on, "");
  EXPECT_EQ(MakePartition(done, FakeChip(0), devices, Goal::kFastest).status().code(),
            Code::kUnsupported);
}

// A device may look at the whole graph that it is given: with one of 16,000 nodes for each of them,
// a check took half a minute.
TEST(Partition, PricesANodeInAGraphOfItsOwn) {
  ir::Builder b;
  ValueId x = b.Input("x", DType::kF32, {4});
  for (int i = 0; i < 50; ++i) x = b.Op(op::relu, {x});
  const ir::Graph g = b.Finish({x});
  const auto devices = FakeDevices([](FakeLowering&) {});
  ASSERT_TRUE(AskAndPlace(g, FakeChip(0), devices, Goal::kFastest).ok());
  EXPECT_EQ(static_cast<const FakeLowering&>(*devices[1]).most_nodes_priced, 1u);
}

TEST(Partition, AKnownOperatorInAnUnknownFormIsNamedWithARemedy) {
  ir::Builder b;
  const ValueId x = b.Input("x", DType::kF32, {4});
  ir::Graph& g = b.graph();
  ir::Node n;
  n.foreign_op = "Conv";
  n.name = "conv";
  n.attrs.Set(ir::kWhyForeign, std::string("only two spatial dimensions are supported, found 1"));
  n.attrs.Set(ir::kFormRemedy, std::string("make it two-dimensional"));
  n.inputs = {x};
  n.outputs = {g.AddValue("y", tensor::Type::Tensor(DType::kF32, tensor::Dims{4}))};
  const ValueId y = n.outputs[0];
  ASSERT_TRUE(g.AddNode(std::move(n)).ok());
  const ir::Graph done = b.Finish({y});
  const auto devices = FakeDevices([](FakeLowering&) {});
  const auto verdicts = AskAndPlace(done, FakeChip(0), devices, Goal::kFastest);
  ASSERT_TRUE(verdicts.ok());
  EXPECT_EQ((*verdicts)[0].code, "unsupported_form");
  EXPECT_EQ((*verdicts)[0].reason,
            "npukit has Conv, but not in this form: only two spatial dimensions are supported, "
            "found 1.");
  EXPECT_EQ((*verdicts)[0].remedy, "make it two-dimensional");
}

TEST(Partition, ATargetWithoutNpuSaysSo) {
  ir::Builder b;
  const ir::Graph g = b.Finish({b.Op(op::relu, {b.Input("x", DType::kF32, {4})})});
  target::Profile host;
  host.name = "host";
  const auto verdicts = AskAndPlace(g, host, FakeDevices([](FakeLowering&) {}), Goal::kFastest);
  ASSERT_TRUE(verdicts.ok());
  EXPECT_EQ((*verdicts)[0].code, "no_npu");
  EXPECT_EQ((*verdicts)[0].placed_on, "CPU");
}

}  // namespace
}  // namespace npukit::compile
