// What the checks of the conformance suite share: the device under test, a check's answer, and
// loading a graph onto it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "target/profile.h"
#ifndef NPUKIT_PHONE_ONLY
#include "compile/lowering.h"
#include "ir/graph.h"
#endif

namespace npukit::conformance {

struct Outcome {
  enum class Kind : std::uint8_t { kPass, kFail, kRefused } kind = Kind::kPass;
  std::string why;
  std::string code;  // kRefused: the verdict's
  static Outcome Pass() { return {}; }
  static Outcome Fail(std::string why) { return {Kind::kFail, std::move(why), {}}; }
  static Outcome Fail(const Status& s) { return {Kind::kFail, s.message(), {}}; }
  static Outcome Refused(std::string why) {
    return {Kind::kRefused, std::move(why), {}};
  }  // a verdict says no
};

struct Subject {
  std::string name;
  const hal::DeviceDriver* driver = nullptr;
  target::Profile profile;  // for NPUs a chip's, else the host's
#ifndef NPUKIT_PHONE_ONLY
  std::shared_ptr<const compile::Lowering> lowering;
#endif
  Result<hal::DevicePtr> Open(bool virtual_clock) const;
};

struct Check {
  std::string name;  // "BufferTest.ImportIsTheSameMemory"
  std::function<Outcome(const Subject&)> run;
  std::string op = {};  // OpsTest: the operator
};

std::vector<Check> BufferChecks();
std::vector<Check> LoadChecks();
#ifndef NPUKIT_PHONE_ONLY
std::vector<Check> ProgramChecks();  // hostile blobs made from a good one; fences, cancelling, time
std::vector<Check> OpsChecks(std::vector<Status>& problems);  // case files that cannot be read

// A graph lowered and loaded, with everything that must stay alive.
struct Program {
  compile::Lowered lowered;
  std::vector<std::shared_ptr<void>> aligned;  // weights as a mapped package would hold them
  std::vector<hal::WeightView> weights;
  std::vector<tensor::Type> inputs;
  std::vector<tensor::Type> outputs;
  hal::DevicePtr device;
  hal::ExecutablePtr executable;
};
// Asks nobody: the caller knows that the nodes are supported.
Result<std::unique_ptr<Program>> LoadGraph(const Subject& subject, const ir::Graph& graph,
                                           bool virtual_clock);

// Buffers for one run of a program; `inputs` are copied in.
struct Run {
  hal::Work work;
  Status Fill(const Program& program, const std::vector<tensor::Value>& inputs);
  Result<tensor::Value> Output(std::size_t i) const;
};
// Submit and wait.
Status Execute(const Program& program, const hal::Work& work);
#endif

#define CONFORM(cond)                                                                   \
  do {                                                                                  \
    if (!(cond)) return ::npukit::conformance::Outcome::Fail(Cat("not true: ", #cond)); \
  } while (false)
#define CONFORM_OK(expr)                                                           \
  do {                                                                             \
    if (const ::npukit::Status s_ = (expr); !s_.ok()) {                            \
      return ::npukit::conformance::Outcome::Fail(Cat(#expr, ": ", s_.message())); \
    }                                                                              \
  } while (false)

}  // namespace npukit::conformance
