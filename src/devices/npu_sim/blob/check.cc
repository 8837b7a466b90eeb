// What makes a program from anywhere safe to execute: every address that an instruction can form,
// in any tile, lies inside its buffer; types and counts are legal; the whole work is bounded. run/
// relies on it and checks nothing again.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "devices/npu_sim/blob/blob.h"

namespace npukit::npu {
namespace {

constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;
// Of one run, in element operations: hours to days, no useful program. Doubles are exact up to it
// and do not wrap beyond it, so a sum that passes is the true one.
constexpr double kMaxWork = 0x1p42;
// Of one instruction: more than any that does not repeat itself, little enough to be cancelled.
constexpr double kMaxInstructionWork = 0x1p28;
constexpr double kDispatchWork = 64;  // of a tile or an instruction that does next to nothing
constexpr std::uint64_t kMaxChecked =
    1u << 26;  // instructions checked, shared stretches counted each time

constexpr std::string_view kTooMuchWork = "more work than any program has";

class Checker {
 public:
  explicit Checker(const Program& p) : p_(p) {}

  Status Run() {
    if (p_.accumulator_fp16_bits != 16 && p_.accumulator_fp16_bits != 32) {
      return DataCorrupt(Cat("npu_sim blob: accumulator_fp16_bits: expected 16 or 32, found ",
                             p_.accumulator_fp16_bits));
    }
    accumulator_ = p_.accumulator_fp16_bits / 8;
    for (std::size_t t = 0; t < p_.tasks.size(); ++t) {
      for (std::size_t g = 0; g < p_.tasks[t].groups.size(); ++g) {
        const Group& group = p_.tasks[t].groups[g];
        where_ = Cat("npu_sim blob: task ", t, " (", Printable(p_.tasks[t].name), ") group ", g);
        if (group.tiles0 < 1 || group.tiles1 < 1) {
          return DataCorrupt(Cat(where_, ": expected at least one tile"));
        }
        if (group.body.count == 0) {
          return DataCorrupt(Cat(where_, ": body: expected at least one instruction"));
        }
        tiles_[0] = group.tiles0;
        tiles_[1] = group.tiles1;
        const double tiles = static_cast<double>(group.tiles0) * group.tiles1;
        // So the tiles of a program are countable too: run/ adds them up in 64 bits.
        if (!AddWork(kDispatchWork * tiles)) {
          return DataCorrupt(
              Cat(where_, ": ", group.tiles0, " x ", group.tiles1, " tiles: ", kTooMuchWork));
        }
        // A prologue runs on every core that takes tiles of the group, and again for every range of
        // them that it takes: at most once per tile.
        prologue_ = true;
        NPUKIT_RETURN_IF_ERROR(Stretch(group.prologue, tiles));
        prologue_ = false;
        NPUKIT_RETURN_IF_ERROR(Stretch(group.body, tiles));
      }
    }
    return OkStatus();
  }

 private:
  Status Stretch(Code c, double times) {
    if (c.begin > p_.code.size() || c.count > p_.code.size() - c.begin) {
      return DataCorrupt(Cat(where_, ": code ", c.begin, " + ", c.count,
                             " words: expected at most ", p_.code.size()));
    }
    const std::int32_t* w = p_.code.data() + c.begin;
    const std::int32_t* end = w + c.count;
    for (index_ = 0; w < end; ++index_) {
      if (++checked_ > kMaxChecked) return DataCorrupt(Cat(where_, ": too many instructions"));
      op_ = OpcodeOf(*w);
      const std::int32_t words = OperandWordsOf(*w);
      if (*w == 0 || *w != HeaderOf(op_) || words >= end - w) {
        return DataCorrupt(Cat(where_, " instruction ", index_,
                               ": expected an instruction's header and operands, found ", *w));
      }
      failed_.clear();
      elements_ = 1;
      Visit(w, [&](const auto& x) { Instruction(x); });
      if (failed_.empty() && elements_ > kMaxInstructionWork) failed_ = kTooMuchWork;
      if (failed_.empty() && !AddWork((elements_ + kDispatchWork) * times)) failed_ = kTooMuchWork;
      if (!failed_.empty()) {
        return DataCorrupt(
            Cat(where_, " instruction ", index_, " ", OpcodeName(op_), ": ", failed_));
      }
      w += 1 + words;
    }
    return OkStatus();
  }

