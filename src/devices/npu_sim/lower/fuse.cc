#include "devices/npu_sim/lower/fuse.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "devices/npu_sim/lower/context.h"
#include "devices/npu_sim/model/accesses.h"
#include "devices/npu_sim/model/model.h"
#include "devices/npu_sim/model/plan.h"

namespace npukit::devices::npu_sim {
namespace {

// A chain is straight code: every tile of its tasks, one after the other. More than this many
// instructions would only make the blob large, and such a task pays its dispatch anyway.
constexpr std::uint64_t kMostInstructions = 4096;
constexpr std::int64_t kAlign = npu::kFractalBytes;

// Calls f(mem, address) for every address an instruction has in a core's buffers.
template <class F>
void ForEachAddress(npu::Copy& x, F&& f) {
  if (!npu::IsDram(x.src.mem)) f(x.src.mem, x.src.addr);
  if (!npu::IsDram(x.dst.mem)) f(x.dst.mem, x.dst.addr);
}
template <class F>
void ForEachAddress(npu::Fill& x, F&& f) {
  f(x.mem, x.addr);
}
template <class F>
void ForEachAddress(npu::Load3d& x, F&& f) {
  f(npu::kL0A, x.dst_addr);
  f(npu::kL1, x.src_addr);
}
template <class F>
void ForEachAddress(npu::Load2d& x, F&& f) {
  f(x.dst_mem, x.dst_addr);
  f(npu::kL1, x.src_addr);
}
template <class F>
void ForEachAddress(npu::Mmad& x, F&& f) {
  f(npu::kL0A, x.a_addr);
  f(npu::kL0B, x.b_addr);
  f(npu::kL0C, x.c_addr);
  if (x.init == npu::kBias) f(npu::kL1, x.bias_addr);
}
template <class F>
void ForEachAddress(npu::L0cToUb& x, F&& f) {
  f(npu::kL0C, x.src_addr);
  f(npu::kUb, x.dst_addr);
  if (x.scale_addr >= 0) f(npu::kUb, x.scale_addr);
}
template <class F>
void ForEachAddress(npu::Unary& x, F&& f) {
  f(npu::kUb, x.dst_addr);
  f(npu::kUb, x.src_addr);
}
template <class F>
void ForEachAddress(npu::Binary& x, F&& f) {
  f(npu::kUb, x.dst_addr);
  f(npu::kUb, x.src0_addr);
  f(npu::kUb, x.src1_addr);
}
template <class F>
void ForEachAddress(npu::Window& x, F&& f) {
  f(npu::kUb, x.dst_addr);
  f(npu::kUb, x.src_addr);
  if (x.op != npu::WindowOp::kMac) return;
  f(npu::kUb, x.weight_addr);
  if (x.bias_addr >= 0) f(npu::kUb, x.bias_addr);
}
template <class F>
void ForEachAddress(npu::Reduce& x, F&& f) {
  f(npu::kUb, x.dst_addr);
  f(npu::kUb, x.src_addr);
}
template <class F>
void ForEachAddress(npu::Move& x, F&& f) {
  f(npu::kUb, x.dst_addr);
  f(npu::kUb, x.src_addr);
}

std::uint64_t Instructions(const npu::Program& p, npu::Code code) {
  std::uint64_t n = 0;
  npu::ForEach(p, code, [&](const auto&) { ++n; });
  return n;
}

// A longer chain gains nothing that two do not, and every extension is built anew.
constexpr std::size_t kMostTasks = 24;

// The tasks that read and that write a buffer, in order.
struct Life {
  std::vector<std::size_t> reads, writes;
};
// Is one of `tasks` in [begin, end)?
bool AnyIn(const std::vector<std::size_t>& tasks, std::size_t begin, std::size_t end) {
  const auto it = std::lower_bound(tasks.begin(), tasks.end(), begin);
  return it != tasks.end() && *it < end;
}

// What a chain keeps of a value in L1.
struct Resident {
  std::int64_t at = 0;
  bool escapes = false;  // needed after the chain: written to DRAM too
};

// The map a task would have copied within L1: its loads read the value where it lies.
struct Alias {
  std::int64_t begin = 0, plane = 0, planes = 0;  // as the task would have it
  std::int64_t at = 0, at_plane = 0;              // as the value has it
  std::int64_t end() const { return begin + plane * planes; }
};

class Chain {
 public:
  Chain(const Config& config, const std::vector<std::int64_t>& buffer_bytes,
        const std::vector<Life>& lives, const npu::Program& from)
      : config_(config),
        buffer_bytes_(buffer_bytes),
        lives_(lives),
        from_(from),
        plans_(from.tasks.size()),
        written_(from.tasks.size()) {
    for (std::size_t b = 0; b < lives.size(); ++b) {
      for (const std::size_t t : lives[b].writes) written_[t].push_back(b);
    }
  }

