#include "compile/tasks/memory.h"

#include <map>
#include <set>

namespace npukit::compile {

std::vector<StackTask> CountTraffic(std::vector<TaskAccesses> tasks,
                                    const std::vector<std::uint64_t>& outputs, double cache_bytes) {
  std::set<std::uint64_t> to_dram(outputs.begin(), outputs.end());
  std::map<std::uint64_t, double> touched;  // bytes passed before the last access began
  double passed = 0;
  const auto touch = [&](const Access& a) {
    touched[a.tensor] = passed;
    passed += a.bytes;
  };
  for (TaskAccesses& t : tasks) {
    for (const Access& a : t.reads) {
      const auto last = touched.find(a.tensor);
      if (last == touched.end() || passed - last->second > cache_bytes) {
        t.task.read_bytes += a.bytes;
        to_dram.insert(a.tensor);
      }
      t.task.cache_read_bytes += a.bytes;
      touch(a);
    }
    passed += t.task.weight_bytes;
    t.task.cache_read_bytes += t.task.weight_bytes;
    for (const Access& a : t.writes) touch(a);
  }
  std::vector<StackTask> out;
  for (TaskAccesses& t : tasks) {
    for (const Access& a : t.writes) {
      if (to_dram.contains(a.tensor)) t.task.written_bytes += a.bytes;
      t.task.cache_written_bytes += a.bytes;
    }
    out.push_back(std::move(t.task));
  }
  return out;
}

}  // namespace npukit::compile