  // False once the program's tasks, groups and tiles so far are too much together.
  bool AddWork(double work) { return (work_ += work) <= kMaxWork; }

  void Fail(std::string_view what, std::string_view expected, std::int64_t found) {
    if (failed_.empty()) failed_ = Cat(what, ": expected ", expected, ", found ", found);
  }
  void Range(std::string_view what, std::int64_t v, std::int64_t lo, std::int64_t hi) {
    if (v < lo || v > hi) Fail(what, Cat(lo, " to ", hi), v);
  }

  // The bytes from addr to the last one touched by loops `count` with `stride` around `inner` bytes
  // lie in [0, size).
  template <std::size_t N>
  void Extent(std::string_view what, std::int64_t addr, const std::int32_t (&count)[N],
              const std::int32_t (&stride)[N], std::int64_t inner, std::int64_t size,
              std::int64_t align) {
    std::int64_t end = addr;
    if (addr < 0 || addr % align)
      return Fail(what, Cat("an address that is a multiple of ", align), addr);
    if (inner < 1 || inner > kMaxExtent) return Fail(what, "1 byte or more", inner);
    for (std::size_t i = 0; i < N; ++i) {
      if (count[i] < 1) return Fail(what, "a count of 1 or more", count[i]);
      if (count[i] == 1) continue;
      if (stride[i] < 0 || stride[i] % align) {
        return Fail(what, Cat("a stride that is a multiple of ", align), stride[i]);
      }
      const std::int64_t add = (std::int64_t{count[i]} - 1) * stride[i];
      if (add > kMaxExtent) return Fail(what, Cat("at most ", size, " bytes"), add);
      end += add;
    }
    if (end + inner > size) Fail(what, Cat("at most ", size, " bytes"), end + inner);
  }

  template <std::size_t N>
  void Elements(const std::int32_t (&count)[N], std::int64_t inner) {
    double n = static_cast<double>(inner);
    for (const std::int32_t c : count) n *= std::max(1, c);
    elements_ *= n;
  }

  bool Float(std::string_view what, std::int32_t type) {
    if (type == kF16 || type == kF32) return true;
    Fail(what, "fp16 (0) or fp32 (1)", type);
    return false;
  }
  bool Type(std::string_view what, std::int32_t type) {
    if (type >= kF16 && type <= kI8) return true;
    Fail(what, "a type of 0 to 3", type);
    return false;
  }

  std::int64_t OnChip(std::int32_t mem) const {
    switch (mem) {
      case kL1:
        return p_.buffers.l1_bytes;
      case kUb:
        return p_.buffers.ub_bytes;
      case kL0A:
        return p_.buffers.l0a_bytes;
      case kL0B:
        return p_.buffers.l0b_bytes;
      case kL0C:
        return p_.buffers.l0c_bytes;
      default:
        return 0;
    }
  }

  void End(std::string_view what, const Place& place, bool is_dst, const Copy& x,
           const std::int32_t (&stride)[3]) {
    std::uint64_t size = 0;
    const auto i = static_cast<std::size_t>(place.index);
    const bool indexed = place.mem == kInput || place.mem == kOutput || place.mem == kWeight;
    if (place.index < 0 || (!indexed && place.index != 0))
      return Fail(what, "an index of 0 or more", place.index);
    switch (place.mem) {
      case kInput:
        if (is_dst) return Fail(what, "a destination that may be written", place.mem);
        if (i < p_.inputs.size()) size = p_.inputs[i].bytes().value_or(0);
        break;
      case kOutput:
        if (!is_dst) return Fail(what, "a source that may be read", place.mem);
        if (i < p_.outputs.size()) size = p_.outputs[i].bytes().value_or(0);
        break;
      case kWeight:
        if (is_dst) return Fail(what, "a destination that may be written", place.mem);
        if (i < p_.weight_bytes.size()) size = p_.weight_bytes[i];
        break;
      case kWorkspace:
        size = p_.workspace_bytes;
        break;
      case kL1:
      case kUb:
        size = static_cast<std::uint64_t>(OnChip(place.mem));
        break;
      default:
        return Fail(what, "a memory of 0 to 5", place.mem);
    }
    std::int64_t addr = place.addr;
    for (int d = 0; d < 2; ++d) {
      const std::int64_t step = place.step[d];
      if (step < 0) return Fail(what, "a step of 0 or more", step);
      if (step && (!IsDram(place.mem) || prologue_)) return Fail(what, "no step here", step);
      const std::int64_t add = (static_cast<std::int64_t>(tiles_[d]) - 1) * step;
      if (add > kMaxExtent) return Fail(what, Cat("at most ", size, " bytes"), add);
      addr += add;
    }
    if (prologue_ && is_dst && IsDram(place.mem))
      return Fail(what, "no DRAM destination in a prologue", place.mem);
    if (place.addr < 0) return Fail(what, "an address of 0 or more", place.addr);
    Extent(what, addr, x.count, stride, x.bytes,
           static_cast<std::int64_t>(std::min<std::uint64_t>(size, std::uint64_t{1} << 62)), 1);
  }

