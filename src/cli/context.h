// What a verb works with: the devices put together, where words go, and how long it has taken. JSON
// and text go to stdout, everything else to stderr.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "lab/verbs.h"
#include "report/html/pages.h"
#include "report/trace.h"

namespace npukit::cli {

// Exit codes: a contract.
inline constexpr int kFine = 0;
inline constexpr int kFindings = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kFailed = 3;

int ExitCode(const Status& status);

class Context {
 public:
  Context(const Options& options, std::string_view verb);

  const lab::Kit& kit() const { return kit_; }
  // Prints "npukit: message" on stderr; gives the exit code.
  int Fail(const Status& status) const;
  // One record to stdout, as JSON or text, then its report and trace if they are asked for; gives
  // `code`, or that of what could not be written.
  template <class Record>
  int Print(const Record& record, int code) const {
    const int printed = Write(options_.json ? ToJson(record) + "\n" : ToText(record), code);
    if (printed != code) return printed;
    if constexpr (requires { report::html::ToPage(record); }) {
      if (!options_.report_folder.empty()) code = WriteReport(report::html::ToPage(record), code);
    }
    if constexpr (requires { report::ToTrace(record); }) {
      if (!options_.trace.empty()) code = WriteTrace(report::ToTrace(record), code);
    }
    return code;
  }
  // A report or a trace shows what every queue did: verbs that model a run keep it then.
  bool wants_spans() const { return !options_.report_folder.empty() || !options_.trace.empty(); }

  // The same for a record that says what is off the NPU: then on stderr too, and kFindings.
  template <class Record>
  int PrintStrict(const Record& record) const {
    if (!record.off_npu.empty()) Say(record.off_npu);
    return Print(record, record.off_npu.empty() ? kFine : kFindings);
  }

  // What most verbs need of their options; the message names the flag. Places of reports and traces
  // that cannot be written are refused here, before the work.
  Result<lab::ModelOptions> ModelOptionsOf()
      const;                                     // -t, -d, --set, --shape, --strict-npu, --allow
  Result<lab::RunOptions> RunOptionsOf() const;  // inputs, outputs, threads

 private:
  void Say(const std::string& line) const;
  int Write(const std::string& text, int code) const;

  Status TryPlaces() const;
  std::string ReportPath() const;
  int WriteReport(const report::html::Page& page, int code) const;
  int WriteTrace(const std::string& trace, int code) const;

  const Options& options_;
  const std::string verb_;
  lab::Kit kit_;
  const Progress::Level level_;
  Progress progress_;
};

}  // namespace npukit::cli
