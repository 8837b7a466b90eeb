// What lowering of one segment shares: where each value lies and in which form, workspace buffers,
// weights, and the growing instruction list. Used by one thread; lives as long as one Lower() call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "compile/lowering.h"
#include "devices/npu_sim/blob/blob.h"
#include "devices/npu_sim/lower/config.h"
#include "ir/graph.h"

namespace npukit::devices::npu_sim {

inline constexpr std::int64_t kLanes = npu::kLanes;
inline std::int64_t CeilDiv(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline std::int64_t RoundUp(std::int64_t a, std::int64_t b) { return CeilDiv(a, b) * b; }

// (C1, rows, 16) fp16 in DRAM: element (row, c) at ((c / 16) * plane_rows + row) * 32 + (c % 16) *
// 2 from `at`.
struct Blocked {
  npu::Place at;  // workspace (index = buffer number until placed), or a weight
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  std::int64_t plane_rows =
      0;  // rows of the whole buffer: distance between planes; equals rows unless this is a part
  std::int64_t blocks() const { return CeilDiv(channels, kLanes); }
  std::int64_t plane_bytes() const { return plane_rows * npu::kBlockBytes; }
};

// Row-major, fp16 in the workspace or fp32 at the boundary.
struct Dense {
  npu::Place at;
  npu::ElemType type = npu::kF16;
};

// rows = product of all dimensions but the last, channels = the last (1 for a scalar).
struct RowsChannels {
  std::int64_t rows = 1;
  std::int64_t channels = 1;
};
RowsChannels SplitDims(const tensor::Dims& dims);

class Context {
 public:
  Context(const ir::Graph& graph, const Config& config);

  const ir::Graph& graph;
  const Config config;
  npu::Program program;
  std::vector<compile::LoweredWeight> weights;

  const tensor::Dims& dims(ir::ValueId id) const { return dims_[id]; }

  // ---- values
  // Reading: emits a conversion task when the value is not in that form yet; so never inside an
  // open task.
  Result<Blocked> AsBlocked(ir::ValueId id);
  Result<Dense> AsDense(ir::ValueId id);  // fp16, or the fp32 boundary input itself
  // The value before a transpose of its last two dimensions, when `id` is one that was not made
  // yet; nullopt otherwise.
  std::optional<ir::ValueId> BeforeSwap(ir::ValueId id) const;
  // Writing: a fresh workspace buffer for the value, recorded as its form.
  Result<Blocked> NewBlocked(ir::ValueId id);
  Result<Dense> NewDense(ir::ValueId id);
  void SetBlocked(ir::ValueId id, const Blocked& b) {
    blocked_[id] = b;
  }  // a view of another value's bytes
  void SetDense(ir::ValueId id, const Dense& d) { dense_[id] = d; }
  // A node made only when somebody asks for its result: records which.
  void Defer(std::size_t node) { deferred_[graph.nodes[node].outputs[0]] = node; }
  // `id` has the elements of `of` in the same plain order, under other dimensions.
  void Alias(ir::ValueId id, ir::ValueId of) { alias_[id] = of; }

  // ---- memory
  Result<npu::Place> NewBuffer(std::int64_t bytes);
  Result<std::int32_t> AddWeight(std::string layout,
                                 std::vector<std::byte> bytes);  // weight number; equal ones once
  // Constant as blocked fp16 weight (rounded once), e.g. a full-size or per-channel operand.
  Result<Blocked> BlockedConstant(const tensor::Value& v, std::int64_t rows, std::int64_t channels);

  // ---- tasks
  void BeginTask(std::string name);
  // One group: `prologue` and `body` emit into program. Empty prologue allowed.
  void AddGroup(std::int64_t tiles0, std::int64_t tiles1, const std::function<void()>& prologue,
                const std::function<void()>& body);
  // The same with a prologue emitted before; groups in a row may share one.
  void AddGroup(std::int64_t tiles0, std::int64_t tiles1, npu::Code prologue,
                const std::function<void()>& body);
  npu::Code EmitStretch(const std::function<void()>& emit);
  // Cycles that the groups emitted by `emit` take as a task of their own; `more` or larger when it
  // is clear that they take at least that. Leaves nothing behind.
  double Measure(const std::function<void()>& emit, double more);
  // Words of instructions measured so far: what searches are bounded by.
  std::uint64_t measured_words() const { return measured_words_; }
  void EndTask(std::uint64_t macs);
  template <class T>
  void Emit(const T& instruction) {
    program.Emit(instruction);
  }

  // Places buffers (lifetimes over tasks), patches addresses, writes outputs; then the list passes
  // npu::Check.
  Status Finish();

 private:
  Status MakeDeferred(ir::ValueId id);
  Status WriteOutput(std::size_t index);

  std::vector<tensor::Dims> dims_;
  std::map<ir::ValueId, Blocked> blocked_;
  std::map<ir::ValueId, Dense> dense_;
  std::map<ir::ValueId, std::size_t> deferred_;
  std::map<ir::ValueId, ir::ValueId> alias_;
  std::map<std::uint64_t, std::vector<std::int32_t>> weight_by_hash_;
  std::vector<std::int64_t> buffer_bytes_;
  std::uint64_t measured_words_ = 0;
  std::string task_name_;
  std::vector<npu::Group> task_groups_;
};

// DRAM bytes of a task's values, each once: from the first byte to the last that its tiles touch,
// but no more than they move in all.
std::uint64_t CompulsoryBytes(const npu::Program& p, const std::vector<npu::Group>& groups);

// Cuts n0 x n1 into tiles of t0 x t1 and calls f for each kind of tile, since a group's tiles are
// all alike: the full ones, the right edge, the bottom edge, the corner. begin0, begin1: where the
// first tile of the group starts.
struct TileGroup {
  std::int64_t tiles0 = 1, tiles1 = 1;
  std::int64_t begin0 = 0, begin1 = 0;
  std::int64_t size0 = 0, size1 = 0;
};
void ForEachTileGroup(std::int64_t n0, std::int64_t t0, std::int64_t n1, std::int64_t t1,
                      const std::function<void(const TileGroup&)>& f);

// Narrowing to an operand word: values are bounded by Context (buffers below 2 GiB), so losing bits
// is our bug.
std::int32_t Word(std::int64_t v);
// An address in one of the core's buffers.
inline npu::Place On(npu::Mem mem, std::int64_t addr) { return {mem, 0, Word(addr), {0, 0}}; }

// The bias of a node (input 2), when it has one that is constant; null otherwise.
const tensor::Value* ConstantBias(const ir::Graph& g, const ir::Node& n);
bool HasBias(const ir::Graph& g, const ir::Node& n);

// ---- lowering functions, one per loop shape. Inputs are already known to be supported
// (supports.cc).
Status LowerConv(Context& c, const ir::Node& n);       // conv2d, group 1
Status LowerGroupConv(Context& c, const ir::Node& n);  // conv2d, other groups
Status LowerDepthwise(Context& c, const ir::Node& n);  // conv2d, group == channels
Status LowerConvTranspose(Context& c, const ir::Node& n);
Status LowerMatMul(Context& c, const ir::Node& n);
Status LowerElementwise(Context& c, const ir::Node& n);  // unary, binary, chain
Status LowerPool(Context& c, const ir::Node& n);
Status LowerReduce(Context& c, const ir::Node& n);
Status LowerLayerNorm(Context& c, const ir::Node& n);
Status LowerSoftmax(Context& c, const ir::Node& n);
Status LowerResize(Context& c, const ir::Node& n);
Status LowerConcat(Context& c, const ir::Node& n);
Status LowerRemap(Context& c, const ir::Node& n);    // slice, pad, expand, tile, gather
Status LowerReshape(Context& c, const ir::Node& n);  // all that keep the plain order
Status LowerTranspose(Context& c, const ir::Node& n);
// The one of the above that `n` needs, or a deferral (transposes): lowering.cc.
Status LowerNode(Context& c, std::size_t node);
// convert.cc
Status BlockedFromDense(Context& c, const Dense& src, const Blocked& dst, const std::string& name);
Status DenseFromBlocked(Context& c, const Blocked& src, const Dense& dst, const std::string& name);
Status DenseFromDense(Context& c, const Dense& src, const Dense& dst, std::int64_t count,
                      const std::string& name);

}  // namespace npukit::devices::npu_sim