  void Instruction(const Copy& x) {
    End("src", x.src, false, x, x.src_stride);
    End("dst", x.dst, true, x, x.dst_stride);
    if (IsDram(x.src.mem) && IsDram(x.dst.mem)) Fail("dst", "not DRAM to DRAM", x.dst.mem);
    Elements(x.count, x.bytes);
  }

  void Instruction(const Fill& x) {
    if (x.mem != kL1 && x.mem != kUb) return Fail("mem", "L1 (4) or UB (5)", x.mem);
    if (!Type("type", x.type)) return;
    const std::int64_t size = ElemBytes(x.type);
    Extent("dst", x.addr, x.count, x.stride, x.len * size, OnChip(x.mem), size);
    Elements(x.count, x.len);
  }

  void Instruction(const Load3d& x) {
    // The published limits of load3d; they also keep every index below within int32.
    Range("height", x.height, 1, 32767);
    Range("width", x.width, 1, 32767);
    Range("pad_top", x.pad_top, 0, 255);
    Range("pad_left", x.pad_left, 0, 255);
    for (const std::int32_t k : {x.kernel_h, x.kernel_w}) Range("kernel", k, 1, 511);
    for (const std::int32_t s : {x.stride_h, x.stride_w}) Range("stride", s, 1, 63);
    for (const std::int32_t d : {x.dilation_h, x.dilation_w}) Range("dilation", d, 1, 255);
    Range("out_w", x.out_w, 1, 1 << 24);
    Range("m_start", x.m_start, 0, 1 << 24);
    Range("m_count", x.m_count, 1, 1 << 24);
    Range("k_start", x.k_start, 0, 1 << 24);
    Range("k_count", x.k_count, 1, 1 << 24);
    if (!failed_.empty()) return;
    const std::int32_t planes[1] = {(x.k_start + x.k_count - 1) / (x.kernel_h * x.kernel_w) + 1};
    const std::int32_t plane_stride[1] = {x.src_c1_stride};
    Extent("src", x.src_addr, planes, plane_stride, std::int64_t{x.height} * x.width * kBlockBytes,
           OnChip(kL1), kBlockBytes);
    const std::int32_t m1[1] = {(x.m_count + kLanes - 1) / kLanes};
    const std::int32_t m1_stride[1] = {x.dst_m1_stride};
    Extent("dst", x.dst_addr, m1, m1_stride, std::int64_t{x.k_count} * kFractalBytes, OnChip(kL0A),
           kFractalBytes);
    Elements(m1, std::int64_t{x.k_count} * 16);
  }

  void Instruction(const Load2d& x) {
    if (x.dst_mem != kL0A && x.dst_mem != kL0B)
      return Fail("dst_mem", "L0A (6) or L0B (7)", x.dst_mem);
    Range("transpose", x.transpose, 0, 1);
    Extent("src", x.src_addr, x.count, x.src_stride, kFractalBytes, OnChip(kL1), kBlockBytes);
    Extent("dst", x.dst_addr, x.count, x.dst_stride, kFractalBytes, OnChip(x.dst_mem),
           kFractalBytes);
    Elements(x.count, 16);
  }

