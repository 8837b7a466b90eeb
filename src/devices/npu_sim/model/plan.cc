#include "devices/npu_sim/model/plan.h"

#include <algorithm>

#include "devices/npu_sim/model/events.h"

namespace npukit::npu {
namespace {

std::vector<Planned> Collect(const Program& p, Code code) {
  static constexpr Rates kAny;  // queues do not depend on rates, but for the fixpipe
  std::vector<Planned> out;
  const std::int32_t* w = p.code.data() + code.begin;
  for (const std::int32_t* end = w + code.count; w < end; w += 1 + OperandWordsOf(*w)) {
    Planned x;
    x.words = w;
    const InstructionCost cost = CostOf(w, kAny);
    // Accumulators on their way out are kept apart: the engine puts them on the vector queue where
    // the chip has no fixpipe.
    x.queue = OpcodeOf(*w) == Opcode::kL0cToUb ? Queue::kFixpipe : cost.queue;
    x.accesses = AccessesOf(w, p.accumulator_fp16_bits / 8);
    x.dram_read = cost.dram_read > 0;
    x.dram_write = cost.dram_write > 0;
    out.push_back(std::move(x));
  }
  return out;
}

struct Hull {
  std::int64_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
  std::int64_t bytes() const { return end - begin; }
  void Add(const Access& a) {
    if (empty()) {
      *this = {a.begin, a.end};
    } else {
      begin = std::min(begin, a.begin);
      end = std::max(end, a.end);
    }
  }
};

std::array<Hull, kBufferCount> Written(const std::vector<Planned>& code) {
  std::array<Hull, kBufferCount> hulls;
  for (const Planned& x : code) {
    for (const Access& a : x.accesses) {
      if (a.write) hulls[static_cast<std::size_t>(a.buffer)].Add(a);
    }
  }
  return hulls;
}

std::array<std::int64_t, kBufferCount> Sizes(const Buffers& b) {
  return {b.l1_bytes, b.ub_bytes, b.l0a_bytes, b.l0b_bytes, b.l0c_bytes};
}

void ChooseCopies(const Program& p, GroupPlan& g) {
  const auto kept = Written(g.prologue), own = Written(g.body);
  const auto sizes = Sizes(p.buffers);
  for (std::size_t i = 0; i < kBufferCount; ++i) {
    g.room[i] = sizes[i] - kept[i].bytes();
    const bool apart =
        kept[i].empty() || own[i].end <= kept[i].begin || own[i].begin >= kept[i].end;
    // Halves begin at whole blocks.
    if (apart && own[i].bytes() <= g.room[i] / 2 / kBlockBytes * kBlockBytes) g.copies[i] = 2;
  }
  for (const Planned& x : g.body) {
    for (const Access& a : x.accesses) g.touched[static_cast<std::size_t>(a.buffer)] = true;
  }
}

// How the producer stands to the consumer; 0: they do not meet, 1: room, 2: data.
int Meet(const AccessList& producer, const AccessList& consumer, int only_buffer = -1) {
  int found = 0;
  for (const Access& a : consumer) {
    if (only_buffer >= 0 && a.buffer != only_buffer) continue;
    for (const Access& b : producer) {
      if (b.Conflicts(a)) found = std::max(found, b.write && !a.write ? 2 : 1);
    }
  }
  return found;
}

// Flags of `code[j]` from instructions before it in its stretch, then from the prologue, then from
// the tiles before. One flag per queue is enough: queues are in order, so the last one counts.
void AddFlags(GroupPlan& g, std::vector<Planned>& code, std::size_t j, bool body) {
  Planned& x = code[j];
  std::array<bool, kQueueCount> done{};
  done[static_cast<std::size_t>(x.queue)] = true;
  const auto scan = [&](const std::vector<Planned>& from, std::size_t end, int tiles_back,
                        bool prologue) {
    for (std::size_t i = end; i-- > 0;) {
      const auto q = static_cast<std::size_t>(from[i].queue);
      if (done[q]) continue;
      int meet = 0;
      if (tiles_back == 0) {
        meet = Meet(from[i].accesses, x.accesses);
      } else {
        for (int buffer = 0; buffer < kBufferCount; ++buffer) {
          if (g.copies[static_cast<std::size_t>(buffer)] != tiles_back) continue;
          meet = std::max(meet, Meet(from[i].accesses, x.accesses, buffer));
        }
      }
      if (meet == 0) continue;
      done[q] = true;
      x.flags.push_back({static_cast<std::int32_t>(i), static_cast<std::int8_t>(tiles_back),
                         prologue, meet == 2 && tiles_back == 0});
    }
  };
  scan(code, j, 0, !body);
  if (!body) return;
  const std::array<bool, kQueueCount> same_tile = done;
  scan(code, code.size(), 1, false);
  scan(code, code.size(), 2, false);
  // What the prologue left matters to the first tile only, and its data to every reader: flags of
  // later tiles never stand in for it.
  done = same_tile;
  scan(g.prologue, g.prologue.size(), 0, true);
}

}  // namespace

TaskPlan PlanTask(const Program& program, const Task& task) {
  TaskPlan plan;
  for (std::size_t i = 0; i < task.groups.size(); ++i) {
    const Group& group = task.groups[i];
    GroupPlan g;
    g.prologue = Collect(program, group.prologue);
    g.body = Collect(program, group.body);
    g.shares_prologue = i > 0 && group.prologue.count > 0 &&
                        group.prologue.begin == task.groups[i - 1].prologue.begin &&
                        group.prologue.count == task.groups[i - 1].prologue.count;
    ChooseCopies(program, g);
    for (std::size_t j = 0; j < g.prologue.size(); ++j) AddFlags(g, g.prologue, j, false);
    for (std::size_t j = 0; j < g.body.size(); ++j) AddFlags(g, g.body, j, true);
    for (const Planned& x : g.body) g.reads_per_tile += x.dram_read ? 1 : 0;
    g.writes = NaturalTurns(g);
    plan.groups.push_back(std::move(g));
  }
  return plan;
}

}  // namespace npukit::npu
