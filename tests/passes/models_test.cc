// All passes on real networks, where ./dev setup has put them: what is left, and that it computes
// the same. The counts of convolutions, normalisations and gelus are those of the ONNX files
// (onnx.load(...).graph.node: LayerNormalization, or the Pow and Erf of those spelled out); the
// ceilings on everything else are what the passes reached, so that a change for the worse shows.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/text.h"
#include "eval/equivalence.h"
#include "importers/import.h"
#include "passes/pass.h"

namespace npukit {
namespace {

struct Network {
  const char* file;
  tensor::Dims small;  // of input x, as the interpreter is slow; empty: as the file says, and then
                       // only tests/e2e compares values
  int convolutions;    // in the file, and in the end: none may be lost or doubled
  std::size_t most_nodes;
  int most_transposes;  // one at the input; the rest are the attention's own
  int gelus = 0;
  int layer_norms = 0;
};

std::filesystem::path PathOf(const Network& network) {
  return std::filesystem::path(NPUKIT_SOURCE_DIR "/.cache/models") / network.file;
}

std::map<std::string, int> CountOperators(const ir::Graph& g) {
  std::map<std::string, int> counts;
  for (const ir::Node& n : g.nodes) ++counts[std::string(n.op_name())];
  return counts;
}

// How often an operator is computed: as a node, or as a step of an epilogue.
int StepsOf(const ir::Graph& g, const ops::OpDef& op) {
  int count = 0;
  for (const ir::Node& n : g.nodes) {
    count += n.op == &op ? 1 : 0;
    for (const ops::EpilogueStep& s : n.epilogue) count += s.op == &op ? 1 : 0;
  }
  return count;
}

class Models : public testing::TestWithParam<Network> {};

TEST_P(Models, ShrinkToTheirConvolutionsAndComputeTheSame) {
  const Network& network = GetParam();
  const std::filesystem::path path = PathOf(network);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is missing: run ./dev setup";
  importers::ImportOptions options;
  if (!network.small.empty()) options.shapes["x"] = network.small;
  const auto imported = importers::ImportFile(RealEnv(), path.string(), options);
  ASSERT_TRUE(imported.ok()) << imported.status().message();

  ir::Graph g = imported->graph;
  const Status s = passes::RunPasses(g, target::Profile{}, {}, nullptr);
  ASSERT_TRUE(s.ok()) << s.message();
  auto counts = CountOperators(g);
  EXPECT_EQ(counts["conv2d"], network.convolutions);
  EXPECT_LE(counts["transpose"], network.most_transposes);
  EXPECT_LE(g.nodes.size(), network.most_nodes);
  EXPECT_EQ(counts["batch_normalization"] + counts["shape"] + counts["identity"], 0);
  EXPECT_LE(counts["cast"], 1);  // of a mask of whole numbers
  EXPECT_EQ(counts["erf"] + counts["pad"] + counts["expand"], 0);
  EXPECT_EQ(StepsOf(g, op::gelu), network.gelus);
  EXPECT_EQ(counts["layer_normalization"], network.layer_norms);
  for (const ir::Node& n : g.nodes) {
    EXPECT_TRUE(n.op != &op::conv2d || n.attrs.String("layout") == "NHWC") << n.name;
    for (const ir::ValueId id : n.outputs) EXPECT_TRUE(g.value(id).type.is_static()) << n.name;
  }

  if (network.small.empty()) return;
  const auto again = ir::ParseText(ir::PrintText(g, true));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(ir::PrintText(*again, true), ir::PrintText(g, true));

  eval::EquivalenceOptions equivalence;
  equivalence.trials = 1;
  equivalence.seed = 20261130;
  equivalence.agreement = eval::Agreement::Relative(1e-3);
  const Status same = eval::CheckEquivalence(imported->graph, g, equivalence);
  EXPECT_TRUE(same.ok()) << same.message();
}

// Every operator of the file is somewhere: in the `from` of a node that is left, or folded away
// before run time.
TEST_P(Models, KeepTrackOfWhereNodesCameFrom) {
  const std::filesystem::path path = PathOf(GetParam());
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is missing: run ./dev setup";
  importers::ImportOptions options;
  if (!GetParam().small.empty()) options.shapes["x"] = GetParam().small;
  const auto imported = importers::ImportFile(RealEnv(), path.string(), options);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ir::Graph g = imported->graph;
  ASSERT_TRUE(passes::RunPasses(g, target::Profile{}, {}, nullptr).ok());
  std::map<std::string, int> left;
  for (const ir::Node& n : g.nodes) {
    for (const std::uint32_t f : n.from) ++left[g.source_nodes[f].op];
  }
  EXPECT_EQ(left["Conv"], GetParam().convolutions) << "each in exactly one node";
  EXPECT_EQ(left["Constant"], 0);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, Models,
    testing::Values(Network{"ppocrv4_det.onnx", {1, 3, 64, 64}, 62, 93, 1},
                    Network{"ppocrv4_rec.onnx", {1, 3, 48, 64}, 38, 91, 7, 0, 5},
                    Network{"ppocrv4_cls.onnx", {1, 3, 48, 192}, 53, 77, 1},
                    Network{"ppocrv6_det.onnx", {1, 3, 32, 64}, 83, 122, 1, 13},
                    Network{"ppocrv6_rec.onnx", {1, 3, 48, 32}, 57, 117, 7, 13, 5},
                    Network{"mobilenet_v2.onnx", {}, 52, 56, 1},
                    Network{"efficientnet_lite0.onnx", {}, 49, 53, 1},
                    Network{"resnet50.onnx", {}, 53, 58, 1},
                    Network{"minilm.onnx", {}, 0, 121, 24, 6, 13}),
    [](const auto& network) { return std::filesystem::path(network.param.file).stem().string(); });

}  // namespace
}  // namespace npukit
