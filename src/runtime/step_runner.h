// Runs a program step by step, on the calling thread: branches, loops, and calls whose results'
// types are known only when they are there. Values of any kind pass between steps; a call waits for
// the one before. One use, one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "runtime/session.h"
#include "runtime/session_impl.h"
#include "tensor/value.h"

namespace npukit::runtime {

class StepRunner {
 public:
  // `arrival` is done; on the virtual clock its end is when the run may begin.
  StepRunner(Session::Impl& session, const Plan& plan, const std::atomic<bool>& cancel,
             hal::FencePtr arrival)
      : session_(session), plan_(plan), cancel_(cancel), previous_(std::move(arrival)) {}

  // In the order of the head's inputs and outputs. The message names the step.
  Result<std::vector<tensor::Value>> Run(std::vector<tensor::Value> inputs);

  // What was done, in order; the last kMaxSteps entries at most are kept apart, earlier ones are
  // counted in the sums only.
  static constexpr std::size_t kMaxSteps = 4096;
  struct Done {
    std::size_t device = 0;
    hal::Timing timing;
  };
  const std::vector<Done>& done() const { return done_; }
  std::int64_t end_ns() const { return end_ns_; }
  double energy_pj() const { return energy_pj_; }
  bool energy_known() const { return energy_known_; }
  std::uint64_t copies() const { return copies_; }
  std::uint64_t bytes_copied() const { return bytes_copied_; }

 private:
  Status RunBlock(std::uint32_t block);
  Status RunStep(const PlanStep& step);
  Status Call(const PlanStep& step);
  Status CallFlow(const PlanStep& step);
  Status CallStatic(const PlanStep& step);
  Status Submit(const PlanStep& step, hal::Work work);
  Status Branch(const format::Step& step);
  Status Loop(const format::Step& step);
  Result<bool> ReadBool(std::uint32_t slot, const char* what) const;
  const tensor::Value& At(std::uint32_t slot) const { return values_[slot]; }

  Session::Impl& session_;
  const Plan& plan_;
  const std::atomic<bool>& cancel_;
  hal::FencePtr previous_;
  std::vector<tensor::Value> values_;  // by slot
  std::int64_t iterations_ = 0;        // of all loops together
  std::vector<Done> done_;
  std::int64_t end_ns_ = 0;
  double energy_pj_ = 0;
  bool energy_known_ = true;
  std::uint64_t copies_ = 0;
  std::uint64_t bytes_copied_ = 0;
};

}  // namespace npukit::runtime
