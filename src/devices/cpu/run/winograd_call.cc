// 3x3 convolution by Winograd's minimal filtering (blob/winograd.h). Tiles go in blocks whose
// points stay in cache: a block's pixels become points, then for a few panels of output channels at
// a time, a matrix product per point with the packed weights, and the products become pixels.
//
// Where there are too few tiles to deal out to threads, a block is worked on by all of them: first
// its tiles are dealt out, then its panels. However it is dealt out, an output is the same chain of
// operations.
#include <algorithm>
#include <array>
#include <limits>

#include "devices/cpu/blob/winograd.h"
#include "devices/cpu/run/calls.h"
#include "devices/cpu/run/elementwise_program.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "ops/window.h"

namespace npukit::devices::cpu {
namespace {

// Points of a block's pixels that a thread has at hand: half of a middling core's second cache.
constexpr std::int64_t kPointFloats = std::int64_t{64} << 10;
// More rows gain the products nothing; fewer use each weight read too little.
constexpr std::int64_t kMostTiles = 48, kLeastTiles = 12;
constexpr std::int64_t kGroupPanels = 4;  // what the widest product takes at once
constexpr double kTaskMacs = 2'000'000;   // of the direct way: some 20 us on one core
constexpr std::int64_t kMaxChannels = std::int64_t{1} << 21;
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 31;  // of all images, so that tiles multiply

constexpr std::int64_t RoundUp(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

class WinogradCall final : public Call {
 public:
  WinogradCall(const Kernels& kernels, int m, ElementwiseProgram program)
      : kernels_(kernels), m_(m), program_(std::move(program)) {}

  void Prepare(const StepView& step, std::int64_t pad_top, std::int64_t pad_left,
               Preparation& prep) {
    const tensor::Dims& x = step.inputs[0].dims;
    const tensor::Dims& y = step.outputs[0].dims;
    in_h_ = x[1], in_w_ = x[2], in_c_ = x[3];
    out_h_ = y[1], out_w_ = y[2], out_c_ = y[3];
    pad_top_ = pad_top;
    pad_left_ = pad_left;
    x_ = step.inputs[0].slot;
    y_ = step.outputs[0].slot;
    w_ = static_cast<const float*>(step.inputs[1].constant);
    if (const Operand* bias = step.Input(2)) bias_ = static_cast<const float*>(bias->constant);
    program_.TakeClamp(&lo_, &hi_);
    tiles_x_ = (out_w_ + m_ - 1) / m_;
    tiles_y_ = (out_h_ + m_ - 1) / m_;
    tiles_ = x[0] * tiles_y_ * tiles_x_;
    panels_ = (out_c_ + kPanel - 1) / kPanel;
    Split(prep);
  }

  Status Run(const Frame& frame) const override {
    ElementwiseProgram::Steps steps;
    program_.Resolve(frame, &steps);
    const Task base{frame.At<const float>(x_), frame.At<float>(y_), frame.At<float>(points_),
                    frame.At<float>(products_), &steps};
    if (!together_) {
      frame.pool->ParallelFor(
          static_cast<std::size_t>(tasks_), 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
              const auto task = static_cast<std::int64_t>(i);
              const Task t = Own(base, task, task);
              for (std::int64_t b = task * blocks_ / tasks_; b < (task + 1) * blocks_ / tasks_; ++b)
                RunBlock(t, b);
            }
          });
      return OkStatus();
    }
    for (std::int64_t b = 0; b < blocks_; ++b) {
      const Block block = BlockAt(b);
      frame.pool->ParallelFor(
          static_cast<std::size_t>(block.tiles), 1, [&](std::size_t begin, std::size_t end) {
            ToPoints(base, block, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
          });
      frame.pool->ParallelFor(static_cast<std::size_t>(groups_), 1,
                              [&](std::size_t begin, std::size_t end) {
                                for (std::size_t g = begin; g < end; ++g) {
                                  const auto group = static_cast<std::int64_t>(g);
                                  RunGroup(Own(base, 0, group), block, group);
                                }
                              });
    }
    return OkStatus();
  }
  const char* kernel() const override { return m_ == 2 ? "winograd2_f32" : "winograd4_f32"; }

 private:
  struct Task {
    const float* x;
    float* y;
    float* points;    // [point][tile][in channels]
    float* products;  // [point][tile][channels of a group]
    const ElementwiseProgram::Steps* steps;
  };
  struct Block {
    std::int64_t first = 0, tiles = 0;
  };
  // Tiles that follow each other in a row of tiles of one image.
  struct TileRow {
    std::int64_t first = 0, count = 0;     // in the block
    std::int64_t image = 0, y = 0, x = 0;  // output pixel of the first
  };

  void Split(Preparation& prep) {
    const std::int64_t threads = prep.threads();
    const std::int64_t side = WinogradSide(m_) * WinogradSide(m_);
    in_stride_ = RoundUp(in_c_, kPanel);
    const double macs =
        9.0 * static_cast<double>(in_c_ * out_c_) * static_cast<double>(tiles_) * (m_ * m_);
    const auto want = static_cast<std::int64_t>(
        std::clamp(macs / kTaskMacs, 1.0, 2.0 * static_cast<double>(threads)));
    together_ = threads > 1 && want > 1 && tiles_ < 2 * threads * kLeastTiles;
    const std::int64_t at_once = together_ ? threads : 1;
    const std::int64_t most = std::clamp(at_once * kPointFloats / (side * in_stride_),
                                         at_once * kLeastTiles, at_once * kMostTiles);
    blocks_ = (tiles_ + most - 1) / most;
    groups_ = (panels_ + kGroupPanels - 1) / kGroupPanels;
    if (together_) {
      groups_ = std::max(groups_, std::min(panels_, threads));
      tasks_ = groups_;
    } else if (threads > 1) {
      blocks_ = std::max(blocks_, std::min(want, (tiles_ + kLeastTiles - 1) / kLeastTiles));
      tasks_ = std::min(blocks_, want);
    }
    const std::int64_t block_tiles = (tiles_ + blocks_ - 1) / blocks_;
    // A line more than whole pages: points of one tile that lie a page apart share cache sets.
    group_cols_ = (panels_ + groups_ - 1) / groups_ * kPanel;
    point_stride_ = block_tiles * in_stride_ + kPanel;
    product_stride_ = block_tiles * group_cols_ + kPanel;
    points_floats_ = side * point_stride_;
    products_floats_ = side * product_stride_;
    const std::int64_t all_points = (together_ ? 1 : tasks_) * points_floats_;
    points_ = prep.Workspace(static_cast<std::uint64_t>(all_points + tasks_ * products_floats_) *
                             sizeof(float));
    products_ = points_;
    products_.offset += static_cast<std::uint64_t>(all_points) * sizeof(float);
  }

  Task Own(Task t, std::int64_t points, std::int64_t products) const {
    t.points += points * points_floats_;
    t.products += products * products_floats_;
    return t;
  }

  Block BlockAt(std::int64_t b) const {
    const std::int64_t first = b * tiles_ / blocks_;
    return {first, (b + 1) * tiles_ / blocks_ - first};
  }

  template <class F>
  void ForEachRow(const Block& block, std::int64_t begin, std::int64_t end, const F& f) const {
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t tile = block.first + i;
      const std::int64_t row = tile / tiles_x_, column = tile % tiles_x_;
      const TileRow r{i, std::min(end - i, tiles_x_ - column), row / tiles_y_, row % tiles_y_ * m_,
                      column * m_};
      f(r);
      i += r.count;
    }
  }

