// Which convolutions are worth Winograd's way (blob/winograd.h). The choice is made here and
// nowhere else: it decides the layout of the weight, and with it the kernel.
#pragma once

#include "devices/cpu/blob/packed.h"
#include "ir/graph.h"

namespace npukit::devices::cpu {

// kWinograd4 or kWinograd2 for a conv2d in NHWC whose weight is the constant `w` [O, I, kh, kw];
// kConv when it does not fit, would not gain, or has a weight that points cannot hold.
Layout ConvLayout(const ir::Graph& g, const ir::Node& n, const tensor::Value& w);

}  // namespace npukit::devices::cpu
