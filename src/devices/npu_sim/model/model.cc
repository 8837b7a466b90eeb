#include "devices/npu_sim/model/model.h"

#include <algorithm>
#include <cmath>

namespace npukit::npu {
namespace {

double Ceil(double a, double b) { return std::ceil(a / b); }

template <std::size_t N>
double Product(const std::int32_t (&count)[N]) {
  double n = 1;
  for (const std::int32_t c : count) n *= c;
  return n;
}

// Bytes a DRAM access pays: inner loops that continue a run lengthen it, then each run is whole
// bursts.
double PaidBytes(const Copy& x, const std::int32_t (&stride)[3], double burst) {
  double run = x.bytes;
  int i = 3;
  while (i > 0 && (x.count[i - 1] == 1 || stride[i - 1] == run)) run *= x.count[--i];
  double runs = 1;
  while (i > 0) runs *= x.count[--i];
  return runs * Ceil(run, burst) * burst;
}

class Pricer {
 public:
  explicit Pricer(const Rates& r) : r_(r) {}
  InstructionCost cost;

  void operator()(const Copy& x) {
    const double bytes = Product(x.count) * x.bytes;
    const bool from_dram = IsDram(x.src.mem), to_dram = IsDram(x.dst.mem);
    cost.queue = to_dram || x.src.mem == kUb ? Queue::kMte3 : Queue::kMte2;
    cost.sram_bytes = from_dram || to_dram ? bytes : 2 * bytes;
    if (from_dram) cost.dram_read = PaidBytes(x, x.src_stride, r_.dram_burst_bytes);
    if (to_dram) cost.dram_write = PaidBytes(x, x.dst_stride, r_.dram_burst_bytes);
    const double dram_rate = r_.dram_gbytes_per_s / r_.clock_ghz;
    cost.cycles = r_.head_mte;
    if (from_dram || to_dram) {
      cost.cycles += (cost.dram_read + cost.dram_write) / dram_rate;
    } else {
      cost.cycles += bytes / (x.dst.mem == kUb ? r_.l1_ub : r_.ub_l1);
    }
  }
  void operator()(const Fill& x) {
    const double bytes = Product(x.count) * x.len * ElemBytes(x.type);
    cost.queue = x.mem == kUb ? Queue::kVector : Queue::kMte2;
    cost.sram_bytes = bytes;
    cost.cycles =
        x.mem == kUb ? r_.head_vector + bytes / r_.vector : r_.head_mte + bytes / r_.ub_l1;
  }
  void operator()(const Load3d& x) {
    Load(Ceil(x.m_count, kLanes) * x.k_count * kFractalBytes, r_.l1_l0a);
  }
  void operator()(const Load2d& x) {
    Load(Product(x.count) * kFractalBytes, x.dst_mem == kL0A ? r_.l1_l0a : r_.l1_l0b);
  }
  void operator()(const Mmad& x) {
    const int t = x.type == kI8;
    const double k = x.k1 * (t ? 32.0 : 16.0), n = x.n1 * 16.0;
    const double blocks = Ceil(x.m, r_.m[t]) * Ceil(k, r_.k[t]) * Ceil(n, r_.n[t]);
    cost.queue = Queue::kCube;
    cost.cycles = r_.head_cube + blocks;
    cost.cube_macs[t] = blocks * r_.m[t] * r_.k[t] * r_.n[t];
    // Each operand once per instruction; what the cube reads again is part of the energy of its
    // products.
    cost.sram_bytes = (x.m + n) * k * (t ? 1 : 2) +
                      x.m * n * (t ? 4 : r_.accumulator_bytes) * (x.init == kAccumulate ? 2 : 1);
  }
  void operator()(const L0cToUb& x) {
    const double elements = double{kLanes} * x.rows * x.n1;
    const double bytes = elements * (x.from_int32 ? 4 : r_.accumulator_bytes);
    cost.cycles = r_.head_vector + bytes / r_.l0c_ub;
    cost.vector_elements = elements;
    cost.sram_bytes = bytes + elements * ElemBytes(x.dst_type);
  }
  void operator()(const Unary& x) {
    Vector(Product(x.count), x.len, std::max(ElemBytes(x.dst_type), ElemBytes(x.src_type)),
           ElemBytes(x.dst_type) + ElemBytes(x.src_type));
  }
  void operator()(const Binary& x) {
    const int d = ElemBytes(x.dst_type), a = ElemBytes(x.src0_type), b = ElemBytes(x.src1_type);
    Vector(Product(x.count), x.len, std::max({d, a, b}), d + a + b);
  }
  void operator()(const Window& x) {
    const double taps = double{1} * x.kernel_h * x.kernel_w;
    Vector(Product(x.count) * taps, kLanes, 2, x.op == WindowOp::kMac ? 4 : 2);
  }
  void operator()(const Reduce& x) {
    Vector(Product(x.count) * x.rows, x.len, ElemBytes(x.src_type), ElemBytes(x.src_type));
  }
  void operator()(const Move& x) {
    const int d = ElemBytes(x.dst_type), s = ElemBytes(x.src_type);
    const double elements = Product(x.count);
    const bool runs = x.dst_stride[4] == d && x.src_stride[4] == s && x.count[4] * d >= kBlockBytes;
    Vector(runs ? elements / x.count[4] : 1, runs ? x.count[4] : elements, std::max(d, s), d + s,
           runs ? r_.vector : r_.move);
  }