  void ToPoints(const Task& t, const Block& block, std::int64_t begin, std::int64_t end) const {
    ForEachRow(block, begin, end, [&](const TileRow& r) {
      WinogradIn in;
      in.m = m_;
      in.image = t.x + r.image * in_h_ * in_w_ * in_c_;
      in.height = in_h_, in.width = in_w_, in.channels = in_c_;
      in.y = r.y - pad_top_, in.x = r.x - pad_left_;
      in.tiles = r.count;
      in.out = t.points + r.first * in_stride_;
      in.tile_stride = in_stride_;
      in.point_stride = point_stride_;
      kernels_.winograd_to_points(in);
    });
  }

  void RunBlock(const Task& t, std::int64_t b) const {
    const Block block = BlockAt(b);
    ToPoints(t, block, 0, block.tiles);
    for (std::int64_t g = 0; g < groups_; ++g) RunGroup(t, block, g);
  }

  // The output channels of a group of panels.
  void RunGroup(const Task& t, const Block& block, std::int64_t group) const {
    const std::int64_t panel0 = group * panels_ / groups_;
    const std::int64_t panel1 = (group + 1) * panels_ / groups_;
    const std::int64_t col0 = panel0 * kPanel;
    const std::int64_t cols = std::min(panel1 * kPanel, out_c_) - col0;
    GemmSegment segment;
    GemmTile tile;
    tile.segments = &segment;
    tile.segment_count = 1;
    tile.run = in_c_;
    tile.a_stride = in_stride_;
    tile.rows = block.tiles;
    const std::int64_t side = WinogradSide(m_) * WinogradSide(m_);
    tile.panel_stride = side * in_c_ * kPanel;
    tile.w = w_ + panel0 * tile.panel_stride;
    // Whole vectors of 8: the weights are padded, and so is the room for the products.
    tile.cols = RoundUp(cols, kPanel / 2);
    tile.lo = -kInfinity;
    tile.hi = kInfinity;
    tile.out_stride = group_cols_;
    for (std::int64_t p = 0; p < side; ++p) {
      segment.a = t.points + p * point_stride_;
      segment.k = p * in_c_;
      tile.out = t.products + p * product_stride_;
      kernels_.gemm(tile);
    }
    ForEachRow(block, 0, block.tiles, [&](const TileRow& r) {
      const std::int64_t pixel = (r.image * out_h_ + r.y) * out_w_ + r.x;
      WinogradOut out;
      out.m = m_;
      out.in = t.products + r.first * group_cols_;
      out.tile_stride = group_cols_;
      out.point_stride = product_stride_;
      out.tiles = r.count;
      out.channels = cols;
      out.bias = bias_ == nullptr ? nullptr : bias_ + col0;
      out.lo = lo_, out.hi = hi_;
      out.out = t.y + pixel * out_c_ + col0;
      out.row_stride = out_w_ * out_c_;
      out.col_stride = out_c_;
      out.rows = std::min<std::int64_t>(m_, out_h_ - r.y);
      out.cols = std::min(r.count * m_, out_w_ - r.x);
      kernels_.winograd_from_points(out);
      for (std::int64_t y = 0; y < out.rows; ++y)
        program_.RunInPlace(kernels_, *t.steps, {t.y, pixel + y * out_w_, out.cols, col0, cols});
    });
  }

  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Kernels& kernels_;
  int m_;
  ElementwiseProgram program_;
  Slot x_, y_, points_, products_;
  const float* w_ = nullptr;
  const float* bias_ = nullptr;
  float lo_ = 0, hi_ = 0;
  std::int64_t in_h_ = 0, in_w_ = 0, in_c_ = 0, out_h_ = 0, out_w_ = 0, out_c_ = 0;
  std::int64_t pad_top_ = 0, pad_left_ = 0;
  std::int64_t tiles_x_ = 0, tiles_y_ = 0, tiles_ = 0, panels_ = 0;
  bool together_ = false;  // all threads work on one block
  std::int64_t blocks_ = 1, groups_ = 1, tasks_ = 1;
  std::int64_t in_stride_ = 0, group_cols_ = 0, point_stride_ = 0, product_stride_ = 0;
  std::int64_t points_floats_ = 0, products_floats_ = 0;
};

}  // namespace

