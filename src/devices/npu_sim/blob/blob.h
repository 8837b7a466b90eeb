// A compiled program of the simulated NPU as plain structs, its bytes, and the check that makes
// bytes from anywhere safe to execute: after Unpack and Check every address an instruction can form
// lies inside its buffer, so run/ needs no checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "devices/npu_sim/blob/isa.h"
#include "tensor/type.h"

namespace npukit::npu {

inline constexpr std::uint32_t kBlobVersion = 0;

// Sizes of one core's buffers.
struct Buffers {
  std::uint32_t l1_bytes = 0, l0a_bytes = 0, l0b_bytes = 0, l0c_bytes = 0, ub_bytes = 0;
};

// Words of Program::code.
struct Code {
  std::uint32_t begin = 0, count = 0;
};

struct Group {
  std::uint32_t tiles0 = 1, tiles1 = 1;
  Code prologue;
  Code body;
};

struct Task {
  std::string name;
  std::vector<Group> groups;
  std::uint64_t macs = 0;
  // DRAM bytes that no order of work avoids: what it reads and writes, each once.
  std::uint64_t compulsory_bytes = 0;
  // Of a chain: what in it only changes layout or type. Looked at by the model alone.
  std::vector<Code> layout;
};

struct Program {
  std::uint32_t accumulator_fp16_bits = 32;
  Buffers buffers;
  std::uint64_t workspace_bytes = 0;
  std::vector<std::uint64_t> weight_bytes;
  std::vector<tensor::Type> inputs;   // static
  std::vector<tensor::Type> outputs;  // static
  std::vector<Task> tasks;
  std::vector<std::int32_t> code;

  std::uint64_t macs() const;
  // Appends an instruction. A stretch: remember code.size() before the first, see CodeSince.
  template <class T>
  void Emit(const T& instruction) {
    const std::size_t at = code.size();
    code.resize(at + 1 + sizeof(T) / 4);
    code[at] = HeaderWord<T>();
    std::memcpy(&code[at + 1], &instruction, sizeof(T));
  }
  Code CodeSince(std::size_t begin) const {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(code.size() - begin)};
  }
};

// Calls f(const T&) for every instruction of a checked stretch.
template <class F>
void ForEach(const Program& p, Code c, F&& f) {
  const std::int32_t* w = p.code.data() + c.begin;
  const std::int32_t* end = w + c.count;
  while (w < end) {
    Visit(w, f);
    w += 1 + OperandWordsOf(*w);
  }
}

std::vector<std::byte> Pack(const Program& program);
// kDataCorrupt names the field. The bytes may come from anywhere; counts and depth are bounded.
Result<Program> Unpack(std::span<const std::byte> bytes);
// Every rule of docs/npu_semantics.md that can be checked without data. kDataCorrupt names task,
// instruction and operand.
Status Check(const Program& program);

// One line per instruction, for tests, traces and people.
std::string ToText(const Program& program);

}  // namespace npukit::npu
