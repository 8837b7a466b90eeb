#include <algorithm>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/text.h"
#include "lab/alternate.h"
#include "lab/bench_accounts.h"
#include "lab/describe.h"
#include "lab/prepared.h"
#include "lab/process.h"
#include "lab/roofline.h"
#include "lab/verbs.h"

namespace npukit::lab {
namespace {

constexpr double kWarmUpMs = 200;
constexpr int kMaxConcurrency = 256;
constexpr double kProfileMs = 300;  // runs of --ops on the real clock
constexpr int kProfileRuns = 5;     // at least

// What the requests of a bench left behind.
struct Samples {
  std::vector<double> latency_ms, wall_ms;
  double energy_pj = 0;
  bool energy_known = true;
  double npu_busy_ns = 0;
  double latency_ns = 0;
  std::uint64_t copies = 0, bytes_copied = 0;

  void Add(const runtime::Account& a, double wall_run_ns) {
    // What a user waits for on the real clock includes being woken up.
    latency_ms.push_back((a.kind == target::Kind::kMeasured ? wall_run_ns : a.latency_ns) / 1e6);
    wall_ms.push_back(wall_run_ns / 1e6);
    energy_known = energy_known && a.energy_pj.has_value();
    energy_pj += a.energy_pj.value_or(0);
    latency_ns += a.latency_ns;
    for (const runtime::StepAccount& s : a.steps) {
      if (s.device_class == "NPU") npu_busy_ns += static_cast<double>(s.end_ns - s.start_ns);
    }
    copies += a.copies;
    bytes_copied += a.bytes_copied;
  }
  void Add(const Samples& o) {
    latency_ms.insert(latency_ms.end(), o.latency_ms.begin(), o.latency_ms.end());
    wall_ms.insert(wall_ms.end(), o.wall_ms.begin(), o.wall_ms.end());
    energy_known = energy_known && o.energy_known;
    energy_pj += o.energy_pj;
    npu_busy_ns += o.npu_busy_ns;
    latency_ns += o.latency_ns;
    copies += o.copies;
    bytes_copied += o.bytes_copied;
  }
};

struct Plan {
  double budget_ms;
  std::uint64_t min_iterations;                        // per request in flight
  std::vector<const std::vector<BoundInput>*> inputs;  // sets that take turns
};

// Runs one request again and again until both the budget and the count are reached. Timed is a run
// from the user's memory to the user's memory; binding it is not.
Status Repeat(Env& env, runtime::Request& request, const Plan& plan, Samples& samples) {
  const std::int64_t start = env.NowNs();
  std::uint64_t n = 0;
  do {
    NPUKIT_RETURN_IF_ERROR(BindInputs(*plan.inputs[n % plan.inputs.size()], request));
    const std::int64_t begin = env.NowNs();
    NPUKIT_RETURN_IF_ERROR(request.Run());
    samples.Add(request.account(), static_cast<double>(env.NowNs() - begin));
    ++n;
  } while (n < plan.min_iterations ||
           static_cast<double>(env.NowNs() - start) / 1e6 < plan.budget_ms);
  return OkStatus();
}

Status RepeatTogether(Env& env, const Prepared& p, int concurrency, const Plan& plan,
                      Samples& samples) {
  std::mutex mutex;
  Status first_error;
  std::vector<std::thread> threads;
  const auto one = [&] {
    Samples own;
    OutputMemory outputs;
    auto request = p.NewRequest();
    Status s = request.ok() ? outputs.Bind(p, **request) : request.status();
    if (s.ok()) s = Repeat(env, **request, plan, own);
    const std::lock_guard lock(mutex);
    samples.Add(own);
    if (!s.ok() && first_error.ok()) first_error = s;
  };
  Status no_thread;
  try {
    for (int i = 0; i < concurrency; ++i) threads.emplace_back(one);
  } catch (const std::system_error& e) {
    no_thread = Status(Code::kOutOfMemory,
                       Cat("thread ", threads.size() + 1, " of ", concurrency,
                           " cannot be started: ", e.what(), "; ask for a smaller --concurrency"));
  }
  for (std::thread& t : threads) t.join();
  return no_thread.ok() ? first_error : no_thread;
}

// "avx512_vnni" of "CPU avx512_vnni".
std::string CpuTarget(const std::string& description) {
  for (const std::string& part : Split(description, ',')) {
    const std::size_t at = part.find("CPU ");
    if (at != std::string::npos) return part.substr(at + 4);
  }
  return "";
}

std::vector<report::BenchStep> Steps(const runtime::Account& account) {
  std::vector<report::BenchStep> steps;
  for (const runtime::StepAccount& s : account.steps) {
    report::BenchStep step;
    step.segment = static_cast<int>(steps.size());
    step.device = s.device;
    step.ms = {static_cast<double>(s.end_ns - s.start_ns) / 1e6, "ms", s.kind};
    if (s.energy_pj) step.energy_mj = {*s.energy_pj / 1e9, "mJ", target::Kind::kModelled};
    steps.push_back(std::move(step));
  }
  return steps;
}

// What the devices' models say of a modelled run: how well the NPU's cube is used, and with --ops
// every task. A simulated device without such a model leaves it out.
Status FillModelled(const Kit& kit, const Prepared& p, std::uint32_t program,
                    const BenchOptions& bench, report::Bench& r) {
  NPUKIT_ASSIGN_OR_RETURN(const Pricer pricer, Pricer::Make(kit, p.model.package, program));
  const auto accounts = pricer.Accounts(p.model.profile, {}, bench.spans);
  if (accounts.status().code() == Code::kUnsupported) return OkStatus();
  if (!accounts.ok()) return accounts.status();
  const double peak_ns = PeakNs(pricer, *accounts, "NPU");
  if (r.npu_busy)
    r.npu_utilisation = {peak_ns / 1e9 * r.throughput_per_s, "1", target::Kind::kModelled};
  if (bench.steps) r.ops = OpRows(pricer, *accounts);
  if (bench.spans) r.spans = Timeline(*accounts);
  return OkStatus();
}

// Nothing where no device says what its steps take, or nobody measures its machine.
Result<std::optional<report::Roofline>> StepsAndRoofs(const Kit& kit, const Prepared& p,
                                                      const Plan& plan, runtime::Request& request) {
  request.Profile(true);
  StepTimes times;
  const std::int64_t start = kit.env->NowNs();
  int n = 0;
  do {
    NPUKIT_RETURN_IF_ERROR(
        BindInputs(*plan.inputs[static_cast<std::size_t>(n) % plan.inputs.size()], request));
    NPUKIT_RETURN_IF_ERROR(request.Run());
    times.Add(request.account());
    ++n;
  } while (!times.steps().empty() &&
           (n < kProfileRuns || static_cast<double>(kit.env->NowNs() - start) / 1e6 < kProfileMs));
  request.Profile(false);
  if (times.steps().empty()) return std::optional<report::Roofline>();
  const format::Program& program = p.session->head().programs[request.account().program];
  const auto segment = static_cast<std::size_t>(times.steps()[0].segment);
  const format::ExecutableInfo& from =
      program.executables[program.blocks[0].steps[segment].executable];
  const auto peaks = kit.measure_peaks(
      from.device, {.profile = p.model.profile, .pool = std::make_shared<ThreadPool>(p.threads)});
  if (peaks.status().code() == Code::kUnsupported) return std::optional<report::Roofline>();
  if (!peaks.ok()) return peaks.status();
  return std::optional(MakeRoofline(*peaks, times.steps()));
}

}  // namespace

Result<report::Bench> BenchModel(const Kit& kit, const ModelOptions& options, const RunOptions& run,
                                 const BenchOptions& bench) {
  if (bench.concurrency < 1 || bench.concurrency > kMaxConcurrency) {
    return InvalidArgument(
        Cat("--concurrency: expected 1 to ", kMaxConcurrency, ", found ", bench.concurrency));
  }
  NPUKIT_ASSIGN_OR_RETURN(const Prepared p, Prepare(kit, options, run));
  Env& env = *kit.env;
  const format::Head& head = p.session->head();
  report::Bench r;
  r.idle_rss_bytes = report::Measured(static_cast<double>(ResidentBytes()), "B");
  OutputMemory outputs;
  NPUKIT_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Request> request, p.NewRequest());
  NPUKIT_RETURN_IF_ERROR(outputs.Bind(p, *request));
  if (kit.progress) kit.progress("first inference", 0, 0);
  Samples first;
  Plan plan{0, 1, {&p.inputs}};
  NPUKIT_RETURN_IF_ERROR(Repeat(env, *request, plan, first));
  r.kind = request->account().kind;
  r.first_inference_ms = first.latency_ms[0];
  const bool real_clock = r.kind == target::Kind::kMeasured;
  std::vector<BoundInput> other;
  if (real_clock) {  // a modelled figure needs no warm-up, and no other input
    if (kit.progress) kit.progress("warming up", 0, 0);
    NPUKIT_ASSIGN_OR_RETURN(other, OtherInputs(p.inputs, run.inputs.seed));
    plan.inputs.push_back(&other);
    plan.budget_ms = kWarmUpMs;
    Samples warm;
    NPUKIT_RETURN_IF_ERROR(Repeat(env, *request, plan, warm));
  }
  r.input_sets = static_cast<int>(plan.inputs.size());
  if (kit.progress) kit.progress("measuring", 0, 0);
  plan.budget_ms = real_clock ? bench.budget_ms : 0;
  plan.min_iterations = bench.min_iterations;
  if (plan.min_iterations == 0) plan.min_iterations = real_clock ? 5 : 2;
  Samples samples;
  const std::int64_t start = env.NowNs();
  if (bench.concurrency == 1) {
    NPUKIT_RETURN_IF_ERROR(Repeat(env, *request, plan, samples));
  } else {
    NPUKIT_RETURN_IF_ERROR(RepeatTogether(env, p, bench.concurrency, plan, samples));
  }
  const double elapsed_s = static_cast<double>(env.NowNs() - start) / 1e9;

