// Convolution in groups that are wider than one channel (depthwise.h has those of one):
// convolutions of parts of the channels that start at whole blocks. Groups that do not are computed
// together, with weights that are zero from one group to another.
#pragma once

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

struct GroupPlan {
  std::int64_t parts = 1;     // convolutions
  std::int64_t together = 1;  // groups in each
  ConvGeometry part;          // of one of them
};
// `g` is the geometry of the whole; `group` divides its channels and output channels.
GroupPlan PlanGroups(const ConvGeometry& g, std::int64_t group);

Status LowerGroupConv(Context& c, const ir::Node& n);

}  // namespace npukit::devices::npu_sim
