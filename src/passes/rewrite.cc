#include "passes/rewrite.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "ir/node.h"

namespace npukit::passes {

Rewriter::Rewriter(ir::Graph& g) : g_(g), uses_(g), alive_(g.nodes.size(), true) {}

std::optional<std::size_t> Rewriter::Producer(ir::ValueId id) const {
  if (id == ir::kNoValue || id >= uses_.producer.size() || uses_.producer[id] < 0)
    return std::nullopt;
  return static_cast<std::size_t>(uses_.producer[id]);
}

const ir::Node* Rewriter::ProducerNode(ir::ValueId id, const ops::OpDef& op) const {
  const auto slot = Producer(id);
  return slot && g_.nodes[*slot].op == &op ? &g_.nodes[*slot] : nullptr;
}

bool Rewriter::SingleUse(ir::ValueId id) const {
  return id < uses_.readers.size() && uses_.readers[id].size() == 1 && !uses_.is_output[id];
}

std::optional<std::size_t> Rewriter::OnlyReader(ir::ValueId id) const {
  if (!SingleUse(id)) return std::nullopt;
  return uses_.readers[id][0];
}

void Rewriter::Link(std::size_t slot) {
  // Values may have been added since Uses was built.
  uses_.producer.resize(g_.values.size(), -1);
  uses_.readers.resize(g_.values.size());
  uses_.is_output.resize(g_.values.size(), false);
  for (const ir::ValueId id : g_.nodes[slot].outputs)
    uses_.producer[id] = static_cast<std::int32_t>(slot);
  for (const ir::ValueId id : g_.nodes[slot].inputs) {
    if (id != ir::kNoValue) uses_.readers[id].push_back(static_cast<std::uint32_t>(slot));
  }
}

void Rewriter::Unlink(std::size_t slot) {
  for (const ir::ValueId id : g_.nodes[slot].outputs) {
    if (uses_.producer[id] == static_cast<std::int32_t>(slot)) uses_.producer[id] = -1;
  }
  for (const ir::ValueId id : g_.nodes[slot].inputs) {
    if (id == ir::kNoValue) continue;
    auto& readers = uses_.readers[id];
    const auto it = std::find(readers.begin(), readers.end(), static_cast<std::uint32_t>(slot));
    if (it != readers.end()) readers.erase(it);
  }
}

Status Rewriter::Replace(std::size_t slot, ir::Node n) {
  std::vector<const tensor::Value*> constants;
  for (const ir::ValueId id : n.inputs) constants.push_back(g_.constant(id));
  NPUKIT_RETURN_IF_ERROR(ir::InferNode(g_, n, constants));
  Unlink(slot);
  g_.nodes[slot] = std::move(n);
  Link(slot);
  return OkStatus();
}

void Rewriter::Erase(std::size_t slot) {
  Unlink(slot);
  alive_[slot] = false;
}

bool Rewriter::Bypass(std::size_t slot, ir::ValueId with) {
  const ir::ValueId out = g_.nodes[slot].outputs[0];
  if (uses_.is_output[out]) {
    // `out` keeps its id and name: the producer of `with` makes it instead, and readers of `with`
    // follow.
    const auto producer = Producer(with);
    if (!producer || uses_.is_output[with]) return false;
    Erase(slot);
    for (const std::uint32_t reader : std::vector<std::uint32_t>(uses_.readers[with])) {
      if (std::find(g_.nodes[reader].inputs.begin(), g_.nodes[reader].inputs.end(), with) ==
          g_.nodes[reader].inputs.end()) {
        continue;
      }
      Unlink(reader);
      std::replace(g_.nodes[reader].inputs.begin(), g_.nodes[reader].inputs.end(), with, out);
      Link(reader);
    }
    Unlink(*producer);
    std::replace(g_.nodes[*producer].outputs.begin(), g_.nodes[*producer].outputs.end(), with, out);
    Link(*producer);
    return true;
  }
  for (const std::uint32_t reader : std::vector<std::uint32_t>(uses_.readers[out])) {
    Unlink(reader);
    std::replace(g_.nodes[reader].inputs.begin(), g_.nodes[reader].inputs.end(), out, with);
    Link(reader);
  }
  Erase(slot);
  return true;
}

void Rewriter::Absorb(std::size_t slot, const std::vector<ir::ValueId>& ids) {
  std::vector<ir::ValueId> open = ids;
  while (!open.empty()) {
    const ir::ValueId id = open.back();
    open.pop_back();
    const auto producer = Producer(id);
    if (!producer || !alive_[*producer] || *producer == slot) continue;
    const ir::Node& made = g_.nodes[*producer];
    const bool read = std::any_of(made.outputs.begin(), made.outputs.end(), [&](ir::ValueId out) {
      return !uses_.readers[out].empty() || uses_.is_output[out];
    });
    if (read) continue;
    open.insert(open.end(), made.inputs.begin(), made.inputs.end());
    MergeFrom(g_.nodes[slot], made);
    Erase(*producer);
  }
}

void Rewriter::Finish() {
  std::vector<ir::Node> kept;
  for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
    if (alive_[i]) kept.push_back(std::move(g_.nodes[i]));
  }
  g_.nodes = std::move(kept);
}

void MergeFrom(ir::Node& into, const ir::Node& other) {
  std::vector<std::uint32_t> all;
  std::set_union(into.from.begin(), into.from.end(), other.from.begin(), other.from.end(),
                 std::back_inserter(all));
  into.from = std::move(all);
}

ir::Node NodeLike(const ir::Node& like, const ops::OpDef& op, std::vector<ir::ValueId> inputs,
                  ops::Attrs attrs) {
  ir::Node n;
  n.op = &op;
  n.name = like.name;
  n.attrs = std::move(attrs);
  n.inputs = std::move(inputs);
  n.outputs = like.outputs;
  n.from = like.from;
  return n;
}

ops::Attrs ReshapeTo(const tensor::Dims& dims) {
  ops::Attrs attrs;
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) attrs.Set("allowzero", std::int64_t{1});
  return attrs;
}

std::optional<float> ScalarConstant(const ir::Graph& g, ir::ValueId id) {
  const tensor::Value* v = g.constant(id);
  if (!v || !v->is_tensor() || v->dtype() != tensor::DType::kF32 || v->count() != 1)
    return std::nullopt;
  return v->as<float>()[0];
}

std::optional<WithConstant> MatchWithConstant(const ir::Graph& g, const ir::Node& n) {
  if (n.is_foreign() || n.op->loop != ops::LoopShape::kBinary || n.inputs.size() != 2)
    return std::nullopt;
  const bool first = g.is_constant(n.inputs[0]);
  if (first == g.is_constant(n.inputs[1])) return std::nullopt;
  return WithConstant{n.inputs[first ? 1 : 0], n.inputs[first ? 0 : 1], first};
}

bool SameStaticShape(const tensor::Type& a, const tensor::Type& b) {
  return a.is_static() && b.is_static() && a.dims() == b.dims();
}

ir::ValueId AddInt64s(ir::Graph& g, std::string name, const std::vector<std::int64_t>& v) {
  return g.AddConstant(
      std::move(name),
      tensor::Value::FromVector(tensor::DType::kI64, {static_cast<std::int64_t>(v.size())}, v));
}

std::string NameOf(const ir::Graph& g, ir::ValueId id, std::string_view suffix) {
  return Cat(g.value(id).name, suffix);
}

}  // namespace npukit::passes
