// Softmax over the last dimension.
#pragma once

#include <cstdint>

namespace npukit::devices::npu_sim {

// Bytes of UB that one block of one row needs.
std::int64_t SoftmaxLeastBytes();

}  // namespace npukit::devices::npu_sim
