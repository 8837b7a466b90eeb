#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "compile/compile.h"
#include "devices/all_lower/all_lower.h"
#include "devices/all_run/all_run.h"
#include "eval/interpret.h"
#include "format/reader.h"
#include "ir/graph.h"
#include "profile_io/profile_io.h"
#include "runtime/session.h"

namespace npukit {
namespace {

using tensor::DType;
using tensor::Value;

ir::Graph Parse(std::string_view text) {
  auto g = ir::ParseText(text);
  EXPECT_TRUE(g.ok()) << g.status().message();
  EXPECT_TRUE(ir::InferTypes(*g).ok());
  return std::move(g).value();
}

struct Opened {
  std::shared_ptr<runtime::Session> session;
  std::vector<std::byte> bytes;
};

Opened Open(const ir::Graph& g, const std::string& target = "host", bool cost_decides = true,
            std::int64_t max_iterations = 1'000'000) {
  const auto profile = profile_io::LoadProfile(RealEnv(), target, {NPUKIT_SOURCE_DIR "/profiles"});
  EXPECT_TRUE(profile.ok()) << profile.status().message();
  compile::CompileOptions options;
  options.npu = profile->has_npu();
  options.cost_decides = cost_decides;
  options.tool_version = "steps test";
  auto compiled = compile::Compile(g, *profile, devices::MakeLowerings(), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  Opened o;
  auto bytes = compiled->writer.ToBytes(std::move(compiled->head));
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  o.bytes = std::move(bytes).value();
  auto keep = std::make_shared<std::vector<std::byte>>(o.bytes);
  auto package = format::Package::FromBytes(*keep, keep);
  EXPECT_TRUE(package.ok()) << package.status().message();
  runtime::SessionOptions session_options;
  session_options.device = *runtime::DeviceSpec::Parse(
      (*package)->head().programs[0].devices == "CPU" ? "CPU" : "HETERO:NPU,CPU");
  session_options.threads = 2;
  session_options.max_iterations = max_iterations;
  auto session = runtime::Session::Open(*package, session_options, devices::OpenDevice);
  EXPECT_TRUE(session.ok()) << session.status().message();
  o.session = std::move(session).value();
  return o;
}

Result<std::vector<Value>> Answer(const Opened& o, const std::vector<Value>& inputs,
                                  runtime::Account* account = nullptr) {
  NPUKIT_ASSIGN_OR_RETURN(const auto request, o.session->NewRequest());
  const format::Head& head = o.session->head();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    NPUKIT_RETURN_IF_ERROR(request->BindInput(head.inputs[i].name, inputs[i]));
  NPUKIT_RETURN_IF_ERROR(request->Run());
  std::vector<Value> outputs;
  for (const format::ValueSpec& s : head.outputs) {
    NPUKIT_ASSIGN_OR_RETURN(const Value v, request->Output(s.name));
    NPUKIT_ASSIGN_OR_RETURN(Value own, v.Clone());
    outputs.push_back(std::move(own));
  }
  if (account != nullptr) *account = request->account();
  return outputs;
}

void ExpectNear(const Value& got, const Value& want, double within) {
  ASSERT_EQ(got.type().ToString(), want.type().ToString());
  if (got.dtype() == DType::kString) {
    EXPECT_EQ(got.strings(), want.strings());
    return;
  }
  for (std::int64_t i = 0; i < got.count(); ++i) {
    const double a = tensor::ElementAsDouble(got, i), b = tensor::ElementAsDouble(want, i);
    ASSERT_NEAR(a, b, within * std::max(1.0, std::abs(b))) << "element " << i;
  }
}

// The session's answers are the interpreter's.
void ExpectSame(const ir::Graph& g, const Opened& o, const std::vector<Value>& inputs,
                double within = 1e-5, runtime::Account* account = nullptr) {
  const auto want = eval::Interpret(g, inputs);
  ASSERT_TRUE(want.ok()) << want.status().message();
  const auto got = Answer(o, inputs, account);
  ASSERT_TRUE(got.ok()) << got.status().message();
  ASSERT_EQ(got->size(), want->size());
  for (std::size_t i = 0; i < want->size(); ++i) ExpectNear((*got)[i], (*want)[i], within);
}

Value Ramp(tensor::Dims dims, float first = -1, float step = 0.125F) {
  auto v = Value::Allocate(DType::kF32, std::move(dims));
  EXPECT_TRUE(v.ok());
  for (std::int64_t i = 0; i < v->count(); ++i)
    tensor::StoreDouble(*v, i, first + step * static_cast<float>(i % 17));
  return std::move(v).value();
}

Value Bool(bool b) {
  auto v = Value::Allocate(DType::kBool, {});
  tensor::StoreDouble(*v, 0, b ? 1 : 0);
  return std::move(v).value();
}

// A reshape by a computed shape, so that sizes follow from sizes.
constexpr std::string_view kOpen = R"(graph "open" {
  input %x : fp32[N, 4]
  const %w : fp32[4, 3] = [0.5, -1.0, 0.25, 1.0, 2.0, -0.5, 0.125, 0.0, 1.0, -2.0, 0.5, 0.75]
  const %two : int64[1] = [2]
  const %minus : int64[1] = [-1]
  %a : fp32[N, 3] = matmul(%x, %w)
  %r : fp32[N, 3] = relu(%a)
  %s : int64[2] = shape(%r)
  %d : int64[2] = mul(%s, %two)
  %h : int64[2] = div(%d, %two)
  %y : fp32[...] = reshape(%r, %h)
  %t : fp32[...] = transpose(%y) {perm = [1, 0]}
  output %t
  output %r
}
)";

TEST(Steps, AnOpenShapeIsPlannedOncePerDistinctShapeAndThePlansAreBounded) {
  const ir::Graph g = Parse(kOpen);
  const Opened o = Open(g);
  runtime::Account account;
  for (int round = 0; round < 2; ++round) {
    for (const std::int64_t n : {1, 5, 2, 5}) ExpectSame(g, o, {Ramp({n, 4})}, 1e-5, &account);
  }
  EXPECT_EQ(account.plan_cache.misses, 3u);
  EXPECT_EQ(account.plan_cache.hits, 5u);
  EXPECT_EQ(account.plan_cache.plans, 3u);
  for (std::int64_t n = 1; n <= 100; ++n) ExpectSame(g, o, {Ramp({n, 4})}, 1e-5, &account);
  ASSERT_GT(account.plan_cache.max_plans, 0u);
  EXPECT_EQ(account.plan_cache.plans, account.plan_cache.max_plans);
  ExpectSame(g, o, {Ramp({0, 4})});  // none at all is a shape too
}

// Every shape is known when compiling, but one follows from a computed list that is an output too,
// so it stays in the graph: a package that only says the sizes could not be opened.
TEST(Steps, AListThatIsAnOutputMayDecideASize) {
  const ir::Graph g = Parse(R"(graph "list" {
  input %x : fp32[2, 3]
  const %one : fp32[1] = [1.5]
  %s : int64[2] = shape(%x)
  %y : fp32[2, 3] = expand(%one, %s)
  output %s
  output %y
}
)");
  ExpectSame(g, Open(g), {Ramp({2, 3})});
}

