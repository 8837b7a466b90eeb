// A random operator compiled for a chip, run on its machine and compared with the reference: what
// the tests of this folder share. The workspace is filled with NaN first, so that a lane that was
// never written shows.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/text.h"
#include "devices/npu_sim/lower/lowering.h"
#include "devices/npu_sim/run/driver.h"
#include "eval/interpret.h"
#include "harness.h"
#include "ir/builder.h"
#include "profile_io/profile_io.h"
#include "testing/random.h"

namespace npukit {

using conformance::Subject;
using tensor::Dims;
using tensor::DType;
using testing::Random;

inline target::Profile Chip(const char* name) {
  auto p = profile_io::LoadProfile(RealEnv(), name, {NPUKIT_SOURCE_DIR "/profiles"});
  EXPECT_TRUE(p.ok()) << p.status().message();
  return p.ok() ? *p : target::Profile();
}

inline target::Profile TinyChip() {
  target::Profile p = Chip("kirin9030");
  for (const auto& [key, value] : {std::pair{"npu.sram_bytes", "24576"},
                                   {"npu.l0a_bytes", "2048"},
                                   {"npu.l0b_bytes", "2048"},
                                   {"npu.l0c_bytes", "2048"},
                                   {"npu.ub_bytes", "12288"}}) {
    EXPECT_TRUE(p.Set(key, value).ok());
  }
  return p;
}

inline Subject SubjectOf(target::Profile profile) {
  return {"npu_sim", &devices::npu_sim::Driver(), std::move(profile),
          devices::npu_sim::MakeLowering()};
}

inline float ToHalf(double v) { return static_cast<float>(static_cast<_Float16>(v)); }

class Case {
 public:
  Case(Random& random, const Subject& subject) : r(random), subject_(subject) {}

  Random& r;
  ir::Builder b;

  std::int64_t Size(std::int64_t low, std::int64_t high) { return r.Between(low, high); }
  // fp16 values already, so that only the arithmetic differs.
  std::vector<float> Values(std::int64_t n, double low = -1, double high = 1) {
    std::vector<float> v = r.Floats(static_cast<std::size_t>(n), low, high);
    for (float& x : v) x = ToHalf(x);
    return v;
  }
  ir::ValueId In(const Dims& dims, double low = -1, double high = 1) {
    const ir::ValueId id = b.Input(Cat("in", inputs_.size()), DType::kF32, dims);
    inputs_.push_back(tensor::Value::FromVector(DType::kF32, dims,
                                                Values(*tensor::ElementCount(dims), low, high)));
    return id;
  }
  ir::ValueId Weights(const Dims& dims, double scale) {
    return b.Floats("w", dims, Values(*tensor::ElementCount(dims), -scale, scale));
  }
  // A few random steps on the result of the last node.
  void Epilogue(const Dims& out) {
    ir::Node& n = b.graph().nodes.back();
    for (std::int64_t i = r.Between(0, 3); i > 0; --i) {
      ops::EpilogueStep s;
      switch (r.Below(14)) {
        case 0:
          s.op = &op::relu;
          break;
        case 1:
          s.op = &op::hard_swish;
          break;
        case 2:
          s.op = &op::swish;
          break;
        case 3:
          s.op = &op::sigmoid;
          break;
        case 4:
          s.op = &op::clip;
          s.attrs.Set("min", -0.5f);
          s.attrs.Set("max", 0.75f);
          break;
        case 5:
          s.op = &op::gelu;
          if (r.OneIn(2)) s.attrs.Set("approximate", std::string("tanh"));
          break;
        case 6:
          s.op = r.OneIn(2) ? &op::tanh : &op::erf;
          break;
        case 7:
          s.op = r.OneIn(2) ? &op::abs : &op::neg;
          break;
        case 8:
          s.op = r.OneIn(2) ? &op::leaky_relu : &op::elu;
          s.attrs.Set("alpha", static_cast<float>(r.Between(-1, 2)) * 0.75f);
          break;
        default: {
          const ops::OpDef* const binary[] = {&op::add, &op::sub, &op::mul,  &op::div,
                                              &op::max, &op::min, &op::prelu};
          s.op = binary[r.Below(7)];
          s.swapped = r.OneIn(2) && s.op != &op::div && s.op != &op::prelu;
          Dims dims = out;
          const std::uint64_t kind = r.Below(5);
          if (kind == 0) dims = {out.back()};
          if (kind == 1) dims = {1};
          if (kind == 2) dims.back() = 1;
          if (kind == 3) dims[r.Below(dims.size())] = 1;
          const double low = s.op == &op::div ? 0.5 : -1;  // no poles
          ir::ValueId operand = ir::kNoValue;
          if (r.OneIn(2)) {
            operand = In(dims, low, 1);
          } else {
            operand = b.Floats("c", dims, Values(*tensor::ElementCount(dims), low, 1));
          }
          s.operand = static_cast<int>(n.inputs.size());
          n.inputs.push_back(operand);
        }
      }
      n.epilogue.push_back(std::move(s));
    }
  }

