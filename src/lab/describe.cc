#include "lab/describe.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "compile/compile.h"
#include "report/print.h"

namespace npukit::lab {

report::Target TargetOf(const target::Profile& profile) {
  report::Target t{profile.name, profile.overrides, {}};
  for (const auto& [key, fact] : profile.facts) {
    const target::FactDef* def = target::FindFactDef(key);
    t.facts.push_back({key, fact.value, def ? std::string(def->unit) : "",
                       std::string(target::SourceName(fact.source)), fact.ref, fact.date,
                       def ? std::string(def->summary) : ""});
  }
  return t;
}

report::Shapes ShapesOf(const format::Head& head, const format::Program& program) {
  report::Shapes shapes;
  for (std::size_t i = 0; i < head.inputs.size() && i < program.input_types.size(); ++i) {
    tensor::Dims dims;  // -1: open
    if (const tensor::Type& t = program.input_types[i]; t.is_tensor() && t.shape) {
      for (const tensor::Dim& d : t.shape->dims) dims.push_back(d.known() ? d.value : -1);
    }
    shapes.emplace_back(head.inputs[i].name, std::move(dims));
  }
  return shapes;
}

report::Program Describe(const format::Head& head, const format::Program& program) {
  report::Program p;
  p.devices = program.devices;
  p.precision = program.precision;
  p.shapes = ShapesOf(head, program);
  p.segments = program.segment_devices;
  p.estimate = {program.estimate.time_ns / 1e6, "ms", program.estimate.kind};
  p.arena_bytes = program.arena_bytes;
  p.compute_units = program.compute_units;
  std::set<std::uint32_t> weights, blobs;
  for (const format::ExecutableInfo& e : program.executables) {
    weights.insert(e.weights.begin(), e.weights.end());
    blobs.insert(e.blob_segment);
  }
  for (std::uint32_t w : weights) p.bytes += head.weights[w].length;
  for (std::uint32_t b : blobs) p.bytes += head.segments[b].length;
  return p;
}

std::vector<report::Program> DescribeAll(const format::Head& head) {
  std::vector<report::Program> programs;
  for (const format::Program& p : head.programs) programs.push_back(Describe(head, p));
  return programs;
}

std::string ProgramKey(const format::Head& head, const format::Program& program) {
  return Cat(program.devices, " ", program.precision, " ",
             report::ShapesText(ShapesOf(head, program)));
}

std::optional<report::PlanCache> PlanCacheOf(const runtime::Account& account) {
  const auto& c = account.plan_cache;
  if (c.max_plans == 0) return std::nullopt;
  return report::PlanCache{c.plans, c.hits, c.misses, c.max_plans};
}

std::string OffNpu(const format::Program& program, const std::vector<std::string>& allow) {
  const target::Verdict* v = compile::FirstOffNpu(program.verdicts, allow);
  if (v == nullptr) return "";
  return Cat("--strict-npu: ", Printable(v->from.empty() ? v->op : v->from.front()), " (",
             Printable(v->op), ") runs on ", v->placed_on, v->reason.empty() ? "" : ": ",
             v->reason);
}

WeightBytes CountWeights(const format::Head& head) {
  std::vector<int> users(head.weights.size(), 0);
  for (const format::Program& p : head.programs) {
    for (const format::ExecutableInfo& e : p.executables) {
      for (std::uint32_t w : std::set<std::uint32_t>(e.weights.begin(), e.weights.end()))
        ++users[w];
    }
  }
  WeightBytes bytes;
  for (std::size_t w = 0; w < users.size(); ++w)
    (users[w] > 1 ? bytes.shared : bytes.own) += head.weights[w].length;
  return bytes;
}

}  // namespace npukit::lab
