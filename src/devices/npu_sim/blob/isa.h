// The instruction list of the simulated Da Vinci NPU as C++ structs: what lower/ writes, run/
// executes and model/ prices. What each instruction computes, to the bit, is docs/npu_semantics.md;
// this file fixes only names and word order.
//
// An instruction is one header word and operand words, all int32 little-endian: header = opcode |
// (operand words << 8), the upper 16 bits zero (kept for queue flags). Operands are exactly the
// struct below, in order; a float is its bit pattern. Units: every address, stride and `bytes` is
// in bytes; `count` and `len` are numbers of items. count[0] is outermost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace npukit::npu {

enum class Opcode : std::uint8_t {
  kCopy = 1,
  kFill = 2,
  kLoad3d = 3,
  kLoad2d = 4,
  kMmad = 5,
  kL0cToUb = 6,
  kUnary = 7,
  kBinary = 8,
  kWindow = 9,
  kReduce = 10,
  kMove = 11,
};
inline constexpr int kOpcodeCount = 12;  // 0 is no instruction
std::string_view OpcodeName(Opcode op);  // "copy", ...

// Where a byte address points. DRAM spaces are 0..3 and take an index; the on-chip buffers belong
// to one core.
enum Mem : std::int32_t {
  kInput = 0,
  kOutput = 1,
  kWeight = 2,
  kWorkspace = 3,
  kL1 = 4,
  kUb = 5,
  kL0A = 6,
  kL0B = 7,
  kL0C = 8
};
inline constexpr bool IsDram(std::int32_t mem) { return mem >= kInput && mem <= kWorkspace; }

enum ElemType : std::int32_t { kF16 = 0, kF32 = 1, kI32 = 2, kI8 = 3 };
inline constexpr std::int32_t ElemBytes(std::int32_t t) { return t == kF16 ? 2 : t == kI8 ? 1 : 4; }

inline constexpr std::int32_t kLanes = 16;          // rows of a fractal, fp16 lanes of a block
inline constexpr std::int32_t kBlockBytes = 32;     // one row of a fractal: 16 fp16 or 32 int8
inline constexpr std::int32_t kFractalBytes = 512;  // 16 rows

// A place for copy: for a DRAM space the address is addr + t0 * step0 + t1 * step1 in the tile (t0,
// t1); on chip steps are 0.
struct Place {
  std::int32_t mem = kUb;
  std::int32_t index = 0;  // input, output or weight number; 0 elsewhere
  std::int32_t addr = 0;
  std::int32_t step[2] = {0, 0};
};

// MTE2/MTE3: count[0] x count[1] x count[2] runs of `bytes`. Never DRAM to DRAM.
struct Copy {
  static constexpr Opcode kOp = Opcode::kCopy;
  Place dst;
  Place src;
  std::int32_t count[3] = {1, 1, 1};
  std::int32_t dst_stride[3] = {0, 0, 0};
  std::int32_t src_stride[3] = {0, 0, 0};
  std::int32_t bytes = 0;
};

// L1 or UB: count[0] x count[1] runs of `len` elements of `value`.
struct Fill {
  static constexpr Opcode kOp = Opcode::kFill;
  std::int32_t mem = kUb;
  std::int32_t addr = 0;
  std::int32_t count[2] = {1, 1};
  std::int32_t stride[2] = {0, 0};
  std::int32_t len = 0;
  std::int32_t type = kF16;
  std::int32_t value = 0;  // the element's bit pattern in the low bits
};

// MTE1: windows of an NC1HWC0 map in L1 -> fractals in L0A.
struct Load3d {
  static constexpr Opcode kOp = Opcode::kLoad3d;
  std::int32_t dst_addr = 0;           // L0A
  std::int32_t dst_m1_stride = 0;      // between rows of fractals; k_count * 512 when dense
  std::int32_t src_addr = 0;           // L1
  std::int32_t src_c1_stride = 0;      // between C1 planes
  std::int32_t height = 0, width = 0;  // of the map in L1, without padding
  std::int32_t pad_top = 0,
               pad_left = 0;  // rows, columns before the map; after it whatever the window reaches
  std::int32_t kernel_h = 1, kernel_w = 1;
  std::int32_t stride_h = 1, stride_w = 1;
  std::int32_t dilation_h = 1, dilation_w = 1;
  std::int32_t out_w = 0;                 // windows per output row
  std::int32_t m_start = 0, m_count = 0;  // output positions: oh * out_w + ow
  std::int32_t k_start = 0,
               k_count = 0;  // blocks of 32 bytes: (c1 * kernel_h + kh) * kernel_w + kw
};

// MTE1: 16x32-byte fractals L1 -> L0A or L0B, fp16 ones transposed on request.
struct Load2d {
  static constexpr Opcode kOp = Opcode::kLoad2d;
  std::int32_t dst_mem = kL0B;
  std::int32_t dst_addr = 0;
  std::int32_t src_addr = 0;
  std::int32_t count[2] = {1, 1};  // fractals
  std::int32_t dst_stride[2] = {0, kFractalBytes};
  std::int32_t src_stride[2] = {0, kFractalBytes};
  std::int32_t transpose = 0;
};

