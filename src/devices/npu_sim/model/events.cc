#include "devices/npu_sim/model/events.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"

namespace npukit::npu {
namespace {

constexpr double kNotYet = -1;

// Long loops repeat themselves after a few tiles: the engine runs kWindow of them and adds the rest
// as multiples of the period, once it has seen that every instruction keeps its place in it.
constexpr std::uint32_t kPeriod = 4;
constexpr std::uint32_t kWindow = 32;

// One tile of a core, or one run of a prologue.
struct Slot {
  std::uint32_t group = 0;
  bool prologue = false;
  std::uint32_t nth = 0;          // tile of its group on this core
  std::int32_t prologue_at = -1;  // slot where the prologue ran
  std::size_t first = 0;          // of its instructions in Core::ends
  // Slots of other stretches whose use of these buffers must be over.
  struct After {
    std::int32_t slot = -1;
    std::uint32_t buffers = 0;  // wait for all that touches them
    std::uint32_t parts = 0;    // wait for what touches the same bytes of them
  };
  std::array<After, kMostCopies * kBufferCount> after;
  int after_count = 0;
};

struct Cursor {
  std::size_t slot = 0, at = 0;
};

struct DramOp {
  std::size_t slot = 0;
  std::int32_t at = 0;
};

struct Core {
  std::vector<Slot> slots;
  std::vector<double> ends;
  std::array<Cursor, kQueueCount> cursor;
  std::array<double, kQueueCount> free{};
  std::vector<DramOp> dram;
  std::size_t next_dram = 0;
};

// A stretch with what the engine asks of it again and again.
struct Stretch {
  const std::vector<Planned>* code = nullptr;
  std::vector<Duration> durations;
  std::array<std::vector<std::int32_t>, kQueueCount> by_queue;
  std::array<std::vector<std::int32_t>, kBufferCount> last_touch;  // one per queue
};

class Engine {
 public:
  Engine(const TaskPlan& plan, const std::function<Duration(const Planned&)>& duration,
         const EventOptions& options)
      : plan_(plan), options_(options) {
    for (const GroupPlan& g : plan.groups) {
      stretches_.push_back(Prepare(g.prologue, duration));
      stretches_.push_back(Prepare(g.body, duration));
    }
  }

  enum class Order { kPlanned, kProgram, kFree };

  // tiles[group][core]. False: no order of the instructions satisfies this DRAM order.
  bool Run(const std::vector<std::vector<std::uint32_t>>& tiles, Order order) {
    order_ = order;
    cores_.assign(static_cast<std::size_t>(options_.cores), Core());
    dram_free_ = 0;
    turn_ = 0;
    spans_.clear();
    times_ = TaskTimes();
    period_stalls_.assign(plan_.groups.size(), Stalls{});
    std::size_t left = 0;
    for (std::size_t c = 0; c < cores_.size(); ++c) {
      BuildSlots(cores_[c], c, tiles);
      left += cores_[c].ends.size();
      if (order != Order::kFree) BuildDramOrder(cores_[c], order);
    }
    while (left > 0) {
      std::size_t done = 0;
      for (std::size_t c = 0; c < cores_.size(); ++c) {
        for (std::size_t q = 0; q < kQueueCount; ++q) {
          while (Step(c, q)) ++done;
        }
      }
      if (done == 0) return false;
      left -= done;
    }
    return true;
  }

  const TaskTimes& times() const { return times_; }
  const std::vector<EventSpan>& spans() const { return spans_; }
  // Stalls in the tiles after `look - kPeriod` up to `look` of a group, when asked for beforehand.
  void LookAt(const std::vector<std::uint32_t>& look) { look_ = look; }
  const Stalls& period_stalls(std::size_t group) const { return period_stalls_[group]; }

  // What every tile and prologue takes, whether it was run or left out.
  void AddBusy(const std::vector<std::vector<std::uint64_t>>& tiles, TaskTimes& to) const {
    for (std::size_t c = 0; c < cores_.size(); ++c) {
      std::array<double, kQueueCount> busy{};
      const auto add = [&](const Stretch& s, double times) {
        for (std::size_t q = 0; q < kQueueCount; ++q) {
          for (const std::int32_t i : s.by_queue[q]) {
            const Duration& d = s.durations[static_cast<std::size_t>(i)];
            busy[q] += (d.own + d.dram) * times;
            to.dram_busy += d.dram * times;
          }
        }
      };
      for (const Slot& s : cores_[c].slots) {
        if (s.prologue) add(StretchOf(s), 1);
      }
      for (std::size_t g = 0; g < tiles.size(); ++g)
        add(stretches_[g * 2 + 1], static_cast<double>(tiles[g][c]));
      for (std::size_t q = 0; q < kQueueCount; ++q) to.busy[q] = std::max(to.busy[q], busy[q]);
    }
  }

