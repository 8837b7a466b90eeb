// A model opened on devices with its inputs at hand: what run and bench share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lab/verbs.h"
#include "report/records.h"
#include "runtime/session.h"

namespace npukit::lab {

struct BoundInput {
  std::string name;
  tensor::Value value;
  std::string path;  // "": random
};

struct Prepared {
  Model model;
  std::shared_ptr<runtime::Session> session;
  std::uint32_t program = 0;  // whose shapes the inputs have
  std::vector<BoundInput> inputs;
  report::Figure load_ms, compile_ms;
  int threads = 0;

  const format::Program& chosen() const { return session->head().programs[program]; }
  // A request with every input bound to `inputs`, which must outlive it.
  Result<std::unique_ptr<runtime::Request>> NewRequest() const;
  std::vector<report::Tensor> InputRecords() const;
};

Result<Prepared> Prepare(const Kit& kit, ModelOptions options, const RunOptions& run);

// The outputs of a completed request as records; written as NAME.npy when `folder` is not "".
Result<std::vector<report::Tensor>> TakeOutputs(const Kit& kit, const Prepared& prepared,
                                                const runtime::Request& request,
                                                const std::string& folder);

}  // namespace npukit::lab
