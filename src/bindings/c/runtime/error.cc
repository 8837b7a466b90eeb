#include "bindings/c/runtime/error.h"

#include <string>

namespace npukit::bindings {
namespace {

std::string& LastError() {
  static thread_local std::string message;
  return message;
}

constexpr npk_status ToC(Code code) { return static_cast<npk_status>(code); }

// The header promises the numbers; the first and the last pin the order of what lies between.
static_assert(ToC(Code::kOk) == NPK_OK && ToC(Code::kInvalidArgument) == NPK_INVALID_ARGUMENT);
static_assert(ToC(Code::kNotFound) == NPK_NOT_FOUND && ToC(Code::kUnsupported) == NPK_UNSUPPORTED);
static_assert(ToC(Code::kDataCorrupt) == NPK_DATA_CORRUPT);
static_assert(ToC(Code::kResourceExhausted) == NPK_RESOURCE_EXHAUSTED &&
              ToC(Code::kOutOfMemory) == NPK_OUT_OF_MEMORY);
static_assert(ToC(Code::kIo) == NPK_IO && ToC(Code::kUnwritable) == NPK_UNWRITABLE);
static_assert(ToC(Code::kDeviceLost) == NPK_DEVICE_LOST && ToC(Code::kCancelled) == NPK_CANCELLED);
static_assert(ToC(Code::kDeadlineExceeded) == NPK_DEADLINE_EXCEEDED &&
              ToC(Code::kInternal) == NPK_INTERNAL);

}  // namespace

npk_status Report(const Status& status) {
  if (!status.ok()) LastError() = status.message();
  return ToC(status.code());
}

}  // namespace npukit::bindings

extern "C" const char* npk_last_error(void) { return npukit::bindings::LastError().c_str(); }
