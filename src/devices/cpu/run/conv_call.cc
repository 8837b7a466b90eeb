#include "devices/cpu/run/conv_call.h"

#include <algorithm>
#include <cstring>

namespace npukit::devices::cpu {
namespace {

// MACs that are worth handing to another thread (some 20 us on one core).
constexpr double kTaskMacs = 500'000;

// The j for which ix + j * step lies in [0, limit), cut to [0, count).
void CutInside(std::int64_t ix, std::int64_t step, std::int64_t limit, std::int64_t* begin,
               std::int64_t* end) {
  const std::int64_t from = ix >= 0 ? 0 : (-ix + step - 1) / step;
  const std::int64_t to = ix >= limit ? 0 : (limit - 1 - ix) / step + 1;
  *begin = std::max(*begin, from);
  *end = std::min(*end, to);
}

void FindInside(ConvShape& s) {
  for (ColumnPhase& p : s.phases) {
    p.inside_begin = 0;
    p.inside_end = p.count;
    for (const ColumnPhase::Tap& t : p.taps) {
      CutInside(t.ix, p.in_step, s.in_w, &p.inside_begin, &p.inside_end);
      if (s.merged)
        CutInside(t.ix + s.kernel_w - 1, p.in_step, s.in_w, &p.inside_begin, &p.inside_end);
    }
    if (p.inside_begin >= p.inside_end) p.inside_begin = p.inside_end = 0;
  }
}

ConvShape Base(const ops::Window& w, const tensor::Dims& x, const tensor::Dims& y,
               std::int64_t groups) {
  ConvShape s;
  s.batch = x[0], s.in_h = x[1], s.in_w = x[2], s.in_c = x[3];
  s.out_h = y[1], s.out_w = y[2], s.out_c = y[3];
  s.groups = groups;
  s.kernel_h = w.kernel[0], s.kernel_w = w.kernel[1];
  s.stride_h = w.stride[0], s.dilation_h = w.dilation[0];
  return s;
}

bool IsEmpty(const tensor::Dims& d) { return std::find(d.begin(), d.end(), 0) != d.end(); }

}  // namespace

std::optional<ConvShape> ShapeOfConv(const ops::Window& w, const tensor::Dims& x,
                                     const tensor::Dims& y, std::int64_t groups) {
  const auto rows = ops::SlideOver(w, 0, x[1]);
  const auto cols = ops::SlideOver(w, 1, x[2]);
  if (!rows.ok() || !cols.ok() || IsEmpty(x) || IsEmpty(y)) return std::nullopt;
  ConvShape s = Base(w, x, y, groups);
  s.pad_top = rows->pad_begin;
  const bool pointwise = s.kernel_h == 1 && s.kernel_w == 1 && w.stride[0] == 1 &&
                         w.stride[1] == 1 && rows->pad_begin == 0 && cols->pad_begin == 0 &&
                         s.out_h == s.in_h && s.out_w == s.in_w;
  if (pointwise) {  // an image is one long row
    s.out_w = s.in_w = s.in_h * s.in_w;
    s.out_h = s.in_h = 1;
  }
  s.merged = groups == 1 && w.dilation[1] == 1;
  ColumnPhase p;
  p.count = s.out_w;
  p.in_step = w.stride[1];
  for (std::int64_t kx = 0; kx < (s.merged ? 1 : s.kernel_w); ++kx) {
    p.taps.push_back({kx, kx * w.dilation[1] - cols->pad_begin});
  }
  s.phases.push_back(std::move(p));
  FindInside(s);
  return s;
}

std::optional<ConvShape> ShapeOfDeconv(const ops::Window& w, const tensor::Dims& x,
                                       const tensor::Dims& y, std::int64_t groups) {
  const auto rows = ops::SpreadFrom(w, 0, x[1]);
  const auto cols = ops::SpreadFrom(w, 1, x[2]);
  if (!rows.ok() || !cols.ok() || IsEmpty(x) || IsEmpty(y)) return std::nullopt;
  ConvShape s = Base(w, x, y, groups);
  s.transposed = true;
  s.pad_top = rows->pad_begin;
  const std::int64_t stride = w.stride[1];
  for (std::int64_t first = 0; first < std::min(stride, s.out_w); ++first) {
    ColumnPhase p;
    p.first = first;
    p.step = stride;
    p.count = (s.out_w - first + stride - 1) / stride;
    for (std::int64_t kx = 0; kx < s.kernel_w; ++kx) {
      const std::int64_t at = first + cols->pad_begin - kx * w.dilation[1];
      if (at % stride == 0) p.taps.push_back({kx, at / stride});
    }
    s.phases.push_back(std::move(p));
  }
  FindInside(s);
  return s;
}

std::optional<ConvShape> ShapeOfPixelwiseDeconv(const ops::Window& w, const tensor::Dims& x,
                                                const tensor::Dims& y) {
  const auto rows = ops::SpreadFrom(w, 0, x[1]);
  const auto cols = ops::SpreadFrom(w, 1, x[2]);
  if (!rows.ok() || !cols.ok() || IsEmpty(x) || IsEmpty(y) || rows->pad_begin != 0 ||
      cols->pad_begin != 0)
    return std::nullopt;
  if (w.stride != w.kernel || w.dilation != std::array<std::int64_t, 2>{1, 1}) return std::nullopt;
  if (y[1] != x[1] * w.kernel[0] || y[2] != x[2] * w.kernel[1]) return std::nullopt;
  ConvShape s = ShapeOfMatmul(x[2], x[3], w.kernel[1] * y[3]);
  s.batch = x[0];
  s.in_h = x[1];
  s.out_h = y[1];
  s.row_matrices = w.kernel[0];
  return s;
}

ConvShape ShapeOfMatmul(std::int64_t rows, std::int64_t k, std::int64_t n) {
  ConvShape s;
  s.in_w = s.out_w = rows;
  s.in_c = k;
  s.out_c = n;
  s.merged = true;
  ColumnPhase p;
  p.count = rows;
  p.taps.push_back({});
  s.phases.push_back(std::move(p));
  FindInside(s);
  return s;
}

std::unique_ptr<Call> ConvCall::Make(const StepView& step, ConvShape shape, const float* w,
                                     const Operand* bias, const char* name, Preparation& prep) {
  constexpr std::int64_t kMaxK = std::int64_t{1} << 24;
  if (shape.kernel_h > kMaxRowTaps || shape.k() > kMaxK) return nullptr;
  for (const ColumnPhase& p : shape.phases) {
    if (static_cast<std::int64_t>(p.taps.size()) * shape.kernel_h > kMaxSegments) return nullptr;
  }
  ElementwiseProgram program(step.outputs[0].dims);
  if (!program.AddEpilogue(step)) return nullptr;
  auto call = std::make_unique<ConvCall>(prep.kernels(), std::move(shape), std::move(program));
  ConvShape& s = call->s_;
  call->name_ = name;
  call->program_.TakeClamp(&call->lo_, &call->hi_);
  call->x_ = step.inputs[0].slot;
  call->y_ = step.outputs[0].slot;
  call->w_ = w;
  const std::int64_t group_out = s.out_c / s.groups;
  call->group_panels_ = (group_out + kPanel - 1) / kPanel;
  call->panel_stride_ = s.k() * kPanel;
  if (bias != nullptr) {
    call->bias_ = static_cast<const float*>(bias->constant);
    const std::int64_t channels = step.outputs[0].dims.back();
    if (s.out_c != channels) {  // several pixels to a row of the product: the bias as often
      call->group_bias_.assign(static_cast<std::size_t>(call->group_panels_ * kPanel), 0.0f);
      for (std::int64_t i = 0; i < s.out_c; ++i)
        call->group_bias_[static_cast<std::size_t>(i)] = call->bias_[i % channels];
      call->bias_ = call->group_bias_.data();
    } else if (s.groups > 1) {
      call->group_bias_.assign(static_cast<std::size_t>(s.groups * call->group_panels_ * kPanel),
                               0.0f);
      for (std::int64_t g = 0; g < s.groups; ++g) {
        std::copy_n(call->bias_ + g * group_out, group_out,
                    call->group_bias_.data() + g * call->group_panels_ * kPanel);
      }
      call->bias_ = call->group_bias_.data();
    }
  }
  call->Split();
  const double macs = static_cast<double>(s.batch * s.out_h * s.out_w) *
                      static_cast<double>(s.k() * group_out * s.groups);
  const double want = std::clamp(macs / kTaskMacs, 1.0, 4.0 * prep.threads());
  call->tasks_ = prep.threads() == 1 ? 1 : std::min(call->units_, static_cast<std::int64_t>(want));
  // Too few pixels for all threads, but enough work: split the output channels too.
  if (prep.threads() > 1 && call->units_ < 2 * prep.threads() && want >= 2 && s.groups == 1 &&
      s.row_matrices == 1) {
    call->panel_chunks_ = std::min(call->group_panels_, static_cast<std::int64_t>(want));
    call->units_ *= call->panel_chunks_;
    call->tasks_ = std::min(call->units_, static_cast<std::int64_t>(want));
  }
  call->pack_floats_ =
      static_cast<std::uint64_t>((prep.kernels().gemm_rows * s.k() + 15) / 16 * 16);
  call->pack_ =
      prep.Workspace(static_cast<std::uint64_t>(call->tasks_) * call->pack_floats_ * sizeof(float));
  return call;
}

// Columns per unit: enough to use the weights that are in cache, few enough that input and output
// rows stay there.
void ConvCall::Split() {
  constexpr std::int64_t kOutFloats = 6144;
  const std::int64_t rows = kernels_.gemm_rows;
  chunk_ = std::clamp(kOutFloats / s_.out_c / rows * rows, rows,
                      std::max<std::int64_t>(rows, 96 / rows * rows));
  whole_rows_ = s_.phases.size() > 1;  // the steps after it want pixels that follow each other
  row_chunks_ = whole_rows_ ? 1 : (s_.phases[0].count + chunk_ - 1) / chunk_;
  units_ = s_.batch * s_.out_h * row_chunks_;
}

ConvCall::Rows ConvCall::RowsOf(std::int64_t oy) const {
  Rows r;
  for (std::int64_t ky = 0; ky < s_.kernel_h; ++ky) {
    std::int64_t iy = 0;
    if (s_.transposed) {
      const std::int64_t at = oy + s_.pad_top - ky * s_.dilation_h;
      if (at < 0 || at % s_.stride_h != 0) continue;
      iy = at / s_.stride_h;
    } else if (s_.row_matrices > 1) {
      iy = oy / s_.row_matrices;
    } else {
      iy = oy * s_.stride_h - s_.pad_top + ky * s_.dilation_h;
    }
    if (iy < 0 || iy >= s_.in_h) continue;
    r.ky[r.count] = ky;
    r.iy[r.count] = iy;
    ++r.count;
  }
  return r;
}

void ConvCall::PackBlock(float* pack, const ColumnPhase& phase, const Rows& rows,
                         const float* image, std::int64_t j0, std::int64_t j1) const {
  const std::int64_t c = s_.in_c / s_.groups;
  const std::int64_t width = s_.merged ? s_.kernel_w : 1;  // pixels of a tap
  const auto bytes = [&](std::int64_t pixels) {
    return static_cast<std::size_t>(pixels * c) * sizeof(float);
  };
  for (std::int64_t j = j0; j < j1; ++j) {
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const float* row = image + rows.iy[r] * s_.in_w * s_.in_c;
      for (const ColumnPhase::Tap& t : phase.taps) {
        const std::int64_t ix = t.ix + j * phase.in_step;
        const std::int64_t from =
            std::clamp<std::int64_t>(-ix, 0, width);  // pixels left of the image
        const std::int64_t to =
            std::clamp<std::int64_t>(s_.in_w - ix, from, width);  // first pixel right of it
        std::memset(pack, 0, bytes(from));
        if (to > from) std::memcpy(pack + from * c, row + (ix + from) * s_.in_c, bytes(to - from));
        std::memset(pack + to * c, 0, bytes(width - to));
        pack += width * c;
      }
    }
  }
}

