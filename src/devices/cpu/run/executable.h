// A loaded blob: checked steps turned into prepared calls. Immutable after Load; run by any number
// of works at once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "devices/cpu/blob/blob.h"
#include "devices/cpu/run/step.h"
#include "hal/device.h"
#include "target/estimate.h"
#include "target/profile.h"

namespace npukit::devices::cpu {

class CpuExecutable final : public hal::Executable {
 public:
  // Reads the blob as hostile: structure (blob.h), then each step's operator, attributes and types
  // by ops::Infer, so that no call can reach outside the memory its types promise. The weights must
  // stay mapped as long as the executable.
  static Result<std::shared_ptr<CpuExecutable>> Load(std::span<const std::byte> bytes,
                                                     std::span<const hal::WeightView> weights,
                                                     const Kernels& kernels, int threads,
                                                     const target::Profile& profile);

  // The same of a blob that was read already.
  static Result<std::shared_ptr<CpuExecutable>> FromBlob(const Blob& blob,
                                                         std::span<const hal::WeightView> weights,
                                                         const Kernels& kernels, int threads,
                                                         const target::Profile& profile);
  // Weights that live as long as the executable.
  void Keep(std::vector<tensor::Value> weights) { kept_ = std::move(weights); }

  Result<std::vector<tensor::Type>> Prepare(std::span<const tensor::Type> inputs) override;
  std::uint64_t memory_bytes() const override { return memory_bytes_; }
  std::uint64_t scratch_bytes() const override { return scratch_bytes_; }

  const std::vector<tensor::Type>& input_types() const { return input_types_; }
  const std::vector<tensor::Type>& output_types() const { return output_types_; }
  const target::Estimate& estimate() const { return estimate_; }

  std::vector<hal::StepInfo> steps() const override;

  // Runs all calls in order; looks at `cancel` between them. `after` (may be null) is told each
  // finished step: for profiles.
  Status Run(const Frame& frame, const std::atomic<bool>* cancel,
             const std::function<void(std::size_t)>* after) const;

 private:
  CpuExecutable() = default;
  Status AddStep(const Blob& blob, const BlobStep& step, std::span<const hal::WeightView> weights,
                 Preparation& prep, const target::Profile& profile);

  struct Prepared {
    std::unique_ptr<Call> call;
    hal::StepInfo info;
  };
  std::vector<Prepared> calls_;
  std::vector<tensor::Value> kept_;
  std::vector<tensor::Type> input_types_;
  std::vector<tensor::Type> output_types_;
  target::Estimate estimate_;
  std::uint64_t memory_bytes_ = 0;
  std::uint64_t scratch_bytes_ = 0;
};

}  // namespace npukit::devices::cpu
