#include "compile/partition/schedule.h"

#include <functional>
#include <queue>

namespace npukit::compile {
namespace {

using Ready = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>,
                                  std::greater<>>;  // smallest index first

std::vector<Segment> ScheduleFrom(const ir::Graph& g, const ir::Uses& uses,
                                  const std::vector<int>& device, int devices, int first) {
  std::vector<std::uint32_t> missing(g.nodes.size(), 0);  // inputs not computed yet
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    for (ir::ValueId v : g.nodes[i].inputs) {
      if (v != ir::kNoValue && uses.producer[v] >= 0) ++missing[i];
    }
  }
  std::vector<Ready> ready(static_cast<std::size_t>(devices));
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    if (missing[i] == 0)
      ready[static_cast<std::size_t>(device[i])].push(static_cast<std::uint32_t>(i));
  }
  std::vector<Segment> segments;
  std::size_t done = 0;
  for (int turn = first; done < g.nodes.size(); turn = (turn + 1) % devices) {
    Ready& mine = ready[static_cast<std::size_t>(turn)];
    if (mine.empty()) continue;
    Segment segment{turn, {}};
    while (!mine.empty()) {
      const std::uint32_t node = mine.top();
      mine.pop();
      segment.nodes.push_back(node);
      for (ir::ValueId v : g.nodes[node].outputs) {
        if (v == ir::kNoValue) continue;
        for (std::uint32_t reader : uses.readers[v]) {
          if (--missing[reader] == 0) ready[static_cast<std::size_t>(device[reader])].push(reader);
        }
      }
    }
    done += segment.nodes.size();
    segments.push_back(std::move(segment));
  }
  return segments;
}

}  // namespace

std::vector<Segment> Schedule(const ir::Graph& g, const ir::Uses& uses,
                              const std::vector<int>& device, int devices) {
  std::vector<Segment> best = ScheduleFrom(g, uses, device, devices, 0);
  for (int first = 1; first < devices; ++first) {
    std::vector<Segment> other = ScheduleFrom(g, uses, device, devices, first);
    if (other.size() < best.size()) best = std::move(other);
  }
  return best;
}

}  // namespace npukit::compile