  // Straight code of tasks [begin, end); false where it cannot be.
  bool Build(std::size_t begin, std::size_t end) {
    if (!PlaceValues(begin, end)) return false;
    out_ = npu::Program();
    out_.accumulator_fp16_bits = from_.accumulator_fp16_bits;
    out_.buffers = from_.buffers;
    npu::Task task;
    for (std::size_t t = begin; t < end; ++t) {
      const std::size_t at = out_.code.size();
      if (!AddTask(t, (t - begin) % 2 == 1)) return false;
      if (npu::OnlyLayout(from_, from_.tasks[t], config_.rates))
        task.layout.push_back(out_.CodeSince(at));
    }
    task.groups.push_back({1, 1, {}, out_.CodeSince(0)});
    for (std::size_t t = begin; t < end; ++t) task.macs += from_.tasks[t].macs;
    task.name = Name(begin, end);
    out_.tasks = {std::move(task)};
    return true;
  }

  const npu::Program& program() const { return out_; }
  double Cycles() const { return npu::TaskCycles(out_, out_.tasks[0], config_.rates); }

 private:
  std::string Name(std::size_t begin, std::size_t end) const {
    constexpr std::size_t kNamed = 3;
    std::string name;
    for (std::size_t t = begin; t < end && t < begin + kNamed; ++t)
      name += Cat(t == begin ? "" : " + ", from_.tasks[t].name);
    if (end - begin > kNamed) name += Cat(" + ", end - begin - kNamed, " more");
    return name;
  }

  // Values that one task of the chain writes and a later one reads: from the end of L1 downwards.
  bool PlaceValues(std::size_t begin, std::size_t end) {
    values_.clear();
    std::int64_t at = from_.buffers.l1_bytes / kAlign * kAlign;
    std::vector<std::size_t> buffers;  // that a task of the chain writes, in order
    for (std::size_t t = begin; t < end; ++t)
      buffers.insert(buffers.end(), written_[t].begin(), written_[t].end());
    std::ranges::sort(buffers);
    buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
    for (const std::size_t b : buffers) {
      const Life& l = lives_[b];
      // A tile never reads DRAM that its task writes.
      if (!AnyIn(l.reads, begin, end)) continue;
      if (l.writes.front() < begin) return false;  // in part it is in DRAM already
      at = (at - buffer_bytes_[b]) / kAlign * kAlign;
      if (at <= 0) return false;
      const std::size_t last = std::max(l.reads.back(), l.writes.back());
      values_[static_cast<std::int32_t>(b)] = {at, last >= end};
    }
    l1_end_ = at;
    return true;
  }

