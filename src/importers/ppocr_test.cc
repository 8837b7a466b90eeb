// The three networks of PP-OCRv4, which ./dev setup puts into .cache/models; skipped by name where
// they are not.
#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "importers/import.h"

namespace npukit::importers {
namespace {

struct Network {
  const char* file;
  tensor::Dims input;
  const char* output;        // type with that input; as onnxruntime reports it
  std::size_t source_nodes;  // as onnx counts them
};

class PpOcr : public ::testing::TestWithParam<Network> {};

TEST_P(PpOcr, EveryOperatorIsOursAndEveryTypeStatic) {
  const Network& n = GetParam();
  const std::string path = Cat(NPUKIT_SOURCE_DIR "/.cache/models/", n.file);
  if (!RealEnv().FileSize(path).ok()) GTEST_SKIP() << path << " is missing: run ./dev setup";
  const auto r = ImportFile(RealEnv(), path, {.shapes = {{"x", n.input}}, .limits = {}});
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(r->graph.source_nodes.size(), n.source_nodes);
  for (const ir::Node& node : r->graph.nodes) {
    EXPECT_FALSE(node.is_foreign()) << node.name;
    for (const auto& t : r->graph.OutputTypes(node))
      EXPECT_TRUE(t.is_static()) << node.name << " " << t.ToString();
  }
  ASSERT_EQ(r->graph.outputs.size(), 1u);
  EXPECT_EQ(r->graph.value(r->graph.outputs[0]).type.ToString(), n.output);
  // Without a shape the model imports too, with its sizes open.
  const auto open = ImportFile(RealEnv(), path, {});
  ASSERT_TRUE(open.ok()) << open.status().message();
  EXPECT_FALSE(open->graph.value(open->graph.outputs[0]).type.is_static());
}

INSTANTIATE_TEST_SUITE_P(
    V4, PpOcr,
    ::testing::Values(Network{"ppocrv4_det.onnx", {1, 3, 736, 1024}, "fp32[1, 1, 736, 1024]", 672},
                      Network{"ppocrv4_rec.onnx", {1, 3, 48, 320}, "fp32[1, 40, 6625]", 765},
                      Network{"ppocrv4_cls.onnx", {1, 3, 48, 192}, "fp32[1, 2]", 471}),
    [](const auto& network) { return std::string(network.param.file + 8, 3); });

}  // namespace
}  // namespace npukit::importers