// Output columns [j0, j1) of a phase. Blocks inside the image are read in place, all that follow
// each other at once.
void ConvCall::RunSpan(const Task& t, GemmTile tile, const ColumnPhase& phase, const Rows& rows,
                       const float* image, float* out_row, std::int64_t j0, std::int64_t j1) const {
  GemmSegment segments[kMaxSegments];
  const auto taps = static_cast<std::int64_t>(phase.taps.size());
  tile.segments = segments;
  tile.segment_count = rows.count * taps;
  tile.run = s_.run();
  tile.out_stride = phase.step * s_.out_c;
  const std::int64_t c = s_.in_c / s_.groups;
  const auto place = [&](std::int64_t j, bool packed) {
    for (std::int64_t r = 0; r < rows.count; ++r) {
      for (std::int64_t k = 0; k < taps; ++k) {
        const ColumnPhase::Tap& tap = phase.taps[static_cast<std::size_t>(k)];
        GemmSegment& s = segments[r * taps + k];
        s.k = (rows.ky[r] * s_.kernel_w + tap.kx) * c;
        s.a = packed ? t.pack + (r * taps + k) * tile.run
                     : image + (rows.iy[r] * s_.in_w + tap.ix + j * phase.in_step) * s_.in_c;
      }
    }
  };
  const auto run = [&](std::int64_t from, std::int64_t to, bool packed) {
    if (from >= to) return;
    place(from, packed);
    tile.a_stride = packed ? tile.segment_count * tile.run : phase.in_step * s_.in_c;
    tile.rows = to - from;
    tile.out = out_row + (phase.first + from * phase.step) * s_.out_c;
    kernels_.gemm(tile);
  };
  const std::int64_t blocks = (j1 - j0 + kernels_.gemm_rows - 1) / kernels_.gemm_rows;
  std::int64_t pending = j0;  // blocks since here lie inside and wait to be run at once
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t from = j0 + b * (j1 - j0) / blocks;
    const std::int64_t to = j0 + (b + 1) * (j1 - j0) / blocks;
    if (tile.segment_count == 0 || (from >= phase.inside_begin && to <= phase.inside_end)) continue;
    run(pending, from, false);
    PackBlock(t.pack, phase, rows, image, from, to);
    run(from, to, true);
    pending = to;
  }
  run(pending, j1, false);
}

