// Registers every check for every device as a GoogleTest test "<device>/<Suite>.<Name>" and judges
// its outcome by the device's conformance.txt.
#include <gtest/gtest.h>

#include <map>

#include "base/env.h"
#include "base/text.h"
#include "devices/all_run/all_run.h"
#include "devices/null/run/driver.h"
#include "expectations.h"
#include "harness.h"
#ifndef NPUKIT_PHONE_ONLY
#include "devices/all_lower/all_lower.h"
#include "devices/null/lower/lowering.h"
#include "profile_io/profile_io.h"
#endif

namespace npukit::conformance {
namespace {

struct Device {
  Subject subject;
  std::vector<Expectation> expectations;
  std::string absent;  // why it is not on this machine
  std::map<std::string, int>
      ran;  // cases that passed, by operator; every operator with a case has an entry
};

void Judge(Device& d, const Check& check) {
  if (!d.absent.empty()) GTEST_SKIP() << d.subject.name << " is not on this machine: " << d.absent;
  Expectation* e = Find(d.expectations, check.name);
  if (e != nullptr && !e->xfail && check.op.empty()) {
    e->needed = true;
    GTEST_SKIP() << "unsupported: " << e->reason;
  }
  const Outcome o = check.run(d.subject);
  if (o.kind == Outcome::Kind::kRefused) e = Find(d.expectations, check.name, o.code);
  if (!check.op.empty()) d.ran[check.op] += o.kind == Outcome::Kind::kPass;
  switch (o.kind) {
    case Outcome::Kind::kPass:
      if (e != nullptr && e->xfail)
        FAIL() << "passes now: remove line " << e->line << " of conformance.txt";
      return;
    case Outcome::Kind::kRefused:
      if (e == nullptr || e->xfail) {
        FAIL() << "refused by a verdict, " << o.why
               << " If that is for ever, conformance.txt says so: unsupported " << check.name << "@"
               << o.code << " : reason";
      }
      e->needed = true;
      GTEST_SKIP() << "unsupported: " << e->reason << " (" << o.why << ")";
    case Outcome::Kind::kFail:
      if (e == nullptr || !e->xfail) FAIL() << o.why;
      e->needed = true;
      GTEST_SKIP() << "expected failure: " << e->reason << " (" << o.why << ")";
  }
}

class CheckTest : public ::testing::Test {
 public:
  explicit CheckTest(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

void Register(const std::string& suite, const std::string& name, std::function<void()> body) {
  ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [body = std::move(body)]() -> CheckTest* { return new CheckTest(body); });
}

void EveryLineIsNeeded(Device& d) {
  if (::testing::GTEST_FLAG(filter) != "*") GTEST_SKIP() << "only the whole suite can tell";
  if (!d.absent.empty()) GTEST_SKIP() << d.subject.name << " is not on this machine";
  for (const Expectation& e : d.expectations) {
    if (!e.needed)
      ADD_FAILURE() << "line " << e.line
                    << " of conformance.txt makes no difference: " << e.pattern;
  }
  // Lines that name a code are wide. So that a device cannot lose an operator unseen, it runs some
  // case of each, or a line without a code says that it runs none.
  for (const auto& [op, passed] : d.ran) {
    const Expectation* none = Find(d.expectations, Cat("OpsTest.", op, "_"));
    if (passed == 0 && none == nullptr)
      ADD_FAILURE() << "no case of " << op << " runs: unsupported OpsTest." << op << "_*";
  }
}

Status Prepare(Device& d) {
  const std::string path =
      Cat(NPUKIT_SOURCE_DIR "/src/devices/", d.subject.name, "/conformance.txt");
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<std::byte> text, RealEnv().ReadFile(path, 1 << 20));
  auto list = ParseExpectations({reinterpret_cast<const char*>(text.data()), text.size()});
  if (!list.ok()) return list.status().WithContext(path);
  d.expectations = std::move(*list);
#ifdef NPUKIT_PHONE_ONLY
  d.subject.profile.name = "host";
  std::erase_if(d.expectations,
                [](const Expectation& e) { return e.pattern.starts_with("OpsTest."); });
#else
  const std::string target = d.subject.driver->device_class == "NPU" ? "kirin9030" : "host";
  NPUKIT_ASSIGN_OR_RETURN(
      d.subject.profile,
      profile_io::LoadProfile(RealEnv(), target, {NPUKIT_SOURCE_DIR "/profiles"}));
#endif
  auto device = d.subject.Open(true);
  if (device.status().code() == Code::kUnsupported) {
    d.absent = device.status().message();
    return OkStatus();
  }
  return device.status();
}

std::vector<Device>& Devices() {
  static std::vector<Device>& devices = *new std::vector<Device>;
  return devices;
}

void RegisterAll() {
  std::vector<const hal::DeviceDriver*> drivers = {&devices::null::Driver()};
  for (const hal::DeviceDriver* d : devices::Drivers()) drivers.push_back(d);
#ifndef NPUKIT_PHONE_ONLY
  compile::LoweringList lowerings = devices::MakeLowerings();
  lowerings.insert(lowerings.begin(), devices::null::MakeLowering());
#endif
  std::vector<Check> checks;
  const auto append = [&](std::vector<Check> more) {
    checks.insert(checks.end(), more.begin(), more.end());
  };
  append(BufferChecks());
  append(LoadChecks());
#ifndef NPUKIT_PHONE_ONLY
  append(ProgramChecks());
  std::vector<Status> problems;
  append(OpsChecks(problems));
  Register("CaseFiles", "AreThereAndReadable", [problems] {
    for (const Status& p : problems) ADD_FAILURE() << p.message();
  });
#endif
  Devices().resize(drivers.size());
  for (std::size_t i = 0; i < drivers.size(); ++i) {
    Device& d = Devices()[i];
    d.subject.name = drivers[i]->name;
    d.subject.driver = drivers[i];
#ifndef NPUKIT_PHONE_ONLY
    d.subject.lowering = lowerings[i];  // both lists are devices.inc
#endif
    if (const Status s = Prepare(d); !s.ok()) {
      Register(d.subject.name, "Opens", [s] { FAIL() << s.message(); });
      continue;
    }
    for (const Check& c : checks) {
      const std::size_t dot = c.name.find('.');
      Register(Cat(d.subject.name, "/", c.name.substr(0, dot)), c.name.substr(dot + 1),
               [&d, c] { Judge(d, c); });
    }
    Register(Cat(d.subject.name, "/ZList"), "EveryLineIsNeeded", [&d] { EveryLineIsNeeded(d); });
  }
}

TEST(Expectations, ReadsLinesAndRefusesWordsItDoesNotKnow) {
  auto list = ParseExpectations(
      "# why\n\nunsupported  BufferTest.Import* : no shared memory\nxfail A.b : issue 41 # note\n");
  ASSERT_TRUE(list.ok()) << list.status().message();
  ASSERT_EQ(list->size(), 2u);
  EXPECT_FALSE((*list)[0].xfail);
  EXPECT_EQ((*list)[0].reason, "no shared memory");
  EXPECT_TRUE((*list)[1].xfail);
  EXPECT_EQ((*list)[1].line, 4);
  EXPECT_EQ(Find(*list, "BufferTest.ImportRefusesNull"), &(*list)[0]);
  EXPECT_EQ(Find(*list, "A.bc"), nullptr);
  auto coded = ParseExpectations("unsupported OpsTest.*@empty_value : no empty loops\n");
  ASSERT_TRUE(coded.ok()) << coded.status().message();
  EXPECT_EQ(Find(*coded, "OpsTest.add_x"), nullptr);
  EXPECT_EQ(Find(*coded, "OpsTest.add_x", "unsupported_dtype"), nullptr);
  EXPECT_EQ(Find(*coded, "OpsTest.add_x", "empty_value"), &(*coded)[0]);
  for (const char* bad : {"skip A.b : why", "xfail A.b", "xfail A.b :", "xfail : why", "xfail",
                          "xfail A b : why", "unsupported A@ : why", "xfail A@code : why"}) {
    EXPECT_FALSE(ParseExpectations(bad).ok()) << bad;
  }
}

TEST(Expectations, StarsStandForAnyCharacters) {
  EXPECT_TRUE(Matches("a*c", "abbc"));
  EXPECT_TRUE(Matches("*", ""));
  EXPECT_TRUE(Matches("a*", "a"));
  EXPECT_FALSE(Matches("a*c", "abb"));
  EXPECT_FALSE(Matches("a", "ab"));
}

}  // namespace
}  // namespace npukit::conformance

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  npukit::conformance::RegisterAll();
  return RUN_ALL_TESTS();
}
