#pragma once
// Errors are values, as everywhere in npukit. Apps see only the public headers, so this is the
// little they need of their own.
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace ocr {

inline constexpr int kExitBadInput =
    2;  // missing or malformed input, wrong usage, output that cannot be opened
inline constexpr int kExitFailed =
    3;  // failure after work began: disk full, device lost, out of memory

struct Error {
  int exit_code = kExitBadInput;
  std::string message;  // one line: what, where, expected and found, what to try
  bool pending =
      false;  // a replayed output that is not there yet: other inputs can still be dumped
};

// A value or an Error; ask ok() before value().
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

using MaybeError = std::optional<Error>;  // empty: fine

inline Error BadInput(std::string message) { return {kExitBadInput, std::move(message), false}; }
inline Error Failed(std::string message) { return {kExitFailed, std::move(message), false}; }

}  // namespace ocr
