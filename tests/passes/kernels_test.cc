// No network may wait for a slow, plain reference on the CPU: every step of a real network that
// handles more than a handful of numbers has a kernel. Networks lie where ./dev setup --networks
// has put them.
#include "devices/cpu/run/kernels/kernels.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/text.h"
#include "devices/cpu/lower/lowering.h"
#include "devices/cpu/run/executable.h"
#include "importers/import.h"
#include "passes/pass.h"

namespace npukit {
namespace {

constexpr std::int64_t kHandful = 4096;  // elements: microseconds, also for a reference

struct Network {
  const char* file;
  tensor::Dims x;  // of the input x; empty: as the file says
};

class Kernels : public testing::TestWithParam<Network> {};

TEST_P(Kernels, RunEveryStepThatCounts) {
  const std::filesystem::path path =
      std::filesystem::path(NPUKIT_SOURCE_DIR "/.cache/models") / GetParam().file;
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << path << " is missing: run ./dev setup --networks";
  }
  importers::ImportOptions options;
  if (!GetParam().x.empty()) options.shapes["x"] = GetParam().x;
  auto imported = importers::ImportFile(RealEnv(), path.string(), options);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ir::Graph& g = imported->graph;
  ASSERT_TRUE(passes::RunPasses(g, target::Profile{}, {}, nullptr).ok());
  const auto lowered = devices::cpu::MakeLowering()->Lower(g, target::Profile(), {});
  ASSERT_TRUE(lowered.ok()) << lowered.status().message();
  std::vector<hal::WeightView> weights;
  for (const auto& w : lowered->weights) weights.push_back({weights.size(), w.kept.bytes});
  const auto kernels = devices::cpu::ChosenKernels();
  ASSERT_TRUE(kernels.ok()) << kernels.status().message();
  const auto loaded =
      devices::cpu::CpuExecutable::Load(lowered->blob, weights, **kernels, 1, target::Profile());
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  std::map<std::string, std::int64_t> elements;  // of the value that each node makes, by name
  for (const ir::Node& n : g.nodes) {
    const tensor::Type& t = g.value(n.outputs[0]).type;
    elements[n.name] = std::max(elements[n.name], tensor::ElementCount(t.dims()).value_or(0));
  }
  for (const auto& step : (*loaded)->steps()) {
    if (std::string_view(step.kernel) != "reference") continue;
    EXPECT_LE(elements[step.name], kHandful) << step.op << " " << step.name << " " << step.shape;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, Kernels,
                         testing::Values(Network{"ppocrv4_det.onnx", {1, 3, 352, 480}},
                                         Network{"ppocrv4_rec.onnx", {1, 3, 48, 320}},
                                         Network{"ppocrv6_det.onnx", {1, 3, 352, 480}},
                                         Network{"ppocrv6_rec.onnx", {1, 3, 48, 320}},
                                         Network{"mobilenet_v2.onnx", {}},
                                         Network{"efficientnet_lite0.onnx", {}},
                                         Network{"resnet50.onnx", {}}, Network{"minilm.onnx", {}}),
                         [](const auto& network) {
                           return std::filesystem::path(network.param.file).stem().string();
                         });

}  // namespace
}  // namespace npukit
