#include "report/json_base.h"

namespace npukit::report {
namespace {

Json OrNull(const std::string& s) { return s.empty() ? Json(nullptr) : Json(s); }

// A limit is a number where it reads as one.
Json NumberOrText(const std::string& s) {
  if (s.empty()) return nullptr;
  char* end = nullptr;
  const double d = std::strtod(s.c_str(), &end);
  if (*end != '\0') return s;
  if (d == static_cast<double>(static_cast<std::int64_t>(d))) return static_cast<std::int64_t>(d);
  return d;
}

// Plain when it is of the record's kind.
Json FigureJson(const Figure& f, target::Kind record) {
  if (f.kind == record) return f.value;
  return {{"value", f.value}, {"unit", f.unit}, {"kind", target::KindName(f.kind)}};
}
Json FigureJson(const std::optional<Figure>& f, target::Kind record) {
  return f ? FigureJson(*f, record) : Json(nullptr);
}

Json UnitsJson(const format::ComputeUnits& u) {
  return {{"NPU", u.npu}, {"GPU", u.gpu}, {"CPU", u.cpu}, {"folded", u.folded}, {"total", u.total}};
}

Json PlanCacheJson(const std::optional<PlanCache>& c) {
  if (!c) return nullptr;
  return {{"plans", c->plans}, {"hits", c->hits}, {"misses", c->misses}, {"limit", c->limit}};
}

Json ShapesJson(const Shapes& shapes) {
  Json j = Json::object();
  for (const auto& [name, dims] : shapes) j[name] = dims;
  return j;
}

Json VerdictJson(const target::Verdict& v) {
  return {{"from", v.from},
          {"op", OrNull(v.op)},
          {"foreign_op", OrNull(v.foreign_op)},
          {"device", v.device},
          {"supported", v.supported},
          {"code", OrNull(v.code)},
          {"fact", OrNull(v.fact)},
          {"limit", NumberOrText(v.limit)},
          {"found", NumberOrText(v.found)},
          {"reason", OrNull(v.reason)},
          {"remedy", OrNull(v.remedy)},
          {"rewrite", OrNull(v.rewrite)},
          {"rewrite_result", OrNull(v.rewrite_result)},
          {"route", v.route},
          {"segment", v.segment >= 0 ? Json(v.segment) : Json(nullptr)},
          {"placed_on", OrNull(v.placed_on)}};
}

// `estimate_ms` carries its kind when that is not "modelled", which the name already says.
Json ProgramJson(const Program& p) {
  return {{"devices", p.devices},
          {"precision", p.precision},
          {"shapes", ShapesJson(p.shapes)},
          {"segments", p.segments},
          {"modelled_ms", FigureJson(p.estimate, target::Kind::kModelled)},
          {"bytes", p.bytes},
          {"arena_bytes", p.arena_bytes},
          {"compute_units", UnitsJson(p.compute_units)}};
}

Json ProgramsJson(const std::vector<Program>& programs) {
  Json j = Json::array();
  for (const Program& p : programs) j.push_back(ProgramJson(p));
  return j;
}

Json LatencyJson(const Latency& l) {
  return {{"mean", l.mean}, {"p50", l.p50}, {"p90", l.p90}, {"p95", l.p95},
          {"p99", l.p99},   {"min", l.min}, {"max", l.max}, {"std", l.std}};
}

Json TensorsJson(const std::vector<Tensor>& tensors) {
  Json j = Json::array();
  for (const Tensor& t : tensors) {
    Json one = {{"name", t.name}, {"dtype", t.dtype}, {"shape", t.shape}, {"file", OrNull(t.file)}};
    if (!t.source.empty()) one["source"] = t.source;
    j.push_back(std::move(one));
  }
  return j;
}

Json SpecsJson(const std::vector<format::ValueSpec>& specs) {
  Json j = Json::array();
  for (const format::ValueSpec& s : specs) {
    Json shape = nullptr;
    if (s.type.is_tensor() && s.type.shape) {
      shape = Json::array();
      for (const tensor::Dim& d : s.type.shape->dims) {
        shape.push_back(d.known()          ? Json(d.value)
                        : d.symbol.empty() ? Json(nullptr)
                                           : Json(d.symbol));
      }
    }
    j.push_back({{"name", s.name},
                 {"type", s.type.ToString()},
                 {"dtype", tensor::DTypeName(s.type.dtype)},
                 {"shape", shape}});
  }
  return j;
}

Json OpsJson(const std::vector<OpRow>& ops) {
  Json j = Json::array();
  for (const OpRow& o : ops) {
    j.push_back({{"name", o.name},
                 {"kind", o.kind},
                 {"device", o.device},
                 {"segment", o.segment},
                 {"start_ms", o.start_ms},
                 {"ms", o.ms},
                 {"share", o.share},
                 {"bound_ms", o.bound_ms},
                 {"utilisation", o.utilisation},
                 {"macs", o.macs},
                 {"dram_bytes", o.dram_bytes},
                 {"energy_mj", o.energy_mj}});
  }
  return j;
}

Json VerdictsJson(const std::vector<target::Verdict>& verdicts) {
  Json j = Json::array();
  for (const target::Verdict& v : verdicts) j.push_back(VerdictJson(v));
  return j;
}

// The names in `nodes`, the milliseconds of each in `node_ms`.
Json CauseJson(const CauseLine& c) {
  Json nodes = Json::array(), ms = Json::array();
  for (const auto& [name, value] : c.nodes) {
    nodes.push_back(name);
    ms.push_back(value);
  }
  return {{"code", c.code},   {"ms", c.ms},     {"kind", target::KindName(c.kind)},
          {"share", c.share}, {"nodes", nodes}, {"node_ms", ms}};
}

Json AlternativeJson(const Alternative& a) {
  return {{"device", a.device},
          {"ms", a.ms},
          {"program", a.program},
          {"energy_mj", a.energy_mj},
          {"kind", target::KindName(a.kind)}};
}

// snr_db is null where there is no error at all.
Json ClosenessJson(const Closeness& c) {
  return {{"max_abs", c.max_abs},
          {"cosine", c.cosine},
          {"snr_db", c.snr_db ? Json(*c.snr_db) : Json(nullptr)},
          {"mismatched", c.mismatched}};
}

Json PairsJson(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json j = Json::object();
  for (const auto& [key, value] : pairs) j[key] = value;
  return j;
}

Json FactJson(const target::FactValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

}  // namespace

std::string ToJson(const Check& r) {
  Json j = Start();
  j["model"] = r.model;
  AddTarget(j, r.target);
  j["shapes"] = ShapesJson(r.shapes);
  j["verdicts"] = VerdictsJson(r.verdicts);
  j["compute_units"] = UnitsJson(r.compute_units);
  j["size"] = {{"bytes", r.bytes},
               {"restored_bytes", r.restored_bytes},
               {"gate_bytes", r.gate_bytes},
               {"passes", r.passes()}};
  return Finish(j);
}

std::string ToJson(const Compile& r) {
  Json j = Start();
  j["model"] = r.model;
  AddTarget(j, r.target);
  j["output"] = OrNull(r.output);
  j["output_bytes"] = r.output_bytes;
  j["programs"] = ProgramsJson(r.programs);
  j["bytes"] = {{"shared", r.shared_bytes}, {"own", r.own_bytes}};
  j["rewrites"] = Json::array();
  j["passes"] = Json::array();
  for (const Pass& p : r.passes)
    j["passes"].push_back({{"name", p.name}, {"changes", p.changes}, {"seconds", p.seconds}});
  j["seconds"] = r.seconds;
  j["warnings"] = r.warnings;
  j["off_npu"] = OrNull(r.off_npu);
  return Finish(j);
}

std::string ToJson(const Run& r) {
  Json j = Start();
  j["model"] = r.model;
  AddTarget(j, r.target);
  j["inputs"] = TensorsJson(r.inputs);
  j["outputs"] = TensorsJson(r.outputs);
  j["program"] = r.program;
  j["device"] = r.device;
  j["precision"] = r.precision;
  j["seed"] = r.seed;
  j["kind"] = target::KindName(r.kind);
  j["latency_ms"] = r.latency_ms;
  j["wall_ms"] = FigureJson(r.wall_ms, r.kind);
  j["energy_mj"] = FigureJson(r.energy_mj, r.kind);
  j["compile_ms"] = FigureJson(r.compile_ms, r.kind);
  j["load_ms"] = FigureJson(r.load_ms, r.kind);
  j["copies"] = r.copies;
  j["bytes_copied"] = r.bytes_copied;
  j["plan_cache"] = PlanCacheJson(r.plan_cache);
  j["off_npu"] = OrNull(r.off_npu);
  j["compute_units"] = UnitsJson(r.compute_units);
  return Finish(j);
}

std::string ToJson(const Bench& r) {
  Json j = Start();
  j["model"] = r.model;
  j["model_sha256"] = OrNull(r.model_sha256);
  j["device"] = r.device;
  j["device_description"] = r.device_description;
  AddTarget(j, r.target);
  j["program"] = r.program;
  j["cpu_target"] = OrNull(r.cpu_target);
  j["threads"] = r.threads;
  j["precision"] = r.precision;
  j["shapes"] = ShapesJson(r.shapes);
  j["batch"] = r.batch;
  j["seed"] = r.seed;
  j["iterations"] = r.iterations;
  j["input_sets"] = r.input_sets;
  j["concurrency"] = r.concurrency;
  j["kind"] = target::KindName(r.kind);
  j["latency_ms"] = LatencyJson(r.latency_ms);
  if (r.kind != target::Kind::kMeasured) {
    Json wall = LatencyJson(r.wall_ms);
    wall["kind"] = target::KindName(target::Kind::kMeasured);
    j["wall_ms"] = std::move(wall);
  }
  j["first_inference_ms"] = r.first_inference_ms;
  j["load_ms"] = FigureJson(r.load_ms, r.kind);
  j["compile_ms"] = FigureJson(r.compile_ms, r.kind);
  j["throughput_per_s"] = r.throughput_per_s;
  j["idle_rss_bytes"] = FigureJson(r.idle_rss_bytes, r.kind);
  j["peak_rss_bytes"] = FigureJson(r.peak_rss_bytes, r.kind);
  j["arena_bytes"] = r.arena_bytes;
  j["weights_bytes"] = r.weights_bytes;
  j["copies_per_run"] = r.copies_per_run;
  j["bytes_copied_per_run"] = r.bytes_copied_per_run;
  j["plan_cache"] = PlanCacheJson(r.plan_cache);
  j["energy_mj"] = FigureJson(r.energy_mj, r.kind);
  j["power_mw"] = FigureJson(r.power_mw, r.kind);
  j["npu_utilisation"] = FigureJson(r.npu_utilisation, r.kind);
  j["npu_busy"] = FigureJson(r.npu_busy, r.kind);
  j["compute_units"] = UnitsJson(r.compute_units);
  j["steps"] = Json::array();
  for (const BenchStep& s : r.steps) {
    j["steps"].push_back({{"segment", s.segment},
                          {"device", s.device},
                          {"ms", FigureJson(s.ms, r.kind)},
                          {"energy_mj", FigureJson(s.energy_mj, r.kind)}});
  }
  j["ops"] = OpsJson(r.ops);
  j["roofline"] = r.roofline ? RooflineJson(*r.roofline) : Json(nullptr);
  j["outputs"] = TensorsJson(r.outputs);
  j["beats"] = nullptr;
  j["sustained"] = Json::array();
  j["per_model"] = Json::array();
  j["device_state"] = {{"temperature_celsius", nullptr}, {"throttled", nullptr}};
  j["conditions"] = Json::object();
  j["off_npu"] = OrNull(r.off_npu);
  j["void"] = OrNull(r.void_reason);
  return Finish(j);
}

std::string ToJson(const Explain& r) {
  Json j = Start();
  j["model"] = r.model;
  AddTarget(j, r.target);
  j["shapes"] = ShapesJson(r.shapes);
  j["program"] = r.program;
  j["devices"] = r.devices;
  j["precision"] = r.precision;
  j["kind"] = target::KindName(r.kind);
  j["total_ms"] = r.total_ms;
  j["energy_mj"] = r.energy_mj;
  j["best_alternative"] =
      r.alternatives.empty() ? Json(nullptr) : AlternativeJson(r.alternatives.front());
  j["alternatives"] = Json::array();
  for (const Alternative& a : r.alternatives) j["alternatives"].push_back(AlternativeJson(a));
  j["bound_ms"] = {{"compute", r.compute_bound_ms}, {"memory", r.memory_bound_ms}};
  j["causes"] = Json::array();
  for (const CauseLine& c : r.causes) j["causes"].push_back(CauseJson(c));
  j["remainder"] = r.remainder;
  j["what_if"] = Json::array();
  for (const WhatIf& w : r.what_if) {
    j["what_if"].push_back({{"change", w.change},
                            {"cause", OrNull(w.cause)},
                            {"saves_ms", w.saves_ms},
                            {"kind", target::KindName(w.kind)},
                            {"new_verdicts", VerdictsJson(w.new_verdicts)}});
  }
  j["adopt"] = {{"latency", OrNull(r.adopt.latency)},
                {"energy", OrNull(r.adopt.energy)},
                {"heat", OrNull(r.adopt.heat)},
                {"because", r.adopt.because}};
  j["sensitive_to"] = Json::array();
  for (const Sensitivity& s : r.sensitive_to) {
    j["sensitive_to"].push_back({{"fact", s.fact},
                                 {"flips_at", s.flips_at},
                                 {"value", s.value},
                                 {"unit", s.unit},
                                 {"conclusion", s.conclusion},
                                 {"becomes", s.becomes}});
  }
  j["insensitive_to"] = Json::array();
  for (const Insensitive& s : r.insensitive_to) {
    j["insensitive_to"].push_back({{"fact", s.fact},
                                   {"value", s.value},
                                   {"tried_from", s.tried_from},
                                   {"tried_to", s.tried_to},
                                   {"unit", s.unit},
                                   {"because", s.because}});
  }
  j["assumed_facts"] = r.assumed_facts;
  j["verdicts"] = VerdictsJson(r.verdicts);
  j["compute_units"] = UnitsJson(r.compute_units);
  j["ops"] = OpsJson(r.ops);
  j["off_npu"] = OrNull(r.off_npu);
  j["notes"] = r.notes;
  return Finish(j);
}

std::string ToJson(const Compare& r) {
  Json j = Start();
  j["model"] = r.model;
  AddTarget(j, r.target);
  j["program"] = r.program;
  j["device"] = r.device;
  j["precision"] = r.precision;
  j["reference"] = r.reference;
  j["against"] = OrNull(r.against);
  j["seed"] = r.seed;
  j["inputs"] = TensorsJson(r.inputs);
  j["min_cosine"] = r.min_cosine;
  j["within"] = r.within();
  j["outputs"] = Json::array();
  for (const CompareOutput& o : r.outputs) {
    Json one = {{"name", o.name}};
    one.update(ClosenessJson(o.closeness));
    one["within"] = o.within;
    one["file"] = OrNull(o.file);
    j["outputs"].push_back(std::move(one));
  }
  j["layers"] = Json::array();
  for (const CompareLayer& l : r.layers) {
    j["layers"].push_back({{"node", l.node},
                           {"op", l.op},
                           {"device", l.device},
                           {"from", l.from},
                           {"shape", l.shape},
                           {"entire", ClosenessJson(l.entire)},
                           {"single", ClosenessJson(l.single)},
                           {"entire_within", l.entire_within},
                           {"single_within", l.single_within},
                           {"file", OrNull(l.file)}});
  }
  j["first_divergence"] = nullptr;
  if (r.first_divergence) {
    const Divergence& d = *r.first_divergence;
    j["first_divergence"] = {
        {"node", d.node}, {"column", d.column}, {"cosine", d.cosine}, {"layer", d.layer}};
  }
  j["compute_units"] = UnitsJson(r.compute_units);
  j["off_npu"] = OrNull(r.off_npu);
  j["notes"] = r.notes;
  return Finish(j);
}

std::string ToJson(const Info& r) {
  Json j = Start();
  j["file"] = r.file;
  j["format"] = r.format;
  j["bytes"] = r.bytes;
  j["name"] = r.name;
  j["model_sha256"] = OrNull(r.sha256);
  j["inputs"] = SpecsJson(r.inputs);
  j["outputs"] = SpecsJson(r.outputs);
  j["weights_bytes"] = r.weights_bytes;
  j["metadata"] = PairsJson(r.metadata);
  if (!r.target) {
    j["nodes"] = r.nodes;
    j["ops"] = r.ops;
    return Finish(j);
  }
  j["tool_version"] = r.tool_version;
  AddTarget(j, *r.target);
  j["package_schema_version"] = r.schema_version;
  j["programs"] = ProgramsJson(r.programs);
  j["weights"] = {{"shared", r.shared_bytes}, {"own", r.own_bytes}};
  j["segments"] = r.segments;
  j["verified"] = r.verified ? Json(*r.verified) : Json(nullptr);
  return Finish(j);
}

std::string ToJson(const Targets& r) {
  Json j = Start();
  j["targets"] = Json::array();
  for (const TargetLine& t : r.targets) {
    j["targets"].push_back({{"name", t.name},
                            {"npu", OrNull(t.npu)},
                            {"facts", t.facts},
                            {"assumed", t.assumed},
                            {"file", OrNull(t.file)}});
  }
  return Finish(j);
}

std::string ToJson(const TargetShow& r) {
  Json j = Start();
  AddTarget(j, r.target);
  j["file"] = OrNull(r.file);
  j["facts"] = Json::array();
  for (const FactLine& f : r.target.facts) {
    j["facts"].push_back({{"key", f.key},
                          {"value", FactJson(f.value)},
                          {"unit", f.unit},
                          {"source", f.source},
                          {"ref", f.ref},
                          {"date", f.date},
                          {"summary", f.summary}});
  }
  return Finish(j);
}

}  // namespace npukit::report
