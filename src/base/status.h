// Errors are values. A function that can fail returns Status, or Result<T> when it has an answer.
//
// A message has four parts where they apply: what failed, where (file, node, field), expected and
// found, what to try. It is one line: the command line prints it as it is. "The NPU cannot do this"
// is not an error but a target::Verdict. Both types are cheap to move, safe to copy, and may cross
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

namespace npukit {

// What the caller should do about it, not where it came from.
enum class Code : std::uint8_t {
  kOk = 0,
  kInvalidArgument,    // the caller's words are wrong (name, type, shape, flag): mend the call
  kNotFound,           // no such file, device, program or target: look at what there is
  kUnsupported,        // well formed, but this build or device cannot do it: choose another way
  kDataCorrupt,        // a file is not what it says it is: get it again
  kResourceExhausted,  // a stated limit was reached (sizes, depth, steps): raise the limit or
                       // shrink the input
  kOutOfMemory,        // the system refused memory: free some, retry
  kIo,          // reading or writing failed after it began (disk full, read error): retry elsewhere
  kUnwritable,  // an output cannot be opened: choose another place
  kDeviceLost,  // the device stopped answering: reopen it, or take another
  kCancelled,   // somebody asked to stop
  kDeadlineExceeded,  // the deadline passed first
  kInternal,          // our bug: report it
};

std::string_view CodeName(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(Code code, std::string message);

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  const std::string& message() const;
  // Puts `context` and ": " in front of the message; the code stays. An ok status stays ok.
  Status WithContext(std::string_view context) const;

 private:
  struct Rep {
    Code code;
    std::string message;
  };
  std::shared_ptr<const Rep> rep_;
};

inline Status OkStatus() { return Status(); }
inline Status InvalidArgument(std::string m) {
  return Status(Code::kInvalidArgument, std::move(m));
}
inline Status NotFound(std::string m) { return Status(Code::kNotFound, std::move(m)); }
inline Status Unsupported(std::string m) { return Status(Code::kUnsupported, std::move(m)); }
inline Status DataCorrupt(std::string m) { return Status(Code::kDataCorrupt, std::move(m)); }
inline Status ResourceExhausted(std::string m) {
  return Status(Code::kResourceExhausted, std::move(m));
}
inline Status IoError(std::string m) { return Status(Code::kIo, std::move(m)); }
inline Status Internal(std::string m) { return Status(Code::kInternal, std::move(m)); }

// Either a T or the Status that says why there is none. Dereferencing without ok() is our bug and
// aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::in_place_index<1>, std::move(value)) {}  // NOLINT: implicit by design
  Result(Status status)
      : v_(std::in_place_index<0>, std::move(status)) {  // NOLINT: implicit by design
    NPUKIT_CHECK(!std::get<0>(v_).ok());
  }
  bool ok() const { return v_.index() == 1; }
  Status status() const { return ok() ? Status() : std::get<0>(v_); }
  T& value() & {
    NPUKIT_CHECK(ok());
    return std::get<1>(v_);
  }
  const T& value() const& {
    NPUKIT_CHECK(ok());
    return std::get<1>(v_);
  }
  T&& value() && {
    NPUKIT_CHECK(ok());
    return std::get<1>(std::move(v_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<Status, T> v_;
};

}  // namespace npukit

#define NPUKIT_CONCAT_(a, b) a##b
#define NPUKIT_CONCAT(a, b) NPUKIT_CONCAT_(a, b)
#define NPUKIT_RETURN_IF_ERROR(expr)                 \
  do {                                               \
    ::npukit::Status npukit_status_ = (expr);        \
    if (!npukit_status_.ok()) return npukit_status_; \
  } while (false)
// NPUKIT_ASSIGN_OR_RETURN(auto x, F()); declares or assigns the left side, or returns the error.
#define NPUKIT_ASSIGN_OR_RETURN(lhs, expr) \
  NPUKIT_ASSIGN_OR_RETURN_(NPUKIT_CONCAT(npukit_result_, __LINE__), lhs, expr)
#define NPUKIT_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return tmp.status();            \
  lhs = std::move(tmp).value()
