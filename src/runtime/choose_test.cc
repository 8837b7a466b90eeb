#include "runtime/choose.h"

#include <gtest/gtest.h>

namespace npukit::runtime {
namespace {

DeviceSpec Spec(const std::string& text) {
  auto spec = DeviceSpec::Parse(text);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.ok() ? *spec : DeviceSpec();
}

format::Program MakeProgram(const std::string& devices, const std::string& precision,
                            std::int64_t width) {
  format::Program p;
  p.devices = devices;
  p.precision = precision;
  p.input_types = {tensor::Type::Tensor(tensor::DType::kF32, tensor::Dims{1, width})};
  return p;
}

// 0: mixed, 1: CPU, 2: whole on the NPU (another shape), 3: CPU in another precision.
format::Head ThreeKinds() {
  format::Head head;
  head.inputs = {{"x", {}}};
  head.programs = {MakeProgram("NPU,CPU", "fp16", 320), MakeProgram("CPU", "fp32", 320),
                   MakeProgram("NPU", "fp16", 640), MakeProgram("CPU", "int8", 320)};
  target::Verdict ok;
  ok.op = "conv2d";
  ok.placed_on = "NPU";
  target::Verdict off;
  off.op = "resize";
  off.from = {"Resize_7"};
  off.placed_on = "CPU";
  off.reason = "The NPU has no linear resize.";
  head.programs[0].verdicts = {ok, off};
  return head;
}

using Programs = std::vector<std::uint32_t>;

TEST(DeviceSpec, ParsesOneDeviceAndPolicies) {
  EXPECT_EQ(Spec("NPU").policy, DeviceSpec::Policy::kOne);
  EXPECT_EQ(Spec("NPU").devices, std::vector<std::string>{"NPU"});
  EXPECT_EQ(Spec("AUTO:NPU,CPU").policy, DeviceSpec::Policy::kAuto);
  EXPECT_EQ(Spec("HETERO:NPU,CPU").policy, DeviceSpec::Policy::kHetero);
  EXPECT_EQ(Spec("HETERO:CPU,NPU").devices, (std::vector<std::string>{"CPU", "NPU"}));
  EXPECT_EQ(Spec("AUTO").devices, (std::vector<std::string>{"NPU", "GPU", "CPU"}));
  EXPECT_EQ(Spec("AUTO:NPU,CPU").ToString(), "AUTO:NPU,CPU");
  EXPECT_EQ(Spec("CPU").ToString(), "CPU");
}

TEST(DeviceSpec, NamesTheBadWordAndListsTheGood) {
  for (const char* bad : {"", "npu", "TPU", "AUTO:", "AUTO:NPU,", "AUTO:NPU,NPU", "NPU,CPU",
                          "HETERO:NPU,TPU", "AUTO:NPU:CPU"}) {
    auto spec = DeviceSpec::Parse(bad);
    ASSERT_FALSE(spec.ok()) << bad;
    EXPECT_EQ(spec.status().code(), Code::kInvalidArgument) << bad;
  }
  EXPECT_NE(DeviceSpec::Parse("AUTO:NPU,TPU").status().message().find("'TPU'"), std::string::npos);
  EXPECT_NE(DeviceSpec::Parse("AUTO:NPU,TPU").status().message().find("NPU, GPU or CPU"),
            std::string::npos);
  EXPECT_NE(DeviceSpec::Parse("NPU,CPU").status().message().find("HETERO:NPU,CPU"),
            std::string::npos);
}

TEST(RankPrograms, AutoTakesTheFirstDeviceFirstAndFewerDevicesBefore) {
  EXPECT_EQ(*RankPrograms(ThreeKinds(), Spec("AUTO:NPU,CPU"), ""), (Programs{2, 0, 1, 3}));
  EXPECT_EQ(*RankPrograms(ThreeKinds(), Spec("AUTO:CPU,NPU"), ""), (Programs{1, 3, 0, 2}));
  EXPECT_EQ(*RankPrograms(ThreeKinds(), Spec("AUTO"), ""), (Programs{2, 0, 1, 3}));
}

TEST(RankPrograms, HeteroTakesTheMixedProgramFirst) {
  EXPECT_EQ(*RankPrograms(ThreeKinds(), Spec("HETERO:NPU,CPU"), ""), (Programs{0, 2, 1, 3}));
}

TEST(RankPrograms, OneDeviceMeansThatAlone) {
  EXPECT_EQ(*RankPrograms(ThreeKinds(), Spec("NPU"), ""), (Programs{2}));
  EXPECT_EQ(*RankPrograms(ThreeKinds(), Spec("CPU"), ""), (Programs{1, 3}));
}

TEST(RankPrograms, PrecisionNarrows) {
  EXPECT_EQ(*RankPrograms(ThreeKinds(), Spec("CPU"), "int8"), (Programs{3}));
  const auto none = RankPrograms(ThreeKinds(), Spec("CPU"), "bf16");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), Code::kNotFound);
  EXPECT_NE(none.status().message().find("bf16"), std::string::npos);
}

TEST(RankPrograms, RefusalNamesTheOperatorOffTheNpuAndTheWayOut) {
  format::Head head = ThreeKinds();
  head.programs.erase(head.programs.begin() + 2);  // nothing runs on the NPU alone any more
  const auto none = RankPrograms(head, Spec("NPU"), "");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), Code::kNotFound);
  const std::string& m = none.status().message();
  EXPECT_NE(m.find("resize (Resize_7) runs on CPU: The NPU has no linear resize; try"),
            std::string::npos)
      << m;
  EXPECT_NE(m.find("try HETERO:NPU,CPU;"), std::string::npos) << m;
  EXPECT_NE(m.find("CPU fp32 x=fp32[1, 320]"), std::string::npos) << m;
}

TEST(RankPrograms, RefusalExplainsAModelThatIsWhollyOnTheCpu) {
  format::Head head = ThreeKinds();
  target::Verdict cost;
  cost.op = "conv2d";
  cost.from = {"Conv_0"};
  cost.placed_on = "CPU";
  cost.reason = "The island costs more than it saves.";
  head.programs = {head.programs[1]};
  head.programs[0].verdicts = {cost};
  EXPECT_EQ(RankPrograms(head, Spec("NPU"), "").status().message(),
            "no program for device NPU: conv2d (Conv_0) runs on CPU: The island costs more than it "
            "saves; "
            "try HETERO:NPU,CPU; the package has CPU fp32 x=fp32[1, 320]");
}

TEST(RankPrograms, RefusalListsWhatThereIs) {
  const auto none = RankPrograms(ThreeKinds(), Spec("GPU"), "");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.status().message().find("NPU fp16 x=fp32[1, 640]"), std::string::npos)
      << none.status().message();
  EXPECT_NE(RankPrograms(format::Head(), Spec("CPU"), "").status().message().find("no programs"),
            std::string::npos);
}

}  // namespace
}  // namespace npukit::runtime