TEST(Steps, NamedSizesMustAgreeAcrossInputs) {
  const ir::Graph g = Parse(R"(graph "names" {
  input %x : fp32[N, 2]
  input %y : fp32[N, 2]
  %z : fp32[N, 2] = add(%x, %y)
  output %z
}
)");
  const Opened o = Open(g);
  ExpectSame(g, o, {Ramp({3, 2}), Ramp({3, 2})});
  const auto wrong = Answer(o, {Ramp({3, 2}), Ramp({4, 2})});
  EXPECT_EQ(wrong.status().code(), Code::kInvalidArgument);
  EXPECT_NE(wrong.status().message().find("no program for x=fp32[3, 2] y=fp32[4, 2]"),
            std::string::npos)
      << wrong.status().message();
  const auto rank = Answer(o, {Ramp({3}), Ramp({3, 2})});
  EXPECT_NE(rank.status().message().find("expected fp32[N, 2], found fp32[3]"), std::string::npos)
      << rank.status().message();
}

TEST(Steps, PlanningGoesOnBehindWhatDependsOnData) {
  const ir::Graph g = Parse(R"(graph "data" {
  input %x : fp32[2, 6]
  const %w : fp32[2, 2] = [1.0, 2.0, 3.0, 4.0]
  %p : fp32[2, 6] = relu(%x)
  %i : int64[2, ?] = non_zero(%p)
  %f : fp32[2, ?] = cast(%i) {to = 1}
  %m : fp32[2, ?] = matmul(%w, %f)
  %e : fp32[2, ?] = exp(%m)
  output %e
}
)");
  const Opened o = Open(g);
  runtime::Account account;
  ExpectSame(g, o, {Ramp({2, 6}, -0.5F)}, 1e-5, &account);
  ExpectSame(g, o, {Ramp({2, 6}, -3)}, 1e-5, &account);  // nothing above zero
  ExpectSame(g, o, {Ramp({2, 6}, -0.5F)}, 1e-5, &account);
  EXPECT_GT(account.plan_cache.hits, 0u);
}

