#include "devices/npu_sim/lower/context.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "devices/npu_sim/lower/fuse.h"
#include "devices/npu_sim/model/model.h"
#include "memory/plan.h"
#include "tensor/half.h"

namespace npukit::devices::npu_sim {
namespace {

constexpr std::int64_t kMaxBytes = 0x7FFFFFFF;  // operands are 32-bit

npu::Place WorkspaceAt(std::int32_t buffer) {
  npu::Place p;
  p.mem = npu::kWorkspace;
  p.index = buffer;
  return p;
}

}  // namespace

RowsChannels SplitDims(const tensor::Dims& dims) {
  RowsChannels r;
  if (dims.empty()) return r;
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) r.rows *= dims[i];
  r.channels = dims.back();
  return r;
}

std::int32_t Word(std::int64_t v) {
  NPUKIT_CHECK(v >= -kMaxBytes - 1 && v <= kMaxBytes);
  return static_cast<std::int32_t>(v);
}

void ForEachTileGroup(std::int64_t n0, std::int64_t t0, std::int64_t n1, std::int64_t t1,
                      const std::function<void(const TileGroup&)>& f) {
  NPUKIT_CHECK(t0 > 0 && t1 > 0);
  const std::int64_t full0 = n0 / t0, full1 = n1 / t1, rest0 = n0 % t0, rest1 = n1 % t1;
  if (full0 && full1) f({full0, full1, 0, 0, t0, t1});
  if (full0 && rest1) f({full0, 1, 0, full1 * t1, t0, rest1});
  if (rest0 && full1) f({1, full1, full0 * t0, 0, rest0, t1});
  if (rest0 && rest1) f({1, 1, full0 * t0, full1 * t1, rest0, rest1});
}

Context::Context(const ir::Graph& g, const Config& cfg) : graph(g), config(cfg) {
  dims_.resize(g.values.size());
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    if (g.values[i].type.is_static()) dims_[i] = g.values[i].type.dims();
  }
  program.accumulator_fp16_bits = static_cast<std::uint32_t>(cfg.accumulator_bits);
  program.buffers = cfg.buffers;
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    Dense d;
    d.at.mem = npu::kInput;
    d.at.index = static_cast<std::int32_t>(i);
    d.type = g.value(g.inputs[i]).type.dtype == tensor::DType::kF16 ? npu::kF16 : npu::kF32;
    dense_[g.inputs[i]] = d;
    program.inputs.push_back(g.value(g.inputs[i]).type);
  }
  for (const ir::ValueId id : g.outputs) program.outputs.push_back(g.value(id).type);
}

Result<npu::Place> Context::NewBuffer(std::int64_t bytes) {
  if (bytes < 0 || bytes > kMaxBytes - 64) {
    return ResourceExhausted(
        Cat("a value of ", bytes, " bytes does not fit the simulated NPU's 2 GiB of workspace"));
  }
  buffer_bytes_.push_back(std::max<std::int64_t>(bytes, npu::kBlockBytes));
  return WorkspaceAt(static_cast<std::int32_t>(buffer_bytes_.size() - 1));
}

Result<Blocked> Context::NewBlocked(ir::ValueId id) {
  const RowsChannels rc = SplitDims(dims(id));
  Blocked b;
  b.rows = b.plane_rows = rc.rows;
  b.channels = rc.channels;
  NPUKIT_ASSIGN_OR_RETURN(b.at, NewBuffer(b.blocks() * b.plane_bytes()));
  blocked_[id] = b;
  return b;
}

Result<Dense> Context::NewDense(ir::ValueId id) {
  const RowsChannels rc = SplitDims(dims(id));
  Dense d;
  NPUKIT_ASSIGN_OR_RETURN(d.at, NewBuffer(rc.rows * rc.channels * 2));
  dense_[id] = d;
  return d;
}

Status Context::MakeDeferred(ir::ValueId id) {
  const auto it = deferred_.find(id);
  if (it == deferred_.end()) return OkStatus();
  const std::size_t node = it->second;
  deferred_.erase(it);
  return LowerTranspose(*this, graph.nodes[node]);
}

