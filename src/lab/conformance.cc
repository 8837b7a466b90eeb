#include "lab/conformance.h"

#include <fnmatch.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "lab/child.h"

namespace npukit::lab {
namespace {

using report::CaseResult;
using report::ConformanceCase;

constexpr std::string_view kMark = "npukit-case";  // begins the line of a result
constexpr std::uint64_t kMaxListBytes = 1 << 20;

bool Matches(const std::string& glob, const std::string& name) {
  const std::string last = name.substr(name.rfind('/') + 1);
  return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0 ||
         ::fnmatch(glob.c_str(), last.c_str(), 0) == 0;
}

std::string LastLine(const std::string& text) {
  std::size_t end = text.size();
  while (end > 0 && text[end - 1] == '\n') --end;
  const std::size_t start = end == 0 ? 0 : text.rfind('\n', end - 1) + 1;
  return Printable(std::string_view(text).substr(start, end - start), 400);
}

// The line of the process, when it came to write one.
bool ReadLine(const std::string& out, ConformanceCase* record) {
  const std::size_t at = out.rfind(kMark);
  if (at == std::string::npos) return false;
  const std::string line = out.substr(at, out.find('\n', at) - at);
  const std::vector<std::string> parts = Split(line, '\t');
  if (parts.size() != 5) return false;
  for (int i = 0; i < report::kCaseResults; ++i) {
    if (parts[1] == report::CaseResultName(static_cast<CaseResult>(i)))
      record->result = static_cast<CaseResult>(i);
  }
  record->wrong_values = parts[2] == "wrong";
  record->judged_by = parts[3];
  record->reason = parts[4];
  return true;
}

ConformanceCase RunApart(const Kit& kit, const CaseFiles& files,
                         const ConformanceOptions& options) {
  ConformanceCase record;
  record.name = files.name;
  std::vector<std::string> words = options.worker;
  words.push_back(files.model);
  const std::int64_t start = kit.env->NowNs();
  const auto end = RunSelf(words, static_cast<std::int64_t>(options.timeout_s * 1000));
  record.seconds = static_cast<double>(kit.env->NowNs() - start) / 1e9;
  if (!end.ok()) {
    record.result = CaseResult::kFail;
    record.reason = end.status().message();
  } else if (end->timed_out) {
    record.result = CaseResult::kHang;
    record.reason = Cat("no end after ", options.timeout_s, " s");
  } else if (end->signal != 0) {
    record.result = CaseResult::kCrash;
    const char* name = ::strsignal(end->signal);
    record.reason = Cat(name == nullptr ? "a signal" : name, ": ", LastLine(end->err));
  } else if (!ReadLine(end->out, &record)) {
    // The command line ends with 3 when there is no memory; a sanitizer ends otherwise.
    record.result = end->exit_code == 3 ? CaseResult::kFail : CaseResult::kCrash;
    record.reason = Cat("exit status ", end->exit_code, ": ", LastLine(end->err));
  }
  return record;
}

using Listed = std::map<std::string, std::string>;  // case: why it does not pass

Result<Listed> ReadList(Env& env, const std::string& path) {
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, env.ReadFile(path, kMaxListBytes));
  Listed listed;
  int number = 0;
  for (const std::string& line :
       Split({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, '\n')) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::size_t gap = line.find_first_of(" \t");
    const std::size_t why = gap == std::string::npos ? gap : line.find_first_not_of(" \t", gap);
    if (gap == 0 || why == std::string::npos)
      return InvalidArgument(Cat(Printable(path, 400), ":", number,
                                 ": expected a case's name, then why it does not pass"));
    if (!listed.emplace(line.substr(0, gap), line.substr(why)).second)
      return InvalidArgument(Cat(Printable(path, 400), ":", number, ": ",
                                 Printable(line.substr(0, gap)), " is listed twice"));
  }
  return listed;
}

// A name in the list is a case's whole name or its last part.
void Expect(const Listed& listed, bool all, report::Conformance* r) {
  std::map<std::string, bool> met;
  for (const auto& [name, why] : listed) met[name] = false;
  for (const ConformanceCase& c : r->cases) {
    auto at = met.find(c.name);
    if (at == met.end()) at = met.find(c.name.substr(c.name.rfind('/') + 1));
    const bool is_listed = at != met.end();
    if (is_listed) at->second = true;
    if (is_listed) ++r->listed;
    if (is_listed && c.result == CaseResult::kPass)
      r->unexpected.push_back({c.name, "passes now: take it off the list"});
    if (!is_listed && c.result != CaseResult::kPass)
      r->unexpected.push_back({c.name, Cat(report::CaseResultName(c.result), ": ", c.reason)});
  }
  for (const auto& [name, found] : met) {
    if (all && !found) r->unexpected.push_back({name, "is listed, and there is no such case"});
  }
}

}  // namespace

std::string WorkerLine(const ConformanceCase& c) {
  // Reasons are of one line and without tabs.
  return Cat(kMark, "\t", report::CaseResultName(c.result), "\t", c.wrong_values ? "wrong" : "-",
             "\t", c.judged_by, "\t", Printable(c.reason, 2000), "\n");
}

Result<report::Conformance> RunConformance(const Kit& kit, const ConformanceOptions& options) {
  Listed listed;
  if (!options.expect.empty()) {
    NPUKIT_ASSIGN_OR_RETURN(listed, ReadList(*kit.env, options.expect));
  }
  NPUKIT_ASSIGN_OR_RETURN(std::vector<CaseFiles> cases, FindCases(options.data_folder));
  if (!options.only.empty()) {
    std::erase_if(cases, [&](const CaseFiles& c) { return !Matches(options.only, c.name); });
    if (cases.empty())
      return NotFound(Cat("--only ", Printable(options.only), ": no case has such a name"));
  }
  report::Conformance r;
  r.data = options.data_folder;
  r.expect = options.expect;
  r.cases.resize(cases.size());
  const std::int64_t start = kit.env->NowNs();
  std::atomic<std::size_t> next{0}, done{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      r.cases[i] = RunApart(kit, cases[i], options);
      ++done;
      if (kit.progress)
        kit.progress("cases", static_cast<int>(done.load()), static_cast<int>(cases.size()));
    }
  };
  const int jobs = options.jobs > 0
                       ? options.jobs
                       : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  r.seconds = static_cast<double>(kit.env->NowNs() - start) / 1e9;
  if (!options.expect.empty()) Expect(listed, options.only.empty(), &r);
  return r;
}

}  // namespace npukit::lab