  // By how much every instruction of the tile `nth` of a group ends later than `back` tiles
  // before; nullopt when not all alike.
  std::optional<double> Shift(std::uint32_t group, std::uint32_t nth, std::uint32_t back) const {
    std::optional<double> shift;
    for (const Core& core : cores_) {
      const Slot* late = nullptr;
      const Slot* early = nullptr;
      for (const Slot& s : core.slots) {
        if (s.group != group || s.prologue) continue;
        if (s.nth == nth) late = &s;
        if (s.nth + back == nth) early = &s;
      }
      if (late == nullptr || early == nullptr) return std::nullopt;
      const std::size_t n = stretches_[group * 2 + 1].code->size();
      for (std::size_t i = 0; i < n; ++i) {
        const double a = core.ends[late->first + i], d = a - core.ends[early->first + i];
        if (!shift) shift = d;
        if (std::fabs(d - *shift) > 1e-9 * std::fabs(a)) return std::nullopt;
      }
    }
    return shift;
  }

  // Start of the transfers of one slot of core 0, in the order of its instructions.
  const std::vector<double>& dram_starts() const { return dram_starts_; }
  const Core& core(std::size_t i) const { return cores_[i]; }
  void KeepDramStarts() { keep_dram_starts_ = true; }

 private:
  Stretch Prepare(const std::vector<Planned>& code,
                  const std::function<Duration(const Planned&)>& duration) const {
    Stretch s;
    s.code = &code;
    // The last of each queue, and the last DRAM read: its bytes come after later instructions of
    // its queue are done.
    std::array<std::array<std::int32_t, kQueueCount + 1>, kBufferCount> last;
    for (auto& l : last) l.fill(-1);
    for (std::size_t i = 0; i < code.size(); ++i) {
      s.durations.push_back(duration(code[i]));
      const std::size_t q = QueueOf(code[i]);
      s.by_queue[q].push_back(static_cast<std::int32_t>(i));
      for (const Access& a : code[i].accesses) {
        auto& l = last[static_cast<std::size_t>(a.buffer)];
        l[q] = static_cast<std::int32_t>(i);
        if (code[i].dram_read) l[kQueueCount] = static_cast<std::int32_t>(i);
      }
    }
    for (std::size_t b = 0; b < kBufferCount; ++b) {
      for (const std::int32_t i : last[b]) {
        if (i >= 0) s.last_touch[b].push_back(i);
      }
    }
    return s;
  }

  std::size_t QueueOf(const Planned& x) const {
    const Queue q = x.queue == Queue::kFixpipe && !options_.fixpipe ? Queue::kVector : x.queue;
    return static_cast<std::size_t>(q);
  }
  const Stretch& StretchOf(const Slot& s) const {
    return stretches_[s.group * 2 + (s.prologue ? 0 : 1)];
  }

