#include "compile/partition/place.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compile/partition/min_cut.h"
#include "compile/partition/schedule.h"

namespace npukit::compile {
namespace {

std::int64_t Picoseconds(double ns) {
  if (!(ns > 0)) return 0;
  return ns > 1e12 ? kNever / 4 : std::llround(ns * 1e3);
}

std::vector<int> Cut(const ir::Graph& g, const ir::Uses& uses, const Costs& costs) {
  std::vector<CutItem> items(g.nodes.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = costs.npu_can[i]
                   ? CutItem{Picoseconds(costs.npu_ns[i]), Picoseconds(costs.cpu_ns[i])}
                   : CutItem{kNever, 0};
  }
  std::vector<CutTie> ties;
  const auto add_item = [&](CutItem item) {
    items.push_back(item);
    return static_cast<std::uint32_t>(items.size() - 1);
  };
  // The host, where graph inputs come from and outputs go to: always on the CPU's side.
  const std::uint32_t host = add_item({kNever, 0});
  for (ir::ValueId v = 0; v < g.values.size(); ++v) {
    const std::int64_t cost = Picoseconds(costs.hand_over_ns[v]);
    if (cost == 0 || (uses.readers[v].empty() && !uses.is_output[v])) continue;
    const std::uint32_t producer =
        uses.producer[v] >= 0 ? static_cast<std::uint32_t>(uses.producer[v]) : host;
    // Out of the NPU once, however many read it: `out` is the copy on the CPU's side.
    if (producer != host) {
      const std::uint32_t out = add_item({});
      ties.push_back({producer, out, cost});
      for (std::uint32_t r : uses.readers[v]) ties.push_back({out, r, kNever});
      if (uses.is_output[v]) ties.push_back({out, host, kNever});
    }
    // Into the NPU once: `in` is the copy on its side.
    const std::uint32_t in = add_item({});
    ties.push_back({in, producer, cost});
    for (std::uint32_t r : uses.readers[v]) ties.push_back({r, in, kNever});
  }
  const std::vector<bool> npu = MinCut(items, ties);
  std::vector<int> side(g.nodes.size());
  for (std::size_t i = 0; i < side.size(); ++i)
    side[i] = npu[i] && costs.npu_can[i] ? kNpuSide : kCpuSide;
  return side;
}

// Nodes of `member` joined wherever a value passes between two of the same `group`. Returns a label
// per node, -1 outside.
std::vector<int> Islands(const ir::Graph& g, const ir::Uses& uses, const std::vector<int>& group) {
  std::vector<int> parent(g.nodes.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&](int i) {
    while (parent[static_cast<std::size_t>(i)] != i) {
      parent[static_cast<std::size_t>(i)] =
          parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(i)])];
      i = parent[static_cast<std::size_t>(i)];
    }
    return i;
  };
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    if (group[i] < 0) continue;
    for (ir::ValueId v : g.nodes[i].inputs) {
      if (v == ir::kNoValue || uses.producer[v] < 0) continue;
      const int p = uses.producer[v];
      if (group[static_cast<std::size_t>(p)] == group[i])
        parent[static_cast<std::size_t>(find(p))] = find(static_cast<int>(i));
    }
  }
  std::vector<int> label(g.nodes.size(), -1);
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (group[i] >= 0) label[i] = find(static_cast<int>(i));
  }
  return label;
}

struct IslandSum {
  double gain_ns = 0;
  double copy_ns = 0;
  int segment = -1;
};

