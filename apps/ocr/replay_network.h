#pragma once
// Outputs computed elsewhere, and inputs written down for that: so any other program (onnxruntime
// in the tests) can stand in for a network while the steps around it stay the same.
//
// Files are counted per network in the order of the runs: det_0000.npy, det_0001.npy, ...
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "network.h"
#include "result.h"

namespace ocr {

inline constexpr char kOutputs[] = "outputs";  // the folder of outputs inside that of the inputs

// Takes the n-th output from `folder`. A missing file is an Error with `pending` set.
class ReplayNetwork : public Network {
 public:
  ReplayNetwork(std::string name, std::filesystem::path folder)
      : name_(std::move(name)), folder_(std::move(folder)) {}

  std::vector<std::vector<std::int64_t>> Shapes() const override { return {}; }
  Result<Answer> Run(const Array& input) override;

 private:
  std::string name_;
  std::filesystem::path folder_;
  int count_ = 0;
};

// Writes the n-th input to `folder`, passes it on, and writes the output that comes back to
// `folder`/`kOutputs`.
class DumpNetwork : public Network {
 public:
  DumpNetwork(std::string name, std::filesystem::path folder, std::unique_ptr<Network> next)
      : name_(std::move(name)), folder_(std::move(folder)), next_(std::move(next)) {}

  std::vector<std::vector<std::int64_t>> Shapes() const override { return next_->Shapes(); }
  Result<Answer> Run(const Array& input) override;

 private:
  std::string name_;
  std::filesystem::path folder_;
  std::unique_ptr<Network> next_;
  int count_ = 0;
};

}  // namespace ocr