  void Instruction(const Mmad& x) {
    if (x.type != kF16 && x.type != kI8) return Fail("type", "fp16 (0) or int8 (3)", x.type);
    Range("m", x.m, 1, 4095);
    Range("k1", x.k1, 1, 4095);
    Range("n1", x.n1, 1, 4095);
    Range("init", x.init, 0, 2);
    if (!failed_.empty()) return;
    const std::int32_t m1[1] = {(x.m + kLanes - 1) / kLanes}, k1[1] = {x.k1}, n1[1] = {x.n1};
    const std::int32_t sa[1] = {x.a_m1_stride}, sb[1] = {x.b_k1_stride}, sc[1] = {x.c_n1_stride};
    const std::int64_t acc = x.type == kI8 ? 4 : accumulator_;
    // Fractals lie apart, so that an operand is no larger than its buffer.
    if (m1[0] > 1)
      Range("a_m1_stride", x.a_m1_stride, std::int64_t{x.k1} * kFractalBytes, kMaxExtent);
    if (x.k1 > 1)
      Range("b_k1_stride", x.b_k1_stride, std::int64_t{x.n1} * kFractalBytes, kMaxExtent);
    if (x.n1 > 1) Range("c_n1_stride", x.c_n1_stride, std::int64_t{x.m} * kLanes * acc, kMaxExtent);
    Extent("a", x.a_addr, m1, sa, std::int64_t{x.k1} * kFractalBytes, OnChip(kL0A), kFractalBytes);
    Extent("b", x.b_addr, k1, sb, std::int64_t{x.n1} * kFractalBytes, OnChip(kL0B), kFractalBytes);
    Extent("c", x.c_addr, n1, sc, std::int64_t{x.m} * kLanes * acc, OnChip(kL0C), kBlockBytes);
    if (x.init == kBias) {
      const std::int32_t no[1] = {0};
      Extent("bias", x.bias_addr, n1, no, std::int64_t{x.n1} * kLanes * 4, OnChip(kL1), 4);
    }
    elements_ = static_cast<double>(x.m) * x.k1 * x.n1 * 256;
  }

  void Instruction(const L0cToUb& x) {
    Range("from_int32", x.from_int32, 0, 1);
    Range("relu", x.relu, 0, 1);
    Range("rows", x.rows, 1, 1 << 24);
    if (x.dst_type == kI32) {
      if (!x.from_int32 || x.scale_addr != -1) Fail("dst_type", "fp16 or fp32 here", x.dst_type);
    } else if (!Float("dst_type", x.dst_type)) {
      return;
    }
    if (!failed_.empty()) return;
    const std::int32_t n1[1] = {x.n1}, ss[1] = {x.src_n1_stride}, ds[1] = {x.dst_n1_stride};
    const std::int64_t row = std::int64_t{x.rows} * kLanes;
    const std::int64_t size = ElemBytes(x.dst_type);
    Extent("src", x.src_addr, n1, ss, row * (x.from_int32 ? 4 : accumulator_), OnChip(kL0C),
           kBlockBytes);
    Extent("dst", x.dst_addr, n1, ds, row * size, OnChip(kUb), size);
    if (x.scale_addr != -1) {
      const std::int32_t no[1] = {0};
      Extent("scale", x.scale_addr, n1, no, std::int64_t{x.n1} * kLanes * 4, OnChip(kUb), 4);
    }
    Elements(n1, row);
  }

  template <std::size_t N>
  void Ub(std::string_view what, std::int32_t addr, std::int32_t type,
          const std::int32_t (&count)[N], const std::int32_t (&stride)[N], std::int64_t len) {
    const std::int64_t size = ElemBytes(type);
    Extent(what, addr, count, stride, len * size, OnChip(kUb), size);
  }

  void Instruction(const Unary& x) {
    Range("op", static_cast<std::int32_t>(x.op), 0, kUnaryOpCount - 1);
    if (x.op == UnaryOp::kCopy) {
      if (!Type("dst_type", x.dst_type) || !Type("src_type", x.src_type)) return;
    } else if (!Float("dst_type", x.dst_type) || !Float("src_type", x.src_type)) {
      return;
    }
    if ((x.op == UnaryOp::kMaxs || x.op == UnaryOp::kMins) && std::isnan(x.scalar)) {
      Fail("scalar", "a number", 0);
    }
    Ub("dst", x.dst_addr, x.dst_type, x.count, x.dst_stride, x.len);
    Ub("src", x.src_addr, x.src_type, x.count, x.src_stride, x.len);
    Elements(x.count, x.len);
  }

