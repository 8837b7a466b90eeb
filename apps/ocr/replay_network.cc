#include "replay_network.h"

#include <cstdio>
#include <system_error>

#include "files.h"

namespace ocr {
namespace {

std::string Numbered(const std::string& name, int number) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "_%04d.npy", number);
  return name + digits;
}

}  // namespace

Result<Answer> ReplayNetwork::Run(const Array&) {
  const std::filesystem::path path = folder_ / Numbered(name_, count_++);
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) {
    Error error = BadInput(
        path.string() + ": no such output to replay; --dump writes the input it is computed from");
    error.pending = true;
    return error;
  }
  Result<Array> output = ReadNpy(path);
  if (!output.ok()) return output.error();
  Answer answer;
  answer.output = std::move(output.value());
  answer.account.device = "replay";
  return answer;
}

Result<Answer> DumpNetwork::Run(const Array& input) {
  const std::string name = Numbered(name_, count_++);
  if (MaybeError error = WriteNpy(folder_ / name, input)) return *error;
  Result<Answer> answer = next_->Run(input);
  if (!answer.ok()) return answer;
  if (MaybeError error = WriteNpy(folder_ / kOutputs / name, answer.value().output)) return *error;
  return answer;
}

}  // namespace ocr
