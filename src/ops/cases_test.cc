// Every reference against values from outside: tests/ops/<op>.case.
#include "testing/cases.h"

#include <gtest/gtest.h>

#include "ops/op_def.h"
#include "ops/rules.h"

namespace npukit::ops {
namespace {

// `said` may leave sizes open but must not contradict what was made.
void ExpectAgrees(const tensor::Type& said, const tensor::Type& made) {
  ASSERT_EQ(said.kind, made.kind) << said.ToString();
  if (!made.is_tensor()) return;
  EXPECT_EQ(said.dtype, made.dtype);
  if (!said.shape) return;
  ASSERT_EQ(said.shape->rank(), made.shape->rank()) << said.ToString();
  for (std::size_t d = 0; d < made.shape->rank(); ++d) {
    if (said.shape->dims[d].known()) {
      EXPECT_EQ(said.shape->dims[d].value, made.shape->dims[d].value) << said.ToString();
    }
  }
}

class Cases : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(Cases, ReferenceGivesTheExpectedValues) {
  const OpDef& def = *GetParam();
  if (def.control) GTEST_SKIP() << "whoever runs graphs tests it";
  const auto cases = testing::ReadCases(def, NPUKIT_SOURCE_DIR "/tests/ops");
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  ASSERT_FALSE(cases->empty()) << def.name << " has no case";
  for (const testing::OpCase& c : *cases) {
    SCOPED_TRACE(c.name);
    testing::Results results;
    const Status s = Evaluate(def, c.attrs, c.epilogue, c.inputs, results);
    if (!c.refused.empty()) {
      EXPECT_FALSE(s.ok()) << "expected a refusal: " << c.refused;
      EXPECT_NE(s.message().find(c.refused), std::string::npos) << s.message();
      EXPECT_TRUE(s.message().starts_with(def.name)) << s.message();
      continue;
    }
    ASSERT_TRUE(s.ok()) << s.message();
    ASSERT_EQ(results.values.size(), c.outputs.size());
    for (std::size_t i = 0; i < c.outputs.size(); ++i) {
      const Status same = testing::SameValue(results.values[i], c.outputs[i], c.tolerance);
      EXPECT_TRUE(same.ok()) << "output " << i << ": " << same.message();
    }
  }
}

// What the shape rule says before the run must be what the reference makes: from types and
// constants alone.
TEST_P(Cases, InferenceAgreesWithTheResult) {
  const OpDef& def = *GetParam();
  if (def.control) GTEST_SKIP() << "whoever runs graphs tests it";
  const auto cases = testing::ReadCases(def, NPUKIT_SOURCE_DIR "/tests/ops");
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  for (const testing::OpCase& c : *cases) {
    if (!c.refused.empty()) continue;
    SCOPED_TRACE(c.name);
    const KnownInputs given(c.inputs);
    std::vector<tensor::Type> ranks_only = given.types;
    std::vector<tensor::Type> unknown = given.types;
    for (std::size_t i = 0; i < given.types.size(); ++i) {
      if (ranks_only[i].shape) {
        ranks_only[i].shape =
            tensor::Shape(std::vector<tensor::Dim>(ranks_only[i].shape->rank(), tensor::Dim{}));
      }
      unknown[i].shape.reset();
    }
    std::vector<tensor::Type> out(c.outputs.size());
    const Status s = Infer(def, c.attrs, c.epilogue, given.types, given.constants, out);
    ASSERT_TRUE(s.ok()) << s.message();
    // Sizes that follow from values (data-dependent operators) may stay open even here.
    for (std::size_t i = 0; i < out.size(); ++i) ExpectAgrees(out[i], c.outputs[i].type());

    // With less known, inference may say less but must not contradict.
    const std::vector<const tensor::Value*> none(given.constants.size(), nullptr);
    for (const auto& partial : {ranks_only, unknown}) {
      for (const auto& known : {given.constants, none}) {
        std::vector<tensor::Type> less(c.outputs.size());
        const Status t = Infer(def, c.attrs, c.epilogue, partial, known, less);
        ASSERT_TRUE(t.ok()) << t.message();
        for (std::size_t i = 0; i < less.size(); ++i) ExpectAgrees(less[i], c.outputs[i].type());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Cases, ::testing::ValuesIn(AllOps().begin(), AllOps().end()),
                         [](const auto& op) { return std::string(op.param->name); });

}  // namespace
}  // namespace npukit::ops
