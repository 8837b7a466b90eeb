#include "base/status.h"

#include <cstdio>
#include <cstdlib>

namespace npukit {

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "npukit bug: %s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kNotFound:
      return "not found";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kDataCorrupt:
      return "data corrupt";
    case Code::kResourceExhausted:
      return "resource exhausted";
    case Code::kOutOfMemory:
      return "out of memory";
    case Code::kIo:
      return "i/o error";
    case Code::kUnwritable:
      return "unwritable";
    case Code::kDeviceLost:
      return "device lost";
    case Code::kCancelled:
      return "cancelled";
    case Code::kDeadlineExceeded:
      return "deadline exceeded";
    case Code::kInternal:
      return "internal error";
  }
  return "unknown";
}

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) rep_ = std::make_shared<const Rep>(Rep{code, std::move(message)});
}

const std::string& Status::message() const {
  static const std::string& empty = *new std::string;  // leaked on purpose: no destructor at exit
  return rep_ ? rep_->message : empty;
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  std::string m(context);
  m += ": ";
  m += rep_->message;
  return Status(rep_->code, std::move(m));
}

}  // namespace npukit