  void Instruction(const Binary& x) {
    Range("op", static_cast<std::int32_t>(x.op), 0, kBinaryOpCount - 1);
    Range("src1_scalar", x.src1_scalar, 0, 1);
    if (!Float("dst_type", x.dst_type) || !Float("src0_type", x.src0_type) ||
        !Float("src1_type", x.src1_type)) {
      return;
    }
    Ub("dst", x.dst_addr, x.dst_type, x.count, x.dst_stride, x.len);
    Ub("src0", x.src0_addr, x.src0_type, x.count, x.src0_stride, x.len);
    Ub("src1", x.src1_addr, x.src1_type, x.count, x.src1_stride, x.src1_scalar ? 1 : x.len);
    Elements(x.count, x.len);
  }

  void Instruction(const Window& x) {
    Range("op", static_cast<std::int32_t>(x.op), 0, 2);
    Range("kernel_h", x.kernel_h, 1, 4095);
    Range("kernel_w", x.kernel_w, 1, 4095);
    if (!failed_.empty() || !Float("dst_type", x.dst_type)) return;
    const std::int32_t count[5] = {x.count[0], x.count[1], x.count[2], x.kernel_h, x.kernel_w};
    const std::int32_t src[5] = {x.src_stride[0], x.src_stride[1], x.src_stride[2], x.tap_stride[0],
                                 x.tap_stride[1]};
    Ub("src", x.src_addr, kF16, count, src, kLanes);
    Ub("dst", x.dst_addr, x.dst_type, x.count, x.dst_stride, kLanes);
    if (x.op == WindowOp::kMac) {
      const std::int32_t c1[1] = {x.count[0]}, ws[1] = {x.weight_stride}, bs[1] = {kLanes * 4};
      Ub("weight", x.weight_addr, kF16, c1, ws, std::int64_t{x.kernel_h} * x.kernel_w * kLanes);
      if (x.bias_addr != -1) Ub("bias", x.bias_addr, kF32, c1, bs, kLanes);
    }
    Elements(count, kLanes);
  }

  void Instruction(const Reduce& x) {
    Range("op", static_cast<std::int32_t>(x.op), 0, 3);
    if (!Float("dst_type", x.dst_type) || !Float("src_type", x.src_type)) return;
    const bool lanes = x.op == ReduceOp::kLanesSum || x.op == ReduceOp::kLanesMax;
    if (lanes && x.rows != 1) return Fail("rows", "1", x.rows);
    const std::int32_t count[4] = {x.count[0], x.count[1], x.count[2], x.rows};
    const std::int32_t src[4] = {x.src_stride[0], x.src_stride[1], x.src_stride[2], x.row_stride};
    Ub("src", x.src_addr, x.src_type, count, src, x.len);
    Ub("dst", x.dst_addr, x.dst_type, x.count, x.dst_stride, lanes ? 1 : x.len);
    Elements(count, x.len);
  }

  void Instruction(const Move& x) {
    const bool same = x.dst_type == x.src_type && Type("dst_type", x.dst_type);
    if (!same && (!Float("dst_type", x.dst_type) || !Float("src_type", x.src_type))) return;
    Ub("dst", x.dst_addr, x.dst_type, x.count, x.dst_stride, 1);
    Ub("src", x.src_addr, x.src_type, x.count, x.src_stride, 1);
    Elements(x.count, 1);
  }

  const Program& p_;
  std::int64_t accumulator_ = 4;
  std::uint64_t tiles_[2] = {1, 1};
  bool prologue_ = false;
  std::string where_;
  std::string failed_;
  Opcode op_{};
  std::uint64_t index_ = 0;
  std::uint64_t checked_ = 0;
  double elements_ = 0;
  double work_ = 0;
};

}  // namespace

Status Check(const Program& program) { return Checker(program).Run(); }

}  // namespace npukit::npu
