// The facts of a profile that lowering decides by, read once.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "devices/npu_sim/blob/blob.h"
#include "devices/npu_sim/model/price.h"
#include "target/profile.h"

namespace npukit::devices::npu_sim {

class TilingMemo;

struct Config {
  npu::Buffers buffers;
  npu::Rates rates;  // what tilings are judged by
  std::uint64_t profile_hash = 0;
  TilingMemo* memo = nullptr;          // of the lowering; may be absent
  std::int32_t accumulator_bits = 32;  // of fp16 products
  std::int32_t accumulator_bytes() const { return accumulator_bits / 8; }
};

// kNotFound: the profile has no NPU or lacks a fact; kInvalidArgument: a size or width
// no buffer has.
Result<Config> ReadConfig(const target::Profile& profile);

}  // namespace npukit::devices::npu_sim