  bool AddTask(std::size_t t, bool high) {
    const npu::Task& task = from_.tasks[t];
    std::optional<npu::TaskPlan>& planned = plans_[t];
    if (!planned) planned = npu::PlanTask(from_, task);
    const npu::TaskPlan& plan = *planned;
    // How far the task reaches into each buffer, with a part for every tile at once.
    std::array<std::int64_t, npu::kBufferCount> end{};
    for (std::size_t g = 0; g < task.groups.size(); ++g) {
      const npu::GroupPlan& p = plan.groups[g];
      for (std::size_t b = 0; b < npu::kBufferCount; ++b) {
        for (const auto* code : {&p.prologue, &p.body}) {
          for (const npu::Planned& x : *code) {
            for (const npu::Access& a : x.accesses) {
              if (static_cast<std::size_t>(a.buffer) != b) continue;
              const bool own = code == &p.body && !Kept(p, b, a.begin);
              end[b] = std::max(end[b], a.end + (own ? (p.copies[b] - 1) * Part(p, b) : 0));
            }
          }
        }
      }
    }
    const npu::Buffers& sizes = from_.buffers;
    const std::array<std::int64_t, npu::kBufferCount> most{l1_end_, sizes.ub_bytes, sizes.l0a_bytes,
                                                           sizes.l0b_bytes, sizes.l0c_bytes};
    for (std::size_t b = 0; b < npu::kBufferCount; ++b) {
      if (end[b] > most[b]) return false;
    }
    const std::int64_t l1 = RoundUp(end[0], kAlign);
    if (l1 > l1_end_) return false;
    // Every other task at the far end, so that its weights need not wait for the one before.
    l1_base_ = high ? (l1_end_ - l1) / kAlign * kAlign : 0;
    aliases_.clear();
    std::uint64_t tile = 0;
    for (std::size_t g = 0; g < task.groups.size(); ++g) {
      const npu::Group& group = task.groups[g];
      const npu::GroupPlan& p = plan.groups[g];
      if (!p.shares_prologue && !AddCode(group.prologue, p, 0, 0, 0)) return false;
      for (std::uint32_t t0 = 0; t0 < group.tiles0; ++t0) {
        for (std::uint32_t t1 = 0; t1 < group.tiles1; ++t1, ++tile) {
          if (!AddCode(group.body, p, t0, t1, tile)) return false;
        }
      }
    }
    return true;
  }

  static bool Kept(const npu::GroupPlan& p, std::size_t buffer, std::int64_t address) {
    for (const npu::Planned& x : p.prologue) {
      for (const npu::Access& a : x.accesses) {
        if (a.write && static_cast<std::size_t>(a.buffer) == buffer && address >= a.begin &&
            address < a.end)
          return true;
      }
    }
    return false;
  }
  static std::int64_t Part(const npu::GroupPlan& p, std::size_t buffer) {
    return p.room[buffer] / p.copies[buffer] / npu::kBlockBytes * npu::kBlockBytes;
  }

  bool AddCode(npu::Code code, const npu::GroupPlan& p, std::uint32_t t0, std::uint32_t t1,
               std::uint64_t tile) {
    bool good = true;
    npu::ForEach(from_, code, [&](auto x) {
      if (!good) return;
      ForEachAddress(x, [&](std::int32_t mem, std::int32_t& address) {
        const auto b = static_cast<std::size_t>(npu::BufferOf(mem));
        std::int64_t to = address;
        if (p.copies[b] > 1 && !Kept(p, b, address)) {
          const std::int64_t part = Part(p, b);
          // Operands of L0 lie at whole fractals.
          if (part % kAlign != 0 && mem != npu::kUb && mem != npu::kL1) return;
          to += static_cast<std::int64_t>(tile % static_cast<std::uint64_t>(p.copies[b])) * part;
        }
        if (mem == npu::kL1) to += l1_base_;
        address = Word(to);
      });
      good = Emit(x, t0, t1);
    });
    return good;
  }

  template <class T>
  bool Emit(T& x, std::uint32_t, std::uint32_t) {
    if constexpr (std::is_same_v<T, npu::Load3d> || std::is_same_v<T, npu::Load2d>) {
      if (!Redirect(x)) return false;
    } else if constexpr (std::is_same_v<T, npu::Fill>) {
      if (x.mem == npu::kL1)
        Overwrite(x.addr, Reach(x.count, x.stride, std::int64_t{x.len} * npu::ElemBytes(x.type)));
    }
    out_.Emit(x);
    return true;
  }

  bool Emit(npu::Copy& x, std::uint32_t t0, std::uint32_t t1) {
    for (npu::Place* p : {&x.src, &x.dst}) {
      p->addr = Word(p->addr + std::int64_t{t0} * p->step[0] + std::int64_t{t1} * p->step[1]);
      p->step[0] = p->step[1] = 0;
    }
    const Resident* from = ValueOf(x.src);
    const Resident* to = ValueOf(x.dst);
    if (from != nullptr) {
      if (x.dst.mem == npu::kL1) return AddAlias(x, *from);
      x.src = {npu::kL1, 0, Word(from->at + x.src.addr), {0, 0}};
    }
    if (x.dst.mem == npu::kL1) Overwrite(x.dst.addr, Reach(x.count, x.dst_stride, x.bytes));
    if (to != nullptr) {
      if (x.src.mem != npu::kUb) return false;
      npu::Copy near = x;
      near.dst = {npu::kL1, 0, Word(to->at + x.dst.addr), {0, 0}};
      out_.Emit(near);
      if (!to->escapes) return true;
    }
    out_.Emit(x);
    return true;
  }

