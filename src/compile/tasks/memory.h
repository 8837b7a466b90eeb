// What each task moves through the system cache and DRAM. Inside compile/tasks only.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/tasks/tasks.h"

namespace npukit::compile {

struct Access {
  std::uint64_t tensor = 0;  // which copy of which value
  double bytes = 0;
};

// A task with the activations it touches; its weights are in `task`.
struct TaskAccesses {
  StackTask task;
  std::vector<Access> reads;
  std::vector<Access> writes;
};

// Fills what the tasks read from and write to DRAM. The cache holds the last `cache_bytes` touched,
// weights included; a tensor is in it whole or not at all. What every reader found there is never
// written to DRAM (its memory is used again); `outputs` always are. Without a cache all of it is
// DRAM traffic.
std::vector<StackTask> CountTraffic(std::vector<TaskAccesses> tasks,
                                    const std::vector<std::uint64_t>& outputs, double cache_bytes);

}  // namespace npukit::compile
