#include "compile/tasks/cube.h"

#include <algorithm>
#include <numeric>

namespace npukit::compile {
namespace {

using tensor::Dims;

std::int64_t CeilDiv(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// A product of `batch` independent m x k by k x n, counted in blocks.
struct Blocks {
  std::int64_t batch = 1, m = 1, k = 1, n = 1;

  // Cores share whole rows, columns or products of blocks, whichever is fairest.
  double Cycles(std::int64_t cores) const {
    const auto b = static_cast<double>(batch), rows = static_cast<double>(m),
               columns = static_cast<double>(n);
    const auto share = [&](std::int64_t count) {
      return static_cast<double>(CeilDiv(count, cores));
    };
    return static_cast<double>(k) *
           std::min({share(batch) * rows * columns, b * share(m) * columns, b * rows * share(n)});
  }
};

// How many groups fill whole blocks together: 16 of one channel each, 4 of 4, 2 of 24.
std::int64_t MergedGroups(std::int64_t groups, std::int64_t in_per_group,
                          std::int64_t out_per_group, const CubeShape& cube) {
  if (!cube.merges_groups) return 1;
  const std::int64_t for_k = cube.k / std::gcd(cube.k, in_per_group);
  const std::int64_t for_n = cube.n / std::gcd(cube.n, out_per_group);
  return std::min(groups, std::lcm(for_k, for_n));
}

CubeWork ConvWork(const ir::Graph& g, const ir::Node& n, const CubeShape& cube) {
  const bool transposed = n.op == &op::conv_transpose2d;
  const Dims w =
      g.value(n.inputs[1]).type.dims();  // [O, I/group, h, w]; transposed: [I, O/group, h, w]
  // Every output pixel is a row of the product; transposed, every input pixel is.
  const tensor::Type& walked = g.value(transposed ? n.inputs[0] : n.outputs[0]).type;
  const Dims d = walked.dims();
  const bool nhwc = n.attrs.String("layout", "NCHW") == "NHWC";
  const std::int64_t pixels = d[0] * (nhwc ? d[1] * d[2] : d[2] * d[3]);
  const std::int64_t groups = std::max<std::int64_t>(1, n.attrs.Int("group", 1));
  const std::int64_t taps = w[2] * w[3];
  const std::int64_t in_per_group = transposed ? w[0] / groups : w[1];
  const std::int64_t out_per_group = transposed ? w[1] : w[0] / groups;
  CubeWork work;
  if (pixels == 0 || taps == 0 || in_per_group == 0 || out_per_group == 0) return work;
  const std::int64_t merged = MergedGroups(groups, in_per_group, out_per_group, cube);
  Blocks blocks;
  blocks.batch = CeilDiv(groups, merged);
  blocks.m = CeilDiv(pixels, cube.m);
  blocks.k = CeilDiv(merged * in_per_group, cube.k) * (transposed ? 1 : taps);
  blocks.n = CeilDiv(merged * out_per_group, cube.n) * (transposed ? taps : 1);
  work.macs = static_cast<double>(pixels) * static_cast<double>(taps) *
              static_cast<double>(in_per_group * out_per_group * groups);
  work.cycles = blocks.Cycles(cube.cores);
  if (g.is_constant(n.inputs[1])) {
    work.weight_elements = static_cast<double>(blocks.batch * blocks.k * cube.k) *
                           static_cast<double>(blocks.n * cube.n);
  }
  return work;
}

CubeWork MatMulWork(const ir::Graph& g, const ir::Node& n, const CubeShape& cube) {
  Dims a = g.value(n.inputs[0]).type.dims(), b = g.value(n.inputs[1]).type.dims();
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  std::int64_t rows = a[a.size() - 2], batch = 1;
  const std::int64_t inner = a.back(), columns = b.back();
  const std::int64_t results = tensor::ElementCount(g.value(n.outputs[0]).type.dims()).value_or(0);
  CubeWork work;
  if (rows == 0 || inner == 0 || columns == 0 || results == 0) return work;
  batch = results / (rows * columns);
  if (b.size() == 2) {  // one right side for all: more rows
    rows *= batch;
    batch = 1;
  }
  const Blocks blocks{batch, CeilDiv(rows, cube.m), CeilDiv(inner, cube.k),
                      CeilDiv(columns, cube.n)};
  work.macs = static_cast<double>(results) * static_cast<double>(inner);
  work.cycles = blocks.Cycles(cube.cores);
  if (g.is_constant(n.inputs[1])) {
    const std::int64_t copies = tensor::ElementCount(Dims(b.begin(), b.end() - 2)).value_or(1);
    work.weight_elements = static_cast<double>(copies) * static_cast<double>(blocks.k * cube.k) *
                           static_cast<double>(blocks.n * cube.n);
  }
  return work;
}

}  // namespace

Result<CubeShape> ReadCubeShape(const target::Profile& p) {
  CubeShape cube;
  const auto whole = [&](std::string_view key, std::int64_t* out) -> Status {
    NPUKIT_ASSIGN_OR_RETURN(const double v, p.Number(key));
    *out = std::max<std::int64_t>(1, static_cast<std::int64_t>(v));
    return OkStatus();
  };
  NPUKIT_RETURN_IF_ERROR(whole("npu.cube.m_fp16", &cube.m));
  NPUKIT_RETURN_IF_ERROR(whole("npu.cube.k_fp16", &cube.k));
  NPUKIT_RETURN_IF_ERROR(whole("npu.cube.n_fp16", &cube.n));
  NPUKIT_RETURN_IF_ERROR(whole("npu.cores", &cube.cores));
  cube.merges_groups = p.NumberOr("npu.stack.merges_groups", 0) != 0;
  return cube;
}

CubeWork CubeWorkOf(const ir::Graph& g, const ir::Node& n, const CubeShape& cube) {
  if (n.op == &op::conv2d || n.op == &op::conv_transpose2d) return ConvWork(g, n, cube);
  if (n.op == &op::matmul) return MatMulWork(g, n, cube);
  return {};
}

}  // namespace npukit::compile
