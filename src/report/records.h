// What the verbs answer, as plain structs: one per verb, filled by lab and cli, printed by json.cc
// and text.cc. Field names in JSON are a contract other tools read: fields may be added, none is
// renamed.
//
// Every figure has a kind (measured, modelled, assumed). A record has one for its plain figures; a
// figure of another kind prints as an object of its own, so kinds are never mixed silently.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/program.h"
#include "target/account.h"
#include "target/fact.h"
#include "target/verdict.h"
#include "tensor/type.h"

namespace npukit::report {

struct Figure {
  double value = 0;
  std::string unit;  // "ms", "B", "mJ"
  target::Kind kind = target::Kind::kMeasured;
};
inline Figure Measured(double value, std::string unit) {
  return {value, std::move(unit), target::Kind::kMeasured};
}

using Shapes =
    std::vector<std::pair<std::string, tensor::Dims>>;  // input name and dims, in the model's order

struct FactLine {
  std::string key;
  target::FactValue value;
  std::string unit;
  std::string source;
  std::string ref;
  std::string date;
  std::string summary;
};
struct Target {
  std::string name;
  std::vector<std::string> set;  // --set key=value
  std::vector<FactLine> facts;   // of its profile, with the changes: for reports, not in JSON
};

struct Check {
  std::string model;
  Target target;
  Shapes shapes;
  std::vector<target::Verdict> verdicts;
  format::ComputeUnits compute_units;
  std::uint64_t bytes = 0;           // of the weights
  std::uint64_t restored_bytes = 0;  // as the device expands them
  std::uint64_t gate_bytes = 0;      // the phone's limit
  bool passes() const { return restored_bytes <= gate_bytes; }
};

struct Program {
  std::string devices;
  std::string precision;
  Shapes shapes;
  std::vector<std::string> segments;  // "NPU", "CPU", ...
  Figure estimate;                    // ms
  std::uint64_t bytes = 0;            // weights and blobs it uses
  std::uint64_t arena_bytes = 0;
  format::ComputeUnits compute_units;
};

struct Pass {
  std::string name;
  int changes = 0;
  double seconds = 0;
};

struct Compile {
  std::string off_npu;  // under --strict-npu: what is off the NPU; "" when all is well
  std::string model;
  Target target;
  std::string output;
  std::uint64_t output_bytes = 0;
  std::vector<Program> programs;
  std::uint64_t shared_bytes = 0;
  std::uint64_t own_bytes = 0;
  std::vector<Pass> passes;
  double seconds = 0;
  std::vector<std::string> warnings;
};

struct Tensor {
  std::string name;
  std::string dtype;
  tensor::Dims shape;
  std::string file;    // "" when not written or read
  std::string source;  // of an input: "file" or "random"
};

// Plans that executables of open shapes have made and kept, one per distinct input shape.
struct PlanCache {
  std::uint64_t plans = 0, hits = 0, misses = 0;
  std::uint64_t limit = 0;  // for each stretch that a run is cut into
};

struct Run {
  std::string off_npu;  // under --strict-npu: what is off the NPU; "" when all is well
  std::string model;
  Target target;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::string program;  // "NPU,CPU fp16 x=1x3x48x320"
  std::string device;   // "NPU (simulated kirin9030), CPU avx2"
  std::string precision;
  std::uint64_t seed = 0;
  target::Kind kind = target::Kind::kMeasured;
  double latency_ms = 0;
  Figure wall_ms;
  std::optional<Figure> energy_mj;
  Figure compile_ms;
  Figure load_ms;
  std::uint64_t copies = 0;
  std::uint64_t bytes_copied = 0;
  std::optional<PlanCache> plan_cache;  // absent: every shape was known when compiling
  format::ComputeUnits compute_units;
};

struct Latency {
  double mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, min = 0, max = 0, std = 0;
};
Latency Summarise(std::vector<double> samples_ms);  // percentiles by nearest rank; of none: zeros

struct BenchStep {
  std::string device;
  int segment = 0;
  Figure ms;
  std::optional<Figure> energy_mj;
};

// One task of a device: a fused operator, or a layout change of its own. Modelled.
struct OpRow {
  std::string name;
  std::string kind;    // "cube", "vector", "layout", "call"
  std::string device;  // "NPU", "CPU"
  int segment = 0;
  double start_ms = 0;  // from the start of the run
  double ms = 0;
  double share = 0;        // of the run
  double bound_ms = 0;     // roofline of the task alone
  double utilisation = 0;  // of the device's peak multiply-adds, padding not counted
  double macs = 0;
  double dram_bytes = 0;
  double energy_mj = 0;
};

// What steps of a CPU reached on this machine, against its roofs. Measured. One multiply-add is two
// operations, as are they in the peak; bytes are inputs, weights and outputs, each once, wherever
// they came from: what lies in a cache may be over 1.
struct RoofLine {
  std::string name;  // of the node; of a sum the kernel's
  std::string op;    // "conv2d+relu"; the next three are empty in a sum
  std::string kernel;
  std::string shape;  // of the first output
  std::string roof;   // the nearer one: "compute", "memory"; "" when there is nothing to do
  int segment = 0;
  int steps = 1;  // of a sum: how many
  double ms = 0;  // the fastest of the runs: what else the machine does only ever adds
  double p50_ms = 0;
  double share = 0;  // of all steps
  double macs = 0;
  double flops = 0;  // 2 macs and elementwise operations
  double bytes = 0;
  double bound_ms = 0;  // at the roof
  double gflops() const { return ms > 0 ? flops / ms / 1e6 : 0; }
  double gbytes_per_s() const { return ms > 0 ? bytes / ms / 1e6 : 0; }
  double of_roof() const { return ms > 0 ? bound_ms / ms : 0; }
  double above_ms() const { return ms - bound_ms; }  // what a perfect kernel would save
};
struct Roofline {
  double peak_gflops = 0;
  double read_gbytes_per_s = 0;  // of memory no cache holds
  double copy_gbytes_per_s = 0;
  std::uint64_t runs = 0;
  std::vector<RoofLine> steps;    // in order of running
  std::vector<RoofLine> kernels;  // sums, the longest first
  RoofLine total;
};

struct Bench {
  std::string off_npu;  // under --strict-npu: what is off the NPU; "" when all is well
  std::string model;
  std::string model_sha256;
  std::string device;  // as asked
  std::string device_description;
  Target target;
  std::string program;
  std::string cpu_target;
  int threads = 0;
  std::string precision;
  Shapes shapes;
  std::int64_t batch = 1;
  std::uint64_t seed = 0;
  std::uint64_t iterations = 0;
  int input_sets = 1;  // that take turns
  int concurrency = 1;
  target::Kind kind = target::Kind::kMeasured;
  Latency latency_ms;
  Latency wall_ms;  // measured here, whatever the kind
  double first_inference_ms = 0;
  Figure load_ms;
  Figure compile_ms;
  double throughput_per_s = 0;
  Figure idle_rss_bytes;
  Figure peak_rss_bytes;
  std::uint64_t arena_bytes = 0;
  std::uint64_t weights_bytes = 0;
  double copies_per_run = 0;
  double bytes_copied_per_run = 0;
  std::optional<PlanCache> plan_cache;  // absent: every shape was known when compiling
  std::optional<Figure> energy_mj;
  std::optional<Figure> power_mw;
  std::optional<Figure> npu_utilisation;  // multiply-adds done on the NPU over its peak times time
  std::optional<Figure> npu_busy;         // share of the time in which the NPU has a segment to run
  format::ComputeUnits compute_units;
  std::vector<BenchStep> steps;           // --ops
  std::vector<OpRow> ops;                 // --ops, of a modelled run
  std::optional<Roofline> roofline;       // --ops, of a measured run of known shapes
  std::vector<target::Span> spans;        // when asked for: the timeline; not in JSON
  std::vector<target::Verdict> verdicts;  // of the program that ran; not in JSON
  std::vector<Tensor> outputs;            // --output-dir
  std::string void_reason;                // "" when the reading is usable
};

// Where the time of a program goes. Causes are in the order in which they were taken away, each
// with those before it already free; the last one is named by `remainder`: what the hardware bound
// leaves. Their sum is total_ms.
struct CauseLine {
  std::string code;  // target::CauseName, or "hardware_bound"
  double ms = 0;
  target::Kind kind = target::Kind::kModelled;
  double share = 0;                                   // of the total
  std::vector<std::pair<std::string, double>> nodes;  // that pay most: name, ms
};
struct WhatIf {
  std::string change;  // "dispatch costs nothing", "npu.op.conv2d.max_kernel = 5"
  std::string cause;   // its code, "" for a changed fact
  double saves_ms = 0;
  target::Kind kind = target::Kind::kModelled;
  std::vector<target::Verdict> new_verdicts;  // of the operators that move
};
struct Alternative {
  std::string device;  // "CPU", "NPU,CPU"
  std::string program;
  double ms = 0;
  double energy_mj = 0;
  target::Kind kind = target::Kind::kModelled;
};
struct Adopt {  // the NPU instead of the CPU: "yes", "no", or "" when there is nothing to compare
                // with
  std::string latency, energy, heat;
  std::string because;
};
struct Sensitivity {
  std::string fact;
  std::string unit;
  double value = 0;        // assumed
  double flips_at = 0;     // beyond this the answer is the other one
  std::string conclusion;  // "latency", "energy"
  std::string becomes;     // "yes", "no"
};
struct Insensitive {  // an assumed fact that turns no answer
  std::string fact;
  std::string unit;
  double value = 0;                     // assumed
  double tried_from = 0, tried_to = 0;  // both are `value` when nothing had to be tried
  std::string because;
};
struct Explain {
  std::string off_npu;  // under --strict-npu: what is off the NPU; "" when all is well
  std::string model;
  Target target;
  Shapes shapes;
  std::string program;
  std::string devices;
  std::string precision;
  target::Kind kind = target::Kind::kModelled;
  double total_ms = 0;
  double energy_mj = 0;
  double compute_bound_ms = 0;  // every multiply-add at the device's peak
  double memory_bound_ms = 0;   // weights, inputs and outputs once, at full DRAM bandwidth
  std::vector<CauseLine> causes;
  std::string remainder;  // the code of the last one
  std::vector<WhatIf> what_if;
  std::vector<Alternative> alternatives;  // other programs for the same inputs, the fastest first
  Adopt adopt;
  std::vector<Sensitivity> sensitive_to;    // the nearest first
  std::vector<Insensitive> insensitive_to;  // by key
  int assumed_facts = 0;                    // that were tried
  std::vector<target::Verdict> verdicts;
  format::ComputeUnits compute_units;
  std::vector<OpRow> ops;
  std::vector<target::Span> spans;  // when asked for; not in JSON
  std::vector<std::string> notes;
};

// How close values are to their reference.
struct Closeness {
  double max_abs = 0;  // over finite elements
  double cosine = 1;
  std::optional<double> snr_db;  // absent: no error at all
  std::int64_t mismatched = 0;   // NaN or infinity against something else
};
struct CompareOutput {
  std::string name;
  Closeness closeness;
  bool within = true;  // the limits
  std::string file;    // reference: "" for the computed one
};
struct CompareLayer {
  std::string node;
  std::string op;
  std::string device;  // "NPU", "CPU"
  std::vector<std::string> from;
  tensor::Dims shape;
  Closeness entire;  // the device's own values from the network's input on
  Closeness single;  // this layer alone, fed with the reference's values
  bool entire_within = true;
  bool single_within = true;
  std::string file;  // reference: "" for the computed one
};
struct Divergence {
  std::size_t layer = 0;  // index into layers
  std::string node;
  std::string column;  // "single", "entire": which fell below first
  double cosine = 0;
};
struct Compare {
  std::string off_npu;  // under --strict-npu: what is off the NPU; "" when all is well
  std::string model;
  Target target;
  std::string program;
  std::string device;
  std::string precision;
  std::string reference;  // in words
  std::string against;    // folder of dumped values, or ""
  std::uint64_t seed = 0;
  std::vector<Tensor> inputs;
  double min_cosine = 0;
  std::vector<CompareOutput> outputs;
  std::vector<CompareLayer> layers;  // in order of running
  std::optional<Divergence> first_divergence;
  format::ComputeUnits compute_units;
  std::vector<std::string> notes;
  bool within() const {
    for (const CompareOutput& o : outputs) {
      if (!o.within) return false;
    }
    return true;
  }
};

struct Info {
  std::string file;
  std::string format;  // "onnx", "npk"
  std::uint64_t bytes = 0;
  std::string name;
  std::string sha256;  // of a model file; for a package, of the model it was made from
  std::vector<format::ValueSpec> inputs;
  std::vector<format::ValueSpec> outputs;
  std::map<std::string, int> ops;  // operator as the file calls it: count
  std::uint64_t nodes = 0;
  std::uint64_t weights_bytes = 0;
  std::vector<std::pair<std::string, std::string>> metadata;
  // A package only.
  std::string tool_version;
  std::optional<Target> target;
  std::uint32_t schema_version = 0;
  std::vector<Program> programs;
  std::uint64_t shared_bytes = 0;
  std::uint64_t own_bytes = 0;
  std::uint64_t segments = 0;
  std::optional<bool> verified;  // --verify: every segment's checksum was right
};

struct TargetLine {
  std::string name;
  std::string npu;  // the vendor's name of its core, "" when it has none
  std::uint64_t facts = 0;
  std::uint64_t assumed = 0;
  std::string file;
};
struct Targets {
  std::vector<TargetLine> targets;
};

struct TargetShow {
  Target target;
  std::string file;
};

}  // namespace npukit::report
