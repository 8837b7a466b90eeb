// Nodes whose inputs are all known become constants, and so do shapes of static values; of an
// if_else with a known condition the branch that it takes stays. Folded nodes vanish from `from`:
// the report counts them as folded. Exact: the folded bytes are what the reference gives.
//
// A few bytes of file can spell terabytes (ConstantOfShape, Expand, Tile, Range, chains of Concat):
// what all folding together makes and how long it takes is bounded by what the model holds. What is
// over the bound stays in the graph and is computed at run time; far over it, the model is refused.
#include <algorithm>
#include <memory>

#include "base/kept_bytes.h"
#include "base/text.h"
#include "ir/node.h"
#include "ops/evaluate.h"
#include "passes/list.h"
#include "passes/rewrite.h"
#include "passes/take_branches.h"

namespace npukit::passes {
namespace {

constexpr std::uint64_t kMaxFoldedValue = std::uint64_t{64} << 20;
// Over what the model's own constants take. A published model of 9 kB spells weights of 548 MiB and
// transposes 471 MiB of them (light_vgg19 of ONNX's suite); that is let be.
constexpr std::uint64_t kMaxFoldedBytes = std::uint64_t{128} << 20;
constexpr std::uint64_t kMaxUnfoldedBytes = std::uint64_t{1023} << 20;
// Multiply-accumulates plus elements read and written: about a second for the references, and a
// few times reading the model.
constexpr double kMaxFoldedWork = 1e8;
constexpr double kFoldedWorkPerElement = 8;

// What is left to spend, for the whole graph.
struct Budget {
  explicit Budget(const ir::Graph& g) {
    for (const ir::ValueInfo& v : g.values) {
      if (!v.constant) continue;
      own += v.constant->byte_size();
      work += kFoldedWorkPerElement * static_cast<double>(v.constant->count());
    }
    folded = kMaxFoldedBytes + own;
    unfolded = kMaxUnfoldedBytes + own;
  }
  std::uint64_t own = 0;       // bytes of the constants that were there
  std::uint64_t folded = 0;    // bytes that may still be made
  std::uint64_t unfolded = 0;  // bytes that the run may still make of constants alone
  double work = kMaxFoldedWork;
};

double CountOf(const tensor::Type& t) {
  const auto count = t.is_static() ? tensor::ElementCount(t.dims()) : std::nullopt;
  return count ? static_cast<double>(*count) : 0.0;
}

// Costs take strings to be short: how much longer these are.
double Longer(const ir::Graph& g, const ir::Node& n) {
  constexpr double kShort = 64;
  double most = 1;
  for (const ir::ValueId id : n.inputs) {
    const tensor::Value* v = g.constant(id);
    if (v == nullptr || !v->is_tensor() || v->dtype() != tensor::DType::kString) continue;
    double characters = 0;
    for (const std::string& s : v->strings()) characters += static_cast<double>(s.size());
    most = std::max(most, characters / (kShort * std::max(static_cast<double>(v->count()), 1.0)));
  }
  return most;
}

// Takes what folding the node costs from the budget; false when it is not worth it or not there.
bool Spend(const ir::Graph& g, const ir::Node& n, Budget* budget) {
  std::uint64_t in = 0;
  double work = 0;
  for (const ir::ValueId id : n.inputs) {
    if (id == ir::kNoValue) continue;
    in += g.value(id).type.bytes().value_or(0);
    if (n.op->loop != ops::LoopShape::kShape) work += CountOf(g.value(id).type);
  }
  std::uint64_t out = 0;
  for (const ir::ValueId id : n.outputs) {
    const auto bytes = g.value(id).type.bytes();
    if (!bytes || *bytes > budget->folded - std::min(budget->folded, out)) return false;
    out += *bytes;
    work += CountOf(g.value(id).type);
  }
  if (out > kMaxFoldedValue && out > in) return false;
  const ops::OpCost cost = ops::Cost(*n.op, n.attrs, n.epilogue, g.InputTypes(n), g.OutputTypes(n));
  work = (work + cost.macs + cost.vector_ops) * Longer(g, n);
  if (!(work <= budget->work)) return false;
  budget->folded -= out;
  budget->work -= work;
  return true;
}

// A value made of constants alone that is too large to be made here is made by every run. There is
// a limit: such a model is a mistake, or a trap.
Status SpendUnfolded(const ir::Graph& g, const ir::Node& n, Budget* budget) {
  for (const ir::ValueId id : n.outputs) {
    const tensor::Type& t = g.value(id).type;
    if (!t.is_static()) continue;
    const std::uint64_t bytes =
        t.dtype == tensor::DType::kString || t.dtype == tensor::DType::kUndefined
            ? static_cast<std::uint64_t>(std::min(CountOf(t) * 8, 1e18))
            : t.bytes().value_or(std::uint64_t{1} << 62);
    if (bytes > budget->unfolded) {
      return ResourceExhausted(
          Cat(ir::Describe(n), ": its result ", t.ToString(), " follows from constants alone: ",
              bytes >> 20, " MiB out of a model whose constants are ", budget->own >> 20,
              " MiB; expected at most ", (budget->own + kMaxUnfoldedBytes) >> 20,
              " MiB of such values together; make it depend on an input, or use smaller sizes"));
    }
    budget->unfolded -= bytes;
  }
  return OkStatus();
}

// The node's input values where all are known; empty otherwise.
std::vector<tensor::Value> KnownInputs(const ir::Graph& g, const ir::Node& n) {
  std::vector<tensor::Value> inputs;
  for (const ir::ValueId id : n.inputs) {
    if (id == ir::kNoValue) {
      inputs.emplace_back();
    } else if (const tensor::Value* v = g.constant(id)) {
      inputs.push_back(*v);
    } else {
      std::optional<tensor::Value> dims;
      if (n.op->loop == ops::LoopShape::kShape) dims = ops::OnlyDims(g.value(id).type);
      if (!dims) return {};
      inputs.push_back(std::move(*dims));
    }
  }
  return inputs;
}

// A large one lies in a file from here on, so that it takes memory only while it is read.
tensor::Value Kept(tensor::Value v) {
  if (!v.is_tensor() || v.byte_size() < kKeepInFileFrom) return v;
  const KeptBytes kept = KeepBytes(v.bytes(), std::make_shared<const tensor::Value>(v));
  DropPages(kept.bytes);
  return tensor::Value::Shared(v.dtype(), v.dims(), kept.owner, kept.bytes.data());
}

// Values that no input of the graph has a part in.
class ConstantAlone {
 public:
  explicit ConstantAlone(const ir::Graph& g) : g_(g), follows_(g.values.size(), false) {}
  bool Holds(const ir::Node& n) const {
    for (const ir::ValueId id : n.inputs) {
      if (id == ir::kNoValue || g_.is_constant(id) || follows_[id]) continue;
      if (n.op->loop != ops::LoopShape::kShape || !g_.value(id).type.is_static()) return false;
    }
    return true;
  }
  void Add(const ir::Node& n) {
    for (const ir::ValueId id : n.outputs) follows_[id] = true;
  }