  const Resident* ValueOf(const npu::Place& p) const {
    if (p.mem != npu::kWorkspace) return nullptr;
    const auto it = values_.find(p.index);
    return it == values_.end() ? nullptr : &it->second;
  }

  // From the first byte to the last of loops around `inner` bytes.
  template <std::size_t N>
  static std::int64_t Reach(const std::int32_t (&count)[N], const std::int32_t (&stride)[N],
                            std::int64_t inner) {
    for (std::size_t i = 0; i < N; ++i) inner += (std::int64_t{count[i]} - 1) * stride[i];
    return inner;
  }

  // A copy of planes of a value: not made.
  bool AddAlias(const npu::Copy& x, const Resident& value) {
    Alias a;
    a.begin = x.dst.addr;
    a.at = value.at + x.src.addr;
    a.planes = 1;
    a.plane = a.at_plane = x.bytes;
    int loops = 0;
    for (int i = 0; i < 3; ++i) {
      if (x.count[i] == 1) continue;
      ++loops;
      a.planes = x.count[i];
      a.plane = x.dst_stride[i];
      a.at_plane = x.src_stride[i];
    }
    if (loops > 1 || a.plane != x.bytes || a.at % npu::kBlockBytes != 0) return false;
    Overwrite(a.begin, a.end() - a.begin);
    aliases_.push_back(a);
    return true;
  }
  void Overwrite(std::int64_t begin, std::int64_t bytes) {
    std::erase_if(aliases_,
                  [&](const Alias& a) { return a.begin < begin + bytes && begin < a.end(); });
  }
  // The alias that all of a read of L1 lies in. `good` is false when only a part of it does.
  template <class T>
  const Alias* AliasOf(const T& x, bool* good) const {
    std::array<std::int32_t, 1 + sizeof(T) / 4> words{npu::HeaderWord<T>()};
    std::memcpy(&words[1], &x, sizeof(T));
    for (const npu::Access& read : npu::AccessesOf(words.data(), config_.accumulator_bytes())) {
      if (read.buffer != npu::BufferOf(npu::kL1)) continue;
      for (const Alias& a : aliases_) {
        if (read.end <= a.begin || a.end() <= read.begin) continue;
        *good = a.begin <= x.src_addr && read.end <= a.end();
        return &a;
      }
    }
    return nullptr;
  }
  static std::int32_t Moved(const Alias& a, std::int64_t address) {
    return Word(a.at + (address - a.begin) / a.plane * a.at_plane + (address - a.begin) % a.plane);
  }
  // Reads of L1 that meet an alias go to the value, and a step of a plane becomes the value's.
  // False: they need the planes as they would have been.
  bool Redirect(npu::Load3d& x) const {
    bool good = true;
    const Alias* a = AliasOf(x, &good);
    if (a == nullptr || !good) return good;
    const std::int64_t map = std::int64_t{x.height} * x.width * npu::kBlockBytes;
    if (map != a->plane || (a->planes > 1 && x.src_c1_stride != a->plane)) return false;
    x.src_addr = Moved(*a, x.src_addr);
    if (a->planes > 1) x.src_c1_stride = Word(a->at_plane);
    return true;
  }
  bool Redirect(npu::Load2d& x) const {
    bool good = true;
    const Alias* a = AliasOf(x, &good);
    if (a == nullptr || !good) return good;
    std::int64_t within = npu::kFractalBytes;  // reached in the first plane
    for (int i = 0; i < 2; ++i) {
      if (x.count[i] == 1 || x.src_stride[i] == a->plane) continue;
      within += (std::int64_t{x.count[i]} - 1) * x.src_stride[i];
    }
    if ((x.src_addr - a->begin) % a->plane + within > a->plane) return false;
    for (int i = 0; i < 2; ++i) {
      if (x.count[i] > 1 && x.src_stride[i] == a->plane) x.src_stride[i] = Word(a->at_plane);
    }
    x.src_addr = Moved(*a, x.src_addr);
    return true;
  }

