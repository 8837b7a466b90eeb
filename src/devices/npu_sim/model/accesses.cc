#include "devices/npu_sim/model/accesses.h"

namespace npukit::npu {
namespace {

class Collector {
 public:
  explicit Collector(std::int64_t accumulator_bytes) : accumulator_(accumulator_bytes) {}
  AccessList list;

  void operator()(const Copy& x) {
    if (!IsDram(x.src.mem)) Add(x.src.mem, false, x.src.addr, x.count, x.src_stride, x.bytes);
    if (!IsDram(x.dst.mem)) Add(x.dst.mem, true, x.dst.addr, x.count, x.dst_stride, x.bytes);
  }
  void operator()(const Fill& x) {
    Add(x.mem, true, x.addr, x.count, x.stride, std::int64_t{x.len} * ElemBytes(x.type));
  }
  void operator()(const Load3d& x) {
    const std::int64_t taps = std::int64_t{x.kernel_h} * x.kernel_w;
    const std::int64_t first = x.k_start / taps, last = (x.k_start + x.k_count - 1) / taps;
    const std::int64_t from = x.src_addr + first * x.src_c1_stride;
    Add(kL1, false, from,
        (last - first) * x.src_c1_stride + std::int64_t{x.height} * x.width * kBlockBytes);
    Add(kL0A, true, x.dst_addr,
        std::int64_t{(x.m_count + kLanes - 1) / kLanes - 1} * x.dst_m1_stride +
            std::int64_t{x.k_count} * kFractalBytes);
  }
  void operator()(const Load2d& x) {
    Add(kL1, false, x.src_addr, x.count, x.src_stride, kFractalBytes);
    Add(x.dst_mem, true, x.dst_addr, x.count, x.dst_stride, kFractalBytes);
  }
  void operator()(const Mmad& x) {
    const std::int64_t acc = x.type == kI8 ? 4 : accumulator_;
    Add(kL0A, false, x.a_addr,
        std::int64_t{(x.m + kLanes - 1) / kLanes - 1} * x.a_m1_stride +
            std::int64_t{x.k1} * kFractalBytes);
    Add(kL0B, false, x.b_addr,
        (std::int64_t{x.k1} - 1) * x.b_k1_stride + std::int64_t{x.n1} * kFractalBytes);
    Add(kL0C, true, x.c_addr,
        (std::int64_t{x.n1} - 1) * x.c_n1_stride + std::int64_t{x.m} * kLanes * acc);
    if (x.init == kBias) Add(kL1, false, x.bias_addr, std::int64_t{x.n1} * kLanes * 4);
  }
  void operator()(const L0cToUb& x) {
    const std::int64_t row = std::int64_t{x.rows} * kLanes;
    Add(kL0C, false, x.src_addr,
        (std::int64_t{x.n1} - 1) * x.src_n1_stride + row * (x.from_int32 ? 4 : accumulator_));
    Add(kUb, true, x.dst_addr,
        (std::int64_t{x.n1} - 1) * x.dst_n1_stride + row * ElemBytes(x.dst_type));
    if (x.scale_addr >= 0) Add(kUb, false, x.scale_addr, std::int64_t{x.n1} * kLanes * 4);
  }
  void operator()(const Unary& x) {
    Ub(true, x.dst_addr, x.dst_type, x.count, x.dst_stride, x.len);
    Ub(false, x.src_addr, x.src_type, x.count, x.src_stride, x.len);
  }
  void operator()(const Binary& x) {
    Ub(true, x.dst_addr, x.dst_type, x.count, x.dst_stride, x.len);
    Ub(false, x.src0_addr, x.src0_type, x.count, x.src0_stride, x.len);
    Ub(false, x.src1_addr, x.src1_type, x.count, x.src1_stride, x.src1_scalar ? 1 : x.len);
  }
  void operator()(const Window& x) {
    const std::int32_t count[5] = {x.count[0], x.count[1], x.count[2], x.kernel_h, x.kernel_w};
    const std::int32_t src[5] = {x.src_stride[0], x.src_stride[1], x.src_stride[2], x.tap_stride[0],
                                 x.tap_stride[1]};
    Ub(true, x.dst_addr, x.dst_type, x.count, x.dst_stride, kLanes);
    Ub(false, x.src_addr, kF16, count, src, kLanes);
    if (x.op != WindowOp::kMac) return;
    const std::int64_t planes = std::int64_t{x.count[0]} - 1;
    Add(kUb, false, x.weight_addr,
        planes * x.weight_stride + std::int64_t{x.kernel_h} * x.kernel_w * kBlockBytes);
    if (x.bias_addr >= 0) Add(kUb, false, x.bias_addr, (planes + 1) * kLanes * 4);
  }
  void operator()(const Reduce& x) {
    const bool lanes = x.op == ReduceOp::kLanesSum || x.op == ReduceOp::kLanesMax;
    const std::int32_t count[4] = {x.count[0], x.count[1], x.count[2], x.rows};
    const std::int32_t src[4] = {x.src_stride[0], x.src_stride[1], x.src_stride[2], x.row_stride};
    Ub(true, x.dst_addr, x.dst_type, x.count, x.dst_stride, lanes ? 1 : x.len);
    Ub(false, x.src_addr, x.src_type, count, src, x.len);
  }
  void operator()(const Move& x) {
    Ub(true, x.dst_addr, x.dst_type, x.count, x.dst_stride, 1);
    Ub(false, x.src_addr, x.src_type, x.count, x.src_stride, 1);
  }

 private:
  void Add(std::int32_t mem, bool write, std::int64_t begin, std::int64_t bytes) {
    list.items[static_cast<std::size_t>(list.count++)] = {BufferOf(mem), write, begin,
                                                          begin + bytes};
  }
  template <std::size_t N>
  void Add(std::int32_t mem, bool write, std::int64_t begin, const std::int32_t (&count)[N],
           const std::int32_t (&stride)[N], std::int64_t inner) {
    std::int64_t bytes = inner;
    for (std::size_t i = 0; i < N; ++i) bytes += (std::int64_t{count[i]} - 1) * stride[i];
    Add(mem, write, begin, bytes);
  }
  template <std::size_t N>
  void Ub(bool write, std::int32_t addr, std::int32_t type, const std::int32_t (&count)[N],
          const std::int32_t (&stride)[N], std::int64_t len) {
    Add(kUb, write, addr, count, stride, len * ElemBytes(type));
  }

  const std::int64_t accumulator_;
};

}  // namespace

AccessList AccessesOf(const std::int32_t* words, std::int64_t accumulator_bytes) {
  Collector c(accumulator_bytes);
  Visit(words, c);
  return c.list;
}

}  // namespace npukit::npu