void ConvCall::RunUnit(const Task& t, std::int64_t unit) const {
  const std::int64_t panel_chunk = unit % panel_chunks_;
  unit /= panel_chunks_;
  const std::int64_t row = unit / row_chunks_;
  const Rows rows = RowsOf(row % s_.out_h);
  const std::int64_t pixel0 = row * s_.out_w;
  const std::int64_t group_out = s_.out_c / s_.groups;
  const std::int64_t panel0 = panel_chunk * group_panels_ / panel_chunks_;
  const std::int64_t panel1 = (panel_chunk + 1) * group_panels_ / panel_chunks_;
  const std::int64_t col0 = panel0 * kPanel;
  const std::int64_t cols = std::min(panel1 * kPanel, group_out) - col0;
  const auto run = [&](const ColumnPhase& phase, std::int64_t j0, std::int64_t j1) {
    for (std::int64_t g = 0; g < s_.groups; ++g) {
      GemmTile tile;
      tile.panel_stride = panel_stride_;
      const std::int64_t matrix = s_.row_matrices > 1 ? row % s_.row_matrices : g;
      tile.w = w_ + (matrix * group_panels_ + panel0) * panel_stride_;
      tile.cols = cols;
      tile.bias = bias_ == nullptr ? nullptr : bias_ + g * group_panels_ * kPanel + col0;
      tile.lo = lo_;
      tile.hi = hi_;
      const float* image =
          t.x + row / s_.out_h * s_.in_h * s_.in_w * s_.in_c + g * (s_.in_c / s_.groups);
      RunSpan(t, tile, phase, rows, image, t.y + pixel0 * s_.out_c + g * group_out + col0, j0, j1);
    }
  };
  // In the tensor's own pixels, of which a row of the product may hold several.
  const std::int64_t pixels = s_.out_c / program_.cols();
  const std::int64_t steps_cols = s_.groups > 1 || pixels > 1 ? program_.cols() : cols;
  if (whole_rows_) {
    for (const ColumnPhase& phase : s_.phases) {
      for (std::int64_t j = 0; j < phase.count; j += chunk_)
        run(phase, j, std::min(j + chunk_, phase.count));
    }
    program_.RunInPlace(kernels_, *t.steps, {t.y, pixel0, s_.out_w, col0, steps_cols});
    return;
  }
  const ColumnPhase& phase = s_.phases[0];
  const std::int64_t chunk = unit % row_chunks_;
  const std::int64_t j0 = chunk * phase.count / row_chunks_;
  const std::int64_t j1 = (chunk + 1) * phase.count / row_chunks_;
  run(phase, j0, j1);
  program_.RunInPlace(kernels_, *t.steps,
                      {t.y, (pixel0 + j0) * pixels, (j1 - j0) * pixels, col0, steps_cols});
}

Status ConvCall::Run(const Frame& frame) const {
  ElementwiseProgram::Steps steps;
  program_.Resolve(frame, &steps);
  const Task base{frame.At<const float>(x_), frame.At<float>(y_), frame.At<float>(pack_), &steps};
  frame.pool->ParallelFor(
      static_cast<std::size_t>(tasks_), 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          Task t = base;
          t.pack += i * pack_floats_;
          const auto task = static_cast<std::int64_t>(i);
          for (std::int64_t u = task * units_ / tasks_; u < (task + 1) * units_ / tasks_; ++u)
            RunUnit(t, u);
        }
      });
  return OkStatus();
}

}  // namespace npukit::devices::cpu
