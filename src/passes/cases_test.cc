// Runs tests/passes/*.case: each a graph before and after a pass, as text. The pass's result must
// be the graph after (up to names of inner values and the numbers of float constants), and the
// interpreter must find that it computes what the graph before computes, within the stated
// agreement.
//
//   === title
//   pass: fuse_batch_norm
//   agreement: relative 1e-5          (or: exact, ulp 1)
//   before:
//   graph "g" { ... }
//   after:
//   graph "g" { ... }
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/text.h"
#include "eval/equivalence.h"
#include "passes/list.h"

namespace npukit::passes {
namespace {

struct Case {
  std::string title;
  std::string pass;
  std::string agreement;
  std::string before;
  std::string after;
};

std::vector<Case> ReadCases(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<Case> cases;
  std::string* text = nullptr;
  for (std::string line; std::getline(in, line);) {
    const auto value = [&](std::string_view key) { return line.substr(key.size()); };
    if (line.starts_with("=== ")) {
      cases.push_back({});
      cases.back().title = line.substr(4);
      text = nullptr;
    } else if (cases.empty()) {
      continue;  // what the file is about
    } else if (line.starts_with("pass: ")) {
      cases.back().pass = value("pass: ");
    } else if (line.starts_with("agreement: ")) {
      cases.back().agreement = value("agreement: ");
    } else if (line == "before:") {
      text = &cases.back().before;
    } else if (line == "after:") {
      text = &cases.back().after;
    } else if (text) {
      *text += line + "\n";
    }
  }
  return cases;
}

std::vector<std::filesystem::path> CaseFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(NPUKIT_SOURCE_DIR "/tests/passes")) {
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The graph with inner values renamed and renumbered in order of use, node names dropped and float
// constants zeroed, so that two graphs of the same structure print alike.
std::string CanonicalText(ir::Graph g) {
  ir::RemoveDead(g);
  std::vector<ir::ValueId> order;
  std::vector<ir::ValueId> renamed(g.values.size(), ir::kNoValue);
  const auto see = [&](ir::ValueId id) {
    if (id == ir::kNoValue || renamed[id] != ir::kNoValue) return;
    renamed[id] = static_cast<ir::ValueId>(order.size());
    order.push_back(id);
  };
  for (const ir::ValueId id : g.inputs) see(id);
  for (const ir::Node& n : g.nodes) {
    for (const ir::ValueId id : n.inputs) see(id);
    for (const ir::ValueId id : n.outputs) see(id);
  }
  for (const ir::ValueId id : g.outputs) see(id);
  std::vector<ir::ValueInfo> values;
  for (const ir::ValueId id : order) values.push_back(g.values[id]);
  const auto rename = [&](ir::ValueId& id) {
    if (id != ir::kNoValue) id = renamed[id];
  };
  for (ir::ValueId& id : g.inputs) rename(id);
  for (ir::ValueId& id : g.outputs) rename(id);
  for (ir::Node& n : g.nodes) {
    for (ir::ValueId& id : n.inputs) rename(id);
    for (ir::ValueId& id : n.outputs) rename(id);
    n.name.clear();
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto id = static_cast<ir::ValueId>(i);
    const bool outside = std::count(g.inputs.begin(), g.inputs.end(), id) +
                         std::count(g.outputs.begin(), g.outputs.end(), id);
    if (!outside) values[i].name = Cat("v", i);
    if (values[i].constant && tensor::IsFloat(values[i].constant->dtype())) {
      auto zeros = values[i].constant->Clone();
      std::fill_n(static_cast<char*>(zeros->mutable_data()), zeros->byte_size(), 0);
      values[i].constant = *zeros;
    }
  }
  g.values = std::move(values);
  return ir::PrintText(g);
}

eval::Agreement ParseAgreement(const std::string& text) {
  std::istringstream in(text);
  std::string kind;
  double limit = -1;
  in >> kind >> limit;
  if (kind == "relative" && limit > 0) return eval::Agreement::Relative(limit);
  if (kind == "ulp" && limit > 0) return eval::Agreement::Ulp(limit);
  EXPECT_EQ(text, "exact") << "an agreement is exact, relative R or ulp U";
  return eval::Agreement::Exact();
}

void RunCase(const Case& c) {
  SCOPED_TRACE(c.title);
  const std::vector<PassDef> all = AllPasses();
  const auto pass =
      std::find_if(all.begin(), all.end(), [&](const PassDef& p) { return p.name == c.pass; });
  ASSERT_NE(pass, all.end()) << "no pass " << c.pass;
  const auto before = ir::ParseText(c.before);
  ASSERT_TRUE(before.ok()) << "before: " << before.status().message();
  const auto after = ir::ParseText(c.after);
  ASSERT_TRUE(after.ok()) << "after: " << after.status().message();

  ir::Graph g = *before;
  int changes = 0;
  Status s = RunPass(*pass, g, target::Profile{}, &changes);
  ASSERT_TRUE(s.ok()) << s.message();
  s = ir::InferTypes(g);
  ASSERT_TRUE(s.ok()) << s.message();
  s = ir::Verify(g);
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(CanonicalText(g), CanonicalText(*after)) << "in its own names:\n" << ir::PrintText(g);
  EXPECT_EQ(changes == 0, ir::PrintText(g) == ir::PrintText(*before))
      << changes << " changes reported";

  eval::EquivalenceOptions options;
  options.agreement = ParseAgreement(c.agreement);
  s = eval::CheckEquivalence(*before, g, options);
  EXPECT_TRUE(s.ok()) << s.message();
}

class PassCases : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(PassCases, GiveTheGraphAfterAndComputeTheSame) {
  const std::vector<Case> cases = ReadCases(GetParam());
  ASSERT_FALSE(cases.empty());
  for (const Case& c : cases) RunCase(c);
}

INSTANTIATE_TEST_SUITE_P(Files, PassCases, testing::ValuesIn(CaseFiles()),
                         [](const auto& file) { return file.param.stem().string(); });

TEST(PassCases, EveryPassHasAFile) {
  for (const PassDef& p : AllPasses()) {
    // Running again is the same code.
    if (p.name == "fold_constants_again") continue;
    const std::filesystem::path file = Cat(NPUKIT_SOURCE_DIR "/tests/passes/", p.name, ".case");
    EXPECT_TRUE(std::filesystem::exists(file)) << file;
  }
}

TEST(RunPasses, RefusesToSkipWhatDoesNotExist) {
  ir::Graph g;
  RunOptions options;
  options.skip = {"fuse_everything"};
  const Status s = RunPasses(g, target::Profile{}, options, nullptr);
  EXPECT_EQ(s.code(), Code::kInvalidArgument);
  EXPECT_NE(s.message().find("fuse_everything"), std::string::npos);
  EXPECT_NE(s.message().find("choose_layout"), std::string::npos)
      << "the message lists what there is";
}

TEST(RunPasses, LeavesForeignNodesWithTheirInputsAndOutputs) {
  const auto before = ir::ParseText(R"(graph "g" {
  source "f" "Frob"
  input %x : fp32[1, 3, 4, 4]
  const %w : fp32[2, 3, 1, 1] = random 1 -1 1
  %a = conv2d(%x, %w)
  %f : fp32[1, 2, 4, 4] = foreign "acme" "Frob"(%a, %w) from [0]
  %y = relu(%f)
  output %y
})");
  ASSERT_TRUE(before.ok()) << before.status().message();
  ir::Graph g = *before;
  const Status s = RunPasses(g, target::Profile{}, {}, nullptr);
  ASSERT_TRUE(s.ok()) << s.message();
  const auto foreign = std::find_if(g.nodes.begin(), g.nodes.end(),
                                    [](const ir::Node& n) { return n.is_foreign(); });
  ASSERT_NE(foreign, g.nodes.end());
  EXPECT_EQ(foreign->from, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(g.value(foreign->inputs[0]).type.dims(), (tensor::Dims{1, 2, 4, 4}))
      << "a foreign node expects NCHW";
}

TEST(RunPasses, ReportsEveryPassInOrderButTheSkipped) {
  ir::Graph g;
  RunOptions options;
  options.skip = {"simplify"};
  std::vector<PassReport> report;
  ASSERT_TRUE(RunPasses(g, target::Profile{}, options, &report).ok());
  ASSERT_EQ(report.size(), AllPasses().size() - 1);
  EXPECT_EQ(report.front().name, "fold_constants");
  EXPECT_EQ(report.back().name, "remove_dead");
}

}  // namespace
}  // namespace npukit::passes
