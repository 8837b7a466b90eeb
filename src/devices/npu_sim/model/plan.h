// What orders the instructions of a task, from the blob alone: the flags a compiler would set
// between queues, which buffers hold two tiles at once, and the order in which DRAM serves. No
// profile is looked at, so raising a rate can only make things earlier.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "devices/npu_sim/blob/blob.h"
#include "devices/npu_sim/model/accesses.h"
#include "devices/npu_sim/model/price.h"

namespace npukit::npu {

// The consumer waits until the producer is done: the last instruction, and the last DRAM read, of
// its queue whose bytes the consumer touches, one of the two writing.
struct Flag {
  std::int32_t producer = 0;   // position in its stretch
  std::int8_t tiles_back = 0;  // 0: the same tile; else that many tiles earlier of the same group
  bool from_prologue = false;
  bool data = false;  // the producer wrote what the consumer reads; else it frees room
};

struct Planned {
  const std::int32_t* words = nullptr;
  Queue queue = Queue::kVector;
  AccessList accesses;
  bool dram_read = false, dram_write = false;
  std::vector<Flag> flags;
};

// Tiles that a buffer holds at most at once: 1, 2 or 4, so that loops repeat themselves soon.
inline constexpr int kMostCopies = 4;

struct GroupPlan {
  std::vector<Planned> prologue, body;
  // Per buffer: how often the bytes that a body writes fit beside what prologues keep there, so
  // that a tile may fill one part while those before are read from the others.
  std::array<int, kBufferCount> copies{1, 1, 1, 1, 1};
  std::array<std::int64_t, kBufferCount> room{};  // beside the prologue's
  std::array<bool, kBufferCount> touched{};       // by the body
  // DRAM order: reads in order; write j (in body order) of a tile comes after all reads of the
  // `lag` tiles that start with its own and `reads` more of the next.
  struct Turn {
    std::int32_t lag = 0, reads = 0;
  };
  std::vector<Turn> writes;
  std::int32_t reads_per_tile = 0;
  // Groups in a row with one and the same prologue run it once.
  bool shares_prologue = false;
};

struct TaskPlan {
  std::vector<GroupPlan> groups;
};
// `program` outlives the plan and was checked.
TaskPlan PlanTask(const Program& program, const Task& task);

}  // namespace npukit::npu