  // Compiles, runs and compares; counts what the device refused.
  void Finish(ir::ValueId out, double tolerance, int* ran) {
    const ir::Graph g = b.Finish({out});
    for (const ir::Node& n : g.nodes) {
      const target::Verdict v = subject_.lowering->Supports(g, n, subject_.profile);
      if (!v.supported) {
        EXPECT_FALSE(v.code.empty());
        EXPECT_FALSE(v.reason.empty());
        return;
      }
    }
    const std::string text = ir::PrintText(g);
    const auto expected = eval::Interpret(g, inputs_);
    ASSERT_TRUE(expected.ok()) << expected.status().message() << "\n" << text;
    const auto program = conformance::LoadGraph(subject_, g, true);
    ASSERT_TRUE(program.ok()) << program.status().message() << "\n" << text;
    conformance::Run run;
    const Status filled = run.Fill(**program, inputs_);
    ASSERT_TRUE(filled.ok()) << filled.message();
    if (run.work.scratch.buffer)
      std::memset(run.work.scratch.buffer->host(), 0xFF, run.work.scratch.buffer->size_bytes());
    const Status done = conformance::Execute(**program, run.work);
    ASSERT_TRUE(done.ok()) << done.message() << "\n" << text;
    const auto found = run.Output(0);
    ASSERT_TRUE(found.ok());
    const auto want = (*expected)[0].as<float>(), got = found->as<float>();
    ASSERT_EQ(want.size(), got.size());
    double largest = 0;
    for (const float w : want) largest = std::max(largest, std::fabs(static_cast<double>(w)));
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(want[i], got[i], tolerance * std::max(largest, 0.25))
          << "element " << i << " of " << want.size() << "\n"
          << text;
    }
    ++*ran;
  }

 private:
  const Subject& subject_;
  std::vector<tensor::Value> inputs_;
};

// fp16 keeps 11 bits, so a value is off by up to 2^-12 of itself; a 16-bit accumulator rounds once
// per block of 16, and a step such as swish triples an error at most. What is compared is relative
// to the largest element.
inline constexpr double kExact = 0x1p-11;
inline constexpr double kArithmetic = 0x1p-8;

inline Dims RandomDims(Case& c, int low, int high, std::int64_t most) {
  Dims d(static_cast<std::size_t>(c.r.Between(low, high)));
  for (std::int64_t& x : d) x = c.Size(1, most);
  return d;
}

struct Kind {
  const char* name;
  void (*make)(Case& c, int* ran);
  int cases;
  double least;  // share of the cases that a real chip must take
};
inline void RunKind(const Kind& kind, const target::Profile& profile, double least) {
  Random random(7);
  const Subject subject = SubjectOf(profile);
  int ran = 0;
  for (int i = 0; i < kind.cases && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE(Cat("case ", i));
    Case c(random, subject);
    kind.make(c, &ran);
  }
  EXPECT_GE(ran, static_cast<int>(least * kind.cases));
}

// Three tests for each kind of a list.
#define NPUKIT_NPU_KINDS(Suite, list)                          \
  class Suite : public ::testing::TestWithParam<Kind> {};      \
  TEST_P(Suite, AgreesWithTheReferenceOn16BitAccumulators) {   \
    RunKind(GetParam(), Chip("kirin9030"), GetParam().least);  \
  }                                                            \
  TEST_P(Suite, AgreesWithTheReferenceOn32BitAccumulators) {   \
    RunKind(GetParam(), Chip("ascend310"), GetParam().least);  \
  }                                                            \
  TEST_P(Suite, AgreesWithTheReferenceInTinyBuffers) {         \
    RunKind(GetParam(), TinyChip(), GetParam().least / 3);     \
  }                                                            \
  INSTANTIATE_TEST_SUITE_P(, Suite, ::testing::ValuesIn(list), \
                           [](const auto& kind) { return kind.param.name; })

}  // namespace npukit