  void BuildSlots(Core& core, std::size_t c, const std::vector<std::vector<std::uint32_t>>& tiles) {
    // Per buffer the last slots that touch it, the latest first.
    std::array<std::array<std::int32_t, kMostCopies>, kBufferCount> touched;
    for (auto& t : touched) t.fill(-1);
    std::int32_t prologue_at = -1;
    const auto add = [&](std::uint32_t group, bool prologue, std::uint32_t nth) {
      const GroupPlan& g = plan_.groups[group];
      Slot s;
      s.group = group;
      s.prologue = prologue;
      s.nth = nth;
      s.first = core.ends.size();
      const auto at = static_cast<std::int32_t>(core.slots.size());
      if (prologue) prologue_at = at;
      s.prologue_at = prologue_at;
      const Stretch& stretch = StretchOf(s);
      for (std::size_t b = 0; b < kBufferCount; ++b) {
        if (stretch.last_touch[b].empty()) continue;
        const auto wait = [&](std::int32_t other, bool same_part) {
          // Flags order tiles of one group, and a tile against its prologue.
          if (other < 0 || other == prologue_at) return;
          const Slot& o = core.slots[static_cast<std::size_t>(other)];
          if (!o.prologue && o.group == group && !prologue) return;
          int i = 0;
          while (i < s.after_count && s.after[static_cast<std::size_t>(i)].slot != other) ++i;
          if (i == s.after_count) ++s.after_count;
          Slot::After& after = s.after[static_cast<std::size_t>(i)];
          after.slot = other;
          (same_part ? after.parts : after.buffers) |= 1U << b;
        };
        // Tiles of different groups share a buffer in parts when both part it alike: then only
        // what touches the same bytes of the same part is in the way.
        const auto parted = [&](std::int32_t other) {
          if (other < 0 || prologue) return false;
          const Slot& o = core.slots[static_cast<std::size_t>(other)];
          const GroupPlan& og = plan_.groups[o.group];
          return !o.prologue && og.copies[b] == g.copies[b] && og.room[b] == g.room[b];
        };
        auto& last = touched[b];
        bool alike = true;
        for (int back = 0; back < kMostCopies; ++back) {
          const std::int32_t other = last[static_cast<std::size_t>(back)];
          alike = alike && parted(other);
          if (!alike || (back + 1) % g.copies[b] == 0) wait(other, alike);
        }
        std::rotate(last.begin(), last.end() - 1, last.end());
        last[0] = at;
      }
      core.ends.resize(core.ends.size() + stretch.code->size(), kNotYet);
      core.slots.push_back(s);
    };
    for (std::uint32_t g = 0; g < tiles.size(); ++g) {
      const std::uint32_t n = tiles[g][c];
      const GroupPlan& group = plan_.groups[g];
      if (!group.shares_prologue) prologue_at = -1;
      if (n == 0) continue;
      if (!group.prologue.empty() && prologue_at < 0) add(g, true, 0);
      for (std::uint32_t i = 0; i < n; ++i) add(g, false, i);
    }
    for (Cursor& cursor : core.cursor) cursor = {};
  }

  bool Alike(const Slot& a, const Slot& b) const {
    if (a.prologue || b.prologue) return false;
    const GroupPlan& x = plan_.groups[a.group];
    const GroupPlan& y = plan_.groups[b.group];
    if (a.group == b.group) return true;
    for (const int buffer : {BufferOf(kL1), BufferOf(kUb)}) {
      const auto i = static_cast<std::size_t>(buffer);
      if (x.copies[i] != y.copies[i] || x.room[i] != y.room[i]) return false;
    }
    return true;
  }

  void BuildDramOrder(Core& core, Order order) {
    if (order == Order::kProgram) {
      for (std::size_t s = 0; s < core.slots.size(); ++s) {
        const auto& code = *StretchOf(core.slots[s]).code;
        for (std::size_t i = 0; i < code.size(); ++i) {
          if (code[i].dram_read || code[i].dram_write)
            core.dram.push_back({s, static_cast<std::int32_t>(i)});
        }
      }
      return;
    }
    std::vector<DramOp> reads;
    std::vector<std::size_t> before;  // reads before slot s
    for (std::size_t s = 0; s < core.slots.size(); ++s) {
      before.push_back(reads.size());
      const auto& code = *StretchOf(core.slots[s]).code;
      for (std::size_t i = 0; i < code.size(); ++i) {
        if (code[i].dram_read) reads.push_back({s, static_cast<std::int32_t>(i)});
      }
    }
    before.push_back(reads.size());
    // Reads run ahead of writes within tiles that part their buffers alike. Beyond them, what a
    // read fills may be freed by the last write only, so it comes after.
    std::vector<std::size_t> end_of_alike(core.slots.size(), core.slots.size());
    for (std::size_t s = core.slots.size(); s-- > 1;) {
      end_of_alike[s - 1] = Alike(core.slots[s - 1], core.slots[s]) ? end_of_alike[s] : s;
    }
    std::size_t placed = 0;
    for (std::size_t s = 0; s < core.slots.size(); ++s) {
      if (core.slots[s].prologue) continue;
      const GroupPlan& g = plan_.groups[core.slots[s].group];
      std::size_t j = 0;
      for (std::size_t i = 0; i < g.body.size(); ++i) {
        if (!g.body[i].dram_write) continue;
        const GroupPlan::Turn turn = g.writes[j++];
        const std::size_t to = s + static_cast<std::size_t>(turn.lag);
        std::size_t position = reads.size();
        if (to < core.slots.size()) {
          position = std::min(before[to] + static_cast<std::size_t>(turn.reads), before[to + 1]);
        }
        position = std::min(position, before[end_of_alike[s]]);
        for (; placed < position; ++placed) core.dram.push_back(reads[placed]);
        core.dram.push_back({s, static_cast<std::int32_t>(i)});
      }
    }
    for (; placed < reads.size(); ++placed) core.dram.push_back(reads[placed]);
  }

