// Attention's heads are split off the last dimension by a reshape and a transpose, and joined again
// by a transpose and a reshape.
#include "devices/npu_sim/lower/move.h"
#include "devices/npu_sim/lower/rows.h"

namespace npukit::devices::npu_sim {
namespace {

// The node of this segment that makes the value and has this operator; null: there is none.
const ir::Node* Made(const Context& c, ir::ValueId id, const ops::OpDef* op) {
  for (const ir::Node& n : c.graph.nodes) {
    if (n.op == op && n.outputs[0] == id) return &n;
  }
  return nullptr;
}

// Is [.., h * d] the same rows as [.., h, d], d being whole blocks?
bool Splits(const tensor::Dims& whole, const tensor::Dims& parts) {
  if (parts.size() < 3 || whole.empty() || parts.back() % kLanes != 0) return false;
  return whole.back() == parts[parts.size() - 2] * parts.back();
}

// The permutation of a transpose that leaves the last dimension where it is; empty: it does not.
ops::Ints PermOf(const ir::Node& n, std::size_t rank) {
  ops::Ints perm = n.attrs.IntList("perm");
  if (perm.size() != rank || rank < 3 || perm.back() != static_cast<std::int64_t>(rank) - 1)
    return {};
  return perm;
}

// Strides in rows of the dimensions but the last of [.., h, d] where it lies: as a matrix of its
// own, or split off `whole`.
std::vector<std::int64_t> RowStrides(const tensor::Dims& parts, const Blocked* whole) {
  const std::size_t rows = parts.size() - 1;
  std::vector<std::int64_t> strides(rows);
  std::int64_t stride = 1;
  for (std::size_t i = rows; i-- > 0;) {
    if (whole != nullptr && i + 1 == rows) {
      strides[i] = parts.back() / kLanes * whole->plane_rows;
      continue;
    }
    strides[i] = stride;
    stride *= parts[i];
  }
  return strides;
}

}  // namespace

Result<bool> SplitHeads(Context& c, const ir::Node& transpose) {
  const ir::ValueId parts = transpose.inputs[0];
  const ir::Node* reshape = Made(c, parts, &op::reshape);
  const tensor::Dims& dims = c.dims(parts);
  const ops::Ints perm = PermOf(transpose, dims.size());
  if (reshape == nullptr || perm.empty() || !Splits(c.dims(reshape->inputs[0]), dims)) return false;
  NPUKIT_ASSIGN_OR_RETURN(const Blocked src, c.AsBlocked(reshape->inputs[0]));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(transpose.outputs[0]));
  const std::vector<std::int64_t> from = RowStrides(dims, &src),
                                  to = RowStrides(c.dims(transpose.outputs[0]), nullptr);
  std::vector<RowLoop> loops = {{dst.blocks(), src.plane_rows, dst.plane_rows}};
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto at = static_cast<std::size_t>(perm[i]);
    loops.push_back({dims[at], from[at], to[i]});
  }
  c.BeginTask(transpose.name);
  EmitMoveBlocks(c, src, dst, std::move(loops));
  c.EndTask(0);
  return true;
}

Result<bool> MergeHeads(Context& c, const ir::Node& reshape) {
  if (reshape.op != &op::reshape) return false;
  const ir::Node* transpose = Made(c, reshape.inputs[0], &op::transpose);
  if (transpose == nullptr) return false;
  const tensor::Dims& parts = c.dims(reshape.inputs[0]);
  const ops::Ints perm = PermOf(*transpose, parts.size());
  if (perm.empty() || !Splits(c.dims(reshape.outputs[0]), parts)) return false;
  NPUKIT_ASSIGN_OR_RETURN(const Blocked src, c.AsBlocked(transpose->inputs[0]));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(reshape.outputs[0]));
  const std::vector<std::int64_t> from = RowStrides(c.dims(transpose->inputs[0]), nullptr),
                                  to = RowStrides(parts, &dst);
  std::vector<RowLoop> loops = {{src.blocks(), src.plane_rows, dst.plane_rows}};
  for (std::size_t i = 0; i < to.size(); ++i)
    loops.push_back({parts[i], from[static_cast<std::size_t>(perm[i])], to[i]});
  c.BeginTask(reshape.name);
  EmitMoveBlocks(c, src, dst, std::move(loops));
  c.EndTask(0);
  return true;
}

}  // namespace npukit::devices::npu_sim
