// Matrix products: constant weights are a convolution of kernel 1; two activations are multiplied
// batch by batch.
#pragma once

#include <cstdint>
#include <string>

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

// A [batch, m, k] x B [batch or 1, k, n].
struct MatMulShape {
  std::int64_t batch = 1, b_batch = 1, m = 0, k = 0, n = 0;
  bool constant_b = false;  // one matrix of weights for all batches
  std::string problem;      // why this is none we do; empty: it is one
};
MatMulShape MatMulShapeOf(const ir::Graph& g, const ir::Node& n);
ConvGeometry WeightGeometry(const MatMulShape& s);

struct BatchTiling {
  std::int64_t m = 16, n1 = 1, k1 = 1;
};
BatchTiling ChooseBatchTiling(const Config& config, const MatMulShape& s, const StepsPlan& steps,
                              Overflow* overflow);

}  // namespace npukit::devices::npu_sim