  const auto n = static_cast<double>(samples.latency_ms.size());
  const runtime::Account account = request->account();
  r.model = options.path;
  r.model_sha256 = p.model.sha256;
  r.device = bench.device;
  r.device_description = p.session->device_description();
  r.target = TargetOf(p.model.profile);
  r.program = ProgramKey(head, head.programs[account.program]);
  r.cpu_target = CpuTarget(r.device_description);
  r.threads = p.threads;
  r.precision = account.precision;
  r.shapes = ShapesOf(head, head.programs[account.program]);
  if (!r.shapes.empty() && !r.shapes[0].second.empty()) r.batch = r.shapes[0].second[0];
  r.seed = run.inputs.seed;
  r.iterations = samples.latency_ms.size();
  r.concurrency = bench.concurrency;
  r.latency_ms = report::Summarise(samples.latency_ms);
  r.wall_ms = report::Summarise(samples.wall_ms);
  r.load_ms = p.load_ms;
  r.compile_ms = p.compile_ms;
  r.throughput_per_s = real_clock ? n / elapsed_s : bench.concurrency * 1e3 / r.latency_ms.mean;
  r.peak_rss_bytes = report::Measured(static_cast<double>(PeakResidentBytes()), "B");
  r.arena_bytes = p.session->arena_bytes();
  r.weights_bytes = p.session->weights_bytes();
  r.copies_per_run = static_cast<double>(samples.copies) / n;
  r.bytes_copied_per_run = static_cast<double>(samples.bytes_copied) / n;
  if (samples.energy_known) {
    r.energy_mj = {samples.energy_pj / 1e9 / n, "mJ", target::Kind::kModelled};
    if (samples.latency_ns > 0)
      r.power_mw = {samples.energy_pj / samples.latency_ns, "mW", target::Kind::kModelled};
  }
  if (samples.npu_busy_ns > 0) r.npu_busy = {samples.npu_busy_ns / samples.latency_ns, "1", r.kind};
  // Of a program run step by step the devices said what each step cost; its blobs alone do not.
  if (!real_clock && !head.programs[account.program].by_step)
    NPUKIT_RETURN_IF_ERROR(FillModelled(kit, p, account.program, bench, r));
  r.verdicts = head.programs[account.program].verdicts;
  r.compute_units = account.compute_units;
  r.plan_cache = PlanCacheOf(account);
  if (options.strict_npu) r.off_npu = OffNpu(head.programs[account.program], options.allow);
  if (bench.steps) r.steps = Steps(account);
  if (bench.steps && real_clock && kit.measure_peaks) {
    if (kit.progress) kit.progress("measuring every step", 0, 0);
    NPUKIT_ASSIGN_OR_RETURN(r.roofline, StepsAndRoofs(kit, p, plan, *request));
  }
  if (plan.inputs.size() > 1) {  // what is handed out is of the inputs that were given
    NPUKIT_RETURN_IF_ERROR(BindInputs(p.inputs, *request));
    NPUKIT_RETURN_IF_ERROR(request->Run());
  }
  NPUKIT_ASSIGN_OR_RETURN(r.outputs, TakeOutputs(kit, p, *request, run.output_folder));
  return r;
}

}  // namespace npukit::lab