constexpr std::string_view kBranch = R"(graph "branch" {
  input %c : bool[]
  input %x : fp32[N]
  const %k : fp32[] = [2.0]
  %b : fp32[?] = if_else(%c, %x, %x) body "then_branch" graph "t" {
    input %v : fp32[N]
    const %k : fp32[] = [2.0]
    %r : fp32[N] = mul(%v, %k)
    output %r
  } body "else_branch" graph "e" {
    input %v : fp32[N]
    %r : fp32[?] = concat(%v, %v) {axis = 0}
    output %r
  }
  %y : fp32[?] = sub(%b, %k)
  output %y
  output %b
}
)";

TEST(Steps, ABranchGivesWhatTheConditionSaysInItsOwnShape) {
  const ir::Graph g = Parse(kBranch);
  const Opened o = Open(g);
  for (const bool c : {true, false}) {
    for (const std::int64_t n : {1, 4}) ExpectSame(g, o, {Bool(c), Ramp({n})});
  }
}

// carried: a sum and a value that grows; scanned: the sum of each iteration. `m` trips while the
// sum is below a limit.
constexpr std::string_view kLoop = R"(graph "loop" {
  input %m : int64[]
  input %x : fp32[2]
  const %zero : fp32[2] = [0.0, 0.0]
  const %yes : bool[] = [1]
  %s : fp32[2], %g : fp32[?], %rows : fp32[?, 2] = loop(%m, %yes, %zero, %x, %x) {carried = 2} body "body" graph "b" {
    input %i : int64[]
    input %c : bool[]
    input %sum : fp32[2]
    input %grow : fp32[?]
    input %step : fp32[2]
    const %limit : fp32[] = [20.0]
    %next : fp32[2] = add(%sum, %step)
    %more : fp32[?] = concat(%grow, %step) {axis = 0}
    %total : fp32[] = reduce_sum(%next) {axes = [0], keepdims = 0}
    %go : bool[] = less(%total, %limit)
    output %go
    output %next
    output %more
    output %next
  }
  output %s
  output %g
  output %rows
}
)";

TEST(Steps, ALoopCarriesValuesAndStacksRows) {
  const ir::Graph g = Parse(kLoop);
  const Opened o = Open(g);
  for (const std::int64_t m : {0, 1, 3, 50}) {
    ExpectSame(g, o, {Value::ScalarI64(m), Ramp({2}, 1, 0.5F)});
  }
}

constexpr std::string_view kEndless = R"(graph "endless" {
  input %x : fp32[2]
  const %yes : bool[] = [1]
  %y : fp32[2] = loop(_, %yes, %x) {carried = 1} body "body" graph "b" {
    input %i : int64[]
    input %c : bool[]
    input %v : fp32[2]
    %w : fp32[2] = neg(%v)
    output %c
    output %w
  }
  output %y
}
)";

TEST(Steps, AnEndlessLoopIsAnErrorThatSaysHowToGoOn) {
  const Opened o = Open(Parse(kEndless), "host", true, 1000);
  const auto r = Answer(o, {Ramp({2})});
  EXPECT_EQ(r.status().code(), Code::kResourceExhausted);
  EXPECT_NE(
      r.status().message().find("makes 'y': the loops of this run made more than 1000 iterations"),
      std::string::npos)
      << r.status().message();
  EXPECT_NE(r.status().message().find("--max-iterations"), std::string::npos);
  EXPECT_FALSE(Answer(o, {Ramp({2})}).ok());  // and the session goes on
}