Result<Blocked> Context::AsBlocked(ir::ValueId id) {
  NPUKIT_RETURN_IF_ERROR(MakeDeferred(id));
  if (const auto it = blocked_.find(id); it != blocked_.end()) return it->second;
  if (const tensor::Value* v = graph.constant(id)) {
    const RowsChannels rc = SplitDims(v->dims());
    NPUKIT_ASSIGN_OR_RETURN(const Blocked b, BlockedConstant(*v, rc.rows, rc.channels));
    blocked_[id] = b;
    return b;
  }
  if (const auto it = alias_.find(id);
      it != alias_.end() && dims(id).empty() == dims(it->second).empty() &&
      SplitDims(dims(id)).channels == SplitDims(dims(it->second)).channels) {
    NPUKIT_ASSIGN_OR_RETURN(const Blocked b, AsBlocked(it->second));
    blocked_[id] = b;
    return b;
  }
  if (!dense_.contains(id) && !alias_.contains(id)) {
    return Internal(Cat("no form of value ", graph.value(id).name, " yet"));
  }
  NPUKIT_ASSIGN_OR_RETURN(const Dense dense, AsDense(id));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked b, NewBlocked(id));
  NPUKIT_RETURN_IF_ERROR(BlockedFromDense(*this, dense, b, Cat("blocked ", graph.value(id).name)));
  return b;
}

Result<Dense> Context::AsDense(ir::ValueId id) {
  NPUKIT_RETURN_IF_ERROR(MakeDeferred(id));
  if (const auto it = dense_.find(id); it != dense_.end()) return it->second;
  if (const auto it = alias_.find(id); it != alias_.end()) return AsDense(it->second);
  NPUKIT_ASSIGN_OR_RETURN(const Blocked b, AsBlocked(id));
  NPUKIT_ASSIGN_OR_RETURN(const Dense d, NewDense(id));
  NPUKIT_RETURN_IF_ERROR(DenseFromBlocked(*this, b, d, Cat("dense ", graph.value(id).name)));
  return d;
}

std::optional<ir::ValueId> Context::BeforeSwap(ir::ValueId id) const {
  const auto it = deferred_.find(id);
  if (it == deferred_.end()) return std::nullopt;
  const ir::Node& n = graph.nodes[it->second];
  const auto rank = static_cast<std::int64_t>(dims(id).size());
  const ops::Ints perm = n.attrs.IntList("perm");
  if (rank < 2 || static_cast<std::int64_t>(perm.size()) != rank) return std::nullopt;
  for (std::int64_t i = 0; i < rank - 2; ++i) {
    if (perm[static_cast<std::size_t>(i)] != i) return std::nullopt;
  }
  if (perm[static_cast<std::size_t>(rank - 1)] != rank - 2) return std::nullopt;
  return n.inputs[0];
}

Result<std::int32_t> Context::AddWeight(std::string layout, std::vector<std::byte> bytes) {
  if (bytes.size() > static_cast<std::size_t>(kMaxBytes)) {
    return ResourceExhausted(
        Cat("a weight of ", bytes.size(), " bytes; the simulated NPU takes up to 2 GiB each"));
  }
  const std::uint64_t hash = Hash64(bytes);
  for (const std::int32_t i : weight_by_hash_[hash]) {
    const compile::LoweredWeight& w = weights[static_cast<std::size_t>(i)];
    if (w.layout == layout && std::ranges::equal(w.kept.bytes, bytes)) return i;
  }
  const auto index = static_cast<std::int32_t>(weights.size());
  program.weight_bytes.push_back(bytes.size());
  weights.push_back({std::move(layout), KeepBytes(std::move(bytes)), hash});
  weight_by_hash_[hash].push_back(index);
  return index;
}

Result<Blocked> Context::BlockedConstant(const tensor::Value& v, std::int64_t rows,
                                         std::int64_t channels) {
  NPUKIT_CHECK(rows * channels == v.count());
  Blocked b;
  b.rows = b.plane_rows = rows;
  b.channels = channels;
  std::vector<std::byte> bytes(static_cast<std::size_t>(b.blocks() * b.plane_bytes()));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t ch = 0; ch < channels; ++ch) {
      const std::uint16_t h =
          tensor::FloatToHalf(static_cast<float>(tensor::ElementAsDouble(v, r * channels + ch)));
      const std::int64_t at =
          (ch / kLanes) * b.plane_bytes() + r * npu::kBlockBytes + (ch % kLanes) * 2;
      std::memcpy(bytes.data() + at, &h, 2);
    }
  }
  NPUKIT_ASSIGN_OR_RETURN(b.at.index, AddWeight("f16_blocked", std::move(bytes)));
  b.at.mem = npu::kWeight;
  return b;
}