 private:
  void Load(double bytes, double rate) {
    cost.queue = Queue::kMte1;
    cost.cycles = r_.head_mte + bytes / rate;
    cost.sram_bytes = 2 * bytes;
  }
  // `rows` runs of `len` elements: the vector unit works on whole blocks of 32 bytes.
  void Vector(double rows, double len, int widest, int operand_bytes, double rate = 0) {
    cost.vector_elements = rows * len;
    cost.sram_bytes = rows * len * operand_bytes;
    const double paid = rows * Ceil(len * widest, kBlockBytes) * kBlockBytes;
    cost.cycles = r_.head_vector + paid / (rate > 0 ? rate : r_.vector);
  }

  const Rates& r_;
};

struct Sum {
  std::array<double, kQueueCount> cycles{};
  double cube_macs[2] = {0, 0}, vector_elements = 0, sram = 0, dram_read = 0, dram_write = 0;

  // `cycle_times`: how often on the busiest core; `times`: how often in all.
  void Add(const Program& p, Code code, const Rates& r, double cycle_times, double times) {
    const std::int32_t* w = p.code.data() + code.begin;
    for (const std::int32_t* end = w + code.count; w < end; w += 1 + OperandWordsOf(*w)) {
      const InstructionCost c = CostOf(w, r);
      cycles[static_cast<std::size_t>(c.queue)] += c.cycles * cycle_times;
      for (int t = 0; t < 2; ++t) cube_macs[t] += c.cube_macs[t] * times;
      vector_elements += c.vector_elements * times;
      sram += c.sram_bytes * times;
      dram_read += c.dram_read * times;
      dram_write += c.dram_write * times;
    }
  }
};

}  // namespace

std::string_view QueueName(Queue q) {
  constexpr std::string_view kNames[kQueueCount] = {"mte1", "mte2", "mte3", "cube", "vector"};
  return kNames[static_cast<std::size_t>(q)];
}

Result<Rates> ReadRates(const target::Profile& p) {
  Rates r;
  Status status;
  const auto read = [&](double* to, const char* key) {
    if (!status.ok()) return;
    auto v = p.Number(key);
    if (v.ok())
      *to = *v;
    else
      status = v.status();
  };
  read(&r.cores, "npu.cores");
  read(&r.clock_ghz, "npu.clock_ghz");
  read(&r.m[0], "npu.cube.m_fp16");
  read(&r.m[1], "npu.cube.m_int8");
  read(&r.k[0], "npu.cube.k_fp16");
  read(&r.k[1], "npu.cube.k_int8");
  read(&r.n[0], "npu.cube.n_fp16");
  read(&r.n[1], "npu.cube.n_int8");
  read(&r.accumulator_bytes, "npu.cube.accumulator_fp16_bits");
  r.accumulator_bytes /= 8;
  read(&r.l1_l0a, "npu.bw.l1_l0a");
  read(&r.l1_l0b, "npu.bw.l1_l0b");
  read(&r.l1_ub, "npu.bw.l1_ub");
  read(&r.ub_l1, "npu.bw.ub_l1");
  read(&r.l0c_ub, "npu.bw.l0c_ub");
  read(&r.vector, "npu.vector.bytes_per_cycle");
  read(&r.move, "npu.vector.move_bytes_per_cycle");
  read(&r.dram_gbytes_per_s, "npu.dram_gbytes_per_s");
  read(&r.dram_burst_bytes, "npu.dram_burst_bytes");
  read(&r.dram_latency_cycles, "npu.dram_latency_cycles");
  read(&r.head_cube, "npu.head.cube_cycles");
  read(&r.head_vector, "npu.head.vector_cycles");
  read(&r.head_mte, "npu.head.mte_cycles");
  read(&r.dispatch_us, "npu.dispatch_us");
  read(&r.fixed_us, "npu.inference_fixed_us");
  read(&r.mac_pj[0], "npu.energy.mac_fp16_pj");
  read(&r.mac_pj[1], "npu.energy.mac_int8_pj");
  read(&r.vector_pj, "npu.energy.vector_pj");
  read(&r.sram_pj_per_byte, "npu.energy.sram_pj_per_byte");
  read(&r.dram_pj_per_byte, "npu.energy.dram_pj_per_byte");
  read(&r.idle_mw, "npu.energy.idle_mw");
  if (!status.ok()) return status;
  return r;
}

InstructionCost CostOf(const std::int32_t* words, const Rates& rates) {
  Pricer pricer(rates);
  Visit(words, pricer);
  return pricer.cost;
}

target::Estimate EstimateTask(const Program& program, const Task& task, const Rates& r) {
  Sum sum;
  double tiles = 0;
  for (const Group& g : task.groups) tiles += double{1} * g.tiles0 * g.tiles1;
  const double share = tiles > 0 ? Ceil(tiles, r.cores) / tiles : 1;  // of the busiest core
  for (const Group& g : task.groups) {
    const double n = double{1} * g.tiles0 * g.tiles1;
    sum.Add(program, g.prologue, r, 1, std::min(n, r.cores));
    sum.Add(program, g.body, r, n * share, n);
  }
  target::Estimate e;
  double busiest = 0;
  for (int q = 0; q < kQueueCount; ++q) {
    const double ns = sum.cycles[static_cast<std::size_t>(q)] / r.clock_ghz;
    e.busy_ns[std::string(QueueName(static_cast<Queue>(q)))] = ns;
    busiest = std::max(busiest, ns);
  }
  const double dram = sum.dram_read + sum.dram_write;
  e.time_ns = std::max(busiest, dram / r.dram_gbytes_per_s) + r.dispatch_us * 1e3;
  if (sum.dram_read > 0) e.time_ns += r.dram_latency_cycles / r.clock_ghz;
  e.energy_pj["cube"] = sum.cube_macs[0] * r.mac_pj[0] + sum.cube_macs[1] * r.mac_pj[1];
  e.energy_pj["vector"] = sum.vector_elements * r.vector_pj;
  e.energy_pj["sram"] = sum.sram * r.sram_pj_per_byte;
  e.energy_pj["dram"] = dram * r.dram_pj_per_byte;
  e.energy_pj["idle"] = e.time_ns * r.idle_mw;  // ns * mW = pJ
  e.bytes["dram_read"] = sum.dram_read;
  e.bytes["dram_write"] = sum.dram_write;
  e.bytes["sram"] = sum.sram;
  e.macs = static_cast<double>(task.macs);
  return e;
}

target::Estimate EstimateHandOver(const tensor::Type& t, const target::Profile& profile) {
  const auto bytes = static_cast<double>(t.bytes().value_or(0));
  target::Estimate e;
  e.time_ns = profile.NumberOr("npu.boundary_us", 0) * 1e3 +
              bytes / profile.NumberOr("npu.boundary_gbytes_per_s", 1);
  e.energy_pj["dram"] = bytes * profile.NumberOr("npu.energy.dram_pj_per_byte", 0);
  e.bytes["boundary"] = bytes;
  return e;
}

Result<target::Estimate> EstimateProgram(const Program& program, const target::Profile& profile) {
  NPUKIT_ASSIGN_OR_RETURN(const Rates r, ReadRates(profile));
  target::Estimate e;
  e.time_ns = r.fixed_us * 1e3;
  e.energy_pj["idle"] = e.time_ns * r.idle_mw;
  for (const Task& t : program.tasks) e += EstimateTask(program, t, r);
  for (const tensor::Type& t : program.inputs) e += EstimateHandOver(t, profile);
  for (const tensor::Type& t : program.outputs) e += EstimateHandOver(t, profile);
  return e;
}

}  // namespace npukit::npu
