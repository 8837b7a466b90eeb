// Dinic's algorithm: shortest augmenting paths found level by level. Ours because the one library
// for it weighs more than everything else the build installs, for a hundred lines.
#include "compile/partition/min_cut.h"

#include <algorithm>

namespace npukit::compile {
namespace {

class FlowNetwork {
 public:
  explicit FlowNetwork(std::size_t vertices) : first_(vertices, kNone) {}

  void AddEdge(std::size_t from, std::size_t to, std::int64_t capacity) {
    if (capacity <= 0 || from == to) return;
    Push(from, to, std::min(capacity, kNever));
    Push(to, from, 0);  // an edge and its reverse are neighbours: e ^ 1
  }

  void Saturate(std::size_t source, std::size_t sink) {
    while (Levels(source, sink)) {
      next_ = first_;
      while (Augment(source, sink)) {
      }
    }
  }

  // Vertices from which the sink can still be reached.
  std::vector<bool> ReachesSink(std::size_t sink) const {
    std::vector<bool> reaches(first_.size(), false);
    std::vector<std::size_t> queue = {sink};
    reaches[sink] = true;
    while (!queue.empty()) {
      const std::size_t v = queue.back();
      queue.pop_back();
      for (std::uint32_t e = first_[v]; e != kNone; e = edges_[e].next) {
        const std::size_t u = edges_[e].to;
        if (reaches[u] || edges_[e ^ 1].capacity == 0) continue;
        reaches[u] = true;
        queue.push_back(u);
      }
    }
    return reaches;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  struct Edge {
    std::size_t to;
    std::int64_t capacity;  // what is left of it
    std::uint32_t next;     // of the same vertex
  };

  void Push(std::size_t from, std::size_t to, std::int64_t capacity) {
    edges_.push_back({to, capacity, first_[from]});
    first_[from] = static_cast<std::uint32_t>(edges_.size() - 1);
  }

  bool Levels(std::size_t source, std::size_t sink) {
    level_.assign(first_.size(), -1);
    level_[source] = 0;
    std::vector<std::size_t> queue = {source};
    for (std::size_t head = 0; head < queue.size(); ++head) {
      for (std::uint32_t e = first_[queue[head]]; e != kNone; e = edges_[e].next) {
        const std::size_t u = edges_[e].to;
        if (edges_[e].capacity == 0 || level_[u] >= 0) continue;
        level_[u] = level_[queue[head]] + 1;
        queue.push_back(u);
      }
    }
    return level_[sink] >= 0;
  }

  // One path along rising levels; a vertex that leads nowhere is not entered again in this phase.
  bool Augment(std::size_t source, std::size_t sink) {
    std::vector<std::uint32_t> path;
    std::size_t at = source;
    while (at != sink) {
      std::uint32_t& e = next_[at];
      while (e != kNone && (edges_[e].capacity == 0 || level_[edges_[e].to] != level_[at] + 1))
        e = edges_[e].next;
      if (e != kNone) {
        path.push_back(e);
        at = edges_[e].to;
        continue;
      }
      if (path.empty()) return false;
      const std::uint32_t back = path.back();
      path.pop_back();
      at = edges_[back ^ 1].to;
      next_[at] = edges_[back].next;
    }
    std::int64_t flow = kNever;
    for (std::uint32_t e : path) flow = std::min(flow, edges_[e].capacity);
    for (std::uint32_t e : path) {
      edges_[e].capacity -= flow;
      edges_[e ^ 1].capacity += flow;
    }
    return true;
  }

  std::vector<Edge> edges_;
  std::vector<std::uint32_t> first_, next_;
  std::vector<int> level_;
};

}  // namespace

std::vector<bool> MinCut(const std::vector<CutItem>& items, const std::vector<CutTie>& ties) {
  const std::size_t source = items.size();
  const std::size_t sink = source + 1;
  FlowNetwork network(items.size() + 2);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::int64_t common = std::min(items[i].first, items[i].second);  // paid either way
    network.AddEdge(source, i, items[i].second - common);
    network.AddEdge(i, sink, items[i].first - common);
  }
  for (const CutTie& t : ties) network.AddEdge(t.from, t.to, t.cost);
  network.Saturate(source, sink);
  std::vector<bool> first = network.ReachesSink(sink);
  first.resize(items.size());
  first.flip();  // undecided ones stay on the first side
  return first;
}

}  // namespace npukit::compile