enum MmadInit : std::int32_t { kAccumulate = 0, kZero = 1, kBias = 2 };

// Cube: C[m][n] += A[m][k] B[k][n] over whole L0 tiles.
struct Mmad {
  static constexpr Opcode kOp = Opcode::kMmad;
  std::int32_t type = kF16;      // kF16 or kI8: of A and B
  std::int32_t a_addr = 0;       // L0A, fractals (m1, k1)
  std::int32_t a_m1_stride = 0;  // k1 * 512 when dense
  std::int32_t b_addr = 0;       // L0B, fractals (k1, n1)
  std::int32_t b_k1_stride = 0;  // n1 * 512 when dense
  std::int32_t c_addr = 0;       // L0C, (n1, m, 16)
  std::int32_t c_n1_stride = 0;  // ceil(m / 16) * 256 * accumulator bytes when dense
  std::int32_t m = 0;            // rows
  std::int32_t k1 = 0;           // blocks of 16 fp16 or 32 int8
  std::int32_t n1 = 0;           // blocks of 16 columns
  std::int32_t init = kZero;
  std::int32_t bias_addr = 0;  // L1, n1 * 16 fp32 (int32 for kI8); used by kBias
};

// Accumulators (n1, rows, 16) in L0C -> (n1, rows, 16) in UB.
struct L0cToUb {
  static constexpr Opcode kOp = Opcode::kL0cToUb;
  std::int32_t src_addr = 0;
  std::int32_t src_n1_stride = 0;
  std::int32_t dst_addr = 0;
  std::int32_t dst_n1_stride = 0;
  std::int32_t rows = 0;
  std::int32_t n1 = 0;
  std::int32_t from_int32 = 0;   // 0: accumulators of fp16 mmad; 1: of int8 mmad
  std::int32_t dst_type = kF16;  // kF16, kF32; kI32 only from int32
  std::int32_t relu = 0;
  std::int32_t scale_addr = -1;  // UB, n1 * 16 fp32, or -1
};

enum class UnaryOp : std::int32_t {
  kCopy = 0,  // the only one for integer types; converts
  kRelu = 1,
  kAbs = 2,
  kNeg = 3,
  kExp = 4,
  kLn = 5,
  kSqrt = 6,
  kRsqrt = 7,
  kRec = 8,
  kAdds = 9,
  kMuls = 10,
  kMaxs = 11,
  kMins = 12,
};
inline constexpr int kUnaryOpCount = 13;

// Vector: dst[i..][j] = op(src[i..][j]), four loops around `len` adjacent elements.
struct Unary {
  static constexpr Opcode kOp = Opcode::kUnary;
  UnaryOp op = UnaryOp::kCopy;
  std::int32_t dst_type = kF16, src_type = kF16;
  std::int32_t dst_addr = 0, src_addr = 0;
  std::int32_t count[4] = {1, 1, 1, 1};
  std::int32_t dst_stride[4] = {0, 0, 0, 0};
  std::int32_t src_stride[4] = {0, 0, 0, 0};
  std::int32_t len = 0;
  float scalar = 0;  // of adds, muls, maxs, mins
};

enum class BinaryOp : std::int32_t { kAdd = 0, kSub = 1, kMul = 2, kDiv = 3, kMax = 4, kMin = 5 };
inline constexpr int kBinaryOpCount = 6;

struct Binary {
  static constexpr Opcode kOp = Opcode::kBinary;
  BinaryOp op = BinaryOp::kAdd;
  std::int32_t dst_type = kF16, src0_type = kF16, src1_type = kF16;  // kF16 or kF32
  std::int32_t dst_addr = 0, src0_addr = 0, src1_addr = 0;
  std::int32_t count[4] = {1, 1, 1, 1};
  std::int32_t dst_stride[4] = {0, 0, 0, 0};
  std::int32_t src0_stride[4] = {0, 0, 0, 0};
  std::int32_t src1_stride[4] = {0, 0, 0, 0};
  std::int32_t len = 0;
  std::int32_t src1_scalar = 0;  // 1: one element of src1 serves all `len`
};

enum class WindowOp : std::int32_t { kMac = 0, kMax = 1, kSum = 2 };

// Vector: depthwise convolution and pooling over 16-lane blocks in UB. count = (C1, output rows,
// output columns).
struct Window {
  static constexpr Opcode kOp = Opcode::kWindow;
  WindowOp op = WindowOp::kMac;
  std::int32_t dst_type = kF16;  // kF16 or kF32; src and weights are fp16
  std::int32_t dst_addr = 0, src_addr = 0;
  std::int32_t weight_addr = 0;    // kMac: (C1, kernel_h * kernel_w, 16) fp16
  std::int32_t weight_stride = 0;  // between C1
  std::int32_t bias_addr = -1;     // kMac: (C1, 16) fp32, or -1
  std::int32_t kernel_h = 1, kernel_w = 1;
  std::int32_t tap_stride[2] = {0, 0};  // of src, per kernel row and column
  std::int32_t count[3] = {1, 1, 1};
  std::int32_t dst_stride[3] = {0, 0, kBlockBytes};
  std::int32_t src_stride[3] = {0, 0, kBlockBytes};
};

