// Convolution, transposed convolution and matrix product by a constant: one call, described by how
// output pixels find their input pixels. Nothing is unfolded: the kernel reads rows of the input in
// place; only blocks that touch the border are copied, zeros included, into a small buffer first.
#pragma once

#include <optional>
#include <vector>

#include "devices/cpu/run/elementwise_program.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "devices/cpu/run/step.h"
#include "ops/window.h"

namespace npukit::devices::cpu {

// Which input columns a run of output columns reads. A plain convolution has one phase; a
// transposed one has one per remainder of the stride, since those are the columns that meet the
// same taps.
struct ColumnPhase {
  struct Tap {
    std::int64_t kx = 0;  // first kernel column of the tap
    std::int64_t ix = 0;  // input column that output j = 0 reads with it
  };
  std::int64_t first = 0, step = 1, count = 0;  // output columns first + j * step
  std::int64_t in_step = 1;                     // input columns from one j to the next
  std::vector<Tap> taps;
  std::int64_t inside_begin = 0, inside_end = 0;  // j whose taps all lie in the image
};

struct ConvShape {
  std::int64_t batch = 1, in_h = 1, in_w = 1, in_c = 1, out_h = 1, out_w = 1, out_c = 1, groups = 1;
  std::int64_t kernel_h = 1, kernel_w = 1;
  std::int64_t stride_h = 1, dilation_h = 1, pad_top = 0;
  bool transposed = false;
  std::int64_t row_matrices =
      1;                // more: output row oy is input row oy / this times matrix oy % this
  bool merged = false;  // a tap is a whole kernel row: kernel_w * in_c floats in a row
  std::vector<ColumnPhase> phases;
  std::int64_t run() const { return (merged ? kernel_w : 1) * (in_c / groups); }
  std::int64_t k() const { return kernel_h * kernel_w * (in_c / groups); }
};

// Nullopt when there is nothing to compute or a size is beyond what the call does.
std::optional<ConvShape> ShapeOfConv(const ops::Window& w, const tensor::Dims& x,
                                     const tensor::Dims& y, std::int64_t groups);
std::optional<ConvShape> ShapeOfDeconv(const ops::Window& w, const tensor::Dims& x,
                                       const tensor::Dims& y, std::int64_t groups);
// Every input pixel makes pixels of its own (Layout::kDeconvRow): a matrix product per kernel row,
// whose rows of kw x O lie side by side in the output.
std::optional<ConvShape> ShapeOfPixelwiseDeconv(const ops::Window& w, const tensor::Dims& x,
                                                const tensor::Dims& y);
ConvShape ShapeOfMatmul(std::int64_t rows, std::int64_t k, std::int64_t n);

class ConvCall final : public Call {
 public:
  // x and w are f32, w packed as `shape` says; bias is null or packed as kPad16. Null when the
  // epilogue is beyond it.
  static std::unique_ptr<Call> Make(const StepView& step, ConvShape shape, const float* w,
                                    const Operand* bias, const char* name, Preparation& prep);
  ConvCall(const Kernels& kernels, ConvShape shape, ElementwiseProgram program)
      : kernels_(kernels), s_(std::move(shape)), program_(std::move(program)) {}

  Status Run(const Frame& frame) const override;
  const char* kernel() const override { return name_; }
  std::uint64_t memory_bytes() const override { return group_bias_.size() * sizeof(float); }

 private:
  static constexpr std::int64_t kMaxRowTaps = 32;    // kernel rows
  static constexpr std::int64_t kMaxSegments = 256;  // taps of one block
  struct Task {
    const float* x;
    float* y;
    float* pack;
    const ElementwiseProgram::Steps* steps;
  };
  struct Rows {  // kernel rows that meet the image at one output row
    std::int64_t count = 0;
    std::int64_t ky[kMaxRowTaps];
    std::int64_t iy[kMaxRowTaps];
  };
  void Split();
  Rows RowsOf(std::int64_t oy) const;
  void RunUnit(const Task& t, std::int64_t unit) const;
  void RunSpan(const Task& t, GemmTile tile, const ColumnPhase& phase, const Rows& rows,
               const float* image, float* out_row, std::int64_t j0, std::int64_t j1) const;
  void PackBlock(float* pack, const ColumnPhase& phase, const Rows& rows, const float* image,
                 std::int64_t j0, std::int64_t j1) const;

  const Kernels& kernels_;
  ConvShape s_;
  ElementwiseProgram program_;
  const char* name_ = "conv_f32";
  Slot x_, y_, pack_;
  const float* w_ = nullptr;
  const float* bias_ = nullptr;
  std::vector<float> group_bias_;  // padded to 16 for each group
  float lo_ = 0, hi_ = 0;
  std::int64_t panel_stride_ = 0, group_panels_ = 0;
  // Units of work: batch x output row x chunk of columns x chunk of panels; a whole row where there
  // are phases.
  std::int64_t chunk_ = 1;  // columns
  std::int64_t panel_chunks_ = 1;
  std::int64_t row_chunks_ = 1;
  bool whole_rows_ = false;
  std::int64_t units_ = 0;
  std::int64_t tasks_ = 1;
  std::uint64_t pack_floats_ = 0;  // per task
};

}  // namespace npukit::devices::cpu
