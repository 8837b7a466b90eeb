// What this process takes of the machine.
#pragma once

#include <cstdint>

namespace npukit::lab {

std::uint64_t ResidentBytes();      // now; 0 when the system does not say
std::uint64_t PeakResidentBytes();  // since the start

}  // namespace npukit::lab
