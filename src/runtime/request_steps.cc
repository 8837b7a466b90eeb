// A run whose steps depend on what the ones before gave: a thread of the request walks them.
#include <algorithm>
#include <cstring>

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
  // A thread of the request's own: a run that loops holds up neither other requests nor copies.
  if (walker == nullptr) walker = std::make_unique<HostQueue>(session->virtual_clock);
  fences.push_back(walker->Submit([this](hal::Timing* timing) -> Status {
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

namespace {

// Does the value, or an item of it, lie in memory that `range` covers?
bool LiesIn(const tensor::Value& v, const tensor::Value& range) {
  if (v.is_tensor()) {
    return range.is_tensor() && Overlap(v.data(), v.byte_size(), range.data(), range.byte_size());
  }
  if (v.is_sequence()) {
    return std::any_of(v.items().begin(), v.items().end(),
                       [&](const tensor::Value& item) { return LiesIn(item, range); });
  }
  return v.is_optional() && v.optional_item() != nullptr && LiesIn(*v.optional_item(), range);
}
bool LiesInPartOf(const tensor::Value& v, const tensor::Value& range) {
  if (range.is_sequence()) {
    return std::any_of(range.items().begin(), range.items().end(),
                       [&](const tensor::Value& item) { return LiesInPartOf(v, item); });
  }
  if (range.is_optional())
    return range.optional_item() != nullptr && LiesInPartOf(v, *range.optional_item());
  return LiesIn(v, range);
}

}  // namespace

Status Request::Impl::CopyOutValues() {
  std::vector<tensor::Type> types;
  for (const tensor::Value& v : values) types.push_back(v.type());
  NPUKIT_RETURN_IF_ERROR(CheckOutputs(types));
  // The caller may free or change the inputs as soon as the run is over: results that are views of
  // them get bytes of their own.
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool view = std::any_of(inputs.begin(), inputs.end(), [&](const BoundInput& in) {
      return LiesInPartOf(values[i], in.value);
    });
    if (!view || outputs[i].data != nullptr) continue;
    NPUKIT_ASSIGN_OR_RETURN(values[i], values[i].Clone());
    CountCopy(values[i].byte_size());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].data == nullptr) continue;
    const tensor::Value& v = values[i];
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