TEST(Steps, CancelEndsALoopFromAnotherThread) {
  const Opened o = Open(Parse(kEndless), "host", true, INT64_MAX);
  auto request = o.session->NewRequest();
  ASSERT_TRUE(request.ok());
  const Value x = Ramp({2});
  ASSERT_TRUE((*request)->BindInput("x", x).ok());
  ASSERT_TRUE((*request)->Submit().ok());
  std::thread other([&] { (*request)->Cancel(); });
  EXPECT_EQ((*request)->Wait().code(), Code::kCancelled);
  other.join();
}

TEST(Steps, PartsOfABodyRunOnTheNpu) {
  const ir::Graph g = Parse(R"(graph "npu body" {
  input %m : int64[]
  input %x : fp32[64, 128]
  %y : fp32[64, 128] = loop(%m, _, %x) {carried = 1} body "body" graph "b" {
    input %i : int64[]
    input %c : bool[]
    input %v : fp32[64, 128]
    const %half : fp32[] = [0.5]
    %p : fp32[64, 128] = softmax(%v)
    %w : fp32[64, 128] = mul(%p, %half)
    output %c
    output %w
  }
  output %y
}
)");
  const Opened o = Open(g, "kirin9030", false);
  EXPECT_EQ(o.session->head().programs[0].devices, "NPU");
  runtime::Account account;
  ExpectSame(g, o, {Value::ScalarI64(3), Ramp({64, 128})}, 2e-3, &account);
  EXPECT_EQ(account.steps.size(), 3u);
  for (const runtime::StepAccount& s : account.steps) EXPECT_EQ(s.device_class, "NPU");
  EXPECT_EQ(account.kind, target::Kind::kModelled);
  EXPECT_GT(account.latency_ns, 0);
}

TEST(Steps, StringsAndSequencesPassThroughPackageAndSession) {
  const ir::Graph g = Parse(R"(graph "strings" {
  input %x : string[N]
  const %i : int64[2] = [1, 0]
  const %tail : string[1] = ["end \xc3\xa9"]
  %p : string[2] = gather(%x, %i)
  %y : string[3] = concat(%p, %tail) {axis = 0}
  output %y
}
)");
  const Opened o = Open(g);
  ExpectSame(g, o, {Value::Strings({2}, {"a", ""})});
  ExpectSame(g, o, {Value::Strings({3}, {"one", "two", "three"})});
  const auto wrong = Answer(o, {Ramp({2})});
  EXPECT_NE(wrong.status().message().find("expected string[N], found fp32[2]"), std::string::npos)
      << wrong.status().message();
}

TEST(Steps, AnOutputBufferTakesWhatFitsAndSaysWhatDoesNot) {
  const Opened o = Open(Parse(kOpen));
  auto request = o.session->NewRequest();
  ASSERT_TRUE(request.ok());
  const Value x = Ramp({2, 4});
  ASSERT_TRUE((*request)->BindInput("x", x).ok());
  std::vector<float> buffer(8, -7);
  ASSERT_TRUE((*request)->BindOutput("r", buffer.data(), 6 * sizeof(float)).ok());
  ASSERT_TRUE((*request)->Run().ok());
  const auto r = (*request)->Output("r");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->data(), buffer.data());
  EXPECT_EQ(r->dims(), (tensor::Dims{2, 3}));
  EXPECT_EQ(buffer[6], -7);
  ASSERT_TRUE((*request)->BindOutput("r", buffer.data(), 5 * sizeof(float)).ok());
  const Status small = (*request)->Run();
  EXPECT_EQ(small.code(), Code::kInvalidArgument);
  EXPECT_NE(small.message().find("expected at least 24 bytes for fp32[2, 3], found 20"),
            std::string::npos)
      << small.message();
}

