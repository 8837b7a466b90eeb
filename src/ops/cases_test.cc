// Every reference against values from outside: tests/ops/<op>.case.
#include "testing/cases.h"

#include <gtest/gtest.h>

#include "ops/op_def.h"
#include "ops/rules.h"

namespace npukit::ops {
namespace {

class Cases : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(Cases, ReferenceGivesTheExpectedValues) {
  const OpDef& def = *GetParam();
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
    tensor::Type out;
    const Status s = Infer(def, c.attrs, c.epilogue, given.types, given.constants, {&out, 1});
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_EQ(out.ToString(), c.outputs[0].type().ToString());

    // With less known, inference may say less but must not contradict.
    const std::vector<const tensor::Value*> none(given.constants.size(), nullptr);
    for (const auto& partial : {ranks_only, unknown}) {
      for (const auto& known : {given.constants, none}) {
        tensor::Type less;
        const Status t = Infer(def, c.attrs, c.epilogue, partial, known, {&less, 1});
        ASSERT_TRUE(t.ok()) << t.message();
        EXPECT_EQ(less.dtype, out.dtype);
        if (!less.shape) continue;
        ASSERT_EQ(less.shape->rank(), out.shape->rank()) << less.ToString();
        for (std::size_t d = 0; d < out.shape->rank(); ++d) {
          if (less.shape->dims[d].known()) {
            EXPECT_EQ(less.shape->dims[d].value, out.shape->dims[d].value) << less.ToString();
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Cases, ::testing::ValuesIn(AllOps().begin(), AllOps().end()),
                         [](const auto& op) { return std::string(op.param->name); });

}  // namespace
}  // namespace npukit::ops
