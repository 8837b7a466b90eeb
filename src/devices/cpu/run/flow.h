// A flow: steps whose types are known only when they run. Each run finds, or makes, a plan for the
// types at hand: static stretches run as prepared calls, what depends on data is evaluated as it
// comes, and planning goes on behind it.
//
// Plans are kept per distinct set of types, so many for each stretch that a run is cut into and so
// many bytes in all; the least recently used goes first. Any thread may run a flow; runs at once
// share the plans.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/run/stage.h"
#include "hal/device.h"

namespace npukit::devices::cpu {

class FlowExecutable final : public hal::Executable {
 public:
  static constexpr std::size_t kMaxPlans = 64;  // of one stretch of steps
  static constexpr std::uint64_t kMaxPlanBytes = std::uint64_t{256} << 20;  // the last one stays

  // Reads the blob as hostile: every tensor has one maker before its readers, every operator is
  // known.
  static Result<std::shared_ptr<FlowExecutable>> Load(Blob blob,
                                                      std::span<const hal::WeightView> weights,
                                                      const Kernels& kernels, int threads,
                                                      const target::Profile& profile);

  // Types follow when it runs: all undefined.
  Result<std::vector<tensor::Type>> Prepare(std::span<const tensor::Type> inputs) override;
  std::uint64_t memory_bytes() const override { return 0; }
  std::uint64_t scratch_bytes() const override { return 0; }

  std::size_t inputs() const { return flow_.blob.inputs.size(); }
  std::size_t outputs() const { return flow_.blob.outputs.size(); }

  // Fills `outputs`; `estimate` gets what the run cost by the profile's model.
  Status Run(std::span<const tensor::Value> inputs, std::span<tensor::Value> outputs,
             ThreadPool* pool, const std::atomic<bool>* cancel, target::Estimate* estimate);

  struct PlanCounts {
    std::uint64_t plans = 0, hits = 0, misses = 0, bytes = 0;
  };
  PlanCounts counts() const;

 private:
  FlowExecutable(const Kernels& kernels, int threads, const target::Profile& profile)
      : kernels_(kernels), threads_(threads), profile_(profile) {}
  Status CheckSteps();
  Status ReadConstants();
  void FindUses();
  Result<std::shared_ptr<const Stage>> StageAt(std::size_t step,
                                               std::span<const tensor::Value> values);
  const std::vector<std::uint32_t>& LiveAt(std::size_t step);  // under mutex_
  static std::uint64_t BytesOf(const Stage& stage);
  static std::shared_ptr<const Stage> AsItComes(std::size_t step);
  Status RunStage(const Stage& stage, std::span<tensor::Value> values, ThreadPool* pool,
                  const std::atomic<bool>* cancel) const;
  Status EvaluateStep(const FlowStep& step, std::span<tensor::Value> values,
                      target::Estimate* estimate) const;

  const Kernels& kernels_;
  const int threads_;
  const target::Profile profile_;
  Flow flow_;

  mutable std::mutex mutex_;  // guards the rest
  struct Entry {
    std::string key;
    std::shared_ptr<const Stage> stage;
  };
  std::list<Entry> plans_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
  std::unordered_map<std::size_t, std::vector<std::uint32_t>> live_;  // by first step of a stage
  std::uint64_t hits_ = 0, misses_ = 0, plan_bytes_ = 0;
  static constexpr std::size_t kMaxEvaluated = 4096;
  std::unordered_set<std::string> evaluated_;  // keys of steps that are evaluated as they come
  std::set<std::size_t> starts_;               // first steps of planned stretches
  static constexpr std::size_t kMaxLive = std::size_t{1} << 22;
  std::size_t live_total_ = 0;
};

}  // namespace npukit::devices::cpu