std::unique_ptr<Call> Prepare_winograd_f32(const StepView& step, Preparation& prep) {
  if (step.def != &op::conv2d) return nullptr;
  const Operand* x = step.Input(0);
  const Operand* w = step.Input(1);
  const Operand* bias = step.Input(2);
  if (x == nullptr || !x->is_f32() || !x->is_raw() || !step.outputs[0].is_f32()) return nullptr;
  if (w == nullptr || w->constant == nullptr || w->groups != 1 ||
      (w->layout != Layout::kWinograd2 && w->layout != Layout::kWinograd4))
    return nullptr;
  if (bias != nullptr && (bias->constant == nullptr || bias->layout != Layout::kPad16))
    return nullptr;
  const auto window = ops::ReadWindow(*step.attrs, {3, 3});
  using Pair = std::array<std::int64_t, 2>;
  if (!window.ok() || !window->nhwc || window->stride != Pair{1, 1} ||
      window->dilation != Pair{1, 1} || step.attrs->Int("group", 1) != 1)
    return nullptr;
  const auto rows = ops::SlideOver(*window, 0, x->dims[1]);
  const auto cols = ops::SlideOver(*window, 1, x->dims[2]);
  if (!rows.ok() || !cols.ok() || step.outputs[0].count() == 0 || x->count() == 0) return nullptr;
  if (step.outputs[0].count() / step.outputs[0].dims[3] > kMaxPixels) return nullptr;
  if (x->dims[3] > kMaxChannels || step.outputs[0].dims[3] > kMaxChannels) return nullptr;
  ElementwiseProgram program(step.outputs[0].dims);
  if (!program.AddEpilogue(step)) return nullptr;
  const int m = w->layout == Layout::kWinograd2 ? 2 : 4;
  auto call = std::make_unique<WinogradCall>(prep.kernels(), m, std::move(program));
  call->Prepare(step, rows->pad_begin, cols->pad_begin, prep);
  return call;
}

}  // namespace npukit::devices::cpu