// The islands among the readers of a value, each once.
std::vector<int> ReadingIslands(const std::vector<std::uint32_t>& readers,
                                const std::vector<int>& island) {
  std::vector<int> labels;
  for (std::uint32_t r : readers) {
    if (island[r] >= 0) labels.push_back(island[r]);
  }
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

// NPU islands as scheduled: what they save, and what they hand over (a value between two segments
// of the NPU too).
std::vector<IslandSum> WeighNpuIslands(const ir::Graph& g, const ir::Uses& uses, const Costs& costs,
                                       const std::vector<int>& segment_of,
                                       const std::vector<int>& island) {
  std::vector<IslandSum> sums(g.nodes.size());
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    if (island[i] < 0) continue;
    IslandSum& s = sums[static_cast<std::size_t>(island[i])];
    s.segment = segment_of[i];
    s.gain_ns += costs.cpu_ns[i] - costs.npu_ns[i];
  }
  for (ir::ValueId v = 0; v < g.values.size(); ++v) {
    const double cost = costs.hand_over_ns[v];
    if (cost == 0) continue;
    const int p = uses.producer[v];
    const int made_in = p >= 0 ? segment_of[static_cast<std::size_t>(p)] : -1;
    for (int label : ReadingIslands(uses.readers[v], island)) {
      IslandSum& reader = sums[static_cast<std::size_t>(label)];
      if (reader.segment != made_in) reader.copy_ns += cost;
    }
    if (p < 0 || island[static_cast<std::size_t>(p)] < 0) continue;
    bool leaves = uses.is_output[v];
    for (std::uint32_t r : uses.readers[v]) leaves = leaves || segment_of[r] != made_in;
    if (leaves) sums[static_cast<std::size_t>(island[static_cast<std::size_t>(p)])].copy_ns += cost;
  }
  return sums;
}

std::vector<int> SegmentOf(const std::vector<Segment>& segments, std::size_t nodes) {
  std::vector<int> of(nodes, -1);
  for (std::size_t s = 0; s < segments.size(); ++s) {
    for (std::uint32_t n : segments[s].nodes) of[n] = static_cast<int>(s);
  }
  return of;
}

// Gives up what does not pay. True when something changed.
bool Prune(const ir::Graph& g, const ir::Uses& uses, const Costs& costs,
           const std::vector<Segment>& segments, std::vector<int>& side) {
  const std::vector<int> segment_of = SegmentOf(segments, g.nodes.size());
  std::vector<int> group = segment_of;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (side[i] != kNpuSide) group[i] = -1;
  }
  const std::vector<int> island = Islands(g, uses, group);
  const std::vector<IslandSum> sums = WeighNpuIslands(g, uses, costs, segment_of, island);
  // Islands that pay their own copies share the start of their segment.
  std::vector<double> earned(segments.size(), 0);
  for (const IslandSum& s : sums) {
    if (s.segment >= 0 && s.gain_ns > s.copy_ns)
      earned[static_cast<std::size_t>(s.segment)] += s.gain_ns - s.copy_ns;
  }
  bool changed = false;
  for (std::size_t i = 0; i < side.size(); ++i) {
    if (island[i] < 0) continue;
    const IslandSum& s = sums[static_cast<std::size_t>(island[i])];
    if (s.gain_ns > s.copy_ns && earned[static_cast<std::size_t>(s.segment)] > costs.launch_ns)
      continue;
    side[i] = kCpuSide;
    changed = true;
  }
  return changed;
}

}  // namespace

Placement PlaceNodes(const ir::Graph& g, const ir::Uses& uses, const Costs& costs, Goal goal) {
  Placement p;
  if (goal == Goal::kFastest) {
    p.side = Cut(g, uses, costs);
  } else {
    for (bool can : costs.npu_can)
      p.side.push_back(can && goal == Goal::kMostOnNpu ? kNpuSide : kCpuSide);
  }
  p.segments = Schedule(g, uses, p.side, 2);
  while (goal == Goal::kFastest &&
         Prune(g, uses, costs, p.segments, p.side)) {  // the NPU's side only shrinks: it ends
    p.segments = Schedule(g, uses, p.side, 2);
  }
  return p;
}

namespace {

constexpr int kIslandsTried = 6;  // each costs a lowering of the whole graph

std::vector<int> CpuIslands(const ir::Graph& g, const ir::Uses& uses, const Costs& costs,
                            const std::vector<int>& side) {
  std::vector<int> group(g.nodes.size(), -1);
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (costs.npu_can[i] && side[i] == kCpuSide) group[i] = 0;
  }
  return Islands(g, uses, group);
}

}  // namespace

