// Whatever a file claims, a reference answers with a result or an error; under the address
// sanitizer this shows that it never reads or writes outside its tensors. Inference and evaluation
// must also agree on what fits.
#include <gtest/gtest.h>

#include <limits>

#include "ops/op_def.h"
#include "ops/rules.h"
#include "testing/cases.h"
#include "testing/random.h"

namespace npukit::ops {
namespace {

using tensor::DType;
using tensor::Value;

constexpr int kRounds = 3000;
constexpr std::int64_t kMaxElements = 1 << 14;  // of a result: keeps the test short and small

class Bounded final : public EvalContext {
 public:
  Result<Value> Output(int i, DType t, const tensor::Dims& dims) override {
    const auto count = tensor::ElementCount(dims);
    if (!count || *count > kMaxElements) return ResourceExhausted("large");
    return results.Output(i, t, dims);
  }
  Status SetOutput(int i, Value v) override { return results.SetOutput(i, std::move(v)); }
  testing::Results results;
};

class Source {
 public:
  std::int64_t Below(std::int64_t n) { return random_.Between(0, n - 1); }
  // Mostly small, sometimes at the ends of the range.
  std::int64_t Int() {
    constexpr std::int64_t kEnds[] = {
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
        std::int64_t{1} << 30, std::int64_t{1} << 40, -(std::int64_t{1} << 31)};
    return Below(12) == 0 ? kEnds[Below(5)] : Below(7) - 2;
  }
  float Float() {
    constexpr float kEnds[] = {0,
                               -1,
                               1e30f,
                               1e-30f,
                               std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()};
    return Below(4) == 0 ? kEnds[Below(6)] : static_cast<float>(Below(9)) / 4;
  }
  Ints List() {
    Ints v(static_cast<std::size_t>(Below(6)));
    for (auto& x : v) x = Int();
    return v;
  }
  tensor::Dims Dims() {
    tensor::Dims d(static_cast<std::size_t>(Below(3) == 0 ? Below(6) : 4));
    for (auto& x : d) x = Below(4);
    return d;
  }

