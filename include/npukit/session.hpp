// npukit in C++20: classes over runtime.h, header only. A model opened, buffers bound without
// copying, runs waited for.
//
//   auto session = npukit::Session::Open("det.npk", {.device = "AUTO:NPU,CPU"});
//   if (!session) return Fail(session.error().message());
//   auto request = session->NewRequest();
//   if (!request) return Fail(request.error().message());
//   std::vector<float> image(3 * 736 * 736);
//   if (auto e = request->BindInput("x", image, {1, 3, 736, 736})) return Fail(e.message());
//   if (auto e = request->Run()) return Fail(e.message());
//   auto map = request->Output<float>("map");      // read in place, until the next Submit
//
// Ownership: a Request keeps what it needs of its Session; bound memory is the caller's and must
// live until the run is over. Threads: a Session may be used by any number of threads, a Request by
// one at a time (Cancel from any). Errors are values: an Error is true when something failed, an
// Expected<T> is true when there is a T. No exceptions.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "npukit/runtime.h"

namespace npukit {

// What failed, and one line for the user. Default: nothing failed.
class [[nodiscard]] Error {
 public:
  Error() = default;
  // From a status just returned on this thread.
  static Error Of(npk_status status) {
    Error e;
    e.code_ = status;
    if (status != NPK_OK) e.message_ = npk_last_error();
    return e;
  }
  static Error InvalidArgument(std::string message) {
    Error e;
    e.code_ = NPK_INVALID_ARGUMENT;
    e.message_ = std::move(message);
    return e;
  }
  explicit operator bool() const { return code_ != NPK_OK; }
  npk_status code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  npk_status code_ = NPK_OK;
  std::string message_;
};

// A T, or the Error that says why there is none. Asking for the one that is not there ends the
// program.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : v_(std::in_place_index<1>, std::move(value)) {}  // NOLINT: implicit by design
  Expected(Error error)
      : v_(std::in_place_index<0>, std::move(error)) {}  // NOLINT: implicit by design
  explicit operator bool() const { return v_.index() == 1; }
  T& operator*() & { return Get(); }
  T&& operator*() && { return std::move(Get()); }
  T* operator->() { return &Get(); }
  const T& operator*() const& { return const_cast<Expected*>(this)->Get(); }
  const T* operator->() const { return &const_cast<Expected*>(this)->Get(); }
  const Error& error() const {
    if (v_.index() != 0) std::abort();
    return *std::get_if<0>(&v_);
  }

 private:
  T& Get() {
    if (v_.index() != 1) std::abort();
    return *std::get_if<1>(&v_);
  }
  std::variant<Error, T> v_;
};

// fp16 as its bits.
struct Half {
  std::uint16_t bits = 0;
};

// The element type of a C++ type; does not compile for others.
template <class T>
constexpr npk_dtype DTypeOf() {
  if constexpr (std::same_as<T, float>)
    return NPK_F32;
  else if constexpr (std::same_as<T, double>)
    return NPK_F64;
  else if constexpr (std::same_as<T, Half>)
    return NPK_F16;
  else if constexpr (std::same_as<T, bool>)
    return NPK_BOOL;
  else if constexpr (std::integral<T> && sizeof(T) == 1)
    return std::signed_integral<T> ? NPK_I8 : NPK_U8;
  else if constexpr (std::integral<T> && sizeof(T) == 2)
    return std::signed_integral<T> ? NPK_I16 : NPK_U16;
  else if constexpr (std::integral<T> && sizeof(T) == 4)
    return std::signed_integral<T> ? NPK_I32 : NPK_U32;
  else if constexpr (std::integral<T> && sizeof(T) == 8)
    return std::signed_integral<T> ? NPK_I64 : NPK_U64;
  else
    static_assert(!sizeof(T), "no npk_dtype for this type");
}

// A tensor of a model: `name` belongs to the session. A size of -1 is chosen at run time.
struct TensorDesc {
  std::string_view name;
  npk_dtype dtype = NPK_F32;
  std::vector<std::int64_t> dims;
};

// An output, read in place.
template <class T>
struct TensorView {
  std::span<const T> data;
  std::vector<std::int64_t> dims;
};

class Request {
 public:
  // `data`: a contiguous range of lasting memory (a vector, an array, a span; no temporary
  // container).
  template <std::ranges::contiguous_range R>
    requires(std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>)
  Error BindInput(const char* name, R&& data, std::span<const std::int64_t> dims) {
    using T = std::ranges::range_value_t<R>;
    return Error::Of(npk_request_bind_input(
        handle_.get(), name, DTypeOf<T>(), dims.data(), static_cast<std::int32_t>(dims.size()),
        std::ranges::data(data), std::ranges::size(data) * sizeof(T)));
  }
  template <std::ranges::contiguous_range R>
    requires(std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>)
  Error BindInput(const char* name, R&& data, std::initializer_list<std::int64_t> dims) {
    return BindInput(name, std::forward<R>(data),
                     std::span<const std::int64_t>(dims.begin(), dims.size()));
  }
  // An output left unbound lies in the request's own memory.
  template <std::ranges::contiguous_range R>
    requires(std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>)
  Error BindOutput(const char* name, R&& data) {
    using T = std::ranges::range_value_t<R>;
    static_assert(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>,
                  "an output is written");
    return Error::Of(npk_request_bind_output(handle_.get(), name, std::ranges::data(data),
                                             std::ranges::size(data) * sizeof(T)));
  }
  Error Submit() { return Error::Of(npk_request_submit(handle_.get())); }  // returns at once
  Error Wait() { return Error::Of(npk_request_wait(handle_.get())); }
  Error Run() { return Error::Of(npk_request_run(handle_.get())); }
  void Cancel() { npk_request_cancel(handle_.get()); }