  bool HasTurn(std::size_t c, std::size_t slot, std::int32_t at) {
    if (order_ == Order::kFree) return true;
    // Cores take turns, those that are through left out.
    while (cores_[turn_].next_dram == cores_[turn_].dram.size())
      turn_ = (turn_ + 1) % cores_.size();
    if (turn_ != c) return false;
    const DramOp& next = cores_[c].dram[cores_[c].next_dram];
    return next.slot == slot && next.at == at;
  }

  static std::int32_t LastConflict(const Stretch& s, std::size_t queue, const Access& a,
                                   bool dram_read) {
    const auto& list = s.by_queue[queue];
    for (auto it = list.rbegin(); it != list.rend(); ++it) {
      if (dram_read && !(*s.code)[static_cast<std::size_t>(*it)].dram_read) continue;
      for (const Access& b : (*s.code)[static_cast<std::size_t>(*it)].accesses) {
        if (b.Conflicts(a)) return *it;
      }
    }
    return -1;
  }

  // Runs the next instruction of a queue when all it waits for is known.
  bool Step(std::size_t c, std::size_t q) {
    Core& core = cores_[c];
    Cursor& cursor = core.cursor[q];
    while (cursor.slot < core.slots.size() &&
           cursor.at == StretchOf(core.slots[cursor.slot]).by_queue[q].size()) {
      ++cursor.slot;
      cursor.at = 0;
    }
    if (cursor.slot == core.slots.size()) return false;
    const Slot& slot = core.slots[cursor.slot];
    const Stretch& stretch = StretchOf(slot);
    const std::int32_t at = stretch.by_queue[q][cursor.at];
    const Planned& x = (*stretch.code)[static_cast<std::size_t>(at)];

    double start = core.free[q];
    Wait wait = Wait::kIssue;
    std::size_t waited_for = static_cast<std::size_t>(Queue::kScalar);
    const auto hold = [&](double until, Wait why, std::size_t queue) {
      if (until <= start) return;
      start = until;
      wait = why;
      waited_for = queue;
    };
    hold(options_.issue_cycles * (static_cast<double>(slot.first) + static_cast<double>(at) + 1),
         Wait::kIssue, static_cast<std::size_t>(Queue::kScalar));
    for (const Flag& f : x.flags) {
      std::size_t from = cursor.slot;
      if (f.from_prologue) {
        if (slot.prologue_at < 0) continue;
        from = slot.prologue ? cursor.slot : static_cast<std::size_t>(slot.prologue_at);
      } else if (f.tiles_back > 0) {
        if (slot.nth < static_cast<std::uint32_t>(f.tiles_back)) continue;
        from -= static_cast<std::size_t>(f.tiles_back);
      }
      const Slot& other = core.slots[from];
      const double end = core.ends[other.first + static_cast<std::size_t>(f.producer)];
      if (end == kNotYet) return false;
      const Planned& producer = (*StretchOf(other).code)[static_cast<std::size_t>(f.producer)];
      hold(end, f.data ? Wait::kData : Wait::kRoom, QueueOf(producer));
    }
    for (int i = 0; i < slot.after_count; ++i) {
      const Slot::After& after = slot.after[static_cast<std::size_t>(i)];
      const Slot& other = core.slots[static_cast<std::size_t>(after.slot)];
      const Stretch& others = StretchOf(other);
      for (const Access& a : x.accesses) {
        if ((after.parts >> a.buffer & 1) != 0) {
          for (std::size_t p = 0; p < kQueueCount; ++p) {
            for (const bool dram_read : {false, true}) {
              const std::int32_t j = LastConflict(others, p, a, dram_read);
              if (j < 0) continue;
              const double end = core.ends[other.first + static_cast<std::size_t>(j)];
              if (end == kNotYet) return false;
              hold(end, Wait::kRoom, p);
            }
          }
        }
        if ((after.buffers >> a.buffer & 1) == 0) continue;
        for (const std::int32_t j : others.last_touch[static_cast<std::size_t>(a.buffer)]) {
          const double end = core.ends[other.first + static_cast<std::size_t>(j)];
          if (end == kNotYet) return false;
          hold(end, Wait::kRoom, QueueOf((*others.code)[static_cast<std::size_t>(j)]));
        }
      }
    }
    const bool dram = x.dram_read || x.dram_write;
    if (dram && !HasTurn(c, cursor.slot, at)) return false;

    const Duration& d = stretch.durations[static_cast<std::size_t>(at)];
    const bool looked_at = !look_.empty() && !slot.prologue && slot.nth <= look_[slot.group] &&
                           slot.nth + kPeriod > look_[slot.group];
    const auto stall = [&](Wait why, std::size_t queue, double cycles) {
      times_.stalls[q][static_cast<std::size_t>(why)][queue] += cycles;
      if (looked_at) period_stalls_[slot.group][q][static_cast<std::size_t>(why)][queue] += cycles;
    };
    stall(wait, waited_for, start - core.free[q]);
    double end = start + d.own, dram_start = end;
    if (d.dram > 0) {
      if (order_ != Order::kFree) dram_start = std::max(end, dram_free_);
      stall(Wait::kDram, q, dram_start - end);
      end = dram_start + d.dram;
      dram_free_ = end;
    }
    if (dram && order_ != Order::kFree) {
      ++core.next_dram;
      turn_ = (turn_ + 1) % cores_.size();
    }
    core.free[q] = end;
    core.ends[slot.first + static_cast<std::size_t>(at)] = end + d.latency;
    times_.cycles = std::max(times_.cycles, end + d.latency);
    if (keep_dram_starts_) {
      dram_starts_.resize(core.ends.size(), kNotYet);
      dram_starts_[slot.first + static_cast<std::size_t>(at)] = dram_start;
    }
    if (options_.span) {
      spans_.push_back({static_cast<int>(c), static_cast<Queue>(q), x.words, start, end, dram_start,
                        d.dram > 0 ? end : dram_start});
    }
    ++cursor.at;
    return true;
  }

