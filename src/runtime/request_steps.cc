// A run whose steps depend on what the ones before gave: the host's thread walks them.
#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "runtime/request_impl.h"

namespace npukit::runtime {

Status Request::Impl::SubmitStepByStep() {
  values.clear();
  hal::FencePtr arrival = hal::DoneFence(
      OkStatus(),
      {.start_ns = arrival_ns,
       .end_ns = arrival_ns,
       .kind = session->virtual_clock ? target::Kind::kModelled : target::Kind::kMeasured});
  runner = std::make_unique<StepRunner>(*session, *plan, cancel, std::move(arrival));
  fences.push_back(session->host->Submit([this](hal::Timing* timing) -> Status {
    std::vector<tensor::Value> given;
    for (const BoundInput& i : inputs) given.push_back(i.value);
    timing->start_ns = arrival_ns;
    auto outputs_or = runner->Run(std::move(given));
    timing->end_ns = std::max(arrival_ns, runner->end_ns());
    if (!outputs_or.ok()) return outputs_or.status();
    values = std::move(outputs_or).value();
    return OkStatus();
  }));
  state = State::kBusy;
  return OkStatus();
}

Status Request::Impl::CopyOutValues() {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].data == nullptr) continue;
    const tensor::Value& v = values[i];
    const std::string name = Printable(head().outputs[i].name);
    if (!v.is_tensor() || v.dtype() == tensor::DType::kString) {
      return Unsupported(Cat("output '", name, "' is ", v.type().ToString(),
                             ", which fits no bound buffer: leave it unbound"));
    }
    if (outputs[i].bytes < v.byte_size()) {
      return InvalidArgument(Cat("output '", name, "': expected at least ", v.byte_size(),
                                 " bytes for ", v.type().ToString(), ", found ", outputs[i].bytes));
    }
    if (v.byte_size() > 0)
      std::memcpy(outputs[i].data, v.data(), static_cast<std::size_t>(v.byte_size()));
    CountCopy(v.byte_size());
    values[i] = tensor::Value::BorrowMutable(v.dtype(), v.dims(), outputs[i].data);
  }
  return OkStatus();
}

Status Request::Impl::FinishStepByStep() {
  Status status = fences.empty() ? Internal("nothing was submitted") : fences[0]->Wait();
  if (status.ok()) status = CopyOutValues();
  if (status.ok()) FillAccountOfSteps();
  fences.clear();
  runner.reset();
  state = State::kDone;
  last = status;
  return status;
}

}  // namespace npukit::runtime