void Context::BeginTask(std::string name) {
  NPUKIT_CHECK(task_groups_.empty());
  task_name_ = std::move(name);
}

void Context::AddGroup(std::int64_t tiles0, std::int64_t tiles1,
                       const std::function<void()>& prologue, const std::function<void()>& body) {
  const npu::Code before = EmitStretch(prologue ? prologue : [] {});
  AddGroup(tiles0, tiles1, before, body);
}

void Context::AddGroup(std::int64_t tiles0, std::int64_t tiles1, npu::Code prologue,
                       const std::function<void()>& body) {
  npu::Group g;
  g.tiles0 = static_cast<std::uint32_t>(Word(tiles0));
  g.tiles1 = static_cast<std::uint32_t>(Word(tiles1));
  g.prologue = prologue;
  g.body = EmitStretch(body);
  task_groups_.push_back(g);
}

npu::Code Context::EmitStretch(const std::function<void()>& emit) {
  const std::size_t begin = program.code.size();
  emit();
  return program.CodeSince(begin);
}

double Context::Measure(const std::function<void()>& emit, double more) {
  const std::size_t begin = program.code.size();
  std::vector<npu::Group> open;
  std::swap(open, task_groups_);
  emit();
  npu::Task task;
  task.groups = std::move(task_groups_);
  measured_words_ += program.code.size() - begin;
  double cycles = npu::LeastCycles(program, task, config.rates);
  if (cycles < more) cycles = npu::TaskCycles(program, task, config.rates);
  std::swap(open, task_groups_);
  program.code.resize(begin);
  return cycles;
}

std::uint64_t CompulsoryBytes(const npu::Program& p, const std::vector<npu::Group>& groups) {
  struct Touched {
    std::int64_t begin = 0, end = 0;
    double moved = 0;
  };
  std::map<std::tuple<std::int32_t, std::int32_t, bool>, Touched> values;
  for (const npu::Group& g : groups) {
    const auto add = [&](const npu::Place& place, const npu::Copy& x,
                         const std::int32_t(&stride)[3], bool write, double tiles) {
      if (!npu::IsDram(place.mem)) return;
      std::int64_t end = place.addr + x.bytes;
      double moved = x.bytes * tiles;
      for (int i = 0; i < 3; ++i) {
        end += (std::int64_t{x.count[i]} - 1) * stride[i];
        moved *= x.count[i];
      }
      end += (std::int64_t{g.tiles0} - 1) * place.step[0] +
             (std::int64_t{g.tiles1} - 1) * place.step[1];
      const auto [it, fresh] = values.try_emplace({place.mem, place.index, write});
      Touched& t = it->second;
      t.begin = fresh ? place.addr : std::min<std::int64_t>(t.begin, place.addr);
      t.end = fresh ? end : std::max(t.end, end);
      t.moved += moved;
    };
    for (const auto& [code, tiles] :
         {std::pair{g.prologue, 1.0}, {g.body, 1.0 * g.tiles0 * g.tiles1}}) {
      npu::ForEach(p, code, [&](const auto& x) {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, npu::Copy>) {
          add(x.src, x, x.src_stride, false, tiles);
          add(x.dst, x, x.dst_stride, true, tiles);
        }
      });
    }
  }
  double bytes = 0;
  for (const auto& [key, t] : values)
    bytes += std::min(t.moved, static_cast<double>(t.end - t.begin));
  return static_cast<std::uint64_t>(bytes);
}

void Context::EndTask(std::uint64_t macs) {
  npu::Task t;
  t.compulsory_bytes = CompulsoryBytes(program, task_groups_);
  t.name = std::move(task_name_);
  t.groups = std::move(task_groups_);
  t.macs = macs;
  task_groups_.clear();
  program.tasks.push_back(std::move(t));
}

