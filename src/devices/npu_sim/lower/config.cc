#include "devices/npu_sim/lower/config.h"

#include "base/text.h"

namespace npukit::devices::npu_sim {
namespace {

Result<std::uint32_t> BufferBytes(const target::Profile& profile, std::string_view key) {
  NPUKIT_ASSIGN_OR_RETURN(const double v, profile.Number(key));
  if (v < npu::kFractalBytes || v > 0x7FFFFFFF) {
    return InvalidArgument(
        Cat("profile ", profile.name, ": ", key, " is ", v, ", expected 512 to 2147483647"));
  }
  // What is left over after whole blocks cannot be used.
  return static_cast<std::uint32_t>(v) / npu::kBlockBytes * npu::kBlockBytes;
}

}  // namespace

Result<Config> ReadConfig(const target::Profile& profile) {
  Config c;
  NPUKIT_ASSIGN_OR_RETURN(c.rates, npu::ReadRates(profile));
  c.profile_hash = profile.Hash();
  NPUKIT_ASSIGN_OR_RETURN(c.buffers.l1_bytes, BufferBytes(profile, "npu.sram_bytes"));
  NPUKIT_ASSIGN_OR_RETURN(c.buffers.l0a_bytes, BufferBytes(profile, "npu.l0a_bytes"));
  NPUKIT_ASSIGN_OR_RETURN(c.buffers.l0b_bytes, BufferBytes(profile, "npu.l0b_bytes"));
  NPUKIT_ASSIGN_OR_RETURN(c.buffers.l0c_bytes, BufferBytes(profile, "npu.l0c_bytes"));
  NPUKIT_ASSIGN_OR_RETURN(c.buffers.ub_bytes, BufferBytes(profile, "npu.ub_bytes"));
  NPUKIT_ASSIGN_OR_RETURN(const double bits, profile.Number("npu.cube.accumulator_fp16_bits"));
  if (bits != 16 && bits != 32) {
    return InvalidArgument(Cat("profile ", profile.name, ": npu.cube.accumulator_fp16_bits is ",
                               bits, ", expected 16 or 32"));
  }
  c.accumulator_bits = static_cast<std::int32_t>(bits);
  return c;
}

}  // namespace npukit::devices::npu_sim
