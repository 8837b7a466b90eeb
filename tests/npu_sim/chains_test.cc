// Several operators in a row: those that fit become one task, values between them stay in L1, and
// the numbers stay what they are.
#include "case.h"
#include "devices/npu_sim/blob/blob.h"

namespace npukit {
namespace {

ops::Attrs Window(std::int64_t kernel, std::int64_t stride, std::int64_t group) {
  ops::Attrs a;
  a.Set("layout", std::string("NHWC"));
  a.Set("group", group);
  a.Set("strides", std::vector<std::int64_t>{stride, stride});
  const std::int64_t pad = kernel / 2;
  a.Set("pads", std::vector<std::int64_t>{pad, pad, pad, pad});
  return a;
}

// A small network of convolutions, depthwise ones, sums with earlier values and activations. `at`
// ends as its last value.
void Network(Case& c, std::int64_t images, int length, ir::ValueId* at) {
  std::int64_t height = c.Size(1, 20), width = c.Size(1, 20), channels = c.Size(1, 70);
  *at = c.In({images, height, width, channels});
  std::vector<std::pair<ir::ValueId, Dims>> earlier;
  for (int i = 0; i < length; ++i) {
    const std::int64_t kernel = c.r.OneIn(2) ? 1 : 3;
    const std::int64_t stride = c.r.OneIn(4) ? 2 : 1;
    if (c.r.OneIn(4)) {
      const ir::ValueId w = c.Weights({channels, 1, kernel, kernel}, 1.0 / kernel);
      *at = c.b.Op(op::conv2d, {*at, w}, Window(kernel, stride, channels));
    } else {
      const std::int64_t out = c.Size(1, 70);
      const double scale = 1.5 / std::sqrt(static_cast<double>(channels * kernel * kernel));
      const ir::ValueId w = c.Weights({out, channels, kernel, kernel}, scale);
      const ir::ValueId bias = c.Weights({out}, 0.5);
      *at = c.b.Op(op::conv2d, {*at, w, bias}, Window(kernel, stride, 1));
      channels = out;
    }
    height = (height + 2 * (kernel / 2) - kernel) / stride + 1;
    width = (width + 2 * (kernel / 2) - kernel) / stride + 1;
    const Dims dims{images, height, width, channels};
    for (const auto& [value, shape] : earlier) {
      if (shape != dims || c.r.OneIn(2)) continue;
      *at = c.b.Op(op::add, {*at, value});
      break;
    }
    if (c.r.OneIn(2)) *at = c.b.Op(op::relu, {*at});
    earlier.emplace_back(*at, dims);
  }
}

void RunNetworks(target::Profile profile, int count) {
  Random random(11);
  const Subject subject = SubjectOf(std::move(profile));
  int ran = 0;
  for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE(Cat("network ", i));
    Case c(random, subject);
    ir::ValueId out = ir::kNoValue;
    const int length = static_cast<int>(random.Between(2, 6));
    Network(c, random.OneIn(3) ? 2 : 1, length, &out);
    c.Finish(out, kArithmetic * length, &ran);
  }
  EXPECT_EQ(ran, count);
}

TEST(NpuChains, AgreeWithTheReferenceOn16BitAccumulators) { RunNetworks(Chip("kirin9030"), 16); }
TEST(NpuChains, AgreeWithTheReferenceOn32BitAccumulators) { RunNetworks(Chip("ascend310"), 16); }
TEST(NpuChains, AgreeWithTheReferenceWhereL1IsShort) {
  target::Profile p = Chip("kirin9030");
  ASSERT_TRUE(p.Set("npu.sram_bytes", "98304").ok());
  RunNetworks(std::move(p), 16);
}

struct Lowered {
  std::size_t tasks = 0;
  double dram_bytes = 0;
};
// Four pointwise convolutions of 64 channels on a map of 14 x 14.
Lowered LowerFour(const target::Profile& profile) {
  Random random(3);
  const Subject subject = SubjectOf(profile);
  Case c(random, subject);
  ir::ValueId at = c.In({1, 14, 14, 64});
  for (int i = 0; i < 4; ++i)
    at = c.b.Op(op::conv2d, {at, c.Weights({64, 64, 1, 1}, 0.1)}, Window(1, 1, 1));
  const auto lowering = devices::npu_sim::MakeLowering();
  const auto lowered = lowering->Lower(c.b.Finish({at}), profile, {compile::Precision::kFp16, {}});
  EXPECT_TRUE(lowered.ok()) << lowered.status().message();
  const auto program = npu::Unpack(lowered->blob);
  EXPECT_TRUE(program.ok());
  const target::Estimate& e = lowered->estimate;
  return {program->tasks.size(), e.bytes.at("dram_read") + e.bytes.at("dram_write")};
}

TEST(NpuChains, ValuesBetweenOperatorsNeverTouchDram) {
  const Lowered l = LowerFour(Chip("kirin9030"));
  EXPECT_LE(l.tasks, 2u);  // the output's conversion may stay apart
  // Input and output in fp32, four times 64 x 64 weights in fp16, scales of 64 channels in fp32.
  const double compulsory = 2 * 14 * 14 * 64 * 4 + 4 * (64 * 64 * 2 + 64 * 4);
  const double value = 14 * 14 * 64 * 2;  // what a value between two of them is, in fp16
  EXPECT_GE(l.dram_bytes, compulsory);
  EXPECT_LE(l.dram_bytes, compulsory + (l.tasks - 1.0) * 2 * value + 2000);
}

TEST(NpuChains, AreNotMadeWhereTheModelSaysTheyDoNotPay) {
  target::Profile p = Chip("kirin9030");
  for (const auto& [key, value] : {std::pair{"npu.dispatch_us", "0"},
                                   {"npu.dram_gbytes_per_s", "100000"},
                                   {"npu.dram_latency_cycles", "0"},
                                   {"npu.bw.ub_l1", "0.1"}}) {
    ASSERT_TRUE(p.Set(key, value).ok());
  }
  EXPECT_GT(LowerFour(p).tasks, 1u);
}

}  // namespace
}  // namespace npukit