  const TaskPlan& plan_;
  const EventOptions& options_;
  std::vector<Stretch> stretches_;
  std::vector<Core> cores_;
  Order order_ = Order::kPlanned;
  double dram_free_ = 0;
  std::size_t turn_ = 0;
  TaskTimes times_;
  std::vector<EventSpan> spans_;
  std::vector<std::uint32_t> look_;
  std::vector<Stalls> period_stalls_;
  bool keep_dram_starts_ = false;
  std::vector<double> dram_starts_;
};

// Rates of no chip in particular: what a Da Vinci core's queues are to each other.
constexpr Rates kMiddling{.cores = 1,
                          .clock_ghz = 1,
                          .accumulator_bytes = 4,
                          .l1_l0a = 512,
                          .l1_l0b = 256,
                          .l1_ub = 128,
                          .ub_l1 = 128,
                          .l0c_ub = 256,
                          .vector = 128,
                          .move = 32,
                          .dram_gbytes_per_s = 48,
                          .dram_burst_bytes = 64,
                          .head_cube = 6,
                          .head_vector = 6,
                          .head_mte = 20};

}  // namespace

TaskTimes RunTask(const TaskPlan& plan, const std::vector<Group>& groups,
                  const std::function<Duration(const Planned&)>& duration,
                  const EventOptions& options) {
  const auto cores = static_cast<std::uint64_t>(options.cores);
  // Tiles are dealt to the cores in turn, over all groups of the task.
  std::vector<std::vector<std::uint64_t>> all(groups.size(), std::vector<std::uint64_t>(cores));
  std::uint64_t first = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::uint64_t n = std::uint64_t{groups[g].tiles0} * groups[g].tiles1;
    for (std::uint64_t c = 0; c < cores; ++c) {
      const std::uint64_t turn = (c + cores - first % cores) % cores;
      all[g][c] = n > turn ? (n - turn - 1) / cores + 1 : 0;
    }
    first += n;
  }
  Engine engine(plan, duration, options);
  const auto first_window = options.span ? static_cast<std::uint32_t>(kMostTilesRun) : kWindow;
  std::vector<std::uint32_t> window(groups.size(), first_window);
  for (;;) {
    std::vector<std::vector<std::uint32_t>> run(groups.size());
    std::vector<std::uint64_t> periods(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::uint64_t least = *std::min_element(all[g].begin(), all[g].end());
      if (least > window[g] + kPeriod) periods[g] = (least - window[g]) / kPeriod;
      for (const std::uint64_t n : all[g])
        run[g].push_back(static_cast<std::uint32_t>(n - periods[g] * kPeriod));
    }
    std::vector<std::uint32_t> look;
    for (const std::uint32_t w : window) look.push_back(w / 2);
    engine.LookAt(look);
    if (!engine.Run(run, Engine::Order::kPlanned))
      NPUKIT_CHECK(engine.Run(run, Engine::Order::kProgram));
    TaskTimes times = engine.times();
    bool again = false;
    double more = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (periods[g] == 0) continue;
      const std::uint32_t middle = window[g] / 2;
      // What comes later depends on as many tiles as a buffer holds.
      const auto one = engine.Shift(static_cast<std::uint32_t>(g), middle, kPeriod);
      bool steady = one.has_value();
      for (std::uint32_t i = 1; steady && i < kMostCopies; ++i) {
        const auto next = engine.Shift(static_cast<std::uint32_t>(g), middle + i, kPeriod);
        steady = next && std::fabs(*one - *next) <= 1e-9 * times.cycles;
      }
      double period = one.value_or(0);
      if (!steady) {
        if (window[g] < kMostTilesRun) {
          again = true;
          window[g] *= 2;
          continue;
        }
        period = times.cycles / window[g] * kPeriod;
      }
      const auto n = static_cast<double>(periods[g]);
      more += period * n;
      const Stalls& stalls = engine.period_stalls(g);
      for (std::size_t q = 0; q < kQueueCount; ++q) {
        for (std::size_t w = 0; w < kWaitCount; ++w) {
          for (std::size_t of = 0; of < kQueueCount; ++of)
            times.stalls[q][w][of] += stalls[q][w][of] * n;
        }
      }
    }
    if (again) continue;
    times.cycles += more;
    engine.AddBusy(all, times);
    for (std::size_t g = 0; g < groups.size(); ++g)
      times.spans_left_out += periods[g] * kPeriod * cores * plan.groups[g].body.size();
    for (const EventSpan& span : engine.spans()) options.span(span);
    return times;
  }
}

