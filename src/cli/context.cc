#include "cli/context.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <span>

#include "base/text.h"
#include "devices/all_lower/all_lower.h"
#include "devices/all_run/all_run.h"
#include "lab/shapes.h"
#include "lab/targets.h"
#include "report/print.h"

namespace npukit::cli {
namespace {

// The flags, else NPUKIT_LOG: off, error; info; debug.
Progress::Level LevelOf(const Options& options) {
  const char* log = std::getenv("NPUKIT_LOG");
  const std::string_view level = log == nullptr ? "" : log;
  if (options.verbose) return Progress::Level::kEverything;
  if (options.quiet || level == "off" || level == "error") return Progress::Level::kSilent;
  return level == "debug" ? Progress::Level::kEverything : Progress::Level::kNormal;
}

}  // namespace

int ExitCode(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
      return kFine;
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kUnsupported:
    case Code::kDataCorrupt:
    case Code::kResourceExhausted:
    case Code::kUnwritable:
      return kBadInput;
    case Code::kOutOfMemory:
    case Code::kIo:
    case Code::kDeviceLost:
    case Code::kCancelled:
    case Code::kDeadlineExceeded:
    case Code::kInternal:
      return kFailed;
  }
  return kFailed;
}

Context::Context(const Options& options, std::string_view verb)
    : options_(options), verb_(verb), level_(LevelOf(options)), progress_(RealEnv(), level_) {
  Env& env = RealEnv();
  kit_.env = &env;
  kit_.lowerings = devices::MakeLowerings();
  kit_.open_device = [](const std::string& name, const hal::OpenOptions& o) {
    return devices::OpenDevice(name, o);
  };
  kit_.measure_peaks = devices::MeasurePeaks;
  kit_.tool = report::ToolText();
  kit_.progress = [this](std::string_view what, int done, int total) {
    progress_.Set(what, done, total);
  };
  kit_.note = [this](const std::string& line) {
    if (level_ != Progress::Level::kSilent) Say(line);
  };
}

void Context::Say(const std::string& line) const {
  Put(stderr, fmt::format("npukit: {}\n", Printable(line, 4000)));
}

int Context::Fail(const Status& status) const {
  Say(status.message());
  return ExitCode(status);
}

int Context::Write(const std::string& text, int code) const {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return Fail(IoError("standard output cannot be written"));
  }
  return code;
}

Status Context::TryPlaces() const {
  if (!options_.report_folder.empty())
    NPUKIT_RETURN_IF_ERROR(
        report::html::TryReportPath(*kit_.env, options_.report_folder, ReportPath()));
  if (!options_.trace.empty())
    NPUKIT_RETURN_IF_ERROR(kit_.env->CreateFile(options_.trace).status());  // leaves nothing
  return OkStatus();
}

std::string Context::ReportPath() const {
  return report::html::ReportPath(options_.report_folder, verb_,
                                  options_.models.empty() ? "" : options_.models[0]);
}

int Context::WriteReport(const report::html::Page& page, int code) const {
  const std::string path = ReportPath();
  const Status status = report::html::WritePage(*kit_.env, path, page);
  if (!status.ok()) return Fail(status);
  if (kit_.note) kit_.note("report: " + path);
  return code;
}

int Context::WriteTrace(const std::string& trace, int code) const {
  if (trace.empty()) {
    return Fail(InvalidArgument(
        "--trace: nothing to write, for this run was not modelled; -t names a target that is"));
  }
  const Status status = WriteFile(*kit_.env, options_.trace, std::as_bytes(std::span(trace)));
  return status.ok() ? code : Fail(status);
}

Result<lab::ModelOptions> Context::ModelOptionsOf() const {
  lab::ModelOptions o;
  NPUKIT_RETURN_IF_ERROR(TryPlaces());
  if (options_.models.size() != 1) return InvalidArgument("one model at a time in this version");
  o.path = options_.models[0];
  NPUKIT_ASSIGN_OR_RETURN(o.device, runtime::DeviceSpec::Parse(options_.device));
  NPUKIT_ASSIGN_OR_RETURN(o.shapes, lab::ParseShapes(options_.shapes));
  o.strict_npu = options_.strict_npu;
  if (!options_.allow.empty()) o.allow = Split(options_.allow, ',');
  if (!options_.target.empty()) {
    NPUKIT_ASSIGN_OR_RETURN(o.profile, lab::LoadTarget(*kit_.env, options_.target, options_.set));
  } else if (!options_.set.empty()) {
    NPUKIT_ASSIGN_OR_RETURN(o.profile, lab::DefaultTarget(*kit_.env, o.path, options_.set));
  }
  NPUKIT_ASSIGN_OR_RETURN(o.host_profile, lab::LoadTarget(*kit_.env, "host", {}));
  return o;
}

Result<lab::RunOptions> Context::RunOptionsOf() const {
  lab::RunOptions o;
  NPUKIT_ASSIGN_OR_RETURN(o.inputs.files, lab::ParseInputs(options_.inputs));
  o.inputs.folder = options_.input_folder;
  o.inputs.seed = options_.seed;
  o.output_folder = options_.output_folder;
  o.precision = options_.precision;
  o.threads = options_.threads;
  o.max_iterations = options_.max_iterations;
  return o;
}

}  // namespace npukit::cli