Placement Refine(const ir::Graph& g, const ir::Uses& uses, const Costs& costs, Placement placement,
                 const Judge& judge) {
  const std::vector<int> island = CpuIslands(g, uses, costs, placement.side);
  std::vector<int> labels(island);
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  labels.erase(std::remove(labels.begin(), labels.end(), -1), labels.end());
  Placement best = std::move(placement);
  double best_ns = judge(best);
  const auto consider = [&](Placement other) {
    if (other.side == best.side) return;
    const double ns = judge(other);
    if (!(ns < best_ns)) return;
    best_ns = ns;
    best = std::move(other);
  };
  consider(PlaceNodes(g, uses, costs, Goal::kMostOnNpu));
  consider(PlaceNodes(g, uses, costs, Goal::kCpuOnly));
  for (int tried = 0; tried < kIslandsTried && tried < static_cast<int>(labels.size()); ++tried) {
    Placement moved;
    moved.side = best.side;
    for (std::size_t i = 0; i < moved.side.size(); ++i) {
      if (island[i] == labels[static_cast<std::size_t>(tried)]) moved.side[i] = kNpuSide;
    }
    moved.segments = Schedule(g, uses, moved.side, 2);
    consider(std::move(moved));
  }
  return best;
}

std::vector<Refusal> ExplainCpuIslands(const ir::Graph& g, const ir::Uses& uses, const Costs& costs,
                                       const std::vector<int>& side) {
  const std::vector<int> island = CpuIslands(g, uses, costs, side);
  std::vector<Refusal> sums(g.nodes.size());
  std::vector<bool> touches_npu(g.nodes.size(), false);
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    if (island[i] < 0) continue;
    Refusal& s = sums[static_cast<std::size_t>(island[i])];
    s.priced = true;
    s.gain_ns += costs.cpu_ns[i] - costs.npu_ns[i];
  }
  for (ir::ValueId v = 0; v < g.values.size(); ++v) {
    const double cost = costs.hand_over_ns[v];
    if (cost == 0) continue;
    const int p = uses.producer[v];
    const int made_by = p >= 0 ? island[static_cast<std::size_t>(p)] : -1;
    const bool made_on_npu = p >= 0 && side[static_cast<std::size_t>(p)] == kNpuSide;
    bool npu_reads = false;  // somebody on the NPU has it handed over already
    for (std::uint32_t r : uses.readers[v]) npu_reads = npu_reads || side[r] == kNpuSide;
    for (int label : ReadingIslands(uses.readers[v], island)) {
      if (label == made_by) continue;
      Refusal& s = sums[static_cast<std::size_t>(label)];
      if (made_on_npu) {  // comes out for this island: spared when nobody else on the CPU needs it
        touches_npu[static_cast<std::size_t>(label)] = true;
        bool others = uses.is_output[v];
        for (std::uint32_t r : uses.readers[v])
          others = others || (side[r] == kCpuSide && island[r] != label);
        if (!others) s.copy_ns -= cost;
      } else if (!npu_reads) {
        s.copy_ns += cost;
      }
    }
    if (made_by < 0) continue;
    bool leaves = uses.is_output[v];
    for (std::uint32_t r : uses.readers[v])
      leaves = leaves || (side[r] == kCpuSide && island[r] != made_by);
    Refusal& s = sums[static_cast<std::size_t>(made_by)];
    if (leaves) s.copy_ns += cost;
    if (npu_reads) {
      s.copy_ns -= cost;
      touches_npu[static_cast<std::size_t>(made_by)] = true;
    }
  }
  std::vector<Refusal> result(g.nodes.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (island[i] < 0) continue;
    const std::size_t at = static_cast<std::size_t>(island[i]);
    result[i] = sums[at];
    if (!touches_npu[at]) result[i].copy_ns += costs.launch_ns;
  }
  return result;
}

}  // namespace npukit::compile