  const Config& config_;
  const std::vector<std::int64_t>& buffer_bytes_;
  const std::vector<Life>& lives_;
  const npu::Program& from_;
  std::vector<std::optional<npu::TaskPlan>> plans_;
  std::vector<std::vector<std::size_t>> written_;  // per task: the buffers it writes
  npu::Program out_;
  std::map<std::int32_t, Resident> values_;
  std::vector<Alias> aliases_;
  std::int64_t l1_end_ = 0, l1_base_ = 0;
};

}  // namespace

void FuseChains(const Config& config, const std::vector<std::int64_t>& buffer_bytes,
                npu::Program& program) {
  std::vector<Life> lives(buffer_bytes.size());
  std::vector<std::uint64_t> sizes;
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    std::uint64_t size = 0;
    for (const npu::Group& g : program.tasks[t].groups) {
      size +=
          Instructions(program, g.prologue) + Instructions(program, g.body) * g.tiles0 * g.tiles1;
      for (const npu::Code& code : {g.prologue, g.body}) {
        npu::ForEach(program, code, [&](const auto& x) {
          if constexpr (std::is_same_v<std::decay_t<decltype(x)>, npu::Copy>) {
            for (const npu::Place* p : {&x.src, &x.dst}) {
              if (p->mem != npu::kWorkspace) continue;
              Life& l = lives[static_cast<std::size_t>(p->index)];
              std::vector<std::size_t>& tasks = p == &x.dst ? l.writes : l.reads;
              if (tasks.empty() || tasks.back() != t) tasks.push_back(t);
            }
          }
        });
      }
    }
    sizes.push_back(size);
  }
  const double dispatch = config.rates.dispatch_us * 1e3 * config.rates.clock_ghz;  // cycles
  npu::Program out = program;
  out.tasks.clear();
  out.code.clear();
  const auto append = [&](const npu::Program& from, npu::Task task) {
    std::map<std::uint32_t, npu::Code> moved;  // prologues that groups share stay shared
    for (npu::Group& g : task.groups) {
      for (npu::Code* code : {&g.prologue, &g.body}) {
        if (code->count == 0) {
          *code = {};
          continue;
        }
        const auto [it, fresh] = moved.try_emplace(code->begin);
        if (fresh) {
          const std::size_t begin = out.code.size();
          const auto first = from.code.begin() + code->begin;
          out.code.insert(out.code.end(), first, first + code->count);
          it->second = out.CodeSince(begin);
        }
        *code = it->second;
      }
    }
    out.tasks.push_back(std::move(task));
  };
  Chain chain(config, buffer_bytes, lives, program);
  std::vector<double> alone(program.tasks.size(), -1);
  const auto cycles_of = [&](std::size_t t) {
    if (alone[t] < 0) alone[t] = npu::TaskCycles(program, program.tasks[t], config.rates);
    return alone[t];
  };
  for (std::size_t begin = 0; begin < program.tasks.size();) {
    std::optional<npu::Program> best;
    std::size_t end = begin + 1;
    double cycles = cycles_of(begin);
    std::uint64_t size = sizes[begin];
    while (end < program.tasks.size() && end - begin < kMostTasks &&
           size + sizes[end] <= kMostInstructions) {
      if (!chain.Build(begin, end + 1)) break;
      const double together = chain.Cycles();
      const double apart = cycles + dispatch + cycles_of(end);
      if (together >= apart) break;
      best = chain.program();
      cycles = together;
      size += sizes[end++];
    }
    if (best) {
      npu::Task task = best->tasks[0];
      task.compulsory_bytes = CompulsoryBytes(*best, task.groups);
      append(*best, std::move(task));
      npu::Task& chained = out.tasks.back();
      for (npu::Code& c : chained.layout) c.begin += chained.groups[0].body.begin;
    } else {
      append(program, program.tasks[begin]);
    }
    begin = end;
  }
  program = std::move(out);
}

}  // namespace npukit::devices::npu_sim