Status Context::WriteOutput(std::size_t index) {
  ir::ValueId id = graph.outputs[index];
  Dense out;
  out.at.mem = npu::kOutput;
  out.at.index = static_cast<std::int32_t>(index);
  out.type = graph.value(id).type.dtype == tensor::DType::kF16 ? npu::kF16 : npu::kF32;
  const std::string name = Cat("output ", graph.value(id).name);
  NPUKIT_RETURN_IF_ERROR(MakeDeferred(id));
  // Other dimensions, same plain order: write what they are made of.
  while (!blocked_.contains(id) && !dense_.contains(id) && alias_.contains(id)) {
    id = alias_[id];
    NPUKIT_RETURN_IF_ERROR(MakeDeferred(id));
  }
  if (const auto it = dense_.find(id); it != dense_.end() && !blocked_.contains(id)) {
    return DenseFromDense(*this, it->second, out, *tensor::ElementCount(dims(id)), name);
  }
  NPUKIT_ASSIGN_OR_RETURN(const Blocked b, AsBlocked(id));
  return DenseFromBlocked(*this, b, out, name);
}

const tensor::Value* ConstantBias(const ir::Graph& g, const ir::Node& n) {
  return HasBias(g, n) ? g.constant(n.inputs[2]) : nullptr;
}

bool HasBias(const ir::Graph&, const ir::Node& n) {
  const auto own = ops::OwnInputCount(n.epilogue, n.inputs.size());
  return own.ok() && *own > 2 && n.inputs[2] != ir::kNoValue;
}

Status Context::Finish() {
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) NPUKIT_RETURN_IF_ERROR(WriteOutput(i));
  FuseChains(config, buffer_bytes_, program);

  // From the first task that touches a buffer to the last.
  std::vector<memory::Lifetime> lifetimes(buffer_bytes_.size());
  for (std::size_t i = 0; i < lifetimes.size(); ++i) lifetimes[i] = {0, -1, -1};
  const auto touch = [&](const npu::Place& p, std::int32_t task) {
    if (p.mem != npu::kWorkspace) return;
    memory::Lifetime& l = lifetimes[static_cast<std::size_t>(p.index)];
    if (l.first < 0) l.first = task;
    l.last = task;
    l.bytes = static_cast<std::uint64_t>(buffer_bytes_[static_cast<std::size_t>(p.index)]);
  };
  const auto for_each_copy = [&](const npu::Code& code, const auto& f) {
    for (std::uint32_t at = code.begin; at < code.begin + code.count;) {
      std::int32_t* word = &program.code[at];
      if (npu::OpcodeOf(*word) == npu::Opcode::kCopy) f(word);
      at += 1 + static_cast<std::uint32_t>(npu::OperandWordsOf(*word));
    }
  };
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    for (const npu::Group& g : program.tasks[t].groups) {
      for (const npu::Code& code : {g.prologue, g.body}) {
        for_each_copy(code, [&](const std::int32_t* word) {
          const auto copy = npu::Decode<npu::Copy>(word);
          touch(copy.src, static_cast<std::int32_t>(t));
          touch(copy.dst, static_cast<std::int32_t>(t));
        });
      }
    }
  }
  for (memory::Lifetime& l : lifetimes) {
    if (l.first < 0) l = {0, 0, 0};  // never touched: takes no room
  }
  NPUKIT_ASSIGN_OR_RETURN(const memory::Plan plan, memory::PlanArena(lifetimes, 64));
  if (plan.arena_bytes > static_cast<std::uint64_t>(kMaxBytes)) {
    return ResourceExhausted(Cat("the segment needs ", plan.arena_bytes,
                                 " bytes of workspace; the simulated NPU takes up to 2 GiB"));
  }
  program.workspace_bytes = plan.arena_bytes;
  const auto patch = [&](npu::Place& p) {
    if (p.mem != npu::kWorkspace) return;
    p.addr =
        Word(p.addr + static_cast<std::int64_t>(plan.offsets[static_cast<std::size_t>(p.index)]));
    p.index = 0;
  };
  std::uint32_t patched = 0;  // stretches lie in order; groups in a row may share a prologue
  for (const npu::Task& task : program.tasks) {
    for (const npu::Group& g : task.groups) {
      for (const npu::Code& code : {g.prologue, g.body}) {
        if (code.count == 0 || code.begin < patched) continue;
        patched = code.begin + code.count;
        for_each_copy(code, [&](std::int32_t* word) {
          auto copy = npu::Decode<npu::Copy>(word);
          patch(copy.src);
          patch(copy.dst);
          std::memcpy(word + 1, &copy, sizeof(copy));
        });
      }
    }
  }
  return npu::Check(program);
}

}  // namespace npukit::devices::npu_sim
