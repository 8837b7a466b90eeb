#include "session_network.h"

#include <algorithm>
#include <cstring>

#include "npukit/runtime.h"

namespace ocr {
namespace {

struct SessionRelease {
  void operator()(npk_session* s) const { npk_session_release(s); }
};
struct RequestRelease {
  void operator()(npk_request* r) const { npk_request_release(r); }
};

// What the user can put right, and what broke while working (exit codes 2 and 3).
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

Error LastError(npk_status status) { return {ExitCode(status), npk_last_error(), false}; }

std::vector<std::int64_t> Shape(const npk_tensor_desc& desc) {
  return {desc.dims, desc.dims + desc.rank};
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
  SessionNetwork(std::unique_ptr<npk_session, SessionRelease> session, std::string input,
                 std::string output)
      : session_(std::move(session)), input_(std::move(input)), output_(std::move(output)) {}

  std::vector<std::vector<std::int64_t>> Shapes() const override {
    std::vector<std::vector<std::int64_t>> shapes;
    for (std::size_t p = 0; p < npk_session_program_count(session_.get()); ++p) {
      npk_tensor_desc desc{};
      if (npk_session_program_input(session_.get(), p, 0, &desc) != NPK_OK) continue;
      std::vector<std::int64_t> shape = Shape(desc);
      if (std::ranges::any_of(shape, [](std::int64_t d) { return d < 0; }))
        return {};  // chosen at run time
      if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(std::move(shape));
    }
    return shapes;
  }

  Result<Answer> Run(const Array& input) override {
    npk_request* raw = nullptr;
    if (npk_status s = npk_request_create(session_.get(), &raw); s != NPK_OK) return LastError(s);
    std::unique_ptr<npk_request, RequestRelease> request(raw);
    npk_status status = npk_request_bind_input(
        raw, input_.c_str(), NPK_F32, input.shape.data(), static_cast<int32_t>(input.shape.size()),
        input.data.data(), input.data.size() * sizeof(float));
    if (status == NPK_OK) status = npk_request_run(raw);
    npk_tensor_desc desc{};
    const void* data = nullptr;
    if (status == NPK_OK) status = npk_request_output(raw, output_.c_str(), &desc, &data);
    npk_account account{};
    account.struct_size = sizeof account;
    if (status == NPK_OK) status = npk_request_account(raw, &account);
    if (status != NPK_OK) return LastError(status);

    Answer answer;
    answer.output.shape = Shape(desc);
    std::size_t count = 1;
    for (std::int64_t d : answer.output.shape) count *= static_cast<std::size_t>(d);
    answer.output.data.resize(count);
    if (count > 0) std::memcpy(answer.output.data.data(), data, count * sizeof(float));
    answer.account = {.device = npk_session_device(session_.get()),
                      .target = npk_session_target(session_.get()),
                      .devices = account.devices ? account.devices : "",
                      .precision = account.precision ? account.precision : "",
                      .npu = account.units_npu,
                      .gpu = account.units_gpu,
                      .cpu = account.units_cpu,
                      .folded = account.units_folded,
                      .total = account.units_total,
                      .latency_ms = account.latency_ms,
                      .kind = ToKind(account.kind),
                      .wall_ms = account.wall_ms,
                      .energy_mj = account.energy_mj,
                      .copies = account.copies,
                      .bytes_copied = account.bytes_copied};
    return answer;
  }

 private:
  std::unique_ptr<npk_session, SessionRelease> session_;
  std::string input_;
  std::string output_;
};

}  // namespace

Result<std::unique_ptr<Network>> OpenPackage(const std::string& package, const std::string& device,
                                             int threads) {
  npk_session_options options{};
  options.struct_size = sizeof options;
  options.device = device.c_str();
  options.threads = threads;
  npk_session* raw = nullptr;
  if (npk_status s = npk_session_open(package.c_str(), &options, &raw); s != NPK_OK)
    return LastError(s);
  std::unique_ptr<npk_session, SessionRelease> session(raw);
  npk_tensor_desc input{};
  npk_tensor_desc output{};
  if (npk_session_input_count(raw) != 1 || npk_session_output_count(raw) != 1) {
    return BadInput(package + ": has " + std::to_string(npk_session_input_count(raw)) +
                    " inputs and " + std::to_string(npk_session_output_count(raw)) +
                    " outputs, expected one of each; is this the right network?");
  }
  if (npk_status s = npk_session_input(raw, 0, &input); s != NPK_OK) return LastError(s);
  if (npk_status s = npk_session_output(raw, 0, &output); s != NPK_OK) return LastError(s);
  if (input.dtype != NPK_F32 || output.dtype != NPK_F32) {
    return BadInput(package + ": its input and output must be float32; is this the right network?");
  }
  const std::string input_name = input.name;
  const std::string output_name = output.name;
  return std::unique_ptr<Network>(
      std::make_unique<SessionNetwork>(std::move(session), input_name, output_name));
}

}  // namespace ocr
