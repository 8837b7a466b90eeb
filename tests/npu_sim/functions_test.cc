// The functions that the vector unit composes, on every finite fp16 number, against the C library's
// in double. Each may be off by half of fp16's spacing at the result, for rounding, and by the
// bound that devices/npu_sim/lower/tile_ops.cc states for its formula.
#include <functional>

#include "case.h"
#include "tensor/half.h"

namespace npukit {
namespace {

struct Function {
  const char* name;
  const ops::OpDef* op;
  double (*expected)(double);
  double bound;     // absolute, of the formula
  double relative;  // of the formula, to the result
  const char* approximate = nullptr;
};

double Gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double TanhGelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Swish(double x) { return x / (1 + std::exp(-x)); }
double Softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double Elu(double x) { return x < 0 ? std::expm1(x) : x; }
double Erf(double x) { return std::erf(x); }
double Tanh(double x) { return std::tanh(x); }
double Exp(double x) { return std::exp(x); }
double Log(double x) { return std::log(x); }
double Sqrt(double x) { return std::sqrt(x); }
double Reciprocal(double x) { return 1 / x; }
double LeakyRelu(double x) { return x < 0 ? static_cast<double>(0.01f) * x : x; }

const Function kFunctions[] = {
    {"erf", &op::erf, Erf, 2e-5, 0},
    {"gelu", &op::gelu, Gelu, 2.6e-5, 1e-6},
    {"tanh_gelu", &op::gelu, TanhGelu, 1e-6, 4e-6, "tanh"},
    {"tanh", &op::tanh, Tanh, 2.5e-7, 0},
    {"sigmoid", &op::sigmoid, Sigmoid, 0, 1e-5},
    {"swish", &op::swish, Swish, 0, 1e-5},
    {"softplus", &op::softplus, Softplus, 2.5e-7, 1e-6},
    {"elu", &op::elu, Elu, 1.2e-7, 1e-6},
    {"exp", &op::exp, Exp, 0, 1e-6},
    {"log", &op::log, Log, 0, 1e-6},
    {"sqrt", &op::sqrt, Sqrt, 0, 1e-6},
    {"reciprocal", &op::reciprocal, Reciprocal, 0, 1e-6},
    {"leaky_relu", &op::leaky_relu, LeakyRelu, 0, 1e-6},
};

double HalfSpacing(double v) {
  const int exponent = v == 0 ? -14 : std::max(std::ilogb(v), -14);
  return std::ldexp(0.5, exponent - 10);
}

class NpuFunctions : public ::testing::TestWithParam<Function> {};

TEST_P(NpuFunctions, AreGoodToFp16OnEveryNumber) {
  const Function& f = GetParam();
  std::vector<float> x;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float v = tensor::HalfToFloat(static_cast<std::uint16_t>(bits));
    x.push_back(std::isfinite(v) ? v : 1.0f);
  }
  const Dims dims = {0x800, 0x20};
  ir::Builder b;
  const ir::ValueId in = b.Input("x", DType::kF32, dims);
  ops::Attrs attrs;
  if (f.approximate != nullptr) attrs.Set("approximate", std::string(f.approximate));
  const ir::Graph g = b.Finish({b.Op(*f.op, {in}, attrs)});
  const Subject subject = SubjectOf(Chip("kirin9030"));
  const auto program = conformance::LoadGraph(subject, g, true);
  ASSERT_TRUE(program.ok()) << program.status().message();
  conformance::Run run;
  const std::vector<tensor::Value> values = {tensor::Value::FromVector(DType::kF32, dims, x)};
  ASSERT_TRUE(run.Fill(**program, values).ok());
  ASSERT_TRUE(conformance::Execute(**program, run.work).ok());
  const auto found = run.Output(0);
  ASSERT_TRUE(found.ok());
  const auto got = found->as<float>();
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = f.expected(static_cast<double>(x[i]));
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got[i])) << x[i] << " gives " << got[i];
    } else if (std::fabs(want) >= 65520) {
      EXPECT_EQ(std::fabs(got[i]), INFINITY) << x[i];
    } else if (std::fabs(want) < 65500) {  // else either of two neighbours, one of them infinite
      const double error = std::fabs(got[i] - want) - HalfSpacing(want) * (1 + 0x1p-8);
      ASSERT_LE(error, f.bound + f.relative * std::fabs(want))
          << x[i] << " gives " << got[i] << ", expected " << want;
      worst = std::max(worst, std::fabs(got[i] - want));
    }
  }
  RecordProperty("largest_error", Cat(worst));
}

INSTANTIATE_TEST_SUITE_P(, NpuFunctions, ::testing::ValuesIn(kFunctions),
                         [](const auto& f) { return f.param.name; });

}  // namespace
}  // namespace npukit