 private:
  const ir::Graph& g_;
  std::vector<bool> follows_;
};

Status Fold(ir::Graph& g, int* changes) {
  Rewriter rw(g);
  const ir::Uses uses(g);
  Budget budget(g);
  ConstantAlone alone(g);
  for (std::size_t slot = 0; slot < rw.slots(); ++slot) {
    const ir::Node& n = rw.node(slot);
    if (n.is_foreign() || !n.bodies.empty() || n.outputs.empty()) continue;
    // Types first: constants made by earlier slots may have made this node's static.
    std::vector<const tensor::Value*> constants;
    for (const ir::ValueId id : n.inputs) constants.push_back(g.constant(id));
    NPUKIT_RETURN_IF_ERROR(ir::InferNode(g, n, constants));
    // A graph's output keeps its node: a program has something to run, and the name stays.
    bool is_output = false;
    for (const ir::ValueId id : n.outputs) is_output = is_output || uses.is_output[id];
    const std::vector<tensor::Value> inputs = KnownInputs(g, n);
    if (is_output || inputs.empty() || !Spend(g, n, &budget)) {
      if (alone.Holds(n)) {
        alone.Add(n);
        NPUKIT_RETURN_IF_ERROR(SpendUnfolded(g, n, &budget));
      }
      continue;
    }
    auto results = ir::EvaluateNode(n, inputs);
    for (const tensor::Value& v : inputs) DropPages(v.bytes());
    if (!results.ok()) continue;  // stays in the graph and says why when it is lowered or run
    const std::vector<ir::ValueId> outputs = n.outputs;
    rw.Erase(slot);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      g.value(outputs[i]).type = (*results)[i].type();
      g.value(outputs[i]).constant = Kept(std::move((*results)[i]));
    }
    ++*changes;
  }
  rw.Finish();
  return OkStatus();
}

// Folding makes conditions known, and branches that are taken can be folded.
Status Run(ir::Graph& g, const target::Profile&, int* changes) {
  for (;;) {
    NPUKIT_RETURN_IF_ERROR(Fold(g, changes));
    NPUKIT_ASSIGN_OR_RETURN(const int taken, TakeBranches(g));
    if (taken == 0) return OkStatus();
    *changes += taken;
  }
}

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef fold_constants = {
    .name = "fold_constants",
    .summary = "compute what is known before run time",
    .run = passes::Run,
    .in_bodies = true};
constinit const passes::PassDef fold_constants_again = {
    .name = "fold_constants_again",
    .summary = "compute what layout and fusion made known",
    .run = passes::Run,
    .in_bodies = true};
}  // namespace npukit::pass