std::vector<GroupPlan::Turn> NaturalTurns(const GroupPlan& group, bool single) {
  // A tile among many: the fifth of ten.
  const std::uint32_t kTiles = single ? 1 : 10, kLook = single ? 0 : 5;
  std::vector<GroupPlan::Turn> turns;
  for (const Planned& x : group.body) {
    if (x.dram_write) turns.emplace_back();
  }
  if (turns.empty() || group.reads_per_tile == 0) return turns;
  TaskPlan plan;
  plan.groups.push_back(group);
  const EventOptions options{.cores = 1, .fixpipe = true};
  Engine engine(
      plan,
      [](const Planned& x) {
        const InstructionCost cost = CostOf(x.words, kMiddling);
        return Duration{cost.cycles,
                        (cost.dram_read + cost.dram_write) / kMiddling.dram_bytes_per_cycle(), 0};
      },
      options);
  engine.KeepDramStarts();
  NPUKIT_CHECK(engine.Run({{kTiles}}, Engine::Order::kFree));
  const Core& core = engine.core(0);
  const std::vector<double>& starts = engine.dram_starts();
  std::vector<double> reads;  // of the tiles from kLook on
  const Slot* look = nullptr;
  for (const Slot& s : core.slots) {
    if (s.prologue || s.nth < kLook) continue;
    if (s.nth == kLook) look = &s;
    for (std::size_t i = 0; i < group.body.size(); ++i) {
      if (group.body[i].dram_read) reads.push_back(starts[s.first + i]);
    }
  }
  const auto per_tile = static_cast<std::size_t>(group.reads_per_tile);
  std::size_t j = 0, before = 0, most = reads.size();
  for (std::size_t i = 0; i < group.body.size(); ++i) {
    if (!group.body[i].dram_write) continue;
    std::size_t n = 0;
    while (n < reads.size() && reads[n] <= starts[look->first + i]) ++n;
    before = std::min(std::max(before, n), most);
    // The last write of a tile is not after the first of the next; the reads it needs are those of
    // its own tile, so coming earlier never hurts.
    if (j == 0) most = before + per_tile;
    turns[j++] = {static_cast<std::int32_t>(before / per_tile),
                  static_cast<std::int32_t>(before % per_tile)};
  }
  return turns;
}

}  // namespace npukit::npu
