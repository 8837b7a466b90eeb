// The C API over runtime::Session: translates types, checks every pointer and size that a caller
// can get wrong, and lets nothing but values through.
#include "npukit/runtime.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "bindings/c/runtime/error.h"
#include "devices/all_run/all_run.h"
#include "runtime/session.h"

#ifndef NPUKIT_VERSION
#error "NPUKIT_VERSION comes from CMakeLists.txt"
#endif

namespace {

using npukit::Cat;
using npukit::InvalidArgument;
using npukit::Result;
using npukit::Status;
using npukit::bindings::Report;
namespace format = npukit::format;
namespace runtime = npukit::runtime;
namespace target = npukit::target;
namespace tensor = npukit::tensor;

static_assert(static_cast<int>(tensor::DType::kF32) == NPK_F32 &&
              static_cast<int>(tensor::DType::kF64) == NPK_F64);
static_assert(static_cast<int>(tensor::DType::kI8) == NPK_I8 &&
              static_cast<int>(tensor::DType::kU64) == NPK_U64);
static_assert(static_cast<int>(tensor::DType::kBool) == NPK_BOOL);
static_assert(static_cast<int>(target::Kind::kAssumed) == NPK_ASSUMED &&
              static_cast<int>(target::Kind::kModelled) == NPK_MODELLED &&
              static_cast<int>(target::Kind::kMeasured) == NPK_MEASURED);

constexpr std::size_t kAlignment = 64;  // of a package in memory: weights are used in place
constexpr double kNsPerMs = 1e6;
constexpr double kPjPerMj = 1e9;

Status Null(const char* what) { return InvalidArgument(Cat(what, " is NULL")); }

// A caller built against a later header has a larger struct. Options it sets beyond what we know
// are refused, not ignored.
Status CheckOptions(const npk_session_options& options) {
  if (options.struct_size < sizeof options) {
    return InvalidArgument(Cat("npk_session_options.struct_size: expected ", sizeof options,
                               ", found ", options.struct_size,
                               "; set it to sizeof(npk_session_options)"));
  }
  if (options.struct_size > 4096) {
    return InvalidArgument(Cat("npk_session_options.struct_size: ", options.struct_size,
                               " is no size of that struct"));
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(&options);
  for (std::size_t i = sizeof options; i < options.struct_size; ++i) {
    if (bytes[i] != 0) {
      return npukit::Unsupported(
          "npk_session_options has options that this version does not know: update npukit");
    }
  }
  return npukit::OkStatus();
}

// Fills as much of the caller's struct as both sides know.
template <class T>
Status Fill(T* out, T value) {
  if (out == nullptr) return Null("out");
  if (out->struct_size < sizeof(std::uint32_t)) {
    return InvalidArgument("struct_size is not set: set it to the struct's sizeof before the call");
  }
  const std::uint32_t size = out->struct_size;
  value.struct_size = size;
  std::memcpy(out, &value, std::min<std::size_t>(size, sizeof value));
  return npukit::OkStatus();
}

Status FillDesc(const std::string& name, const tensor::Type& type, npk_tensor_desc* out) {
  if (out == nullptr) return Null("out");
  if (!type.is_tensor() || !type.shape) {
    return npukit::Unsupported(Cat("'", npukit::Printable(name), "' is ", type.ToString(),
                                   ", not a tensor of known rank"));
  }
  if (type.shape->rank() > NPK_MAX_RANK) {
    return npukit::Unsupported(Cat("'", npukit::Printable(name), "' has rank ", type.shape->rank(),
                                   ", the limit is ", NPK_MAX_RANK));
  }
  *out = {};
  out->name = name.c_str();
  out->dtype = static_cast<npk_dtype>(type.dtype);
  out->rank = static_cast<std::int32_t>(type.shape->rank());
  for (std::size_t i = 0; i < type.shape->rank(); ++i) {
    const tensor::Dim& d = type.shape->dims[i];
    out->dims[i] = d.known() ? d.value : -1;
  }
  return npukit::OkStatus();
}

Status FillSpec(const std::vector<format::ValueSpec>& specs, std::size_t index, const char* what,
                npk_tensor_desc* out) {
  if (index >= specs.size())
    return InvalidArgument(Cat("no ", what, " ", index, "; there are ", specs.size()));
  return FillDesc(specs[index].name, specs[index].type, out);
}

}  // namespace

struct npk_session {
  std::shared_ptr<runtime::Session> session;
  std::string device;
};

struct npk_request {
  std::shared_ptr<runtime::Session> session;
  std::unique_ptr<runtime::Request> request;
};

namespace {

Status Open(Result<std::shared_ptr<const format::Package>> package,
            const npk_session_options* options, npk_session** out) {
  NPUKIT_RETURN_IF_ERROR(package.status());
  runtime::SessionOptions o;
  std::string device = "AUTO:NPU,CPU";
  if (options != nullptr) {
    NPUKIT_RETURN_IF_ERROR(CheckOptions(*options));
    if (options->device != nullptr) device = options->device;
    if (options->precision != nullptr) o.precision = options->precision;
    o.threads = options->threads;
  }
  NPUKIT_ASSIGN_OR_RETURN(o.device, runtime::DeviceSpec::Parse(device));
  NPUKIT_ASSIGN_OR_RETURN(
      std::shared_ptr<runtime::Session> session,
      runtime::Session::Open(std::move(*package), o, npukit::devices::OpenDevice));
  *out = new npk_session{session, session->device_description()};
  return npukit::OkStatus();
}

// FlatBuffers and weights want aligned bytes: a caller's package that is not (malloc gives 16) is
// copied once.
Result<std::shared_ptr<const format::Package>> FromMemory(const void* data, std::size_t bytes) {
  const std::byte* begin = static_cast<const std::byte*>(data);
  if (reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0)
    return format::Package::FromBytes({begin, bytes}, nullptr);
  NPUKIT_ASSIGN_OR_RETURN(
      auto copy, tensor::Value::Allocate(tensor::DType::kU8, {static_cast<std::int64_t>(bytes)}));
  if (bytes > 0) std::memcpy(copy.mutable_data(), data, bytes);
  auto owner = std::make_shared<tensor::Value>(std::move(copy));
  const std::span<const std::byte> view = owner->bytes();
  return format::Package::FromBytes(view, std::move(owner));
}

}  // namespace

extern "C" {

const char* npk_version(void) { return NPUKIT_VERSION; }

npk_status npk_session_open(const char* package_path, const npk_session_options* options,
                            npk_session** out) {
  if (out == nullptr) return Report(Null("out"));
  *out = nullptr;
  if (package_path == nullptr) return Report(Null("package_path"));
  return Report(Open(format::Package::Open(npukit::RealEnv(), package_path), options, out));
}

npk_status npk_session_open_memory(const void* data, size_t bytes,
                                   const npk_session_options* options, npk_session** out) {
  if (out == nullptr) return Report(Null("out"));
  *out = nullptr;
  if (data == nullptr) return Report(Null("data"));
  return Report(Open(FromMemory(data, bytes), options, out));
}

void npk_session_release(npk_session* session) { delete session; }

const char* npk_session_device(const npk_session* session) {
  return session == nullptr ? "" : session->device.c_str();
}

const char* npk_session_target(const npk_session* session) {
  return session == nullptr ? "" : session->session->head().profile.name.c_str();
}

size_t npk_session_input_count(const npk_session* session) {
  return session == nullptr ? 0 : session->session->head().inputs.size();
}

size_t npk_session_output_count(const npk_session* session) {
  return session == nullptr ? 0 : session->session->head().outputs.size();
}

npk_status npk_session_input(const npk_session* session, size_t index, npk_tensor_desc* out) {
  if (session == nullptr) return Report(Null("session"));
  return Report(FillSpec(session->session->head().inputs, index, "input", out));
}

npk_status npk_session_output(const npk_session* session, size_t index, npk_tensor_desc* out) {
  if (session == nullptr) return Report(Null("session"));
  return Report(FillSpec(session->session->head().outputs, index, "output", out));
}

size_t npk_session_program_count(const npk_session* session) {
  return session == nullptr ? 0 : session->session->programs().size();
}

npk_status npk_session_program_input(const npk_session* session, size_t program, size_t index,
                                     npk_tensor_desc* out) {
  if (session == nullptr) return Report(Null("session"));
  const std::vector<std::uint32_t>& programs = session->session->programs();
  if (program >= programs.size()) {
    return Report(InvalidArgument(Cat("no program ", program, "; there are ", programs.size())));
  }
  const format::Head& head = session->session->head();
  const std::vector<tensor::Type>& types = head.programs[programs[program]].input_types;
  if (index >= types.size())
    return Report(InvalidArgument(Cat("no input ", index, "; there are ", types.size())));
  return Report(FillDesc(head.inputs[index].name, types[index], out));
}

npk_status npk_request_create(npk_session* session, npk_request** out) {
  if (out == nullptr) return Report(Null("out"));
  *out = nullptr;
  if (session == nullptr) return Report(Null("session"));
  auto request = session->session->NewRequest();
  if (!request.ok()) return Report(request.status());
  *out = new npk_request{session->session, std::move(*request)};
  return NPK_OK;
}

void npk_request_release(npk_request* request) { delete request; }

npk_status npk_request_bind_input(npk_request* request, const char* name, npk_dtype dtype,
                                  const int64_t* dims, int32_t rank, const void* data,
                                  size_t bytes) {
  if (request == nullptr) return Report(Null("request"));
  if (name == nullptr) return Report(Null("name"));
  if (rank < 0 || rank > NPK_MAX_RANK) {
    return Report(InvalidArgument(Cat("rank: expected 0 to ", NPK_MAX_RANK, ", found ", rank)));
  }
  if (dims == nullptr && rank > 0) return Report(Null("dims"));
  int type = 0;  // read as a number: a C caller may pass one that is no npk_dtype
  static_assert(sizeof type == sizeof dtype);
  std::memcpy(&type, &dtype, sizeof type);
  if (type < 0 || type >= tensor::kDTypeCount)
    return Report(InvalidArgument(Cat("no element type ", type)));
  const tensor::Dims d = rank == 0 ? tensor::Dims() : tensor::Dims(dims, dims + rank);
  return Report(
      request->request->BindInput(name, static_cast<tensor::DType>(type), d, data, bytes));
}

npk_status npk_request_bind_output(npk_request* request, const char* name, void* data,
                                   size_t bytes) {
  if (request == nullptr) return Report(Null("request"));
  if (name == nullptr) return Report(Null("name"));
  return Report(request->request->BindOutput(name, data, bytes));
}

npk_status npk_request_submit(npk_request* request) {
  return Report(request == nullptr ? Null("request") : request->request->Submit());
}

npk_status npk_request_wait(npk_request* request) {
  return Report(request == nullptr ? Null("request") : request->request->Wait());
}

npk_status npk_request_run(npk_request* request) {
  return Report(request == nullptr ? Null("request") : request->request->Run());
}

void npk_request_cancel(npk_request* request) {
  if (request != nullptr) request->request->Cancel();
}

npk_status npk_request_output(npk_request* request, const char* name, npk_tensor_desc* desc,
                              const void** data) {
  if (request == nullptr) return Report(Null("request"));
  if (name == nullptr) return Report(Null("name"));
  auto value = request->request->Output(name);
  if (!value.ok()) return Report(value.status());
  if (desc != nullptr) {
    for (const format::ValueSpec& spec : request->session->head().outputs) {
      if (spec.name != name) continue;
      if (Status s = FillDesc(spec.name, value->type(), desc); !s.ok()) return Report(s);
    }
  }
  if (data != nullptr) *data = value->data();
  return NPK_OK;
}

npk_status npk_request_account(npk_request* request, npk_account* out) {
  if (request == nullptr) return Report(Null("request"));
  if (auto done = request->request->Completed(); !done.ok()) return Report(done);
  const runtime::Account& a = request->request->account();
  npk_account c = {};
  c.program = a.program;
  c.devices = a.devices.c_str();
  c.precision = a.precision.c_str();
  c.units_npu = a.compute_units.npu;
  c.units_gpu = a.compute_units.gpu;
  c.units_cpu = a.compute_units.cpu;
  c.units_folded = a.compute_units.folded;
  c.units_total = a.compute_units.total;
  c.latency_ms = a.latency_ns / kNsPerMs;
  c.kind = static_cast<npk_kind>(a.kind);
  c.wall_ms = a.wall_ns / kNsPerMs;
  c.energy_mj = a.energy_pj ? *a.energy_pj / kPjPerMj : -1;
  c.copies = a.copies;
  c.bytes_copied = a.bytes_copied;
  c.steps = static_cast<std::uint32_t>(a.steps.size());
  return Report(Fill(out, c));
}

npk_status npk_request_step(npk_request* request, uint32_t index, npk_step* out) {
  if (request == nullptr) return Report(Null("request"));
  if (auto done = request->request->Completed(); !done.ok()) return Report(done);
  const std::vector<runtime::StepAccount>& steps = request->request->account().steps;
  if (index >= steps.size())
    return Report(InvalidArgument(Cat("no step ", index, "; there are ", steps.size())));
  const runtime::StepAccount& s = steps[index];
  npk_step c = {};
  c.device = s.device.c_str();
  c.start_ms = static_cast<double>(s.start_ns) / kNsPerMs;
  c.end_ms = static_cast<double>(s.end_ns) / kNsPerMs;
  c.kind = static_cast<npk_kind>(s.kind);
  c.energy_mj = s.energy_pj ? *s.energy_pj / kPjPerMj : -1;
  return Report(Fill(out, c));
}

}  // extern "C"
