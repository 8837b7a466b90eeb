#include "lab/roofline.h"

#include <algorithm>
#include <map>
#include <string>

namespace npukit::lab {
namespace {

void Hold(const hal::Peaks& peaks, report::RoofLine& l) {
  const double memory = std::max(peaks.read_gbytes_per_s, peaks.copy_gbytes_per_s);
  // One GFLOP/s is 1e6 operations a millisecond; one GB/s 1e6 bytes.
  const double compute_ms = peaks.gflops > 0 ? l.flops / peaks.gflops / 1e6 : 0;
  const double memory_ms = memory > 0 ? l.bytes / memory / 1e6 : 0;
  l.bound_ms = std::max(compute_ms, memory_ms);
  if (l.bound_ms > 0) l.roof = compute_ms >= memory_ms ? "compute" : "memory";
}

// Bounds add up: a sum is held against the roofs of its steps one by one. Its roof is the one that
// most of that time is at.
struct Sum {
  report::RoofLine line = {.steps = 0};
  double compute_ms = 0;
  void Add(const report::RoofLine& l) {
    ++line.steps;
    line.ms += l.ms;
    line.p50_ms += l.p50_ms;
    line.macs += l.macs;
    line.flops += l.flops;
    line.bytes += l.bytes;
    line.bound_ms += l.bound_ms;
    if (l.roof == "compute") compute_ms += l.bound_ms;
  }
  report::RoofLine Line(double total_ms) {
    line.share = total_ms > 0 ? line.ms / total_ms : 0;
    if (line.bound_ms > 0) line.roof = 2 * compute_ms >= line.bound_ms ? "compute" : "memory";
    return line;
  }
};

}  // namespace

report::Roofline MakeRoofline(const hal::Peaks& peaks, const std::vector<TimedStep>& steps) {
  report::Roofline r;
  r.peak_gflops = peaks.gflops;
  r.read_gbytes_per_s = peaks.read_gbytes_per_s;
  r.copy_gbytes_per_s = peaks.copy_gbytes_per_s;
  std::map<std::string, Sum> kernels;
  Sum total;
  for (const TimedStep& s : steps) {
    std::vector<std::int64_t> ns = s.ns;
    std::sort(ns.begin(), ns.end());
    r.runs = ns.size();
    report::RoofLine l;
    l.name = s.info.name;
    l.op = s.info.op;
    l.kernel = s.info.kernel;
    l.shape = s.info.shape;
    l.segment = s.segment;
    l.ms = static_cast<double>(ns.front()) / 1e6;
    l.p50_ms = static_cast<double>(ns[(ns.size() - 1) / 2]) / 1e6;
    l.macs = s.info.macs;
    l.flops = 2 * s.info.macs + s.info.vector_ops;
    l.bytes = s.info.bytes;
    Hold(peaks, l);
    Sum& kernel = kernels[l.kernel];
    kernel.line.name = l.kernel;
    kernel.Add(l);
    total.Add(l);
    r.steps.push_back(std::move(l));
  }
  for (report::RoofLine& l : r.steps) l.share = total.line.ms > 0 ? l.ms / total.line.ms : 0;
  for (auto& [name, sum] : kernels) r.kernels.push_back(sum.Line(total.line.ms));
  std::stable_sort(r.kernels.begin(), r.kernels.end(),
                   [](const auto& a, const auto& b) { return a.ms > b.ms; });
  r.total = total.Line(total.line.ms);
  return r;
}

void StepTimes::Add(const runtime::Account& account) {
  std::size_t k = 0;
  for (std::size_t i = 0; i < account.steps.size(); ++i) {
    for (const runtime::StepAccount::Part& part : account.steps[i].parts) {
      if (k == steps_.size()) steps_.push_back({part.info, static_cast<int>(i), {}});
      steps_[k++].ns.push_back(part.ns);
    }
  }
}

}  // namespace npukit::lab
