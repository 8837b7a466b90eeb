#include "devices/npu_sim/model/price.h"

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
    cost.weights = x.src.mem == kWeight;
    cost.cycles = r_.head_mte;
    if (!from_dram && !to_dram) cost.cycles += bytes / (x.dst.mem == kUb ? r_.l1_ub : r_.ub_l1);
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
    cost.arithmetic = true;
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
    cost.queue = r_.fixpipe ? Queue::kFixpipe : Queue::kVector;
    cost.cycles = r_.head_vector + bytes / r_.l0c_ub;
    cost.vector_elements = elements;
    cost.sram_bytes = bytes + elements * ElemBytes(x.dst_type);
  }
  void operator()(const Unary& x) {
    cost.arithmetic = x.op != UnaryOp::kCopy;
    Vector(Product(x.count), x.len, std::max(ElemBytes(x.dst_type), ElemBytes(x.src_type)),
           ElemBytes(x.dst_type) + ElemBytes(x.src_type));
  }
  void operator()(const Binary& x) {
    cost.arithmetic = true;
    const int d = ElemBytes(x.dst_type), a = ElemBytes(x.src0_type), b = ElemBytes(x.src1_type);
    Vector(Product(x.count), x.len, std::max({d, a, b}), d + a + b);
  }
  void operator()(const Window& x) {
    cost.arithmetic = true;
    const double taps = double{1} * x.kernel_h * x.kernel_w;
    Vector(Product(x.count) * taps, kLanes, 2, x.op == WindowOp::kMac ? 4 : 2);
  }
  void operator()(const Reduce& x) {
    cost.arithmetic = true;
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

}  // namespace

std::string_view QueueName(Queue q) {
  constexpr std::string_view kNames[kQueueCount] = {"scalar", "mte1",   "mte2",   "mte3",
                                                    "cube",   "vector", "fixpipe"};
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
  read(&r.issue, "npu.head.issue_cycles");
  double fixpipe = 0;
  read(&fixpipe, "npu.fixpipe");
  r.fixpipe = fixpipe != 0;
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

}  // namespace npukit::npu
