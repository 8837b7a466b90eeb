#include "session_network.h"

#include <algorithm>
#include <utility>

#include "npukit/session.hpp"

namespace ocr {

int ExitCode(npk_status status) {
  switch (status) {
    case NPK_INVALID_ARGUMENT:
    case NPK_NOT_FOUND:
    case NPK_UNSUPPORTED:
    case NPK_DATA_CORRUPT:
    case NPK_UNWRITABLE:
      return kExitBadInput;
    default:
      return kExitFailed;
  }
}

namespace {

Error ToError(const npukit::Error& error) {
  return {ExitCode(error.code()), error.message(), false};
}

Kind ToKind(npk_kind kind) {
  switch (kind) {
    case NPK_ASSUMED:
      return Kind::kAssumed;
    case NPK_MODELLED:
      return Kind::kModelled;
    case NPK_MEASURED:
      return Kind::kMeasured;
  }
  return Kind::kNone;
}

class SessionNetwork : public Network {
 public:
  SessionNetwork(npukit::Session session, std::string input, std::string output)
      : session_(std::move(session)), input_(std::move(input)), output_(std::move(output)) {}

  std::vector<std::vector<std::int64_t>> Shapes() const override {
    std::vector<std::vector<std::int64_t>> shapes;
    for (std::size_t p = 0; p < session_.program_count(); ++p) {
      const npukit::Expected<npukit::TensorDesc> input = session_.program_input(p, 0);
      if (!input) continue;
      // A size chosen at run time: any shape will do.
      if (std::ranges::any_of(input->dims, [](std::int64_t d) { return d < 0; })) return {};
      if (std::ranges::find(shapes, input->dims) == shapes.end()) shapes.push_back(input->dims);
    }
    return shapes;
  }

  Result<Answer> Run(const Array& input) override {
    npukit::Expected<npukit::Request> request = session_.NewRequest();
    if (!request) return ToError(request.error());
    const std::span<const std::int64_t> shape(input.shape);
    if (auto e = request->BindInput(input_.c_str(), input.data, shape)) return ToError(e);
    if (auto e = request->Run()) return ToError(e);
    const npukit::Expected<npukit::TensorView<float>> output =
        request->Output<float>(output_.c_str());
    if (!output) return ToError(output.error());
    const npukit::Expected<npk_account> account = request->account();
    if (!account) return ToError(account.error());

    Answer answer;
    answer.output = {output->dims, {output->data.begin(), output->data.end()}};
    answer.account = {.device = std::string(session_.device()),
                      .target = std::string(session_.target()),
                      .devices = account->devices ? account->devices : "",
                      .precision = account->precision ? account->precision : "",
                      .npu = account->units_npu,
                      .gpu = account->units_gpu,
                      .cpu = account->units_cpu,
                      .folded = account->units_folded,
                      .total = account->units_total,
                      .latency_ms = account->latency_ms,
                      .kind = ToKind(account->kind),
                      .wall_ms = account->wall_ms,
                      .energy_mj = account->energy_mj,
                      .copies = account->copies,
                      .bytes_copied = account->bytes_copied,
                      .steps = {}};
    for (std::uint32_t i = 0; i < account->steps; ++i) {
      const npukit::Expected<npk_step> step = request->step(i);
      if (!step) return ToError(step.error());
      answer.account.steps.push_back(
          {step->device ? step->device : "", step->start_ms, step->end_ms, ToKind(step->kind)});
    }
    return answer;
  }

 private:
  npukit::Session session_;
  std::string input_;
  std::string output_;
};

}  // namespace

Result<std::unique_ptr<Network>> OpenPackage(const std::string& package, const std::string& device,
                                             int threads) {
  npukit::Expected<npukit::Session> session =
      npukit::Session::Open(package, {.device = device, .threads = threads});
  if (!session) return ToError(session.error());
  if (session->input_count() != 1 || session->output_count() != 1) {
    return BadInput(package + ": has " + std::to_string(session->input_count()) + " inputs and " +
                    std::to_string(session->output_count()) +
                    " outputs, expected one of each; is this the right network?");
  }
  const npukit::Expected<npukit::TensorDesc> input = session->input(0);
  if (!input) return ToError(input.error());
  const npukit::Expected<npukit::TensorDesc> output = session->output(0);
  if (!output) return ToError(output.error());
  if (input->dtype != NPK_F32 || output->dtype != NPK_F32) {
    return BadInput(package + ": its input and output must be float32; is this the right network?");
  }
  std::string input_name(input->name);
  std::string output_name(output->name);
  return std::unique_ptr<Network>(std::make_unique<SessionNetwork>(
      std::move(*session), std::move(input_name), std::move(output_name)));
}

}  // namespace ocr
