// Eight threads on one session, and on eight sessions, for NPUKIT_STRESS_SECONDS each (default 2):
// every output equal to the serial one, bit for bit. Packages: NPUKIT_STRESS_PACKAGES (paths joined
// by ':'), else those of packages.h, compiled here. Also the program thread sanitizer runs.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "base/text.h"
#include "devices/all_run/all_run.h"
#include "runtime/session.h"
#ifndef NPUKIT_PHONE_ONLY
#include "packages.h"
#endif

namespace npukit {

bool nothing_to_run = false;

namespace {

using runtime::DeviceSpec;
using runtime::Request;
using runtime::Session;
using tensor::Value;

constexpr int kThreads = 8;
constexpr int kInputsPerProgram = 3;

double Seconds() {
  const char* text = std::getenv("NPUKIT_STRESS_SECONDS");
  double seconds = 2;
  if (text != nullptr && !ParseDouble(text, &seconds))
    ADD_FAILURE() << "NPUKIT_STRESS_SECONDS: no number: " << text;
  return seconds;
}

struct Package {
  std::string name;
  std::shared_ptr<const format::Package> package;
};

std::vector<Package> Packages() {
  std::vector<Package> packages;
  const auto add = [&](const std::string& name,
                       Result<std::shared_ptr<const format::Package>> package) {
    if (!package.ok()) {
      ADD_FAILURE() << name << ": " << package.status().message();
      return;
    }
    packages.push_back({name, *package});
  };
  if (const char* paths = std::getenv("NPUKIT_STRESS_PACKAGES");
      paths != nullptr && *paths != '\0') {
    for (const std::string& path : Split(paths, ':'))
      add(path, format::Package::Open(RealEnv(), path));
    return packages;
  }
#ifndef NPUKIT_PHONE_ONLY
  for (const char* target : {"host", "kirin9030"}) {
    const auto bytes = stress::CompilePackage(target);
    if (!bytes.ok()) {
      ADD_FAILURE() << target << ": " << bytes.status().message();
      continue;
    }
    auto aligned = Value::Allocate(tensor::DType::kU8, {static_cast<std::int64_t>(bytes->size())});
    std::memcpy(aligned->mutable_data(), bytes->data(), bytes->size());
    auto owner = std::make_shared<Value>(std::move(*aligned));
    const auto view = owner->bytes();
    add(target, format::Package::FromBytes(view, std::move(owner)));
  }
#endif
  return packages;
}

Value RandomInput(const tensor::Type& type, std::mt19937& random) {
  auto v = Value::Allocate(type.dtype, type.dims());
  if (!v.ok()) {
    ADD_FAILURE() << v.status().message();
    return {};
  }
  for (std::int64_t i = 0; i < v->count(); ++i) {
    tensor::StoreDouble(
        *v, i,
        tensor::IsFloat(type.dtype) ? (static_cast<double>(random() % 4001) - 2000) / 1000 : 1);
  }
  return std::move(*v);
}

// One way to ask a session, and the serial answer.
struct Question {
  std::vector<Value> inputs;
  std::vector<std::vector<std::byte>> answers;
};

Status Ask(const Session& session, Request& request, const Question& q, bool bind_outputs,
           std::vector<std::vector<std::byte>>& answers) {
  const format::Head& head = session.head();
  for (std::size_t i = 0; i < q.inputs.size(); ++i) {
    const Value& v = q.inputs[i];
    NPUKIT_RETURN_IF_ERROR(
        request.BindInput(head.inputs[i].name, v.dtype(), v.dims(), v.data(), v.byte_size()));
  }
  for (std::size_t i = 0; i < head.outputs.size(); ++i) {
    const bool bind = bind_outputs && i < answers.size();
    NPUKIT_RETURN_IF_ERROR(request.BindOutput(
        head.outputs[i].name, bind ? answers[i].data() : nullptr, bind ? answers[i].size() : 0));
  }
  NPUKIT_RETURN_IF_ERROR(request.Run());
  answers.resize(head.outputs.size());
  for (std::size_t i = 0; i < head.outputs.size(); ++i) {
    NPUKIT_ASSIGN_OR_RETURN(const Value out, request.Output(head.outputs[i].name));
    if (!bind_outputs || answers[i].empty())
      answers[i].assign(out.bytes().begin(), out.bytes().end());
  }
  return OkStatus();
}

std::shared_ptr<Session> OpenSession(const Package& p, const std::string& device) {
  runtime::SessionOptions options;
  options.threads = 2;
  options.device = *DeviceSpec::Parse(device);
  auto session = Session::Open(p.package, options, devices::OpenDevice);
  if (!session.ok()) {
    ADD_FAILURE() << p.name << " on " << device << ": " << session.status().message();
    return nullptr;
  }
  return *session;
}

std::vector<Question> SerialAnswers(const Package& p, const std::string& device) {
  std::vector<Question> questions;
  auto session = OpenSession(p, device);
  if (session == nullptr) return questions;
  std::mt19937 random(20260101);
  auto request = *session->NewRequest();
  for (const std::uint32_t program : session->programs()) {
    for (int i = 0; i < kInputsPerProgram; ++i) {
      Question q;
      for (const tensor::Type& t : session->head().programs[program].input_types)
        q.inputs.push_back(RandomInput(t, random));
      const Status s = Ask(*session, *request, q, false, q.answers);
      if (!s.ok()) ADD_FAILURE() << p.name << " on " << device << ": " << s.message();
      questions.push_back(std::move(q));
    }
  }
  return questions;
}

void Stress(const Package& p, const std::string& device, int sessions) {
  const std::vector<Question> questions = SerialAnswers(p, device);
  ASSERT_FALSE(questions.empty());
  std::vector<std::shared_ptr<Session>> open;
  for (int i = 0; i < sessions; ++i) {
    open.push_back(OpenSession(p, device));
    ASSERT_NE(open.back(), nullptr);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(Seconds());
  std::atomic<int> runs{0};
  std::vector<std::string> problems(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      const Session& session = *open[static_cast<std::size_t>(t % sessions)];
      auto request = *open[static_cast<std::size_t>(t % sessions)]->NewRequest();
      for (int i = 0;
           problems[static_cast<std::size_t>(t)].empty() && std::chrono::steady_clock::now() < end;
           ++i) {
        const Question& q = questions[random() % questions.size()];
        std::vector<std::vector<std::byte>> answers(q.answers.size());
        for (std::size_t k = 0; k < answers.size(); ++k) answers[k].resize(q.answers[k].size());
        const Status s = Ask(session, *request, q, i % 2 == 0, answers);
        if (!s.ok()) {
          problems[static_cast<std::size_t>(t)] = s.message();
        } else if (answers != q.answers) {
          problems[static_cast<std::size_t>(t)] = Cat("run ", i, " differs from the serial answer");
        }
        runs.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& problem : problems) EXPECT_EQ(problem, "") << p.name << " on " << device;
  EXPECT_GE(runs.load(), kThreads);
  std::printf("%s on %s, %d session%s: %d runs, all equal to the serial ones\n", p.name.c_str(),
              open[0]->device_description().c_str(), sessions, sessions == 1 ? "" : "s",
              runs.load());
}

void OnEveryDevice(int sessions) {
  const std::vector<Package> packages = Packages();
  nothing_to_run = packages.empty();
  if (nothing_to_run) GTEST_SKIP() << "no package: set NPUKIT_STRESS_PACKAGES";
  for (const Package& p : packages) {
    bool npu = false;
    for (const format::Program& program : p.package->head().programs)
      npu |= program.devices != "CPU";
    Stress(p, "CPU", sessions);
    if (npu) Stress(p, "HETERO:NPU,CPU", sessions);
  }
}

TEST(Stress, EightThreadsOnOneSessionGetTheSerialAnswers) { OnEveryDevice(1); }

TEST(Stress, EightThreadsOnEightSessionsGetTheSerialAnswers) { OnEveryDevice(kThreads); }

}  // namespace
}  // namespace npukit

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  return failed == 0 && npukit::nothing_to_run ? 77 : failed;  // 77: skipped, as ctest reads it
}
