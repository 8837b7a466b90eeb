// What a CPU blob says of its own time, against the roofline worked out by hand.
#include <gtest/gtest.h>

#include "devices/cpu/blob/blob.h"
#include "devices/cpu/lower/lowering.h"

namespace npukit::devices::cpu {
namespace {

using target::Cause;
using tensor::Dims;
using tensor::DType;
using tensor::Type;
using tensor::Value;

// Two cores of 10 GFLOP/s, 20 GB/s, 1 us a call.
target::Profile TwoCores() {
  target::Profile p;
  p.name = "two_cores";
  const std::pair<const char*, double> facts[] = {
      {"cpu.cores", 2},       {"cpu.fp32_gflops_per_core", 10}, {"cpu.dram_gbytes_per_s", 20},
      {"cpu.dispatch_us", 1}, {"cpu.pj_per_flop", 3},           {"cpu.pj_per_dram_byte", 5}};
  for (const auto& [key, value] : facts) p.facts[key].value = value;
  return p;
}

// y = relu(x) b, x [16, 32], b [32, 64].
ir::Graph Product() {
  ir::Graph g;
  const auto add = [&](const ops::OpDef& op, std::vector<ir::ValueId> inputs, const char* name) {
    ir::Node n;
    n.op = &op;
    n.name = name;
    n.inputs = std::move(inputs);
    n.outputs = {g.AddValue(name, {})};
    const ir::ValueId out = n.outputs[0];
    EXPECT_TRUE(g.AddNode(std::move(n)).ok());
    return out;
  };
  g.inputs = {g.AddValue("x", Type::Tensor(DType::kF32, Dims{16, 32}))};
  const auto b = g.AddConstant(
      "b", Value::FromVector<float>(DType::kF32, {32, 64}, std::vector<float>(32 * 64, 1)));
  g.outputs = {add(op::matmul, {add(op::relu, {g.inputs[0]}, "act"), b}, "product")};
  return g;
}

std::vector<std::byte> BlobOf(const ir::Graph& g, const target::Profile& p) {
  auto lowered = MakeLowering()->Lower(g, p, {});
  EXPECT_TRUE(lowered.ok()) << lowered.status().message();
  return lowered->blob;
}

TEST(CpuAccount, IsTheRooflineOfEachCall) {
  const target::Profile p = TwoCores();
  const auto account = MakeLowering()->AccountOf(BlobOf(Product(), p), p, {}, true);
  ASSERT_TRUE(account.ok()) << account.status().message();
  ASSERT_EQ(account->tasks.size(), 2u);
  // relu: 2 x 512 floats at 20 B/ns: 204.8 ns; 512 operations at 20 a ns take less.
  const target::TaskAccount& relu = account->tasks[0];
  EXPECT_EQ(relu.name, "act");
  EXPECT_EQ(relu.kind, "call");
  EXPECT_DOUBLE_EQ(relu.bound_ns, 204.8);
  EXPECT_DOUBLE_EQ(relu.estimate.time_ns, 1204.8);
  EXPECT_EQ(relu.utilisation, 0);
  // 16 x 32 x 64 = 32768 multiply-adds are 65536 operations: 3276.8 ns; 14336 bytes take 716.8 ns.
  const target::TaskAccount& product = account->tasks[1];
  EXPECT_DOUBLE_EQ(product.start_ns, 1204.8);
  EXPECT_DOUBLE_EQ(product.estimate.time_ns, 4276.8);
  EXPECT_EQ(product.estimate.macs, 32768);
  EXPECT_DOUBLE_EQ(product.estimate.energy_pj.at("dram"), 14336 * 5);
  EXPECT_NEAR(product.utilisation, 3276.8 / 4276.8, 1e-9);
  EXPECT_DOUBLE_EQ(account->total.time_ns, 1204.8 + 4276.8);
  ASSERT_EQ(account->spans.size(), 2u);
  EXPECT_EQ(account->spans[1].track, "cpu");
  EXPECT_DOUBLE_EQ(account->spans[1].start_ns, 1204.8);
  EXPECT_EQ(account->spans[1].task, 1u);
}

TEST(CpuAccount, CostsNothingWithoutCpuIslandsAndTheSameWithoutAnythingElse) {
  const target::Profile p = TwoCores();
  const std::vector<std::byte> blob = BlobOf(Product(), p);
  const auto lowering = MakeLowering();
  const double all = lowering->AccountOf(blob, p, {}, false)->total.time_ns;
  for (int c = 0; c < target::kCauseCount; ++c) {
    const auto cause = static_cast<Cause>(c);
    const auto without = lowering->AccountOf(blob, p, target::Relief().With(cause), false);
    ASSERT_TRUE(without.ok());
    EXPECT_EQ(without->total.time_ns, cause == Cause::kCpuIslands ? 0 : all) << c;
    EXPECT_EQ(without->tasks.size(), 2u);
  }
}

TEST(CpuAccount, RefusesStepsThatFitNoOperator) {
  const auto refused = [](const Blob& blob, const char* said) {
    const auto account = MakeLowering()->AccountOf(Write(blob), TwoCores(), {}, false);
    ASSERT_FALSE(account.ok());
    EXPECT_NE(account.status().message().find(said), std::string::npos)
        << account.status().message();
    EXPECT_NE(account.status().message().find("product"), std::string::npos);
  };
  const target::Profile p = TwoCores();
  auto blob = Read(BlobOf(Product(), p));
  ASSERT_TRUE(blob.ok());
  Blob bad = *blob;
  bad.steps[1].op = "frobnicate";
  refused(bad, "frobnicate");
  bad = *blob;
  bad.steps[1].inputs.pop_back();  // a product of one matrix
  refused(bad, "matmul");
  bad = *blob;
  bad.steps[1].outputs.push_back(bad.steps[1].outputs[0]);
  refused(bad, "expected 1 outputs, found 2");
  bad = *blob;
  bad.steps[1].inputs[1] = bad.steps[1].inputs[0];  // [16, 32] by [16, 32]
  refused(bad, "matmul");
  const std::vector<std::byte> junk(100, std::byte{7});
  EXPECT_FALSE(MakeLowering()->AccountOf(junk, p, {}, false).ok());
}

}  // namespace
}  // namespace npukit::devices::cpu
