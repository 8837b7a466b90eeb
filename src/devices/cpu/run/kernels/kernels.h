// The kernels of one instruction set, as a table of functions: chosen once when the device opens,
// never per call.
//
// A kernel owns nothing, allocates nothing and touches only what its arguments name; no alignment
// is asked for beyond that of a float. All targets that do fused multiply-add give the same bits,
// whatever the blocking.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"

namespace npukit::devices::cpu {

enum class Target : std::uint8_t { kScalar, kAvx2, kAvx512, kNeon };
const char* TargetName(Target t);  // "scalar", "avx2", "avx512", "neon"

// --- Matrix product: out[r, c] = clamp(bias[c] + sum over segments and k of a[r, k] * w[k, c])
// ------------------------ A row of A is a list of segments of `run` floats each; row r of a
// segment lies r * a_stride after row 0. So one kernel does a matrix (one segment), a convolution
// (a segment per kernel row) and a phase of a transposed one.
struct GemmSegment {
  const float* a = nullptr;  // row 0
  std::int64_t k = 0;        // index in a panel of its first weight row
};
struct GemmTile {
  const GemmSegment* segments = nullptr;
  std::int64_t segment_count = 0;
  std::int64_t run = 0;
  std::int64_t a_stride = 0;
  std::int64_t rows = 0;
  const float* w = nullptr;       // panels of 16 columns (blob/packed.h)
  std::int64_t panel_stride = 0;  // floats from one panel to the next
  std::int64_t cols = 0;
  const float* bias = nullptr;  // padded to 16, or null
  float lo = 0, hi = 0;         // -inf, inf: no clamp
  float* out = nullptr;
  std::int64_t out_stride = 0;
};

// --- Depthwise convolution, NHWC: a run of output pixels of one row, all channels
// --------------------------------------
struct DepthwiseTile {
  const float* const* rows =
      nullptr;  // kernel rows that lie inside the image: input at the first pixel's first column
  const float* w = nullptr;  // [ceil(channels / 16)][taps][16], at the first of those kernel rows
  std::int64_t w_panel_stride = 0;
  std::int64_t row_count = 0;
  std::int64_t row_taps = 0;  // columns of the kernel to use
  std::int64_t w_row_stride =
      0;  // floats from one kernel row to the next: all columns of the kernel * 16
  std::int64_t tap_stride = 0;    // floats between columns: dilation * channels
  std::int64_t pixel_stride = 0;  // floats between output pixels' inputs: stride * channels
  std::int64_t pixels = 0;
  std::int64_t channels = 0;
  const float* bias = nullptr;
  float lo = 0, hi = 0;
  float* out = nullptr;  // pixels * channels, dense
};

// --- Winograd's transforms (blob/winograd.h), NHWC: a row of tiles next to each other
// -------------------------------------------------------------------
struct WinogradIn {  // (m + 2)^2 pixels of each tile to points, zeros outside the image
  int m = 4;
  const float* image = nullptr;
  std::int64_t height = 0, width = 0, channels = 0;
  std::int64_t y = 0, x = 0;  // the first tile's first pixel; may lie outside
  std::int64_t tiles = 0;
  float* out = nullptr;          // at a tile's point: the channels and room for whole vectors
  std::int64_t tile_stride = 0;  // floats; at least `channels` up to a multiple of 16
  std::int64_t point_stride = 0;
};
struct WinogradOut {  // points to m^2 pixels of each tile: clamp(bias + ...)
  int m = 4;
  const float* in = nullptr;
  std::int64_t tile_stride = 0, point_stride = 0;
  std::int64_t tiles = 0;
  std::int64_t channels = 0;
  const float* bias = nullptr;  // padded to 16, or null
  float lo = 0, hi = 0;
  float* out = nullptr;             // the first tile's first pixel
  std::int64_t row_stride = 0;      // floats between rows of pixels
  std::int64_t col_stride = 0;      // and between pixels
  std::int64_t rows = 0, cols = 0;  // pixels to write: rows up to m, cols of all tiles
};

// --- Elementwise steps over a block: out = steps(in)
// -------------------------------------------------------------------
enum class EwOp : std::uint8_t {
  kRelu,
  kClip,
  kHardSigmoid,
  kHardSwish,
  kSigmoid,
  kSwish,
  kSqrt,
  kSquare,
  kAbs,
  kNeg,
  kReciprocal,
  kFloor,
  kCeil,
  kRound,
  kLeakyRelu,
  kElu,
  kExp,
  kErf,
  kTanh,
  kGelu,
  kGeluTanh,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRSub,
  kRDiv,  // x op operand; R: operand op x
  kMin,
  kMax,    // NaN wins
  kPRelu,  // operand: the slope
};
enum class EwOperand : std::uint8_t {
  kNone,
  kScalar,   // one number
  kChannel,  // one per column
  kImage,    // one per column, another set for each image of rows
  kRow,      // one per row
  kSame,     // one per element, laid out as the output
};
struct EwStep {
  EwOp op = EwOp::kRelu;
  EwOperand kind = EwOperand::kNone;
  float p0 = 0, p1 = 0;  // clip: min, max; hard_sigmoid: alpha, beta; leaky_relu, elu: alpha
  const float* operand = nullptr;  // of the whole tensor
};
struct EwBlock {
  const EwStep* steps = nullptr;
  std::int64_t step_count = 0;
  const float* in = nullptr;  // may be `out`
  float* out = nullptr;
  std::int64_t rows = 0, cols = 0;
  std::int64_t stride = 0;          // of in and out
  std::int64_t row0 = 0, col0 = 0;  // where the block lies in the tensor
  std::int64_t image = 0;           // which image
  std::int64_t channels = 0;        // columns of the tensor: for kImage
  std::int64_t offset = 0;          // of the block in the tensor, in floats: for kSame
};

// --- Binary with any broadcast: one row, each side stepping by 1 or standing still
// --------------------------------------
struct BinaryRow {
  EwOp op = EwOp::kAdd;
  const float* a = nullptr;
  const float* b = nullptr;
  bool a_moves = true, b_moves = true;
  float* out = nullptr;
  std::int64_t n = 0;
};

// --- Pooling, NHWC: one output pixel, all channels
// -----------------------------------------------------------------------
struct PoolPixel {
  const float* in = nullptr;                    // first row and column inside the image
  std::int64_t rows = 0, cols = 0;              // taps inside the image
  std::int64_t row_stride = 0, col_stride = 0;  // floats between taps
  std::int64_t channels = 0;
  float scale = 1;  // average: 1 / divisor
  float* out = nullptr;
};

struct Kernels {
  Target target = Target::kScalar;
  std::int64_t gemm_rows = 1;  // rows of a full block
  std::int64_t depthwise_pixels = 1;
  void (*gemm)(const GemmTile&) = nullptr;
  void (*depthwise)(const DepthwiseTile&) = nullptr;
  void (*winograd_to_points)(const WinogradIn&) = nullptr;
  void (*winograd_from_points)(const WinogradOut&) = nullptr;
  void (*elementwise)(const EwBlock&) = nullptr;
  void (*binary_row)(const BinaryRow&) = nullptr;
  void (*max_pool)(const PoolPixel&) = nullptr;
  void (*sum_pool)(const PoolPixel&) = nullptr;  // times scale
  float (*sum)(const float* x, std::int64_t n) = nullptr;
  void (*softmax)(const float* x, float* y, std::int64_t n) = nullptr;
  void (*moments)(const float* x, std::int64_t n, float* mean, float* variance) = nullptr;
  // x / sqrt(mean of squares + epsilon) * scale of one row
  void (*rms_norm)(const float* x, const float* scale, float epsilon, float* y,
                   std::int64_t n) = nullptr;
  // (x - mean) / sqrt(variance + epsilon) * scale + bias of one row; bias may be null.
  void (*layer_norm)(const float* x, const float* scale, const float* bias, float epsilon, float* y,
                     std::int64_t n) = nullptr;
  // out[i] = a[i] + t * (b[i] - a[i])
  void (*lerp)(const float* a, const float* b, float t, float* out, std::int64_t n) = nullptr;
  // out[c][r] = in[r][c]
  void (*transpose)(const float* in, std::int64_t rows, std::int64_t cols, std::int64_t in_stride,
                    float* out, std::int64_t out_stride) = nullptr;
  // What the machine reaches. `fma`: `rounds` times `fma_flops` operations on registers alone.
  void (*fma)(std::int64_t rounds, float* out) = nullptr;
  std::int64_t fma_flops = 0;
  void (*copy)(const float* in, float* out, std::int64_t n) = nullptr;
};

// Those this build has and this machine runs, best first; never empty.
std::vector<Target> SupportedTargets();
// Null when not among SupportedTargets.
const Kernels* KernelsFor(Target t);
// The best, or what NPUKIT_CPU_TARGET says; kInvalidArgument lists what there is.
Result<const Kernels*> ChosenKernels();

// Each file of kernels fills its part of the table.
void FillGemm(Kernels* k);
void FillDepthwise(Kernels* k);
void FillWinograd(Kernels* k);
void FillElementwise(Kernels* k);
void FillReduce(Kernels* k);
void FillMove(Kernels* k);
void FillPeaks(Kernels* k);

}  // namespace npukit::devices::cpu
