// What null/lower writes and null/run reads: a magic number and nothing else. A real device
// describes here what passes between its two halves (an instruction list, a table of operators),
// with a version, and reads it as hostile.
#pragma once

#include <cstdint>

namespace npukit::devices::null {

// The whole blob, little-endian. Readers refuse any other length, magic or version.
struct Blob {
  std::uint32_t magic = 0x4C4C554Eu;  // "NULL"
  std::uint32_t version = 0;
};

}  // namespace npukit::devices::null