TEST(Steps, ARunThatFailsNamesItsNodeAndTheSessionGoesOn) {
  const ir::Graph g = Parse(R"(graph "fails" {
  input %x : fp32[N]
  input %i : int64[M]
  %y : fp32[M] = gather(%x, %i) name "pick"
  output %y
}
)");
  const Opened o = Open(g);
  const auto index = [](std::int64_t i) {
    return Value::FromVector<std::int64_t>(DType::kI64, {1}, {i});
  };
  const auto bad = Answer(o, {Ramp({3}), index(3)});
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.status().message().find("pick"), std::string::npos) << bad.status().message();
  EXPECT_NE(bad.status().message().find("index 3 is outside"), std::string::npos)
      << bad.status().message();
  ExpectSame(g, o, {Ramp({3}), index(2)});
}

TEST(Steps, OutputsOutliveTheInputsTheyAreViewsOf) {
  const ir::Graph g = Parse(R"(graph "views" {
  input %m : int64[]
  input %x : fp32[N, 2]
  const %flat : int64[1] = [-1]
  %y : fp32[?] = reshape(%x, %flat)
  %z : fp32[N, 2] = loop(%m, _, %x) {carried = 1} body "body" graph "b" {
    input %i : int64[]
    input %c : bool[]
    input %v : fp32[?, 2]
    %w : fp32[?, 2] = neg(%v)
    output %c
    output %w
  }
  output %y
  output %z
  output %x
}
)");
  const Opened o = Open(g);
  auto request = o.session->NewRequest();
  ASSERT_TRUE(request.ok());
  Value x = *Ramp({3, 2}).Clone();
  const Value kept = *x.Clone();
  const Value trips = Value::ScalarI64(0);
  ASSERT_TRUE((*request)->BindInput("m", trips).ok());
  ASSERT_TRUE((*request)->BindInput("x", DType::kF32, x.dims(), x.data(), x.byte_size()).ok());
  ASSERT_TRUE((*request)->Run().ok());
  for (std::int64_t i = 0; i < x.count(); ++i) tensor::StoreDouble(x, i, 1e9);
  for (const char* name : {"y", "z", "x"}) {
    const auto v = (*request)->Output(name);
    ASSERT_TRUE(v.ok());
    for (std::int64_t i = 0; i < kept.count(); ++i)
      EXPECT_EQ(tensor::ElementAsDouble(*v, i), tensor::ElementAsDouble(kept, i)) << name;
  }
  ASSERT_TRUE((*request)->BindOutput("y", x.mutable_data(), x.byte_size()).ok());
  const Status over = (*request)->Run();
  EXPECT_EQ(over.code(), Code::kInvalidArgument);
  EXPECT_NE(over.message().find("bound over input 'x'"), std::string::npos) << over.message();
}

TEST(Steps, AnEndlessRunHoldsUpNobodyElse) {
  const Opened o = Open(Parse(kEndless), "host", true, INT64_MAX);
  auto endless = o.session->NewRequest();
  auto other = o.session->NewRequest();
  ASSERT_TRUE(endless.ok() && other.ok());
  const Value x = Ramp({2});
  ASSERT_TRUE((*endless)->BindInput("x", x).ok());
  ASSERT_TRUE((*other)->BindInput("x", x).ok());
  ASSERT_TRUE((*endless)->Submit().ok());
  ASSERT_TRUE((*other)->Submit().ok());
  (*other)->Cancel();
  EXPECT_EQ((*other)->Wait().code(), Code::kCancelled);
  endless->reset();  // ends a run that nobody waits for
}

TEST(Steps, ThreadsShareASessionAndItsPlans) {
  const ir::Graph g = Parse(kLoop);
  const Opened o = Open(g);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 20; ++k) {
        const std::vector<Value> inputs = {Value::ScalarI64((t + k) % 4),
                                           Ramp({2}, static_cast<float>(t), 0.25F)};
        const auto want = eval::Interpret(g, inputs);
        const auto got = Answer(o, inputs);
        for (std::size_t i = 0; want.ok() && got.ok() && i < want->size(); ++i) {
          const Value &a = (*got)[i], &b = (*want)[i];
          if (a.dims() != b.dims() ||
              !std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin()))
            ++wrong;
        }
        if (!want.ok() || !got.ok()) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Steps, CompilingTwiceGivesTheSameBytes) {
  for (const std::string_view text : {kOpen, kBranch, kLoop}) {
    EXPECT_EQ(Open(Parse(text)).bytes, Open(Parse(text)).bytes);
  }
}

}  // namespace
}  // namespace npukit

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