enum class ReduceOp : std::int32_t { kRowsSum = 0, kRowsMax = 1, kLanesSum = 2, kLanesMax = 3 };

// Vector: rows: dst[i..][j] = over r of src[i..][r][j]; lanes: dst[i..] = over j of src[i..][j].
struct Reduce {
  static constexpr Opcode kOp = Opcode::kReduce;
  ReduceOp op = ReduceOp::kRowsSum;
  std::int32_t dst_type = kF16, src_type = kF16;  // kF16 or kF32
  std::int32_t dst_addr = 0, src_addr = 0;
  std::int32_t count[3] = {1, 1, 1};
  std::int32_t dst_stride[3] = {0, 0, 0};
  std::int32_t src_stride[3] = {0, 0, 0};
  std::int32_t rows = 1;  // 1 for lanes
  std::int32_t row_stride = 0;
  std::int32_t len = 0;
};

// Vector: five loops over single elements: transposes, (rows, C) <-> (C1, rows, 16), gathers with a
// regular step.
struct Move {
  static constexpr Opcode kOp = Opcode::kMove;
  std::int32_t dst_type = kF16, src_type = kF16;  // equal, or kF16 with kF32
  std::int32_t dst_addr = 0, src_addr = 0;
  std::int32_t count[5] = {1, 1, 1, 1, 1};
  std::int32_t dst_stride[5] = {0, 0, 0, 0, 0};
  std::int32_t src_stride[5] = {0, 0, 0, 0, 0};
};

template <class T>
inline constexpr std::int32_t kOperandWords = static_cast<std::int32_t>(sizeof(T) / 4);

template <class T>
constexpr std::int32_t HeaderWord() {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0 && sizeof(T) / 4 < 256);
  return static_cast<std::int32_t>(T::kOp) | (kOperandWords<T> << 8);
}
inline constexpr Opcode OpcodeOf(std::int32_t header) { return static_cast<Opcode>(header & 0xFF); }
inline constexpr std::int32_t OperandWordsOf(std::int32_t header) { return (header >> 8) & 0xFF; }

// The one legal header of an opcode; 0 when there is no such instruction.
constexpr std::int32_t HeaderOf(Opcode op) {
  switch (op) {
    case Opcode::kCopy:
      return HeaderWord<Copy>();
    case Opcode::kFill:
      return HeaderWord<Fill>();
    case Opcode::kLoad3d:
      return HeaderWord<Load3d>();
    case Opcode::kLoad2d:
      return HeaderWord<Load2d>();
    case Opcode::kMmad:
      return HeaderWord<Mmad>();
    case Opcode::kL0cToUb:
      return HeaderWord<L0cToUb>();
    case Opcode::kUnary:
      return HeaderWord<Unary>();
    case Opcode::kBinary:
      return HeaderWord<Binary>();
    case Opcode::kWindow:
      return HeaderWord<Window>();
    case Opcode::kReduce:
      return HeaderWord<Reduce>();
    case Opcode::kMove:
      return HeaderWord<Move>();
  }
  return 0;
}

// `words` points at the header of an instruction already known to be a T (blob.h checks a list
// before anybody decodes it).
template <class T>
T Decode(const std::int32_t* words) {
  T t;
  std::memcpy(static_cast<void*>(&t), words + 1, sizeof(T));
  return t;
}

// Calls f(const T&) with the decoded instruction at `words`; false for an unknown opcode.
template <class F>
bool Visit(const std::int32_t* words, F&& f) {
  switch (OpcodeOf(*words)) {
    case Opcode::kCopy:
      f(Decode<Copy>(words));
      return true;
    case Opcode::kFill:
      f(Decode<Fill>(words));
      return true;
    case Opcode::kLoad3d:
      f(Decode<Load3d>(words));
      return true;
    case Opcode::kLoad2d:
      f(Decode<Load2d>(words));
      return true;
    case Opcode::kMmad:
      f(Decode<Mmad>(words));
      return true;
    case Opcode::kL0cToUb:
      f(Decode<L0cToUb>(words));
      return true;
    case Opcode::kUnary:
      f(Decode<Unary>(words));
      return true;
    case Opcode::kBinary:
      f(Decode<Binary>(words));
      return true;
    case Opcode::kWindow:
      f(Decode<Window>(words));
      return true;
    case Opcode::kReduce:
      f(Decode<Reduce>(words));
      return true;
    case Opcode::kMove:
      f(Decode<Move>(words));
      return true;
  }
  return false;
}

}  // namespace npukit::npu