 private:
  testing::Random random_;
};

AttrValue AnyAttr(Source& r, const AttrDef& def) {
  constexpr const char* kWords[] = {
      "NHWC",       "NCHW",    "SAME_UPPER", "SAME_LOWER", "VALID",
      "NOTSET",     "nearest", "linear",     "asymmetric", "align_corners",
      "half_pixel", "floor",   "ceil",       "",           "cubic"};
  switch (def.kind) {
    case AttrKind::kInt:
      return r.Int();
    case AttrKind::kFloat:
      return r.Float();
    case AttrKind::kString:
      return std::string(kWords[r.Below(15)]);
    case AttrKind::kInts:
      return def.name == "kernel_shape" || r.Below(2) == 0 ? Ints{1 + r.Below(3), 1 + r.Below(3)}
                                                           : r.List();
    case AttrKind::kFloats: {
      Floats v(static_cast<std::size_t>(r.Below(4)));
      for (float& x : v) x = r.Float();
      return v;
    }
    case AttrKind::kStrings: {
      constexpr const char* kNames[] = {"Tanh", "Sigmoid", "Affine", "Softplus", "", "none"};
      Strings v(static_cast<std::size_t>(r.Below(7)));
      for (std::string& x : v) x = kNames[r.Below(6)];
      return v;
    }
    default:
      return r.Int();
  }
}

Value AnyValue(Source& r, std::int64_t at) {
  if (r.Below(12) == 0) return Value();
  if ((at > 0 || r.Below(8) == 0) && r.Below(3) == 0) {
    const Ints v = r.List();
    return Value::FromVector(DType::kI64, {static_cast<std::int64_t>(v.size())}, v);
  }
  constexpr DType kTypes[] = {DType::kF32, DType::kF32, DType::kF32,  DType::kF16, DType::kI64,
                              DType::kU8,  DType::kI4,  DType::kBool, DType::kF64, DType::kString};
  const DType t = r.Below(3) == 0 ? kTypes[r.Below(10)] : DType::kF32;
  const tensor::Dims dims = at > 0 && r.Below(2) == 0 ? tensor::Dims{r.Below(4)} : r.Dims();
  if (t == DType::kString) {
    return Value::Strings(
        dims, std::vector<std::string>(static_cast<std::size_t>(*tensor::ElementCount(dims)), "s"));
  }
  auto v = Value::Allocate(t, dims);
  NPUKIT_CHECK(v.ok());
  for (std::int64_t i = 0; i < v->count(); ++i)
    tensor::StoreDouble(*v, i, static_cast<double>(r.Float()));
  return std::move(v).value();
}

// What is said of a type holds; sizes that follow from values may stay open.
bool Holds(const tensor::Type& said, const tensor::Type& made) {
  if (said.kind != made.kind) return false;
  if (!said.is_tensor())
    return said.element == nullptr || made.element == nullptr ||
           Holds(*said.element, *made.element);
  if (said.dtype != tensor::DType::kUndefined && said.dtype != made.dtype) return false;
  if (!said.shape || !made.shape) return true;
  bool holds = said.shape->rank() == made.shape->rank();
  for (std::size_t d = 0; holds && d < said.shape->rank(); ++d) {
    const tensor::Dim &a = said.shape->dims[d], &b = made.shape->dims[d];
    holds = !a.known() || !b.known() || a.value == b.value;
  }
  return holds;
}

// A result or an error that names the operator; inference agrees.
void Answer(const OpDef& def, const Attrs& attrs, const std::vector<Value>& inputs, int* answered) {
  const KnownInputs known(inputs);
  std::vector<tensor::Type> out(def.outputs < 0 ? 1 : static_cast<std::size_t>(def.outputs));
  const Status inferred = Infer(def, attrs, {}, known.types, known.constants, out);
  Bounded context;
  const Status s = Evaluate(def, attrs, {}, inputs, context);
  if (!s.ok()) {
    EXPECT_TRUE(s.message().starts_with(def.name)) << s.message();
    return;
  }
  ++*answered;
  ASSERT_TRUE(inferred.ok()) << inferred.message();
  const auto& made = context.results.values;
  ASSERT_EQ(made.size(), out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_TRUE(Holds(out[i], made[i].type()))
        << made[i].type().ToString() << ", said " << out[i].ToString();
  }
}

// The value alone, in a sequence or in an optional; or one of these without it.
Value AnyKind(Source& r, Value v) {
  const auto type = v.type();
  switch (r.Below(6)) {
    case 0:
      return Value::Sequence(type, {});
    case 1:
      return Value::Sequence(type, {v, v, v});
    case 2:
      return Value::Optional(type, nullptr);
    case 3:
      return Value::Optional(type, std::make_shared<Value>(std::move(v)));
    default:
      return v;
  }
}

class Hostile : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(Hostile, AnyInputIsAnswered) {
  const OpDef& def = *GetParam();
  if (def.control) GTEST_SKIP() << "whoever runs graphs tests it";
  Source r;
  // Every other round spoils a case that works: few operators take inputs of any shape.
  const auto cases = testing::ReadCases(def, NPUKIT_SOURCE_DIR "/tests/ops");
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  std::vector<const testing::OpCase*> seeds;
  for (const testing::OpCase& c : *cases) {
    if (c.refused.empty() && c.epilogue.empty()) seeds.push_back(&c);
  }
  int answered = 0;
  for (int round = 0; round < kRounds; ++round) {
    Attrs attrs;
    std::vector<Value> inputs;
    if (round % 2 == 1 && !seeds.empty()) {
      const testing::OpCase& seed =
          *seeds[static_cast<std::size_t>(r.Below(static_cast<std::int64_t>(seeds.size())))];
      attrs = seed.attrs;
      inputs = seed.inputs;
      const std::int64_t places = static_cast<std::int64_t>(inputs.size() + def.attrs.size());
      const auto at = static_cast<std::size_t>(places == 0 ? 0 : r.Below(places));
      if (at < inputs.size()) {
        inputs[at] = AnyValue(r, static_cast<std::int64_t>(at));
      } else if (places != 0) {
        const AttrDef& a = def.attrs[at - inputs.size()];
        attrs.Set(a.name, AnyAttr(r, a));
      }
      Answer(def, attrs, inputs, &answered);
      continue;
    }
    for (const AttrDef& a : def.attrs) {
      if (a.required || r.Below(3) == 0) attrs.Set(a.name, AnyAttr(r, a));
    }
    const std::int64_t most = def.max_inputs < 0 ? 3 : def.max_inputs;
    const std::int64_t n = def.min_inputs + r.Below(most - def.min_inputs + 1);
    for (std::int64_t i = 0; i < n; ++i) {
      // Often the same shape again, so that many rounds get past the first check.
      const bool again = i > 0 && r.Below(3) == 0;
      inputs.push_back(again ? inputs.back() : AnyValue(r, i));
      if (def.any_kind && !again && inputs.back().present())
        inputs.back() = AnyKind(r, inputs.back());
    }
    Answer(def, attrs, inputs, &answered);
  }
  EXPECT_GT(answered, 0) << "no round got past the checks: the test shows nothing";
}

INSTANTIATE_TEST_SUITE_P(Ops, Hostile, ::testing::ValuesIn(AllOps().begin(), AllOps().end()),
                         [](const auto& op) { return std::string(op.param->name); });

}  // namespace
}  // namespace npukit::ops
