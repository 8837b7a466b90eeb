// Convolution as the cube sees it: windows of a blocked map times FRACTAL_Z weights. Matmuls with
// constant weights are convolutions of height 1 and kernel 1; a transposed convolution whose kernel
// equals its stride is one per kernel tap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/npu_sim/lower/context.h"
#include "devices/npu_sim/lower/steps.h"

namespace npukit::devices::npu_sim {

struct ConvGeometry {
  std::int64_t images = 1;
  std::int64_t height = 1, width = 1, channels = 0;  // of the input
  std::int64_t out_height = 1, out_width = 1, out_channels = 0;
  std::int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1,
               dilation_w = 1;
  std::int64_t pad_top = 0, pad_left = 0;
  std::int64_t in_blocks() const { return CeilDiv(channels, kLanes); }
  std::int64_t out_blocks() const { return CeilDiv(out_channels, kLanes); }
  std::int64_t taps() const { return kernel_h * kernel_w; }
  std::int64_t k1() const { return in_blocks() * taps(); }
  std::int64_t macs() const {
    return images * out_height * out_width * out_channels * channels * taps();
  }
};

// Tiles along one axis that are alike: their part of the input (clipped to the map) starts
// `in_step` further each.
struct AxisRun {
  std::int64_t tiles = 1;
  std::int64_t out_begin = 0, out_size = 0;
  std::int64_t in_begin = 0, in_size = 0, in_step = 0;
  std::int64_t pad = 0;  // rows of padding before the first
};
std::vector<AxisRun> AxisRuns(std::int64_t in, std::int64_t out, std::int64_t tile,
                              std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                              std::int64_t pad);
// Input rows that `out` output rows reach, padding included.
inline std::int64_t Reach(std::int64_t out, std::int64_t kernel, std::int64_t stride,
                          std::int64_t dilation) {
  return (out - 1) * stride + (kernel - 1) * dilation + 1;
}

struct ConvTiling {
  std::int64_t rows = 1, columns = 1;  // output positions of a tile: rows x columns
  std::int64_t m = 16;                 // positions in L0 at once
  std::int64_t n1 = 1;                 // blocks of output channels in L0 at once
  std::int64_t k1 = 1;                 // blocks of the reduction in L0 at once
  std::int64_t chunk = 1;              // blocks of input channels in L1 at once
  bool resident_weights = false;       // all weights in L1, loaded once per core
  bool resident_map = false;           // the map in L1, loaded once per core; tiles along channels
  std::int64_t n_tile = 1;             // with resident_map: blocks of output channels of a tile
  bool m_outer = false;                // positions outside, channels inside: the map stays in L0A
};

// A buffer that even the smallest tile overflows; empty fact: it fits.
struct Overflow {
  std::string fact;
  std::int64_t limit = 0, found = 0;
};
ConvTiling ChooseConvTiling(const Config& config, const ConvGeometry& g, const StepsPlan& steps,
                            Overflow* overflow);

struct ConvProblem {
  std::string name;
  ConvGeometry geometry;
  Blocked src;
  Blocked dst;
  std::int32_t weight = -1;     // FRACTAL_Z, k1 * out_blocks fractals
  std::int32_t scale = -1;      // out_blocks * 16 fp32: what the weights were divided by
  std::vector<float> scales;    // its values
  std::int32_t bias = -1;       // out_blocks * 16 fp32 that join after the cube, or -1
  std::int32_t cube_bias = -1;  // out_blocks * 16 fp32 that the accumulators start from, or -1
  bool relu = false;            // on the way out of L0C, before the steps
  StepsPlan steps;              // operands bound
  // Output position (oh, ow) is row image * dst_image + dst_first + oh * dst_row + ow * dst_column
  // of dst.
  std::int64_t dst_image = 0, dst_first = 0, dst_row = 0, dst_column = 1;
};
// The tiling that the model finds fastest among those that fit; `first` fits.
ConvTiling SearchConvTiling(Context& c, const ConvProblem& p, const ConvTiling& first);
// Emits the groups of one convolution into the open task.
void EmitConv(Context& c, const ConvProblem& p, const ConvTiling& t);

// UB that one block of channels takes beside the tile: its scale and its bias.
inline constexpr std::int64_t kChannelBytes = 2 * npu::kLanes * 4;

// Weights [O, I, kh, kw] as element function -> FRACTAL_Z fp16 and the scale of each output
// channel, a power of two that brings the channel's largest weight to [0.25, 0.5): folded batch
// normalisation can leave weights that are subnormal in fp16.
Status AddCubeWeights(
    Context& c, ConvProblem& p,
    const std::function<float(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& element);
// Where the bias joins, and whether a first relu is done on the way: after AddCubeWeights. 32-bit
// accumulators start from the bias, which costs nothing; 16-bit ones would round every partial sum
// to its size.
Status AddBiasAndRelu(Context& c, ConvProblem& p, const tensor::Value* bias);
// L1 that the bias of 32-bit accumulators takes; 0: it joins after the cube.
std::int64_t CubeBiasBytes(const Config& config, const ConvGeometry& g);
// fp32 per channel, padded with zeros to whole blocks; -1 when null.
Result<std::int32_t> BiasWeight(Context& c, const tensor::Value* bias, std::int64_t channels);

// Geometry of a conv2d or pool with layout NHWC.
Result<ConvGeometry> GeometryOf(const ir::Graph& g, const ir::Node& n);

}  // namespace npukit::devices::npu_sim
