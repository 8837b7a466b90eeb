// rnn, gru and lstm, and normalisations, against their references, on every instruction set.
#include <gtest/gtest.h>

#include "devices/cpu/run/step_test.h"

namespace npukit::devices::cpu {
namespace {

struct Layer {
  const ops::OpDef* op;
  std::int64_t gates;
};
constexpr Layer kLayers[] = {{&op::rnn, 1}, {&op::gru, 3}, {&op::lstm, 4}};

struct Sizes {
  std::int64_t steps, batch, inputs, hidden, directions;
};

TestStep Make(Random& random, const Layer& layer, const Sizes& n, bool bias, bool state) {
  const std::int64_t rows = layer.gates * n.hidden;
  const auto weight = [&](tensor::Dims dims) {
    return TestInput{.value = random.Floats(std::move(dims), -0.5f, 0.5f), .constant = true};
  };
  TestStep s{.op = layer.op, .attrs = {}, .epilogue = {}, .inputs = {}};
  s.inputs.push_back({.value = random.Floats({n.steps, n.batch, n.inputs})});
  s.inputs.push_back(weight({n.directions, rows, n.inputs}));
  s.inputs.push_back(weight({n.directions, rows, n.hidden}));
  s.inputs.push_back(bias ? weight({n.directions, 2 * rows}) : TestInput{});
  if (state) {
    s.inputs.push_back({});
    s.inputs.push_back({.value = random.Floats({n.directions, n.batch, n.hidden})});
    if (layer.op == &op::lstm)
      s.inputs.push_back({.value = random.Floats({n.directions, n.batch, n.hidden})});
  }
  if (n.directions == 2) s.attrs.Set("direction", std::string("bidirectional"));
  return s;
}

TEST(RecurrentKernels, AgreeWithTheReference) {
  Random random(41);
  for (const Layer& layer : kLayers) {
    for (const Sizes& n : {Sizes{5, 1, 7, 16, 1}, Sizes{4, 3, 33, 19, 2}, Sizes{1, 2, 4, 3, 1},
                           Sizes{9, 1, 8, 130, 2}, Sizes{3, 17, 1, 1, 1}}) {
      for (const bool full : {true, false}) {
        SCOPED_TRACE(Cat(layer.op->name, " hidden ", n.hidden, full ? " with bias and state" : ""));
        // Every step adds the rounding of a sum over all hidden values to the next one's input.
        const double within = n.hidden > 100 ? 5e-5 : 1e-5;
        ExpectLikeReference(Make(random, layer, n, full, full), "recurrent_f32", within);
      }
    }
  }
}

TEST(RecurrentKernels, KnowTheAttributes) {
  Random random(42);
  const Sizes n{6, 2, 5, 18, 1};
  for (const Layer& layer : kLayers) {
    TestStep reverse = Make(random, layer, n, true, true);
    reverse.attrs.Set("direction", std::string("reverse"));
    ExpectLikeReference(reverse, "recurrent_f32", 1e-5);
    TestStep clip = Make(random, layer, n, true, true);
    clip.attrs.Set("clip", 0.5f);
    ExpectLikeReference(clip, "recurrent_f32", 1e-5);
    TestStep other = Make(random, layer, n, true, false);
    const std::size_t count = layer.gates == 1 ? 1 : layer.gates == 3 ? 2 : 3;
    other.attrs.Set("activations", ops::Strings(count, "HardSigmoid"));
    other.attrs.Set("activation_alpha", ops::Floats(count, 0.3f));
    ExpectLikeReference(other, "recurrent_f32", 1e-5);
  }
  TestStep linear = Make(random, kLayers[1], n, true, true);
  linear.attrs.Set("linear_before_reset", std::int64_t{1});
  ExpectLikeReference(linear, "recurrent_f32", 1e-5);
  TestStep coupled = Make(random, kLayers[2], n, true, true);
  coupled.attrs.Set("input_forget", std::int64_t{1});
  ExpectLikeReference(coupled, "recurrent_f32", 1e-5);
}

// Inputs of more steps than are projected at a time.
TEST(RecurrentKernels, TakeLongSequencesInParts) {
  Random random(43);
  TestStep s = Make(random, kLayers[2], {2100, 1, 2, 130, 2}, true, false);
  ExpectLikeReference(s, "recurrent_f32", 1e-4);
}

TEST(RecurrentKernels, LeaveTheRestToTheReference) {
  Random random(44);
  TestStep lengths = Make(random, kLayers[2], {3, 2, 4, 5, 1}, true, true);
  lengths.inputs[4].value =
      tensor::Value::FromVector(tensor::DType::kI32, {2}, std::vector<std::int32_t>{1, 3});
  ExpectLikeReference(lengths, "reference");
  TestStep layout = Make(random, kLayers[1], {3, 3, 4, 5, 1}, true, false);
  layout.attrs.Set("layout", std::int64_t{1});
  ExpectLikeReference(layout, "reference");
  TestStep computed = Make(random, kLayers[0], {3, 2, 4, 5, 1}, true, false);
  computed.inputs[2].constant = false;
  ExpectLikeReference(computed, "reference");
  TestStep rare = Make(random, kLayers[0], {3, 2, 4, 5, 1}, true, false);
  rare.attrs.Set("activations", ops::Strings{"Softsign"});
  ExpectLikeReference(rare, "reference");
}

TEST(NormKernels, AgreeWithTheReference) {
  Random random(45);
  for (const tensor::Dims& x : {tensor::Dims{2, 6, 5, 7}, tensor::Dims{1, 6, 1},
                                tensor::Dims{3, 6, 131}, tensor::Dims{2, 6}}) {
    TestStep s{.op = &op::instance_normalization, .attrs = {}, .epilogue = {}, .inputs = {}};
    s.inputs = {{.value = random.Floats(x, 3, 9)},
                {.value = random.Floats({6})},
                {.value = random.Floats({6})}};
    s.attrs.Set("epsilon", 1e-3f);
    ExpectLikeReference(s, "group_norm_f32", 2e-5);
    for (const std::int64_t groups : {1, 3}) {
      s.op = &op::group_normalization;
      s.attrs.Set("num_groups", groups);
      ExpectLikeReference(s, "group_norm_f32", 2e-5);
      TestStep by_group = s;
      by_group.inputs[1].value = random.Floats({groups});
      ExpectLikeReference(by_group, "group_norm_f32", 2e-5);
    }
  }
  for (const std::int64_t axis : {1, 2, -1}) {
    const tensor::Dims x{2, 3, 5, 37};
    TestStep s{.op = &op::rms_normalization, .attrs = {}, .epilogue = {}, .inputs = {}};
    const auto from = x.begin() + (axis < 0 ? 3 : axis);
    s.inputs = {{.value = random.Floats(x)}, {.value = random.Floats({from, x.end()})}};
    s.attrs.Set("axis", axis);
    ExpectLikeReference(s, "rms_norm_f32", 5e-6);
    s.inputs[1].value = random.Floats({1});
    ExpectLikeReference(s, "reference", 5e-6);
  }
}

}  // namespace
}  // namespace npukit::devices::cpu
