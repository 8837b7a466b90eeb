// Which programs of a package a device spec allows, best first; pure functions from the package's
// head. Nothing is partitioned here: a program was placed when it was compiled, and this only
// chooses one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/program.h"
#include "runtime/session.h"

namespace npukit::runtime {

// The programs `spec` and `precision` ("": any) allow, best first; of programs for the same input
// shapes all are kept.
//   kOne   NPU           every step on that device class
//   kAuto  NPU,CPU       only the classes listed; programs using the first class first, those using
//   fewer classes before kHetero NPU,CPU      as kAuto, but programs using more of the classes
//   before those using fewer
// kNotFound: none; the message lists what there is, and for one device names the first operator
// that is not on it.
Result<std::vector<std::uint32_t>> RankPrograms(const format::Head& head, const DeviceSpec& spec,
                                                const std::string& precision);

// "0: NPU,CPU fp16 x=[1, 3, 48, 320]; 1: ..." for error messages; at most a few.
std::string DescribePrograms(const format::Head& head, std::span<const std::uint32_t> programs);

}  // namespace npukit::runtime
