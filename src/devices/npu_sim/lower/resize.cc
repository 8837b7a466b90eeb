#include "devices/npu_sim/lower/resize.h"

#include <algorithm>

#include "base/text.h"
#include "devices/npu_sim/lower/steps.h"
#include "ops/resize.h"

namespace npukit::devices::npu_sim {
namespace {

// The factor f when result i comes from source i / f alone; 0 otherwise.
std::int64_t WholeFactor(const ops::ResizeAxis& axis, std::int64_t in, std::int64_t out) {
  if (axis.identity) return 1;
  if (in == 0 || out % in != 0) return 0;
  const std::int64_t f = out / in;
  for (std::int64_t i = 0; i < out; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (axis.weight[k] != 0.0f || axis.lo[k] != i / f) return 0;
  }
  return f;
}

}  // namespace

ResizeShape ResizeShapeOf(const ir::Graph& g, const ir::Node& n) {
  ResizeShape s;
  const tensor::Dims x = g.value(n.inputs[0]).type.dims();
  const auto constant = [&](std::size_t i) {
    return i < n.inputs.size() ? g.constant(n.inputs[i]) : nullptr;
  };
  tensor::Dims y;
  const auto plan = ops::PlanResize(n.attrs, x, constant(1), constant(2), &y);
  if (!plan.ok()) {
    s.problem = plan.status().message();
    return s;
  }
  if (x.size() != 4 || n.attrs.String("layout", "NCHW") != "NHWC") {
    s.problem = "layout that is not NHWC";
    return s;
  }
  s.images = x[0];
  s.height = x[1];
  s.width = x[2];
  s.factor_h = WholeFactor((*plan)[1], x[1], y[1]);
  s.factor_w = WholeFactor((*plan)[2], x[2], y[2]);
  if (!(*plan)[0].identity || !(*plan)[3].identity || s.factor_h == 0 || s.factor_w == 0) {
    s.problem = Cat("mode ", n.attrs.String("mode", "nearest"), " from ", JoinInts(x, "x"), " to ",
                    JoinInts(y, "x"));
  }
  return s;
}

Status LowerResize(Context& c, const ir::Node& n) {
  const ResizeShape s = ResizeShapeOf(c.graph, n);
  if (!s.problem.empty()) return Internal(Cat("resize ", n.name, " was not asked about"));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked src, c.AsBlocked(n.inputs[0]));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
  // A tile: some rows of the source as one stretch, or a part of one row where that is too wide.
  const std::int64_t room = c.config.buffers.ub_bytes / npu::kBlockBytes;
  const std::int64_t columns = std::min(s.width, room);
  const std::int64_t lines = s.images * s.height;  // the result's lines follow each other likewise
  const std::int64_t rows =
      columns < s.width
          ? 1
          : std::min({lines, room / s.width, std::max<std::int64_t>(CeilDiv(lines, 4), 1)});
  const std::int64_t out_width = s.width * s.factor_w;
  c.BeginTask(n.name);
  for (std::int64_t block = 0; block < src.blocks(); ++block) {
    ForEachTileGroup(lines, rows, s.width, columns, [&](const TileGroup& g) {
      c.AddGroup(g.tiles0, g.tiles1, nullptr, [&] {
        TilePosition at;
        at.block_begin = block;
        at.row_begin = g.begin0 * s.width + g.begin1;
        at.row_step[0] = g.size0 * s.width;
        at.row_step[1] = g.size1;
        at.line_rows = g.size0 * g.size1;
        c.Emit(TileCopy(src, at, 1, 0, false));
        for (std::int64_t y = 0; y < s.factor_h; ++y) {
          for (std::int64_t x = 0; x < s.factor_w; ++x) {
            TilePosition out;
            out.block_begin = block;
            out.row_begin = (g.begin0 * s.factor_h + y) * out_width + g.begin1 * s.factor_w + x;
            out.row_step[0] = g.size0 * s.factor_h * out_width;
            out.row_step[1] = g.size1 * s.factor_w;
            out.lines = g.size0;
            out.line_rows = g.size1;
            out.line_stride = s.factor_h * out_width;
            out.row_stride = s.factor_w;
            c.Emit(TileCopy(dst, out, 1, 0, true));
          }
        }
      });
    });
  }
  c.EndTask(0);
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