  template <class T>
  Expected<TensorView<T>> Output(const char* name) {
    npk_tensor_desc desc = {};
    const void* data = nullptr;
    if (auto e = Error::Of(npk_request_output(handle_.get(), name, &desc, &data))) return e;
    if (desc.dtype != DTypeOf<T>()) {
      return Error::InvalidArgument("output '" + std::string(name) + "' has element type " +
                                    std::to_string(desc.dtype) + ", asked for " +
                                    std::to_string(DTypeOf<T>()));
    }
    TensorView<T> view;
    view.dims.assign(desc.dims, desc.dims + desc.rank);
    std::size_t count = 1;
    for (const std::int64_t d : view.dims) count *= static_cast<std::size_t>(d);
    view.data = {static_cast<const T*>(data), count};
    return view;
  }
  Expected<npk_account> account() {
    npk_account a = {};
    a.struct_size = sizeof a;
    if (auto e = Error::Of(npk_request_account(handle_.get(), &a))) return e;
    return a;
  }
  Expected<npk_step> step(std::uint32_t index) {
    npk_step s = {};
    s.struct_size = sizeof s;
    if (auto e = Error::Of(npk_request_step(handle_.get(), index, &s))) return e;
    return s;
  }

 private:
  friend class Session;
  struct Release {
    void operator()(npk_request* r) const { npk_request_release(r); }
  };
  explicit Request(npk_request* handle) : handle_(handle) {}
  std::unique_ptr<npk_request, Release> handle_;
};

class Session {
 public:
  struct Options {
    std::string device = "AUTO:NPU,CPU";
    std::string precision = {};  // empty: any
    int threads = 0;             // 0: NPUKIT_THREADS, else the machine's cores
  };
  static Expected<Session> Open(const std::string& package_path) {
    return Open(package_path, Options());
  }
  static Expected<Session> Open(const std::string& package_path, const Options& options) {
    const npk_session_options o = ToC(options);
    npk_session* handle = nullptr;
    if (auto e = Error::Of(npk_session_open(package_path.c_str(), &o, &handle))) return e;
    return Session(handle);
  }
  // `package` must outlive the session and its requests.
  static Expected<Session> OpenMemory(std::span<const std::byte> package, const Options& options) {
    const npk_session_options o = ToC(options);
    npk_session* handle = nullptr;
    if (auto e = Error::Of(npk_session_open_memory(package.data(), package.size(), &o, &handle)))
      return e;
    return Session(handle);
  }

  std::string_view device() const {
    return npk_session_device(handle_.get());
  }  // "NPU (simulated kirin9030), CPU avx2"
  std::string_view target() const { return npk_session_target(handle_.get()); }
  std::size_t input_count() const { return npk_session_input_count(handle_.get()); }
  std::size_t output_count() const { return npk_session_output_count(handle_.get()); }
  std::size_t program_count() const { return npk_session_program_count(handle_.get()); }
  Expected<TensorDesc> input(std::size_t i) const {
    npk_tensor_desc d = {};
    return Desc(npk_session_input(handle_.get(), i, &d), d);
  }
  Expected<TensorDesc> output(std::size_t i) const {
    npk_tensor_desc d = {};
    return Desc(npk_session_output(handle_.get(), i, &d), d);
  }
  // The shape of input i in the session's program p, best program first.
  Expected<TensorDesc> program_input(std::size_t p, std::size_t i) const {
    npk_tensor_desc d = {};
    return Desc(npk_session_program_input(handle_.get(), p, i, &d), d);
  }
  Expected<Request> NewRequest() {
    npk_request* request = nullptr;
    if (auto e = Error::Of(npk_request_create(handle_.get(), &request))) return e;
    return Request(request);
  }

 private:
  struct Release {
    void operator()(npk_session* s) const { npk_session_release(s); }
  };
  explicit Session(npk_session* handle) : handle_(handle) {}
  static npk_session_options ToC(const Options& options) {
    npk_session_options o = {};
    o.struct_size = sizeof o;
    o.device = options.device.c_str();
    o.precision = options.precision.empty() ? nullptr : options.precision.c_str();
    o.threads = options.threads;
    return o;
  }
  static Expected<TensorDesc> Desc(npk_status status, const npk_tensor_desc& d) {
    if (auto e = Error::Of(status)) return e;
    return TensorDesc{d.name, d.dtype, {d.dims, d.dims + d.rank}};
  }
  std::unique_ptr<npk_session, Release> handle_;
};

}  // namespace npukit
