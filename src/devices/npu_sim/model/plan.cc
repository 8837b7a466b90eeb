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
    // Beside what the prologue keeps: all before it or all behind it.
    const bool before = kept[i].empty() || own[i].end <= kept[i].begin;
    const bool behind = !before && own[i].begin >= kept[i].end;
    const std::int64_t begin = behind ? kept[i].end : 0;
    g.room[i] = (before && !kept[i].empty() ? kept[i].begin : sizes[i]) - begin;
    if (!before && !behind) continue;
    // Parts begin at whole blocks.
    for (int copies = kMostCopies; copies > 1 && g.copies[i] == 1; copies /= 2) {
      if (own[i].end - begin <= g.room[i] / copies / kBlockBytes * kBlockBytes)
        g.copies[i] = copies;
    }
  }
  for (const Planned& x : g.body) {
    for (const Access& a : x.accesses) g.touched[static_cast<std::size_t>(a.buffer)] = true;
  }
}

// Which instructions of a stretch touch a buffer, per queue, in order.
class Touches {
 public:
  explicit Touches(const std::vector<Planned>& code) : code_(code) {
    for (std::size_t i = 0; i < code.size(); ++i) {
      for (const Access& a : code[i].accesses) {
        const auto b = static_cast<std::size_t>(a.buffer);
        const auto q = static_cast<std::size_t>(code[i].queue);
        Add(lists_[b][q], i);
        if (code[i].dram_read) Add(dram_reads_[b][q], i);
      }
    }
  }

  struct Meeting {
    std::int64_t at = -1;  // -1: none
    bool data = false;
  };
  // The last instruction of a queue before position `end` that conflicts with `a`, or the last DRAM
  // read of the queue that does.
  Meeting Last(std::size_t queue, const Access& a, std::size_t end, bool dram_read) const {
    // Reads of DRAM are few: looked for among all instructions, straight code takes quadratic time.
    const auto& list =
        (dram_read ? dram_reads_ : lists_)[static_cast<std::size_t>(a.buffer)][queue];
    for (auto it = std::lower_bound(list.begin(), list.end(), end); it != list.begin();) {
      const std::size_t i = *--it;
      for (const Access& b : code_[i].accesses) {
        if (b.Conflicts(a)) return {static_cast<std::int64_t>(i), b.write && !a.write};
      }
    }
    return {};
  }

 private:
  using Lists = std::array<std::array<std::vector<std::size_t>, kQueueCount>, kBufferCount>;
  static void Add(std::vector<std::size_t>& list, std::size_t i) {
    if (list.empty() || list.back() != i) list.push_back(i);
  }

  const std::vector<Planned>& code_;
  Lists lists_, dram_reads_;
};

// Flags of `code[j]` from instructions before it in its stretch, then from the tiles before, then
// from the prologue. Of one queue the last one counts, since queues are in order; but the bytes of
// a DRAM read come after the instructions behind it may be done, so the last such read counts too,
// even of the same queue.
void AddFlags(const GroupPlan& g, Planned& x, std::size_t j, const Touches& own, bool body,
              std::size_t size, const Touches& prologue, std::size_t prologue_size) {
  for (std::size_t q = 0; q < kQueueCount; ++q) {
    for (const bool dram_read : {false, true}) {
      if (!dram_read && q == static_cast<std::size_t>(x.queue)) continue;
      const auto last = [&](const Touches& in, std::size_t end, int copies) {
        Touches::Meeting found;
        for (const Access& a : x.accesses) {
          if (copies > 0 && g.copies[static_cast<std::size_t>(a.buffer)] != copies) continue;
          const Touches::Meeting m = in.Last(q, a, end, dram_read);
          if (m.at > found.at) {
            found = m;
          } else if (m.at == found.at) {
            found.data |= m.data;
          }
        }
        return found;
      };
      const auto flag = [&](const Touches::Meeting& m, int tiles_back, bool from_prologue) {
        const Flag f{static_cast<std::int32_t>(m.at), static_cast<std::int8_t>(tiles_back),
                     from_prologue, m.data && tiles_back == 0};
        for (const Flag& have : x.flags) {
          if (have.producer == f.producer && have.tiles_back == f.tiles_back &&
              have.from_prologue == f.from_prologue)
            return;
        }
        x.flags.push_back(f);
      };
      const Touches::Meeting same = last(own, j, 0);
      if (same.at >= 0) {
        flag(same, 0, !body);
      } else if (body) {
        for (int back = 1; back <= kMostCopies; back *= 2) {
          const Touches::Meeting m = last(own, size, back);
          if (m.at < 0) continue;
          flag(m, back, false);
          break;
        }
      }
      // What the prologue left: flags of tiles never stand in for its data.
      if (!body) continue;
      const Touches::Meeting kept = last(prologue, prologue_size, 0);
      if (kept.at >= 0) flag(kept, 0, true);
    }
  }
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
    const Touches before(g.prologue), own(g.body);
    for (std::size_t j = 0; j < g.prologue.size(); ++j)
      AddFlags(g, g.prologue[j], j, before, false, 0, before, 0);
    for (std::size_t j = 0; j < g.body.size(); ++j)
      AddFlags(g, g.body[j], j, own, true, g.body.size(), before, g.prologue.size());
    for (const Planned& x : g.body) g.reads_per_tile += x.dram_read ? 1 : 0;
    g.writes = NaturalTurns(g, group.tiles0 == 1 && group.tiles1 == 1);
    plan.groups.push_back(std::move(g));
  }
  return plan;
}

}  // namespace npukit::npu
