// Elementwise readers go into the loop that makes their input: the epilogue of conv2d,
// conv_transpose2d and matmul. Two or more elementwise operators in a row become a `chain`. An
// operand may be one number, one per channel (the last dimension) or of the result's shape; others
// are not fused. At most kMaxSteps steps to a node, so that what they cost to handle stays in
// proportion to the model. Exact: the same operations in the same order.
#include "passes/list.h"
#include "passes/rewrite.h"

namespace npukit::passes {
namespace {

using ir::kNoValue;
using ir::ValueId;

bool IsElementwise(const ir::Node& n) {
  if (n.is_foreign() || !n.bodies.empty() || n.op == &op::chain || n.outputs.size() != 1)
    return false;
  if (n.op->loop == ops::LoopShape::kUnary) return n.inputs.size() == 1;
  return n.op->loop == ops::LoopShape::kBinary && n.inputs.size() == 2;
}

constexpr std::size_t kMaxSteps = 16;

bool CarriesEpilogue(const ir::Node& n) {
  if (n.epilogue.size() >= kMaxSteps) return false;
  return n.op == &op::conv2d || n.op == &op::conv_transpose2d || n.op == &op::matmul ||
         n.op == &op::chain;
}

// One number, one per channel, or the whole shape.
bool OperandFits(const tensor::Type& operand, const tensor::Type& result, bool channels_last) {
  if (!operand.is_static() || !result.is_static()) return false;
  const tensor::Dims& want = result.dims();
  const tensor::Dims& have = operand.dims();
  if (have.size() > want.size()) return false;
  if (have == want) return true;
  const auto count = tensor::ElementCount(have);
  if (count == 1) return true;
  return channels_last && count == have.back() && have.back() == want.back();
}

// An elementwise node as a step on `running`; nullopt where it cannot be one. `operand` is what it
// reads besides.
struct Step {
  ops::EpilogueStep step;
  ValueId operand = kNoValue;
};
std::optional<Step> AsStep(const ir::Graph& g, const ir::Node& n, ValueId running,
                           bool channels_last) {
  const tensor::Type& before = g.value(running).type;
  const tensor::Type& after = g.value(n.outputs[0]).type;
  if (!SameStaticShape(before, after) || before.dtype != after.dtype ||
      !tensor::IsFloat(after.dtype)) {
    return std::nullopt;  // integers are shape arithmetic: nothing to gain
  }
  Step s;
  s.step.op = n.op;
  s.step.attrs = n.attrs;
  if (n.inputs.size() == 1) return s;
  s.step.swapped = n.inputs[1] == running;
  s.operand = n.inputs[s.step.swapped ? 0 : 1];
  if (s.operand == running || s.operand == kNoValue) return std::nullopt;
  if (!OperandFits(g.value(s.operand).type, after, channels_last)) return std::nullopt;
  return s;
}

// Appends the step, and its operand as the last input. Absent optional inputs are filled in first,
// so that an operand never sits where the operator's own bias would.
void Append(ir::Node* into, Step s) {
  if (s.operand != kNoValue) {
    const int own = into->op->max_inputs;
    while (own >= 0 && into->inputs.size() < static_cast<std::size_t>(own))
      into->inputs.push_back(kNoValue);
    s.step.operand = static_cast<int>(into->inputs.size());
    into->inputs.push_back(s.operand);
  }
  into->epilogue.push_back(std::move(s.step));
}

class Fusion {
 public:
  explicit Fusion(ir::Graph& g) : rw_(g) {}

  Status Run(int* changes) {
    for (std::size_t slot = 0; slot < rw_.slots(); ++slot) {
      if (!IsElementwise(rw_.node(slot))) continue;
      NPUKIT_ASSIGN_OR_RETURN(bool fused, IntoProducer(slot));
      if (!fused) {
        NPUKIT_ASSIGN_OR_RETURN(fused, IntoChain(slot));
      }
      if (fused) ++*changes;
    }
    rw_.Finish();
    return OkStatus();
  }

 private:
  Status Put(std::size_t producer, std::size_t slot, ir::Node fused) {
    fused.outputs = rw_.node(slot).outputs;
    MergeFrom(fused, rw_.node(slot));
    rw_.Erase(producer);
    return rw_.Replace(slot, std::move(fused));
  }

  // The latest producer that can take the node: what it made is read by nobody else.
  Result<bool> IntoProducer(std::size_t slot) {
    const ir::Node& n = rw_.node(slot);
    std::optional<std::size_t> best;
    std::optional<Step> step;
    for (const ValueId id : n.inputs) {
      const auto producer = rw_.Producer(id);
      if (!producer || !rw_.SingleUse(id) || !CarriesEpilogue(rw_.node(*producer))) continue;
      if (best && *producer < *best) continue;
      const ir::Node& p = rw_.node(*producer);
      const bool spatial = p.op == &op::conv2d || p.op == &op::conv_transpose2d;
      auto s = AsStep(rw_.graph(), n, id, !spatial || p.attrs.String("layout", "NCHW") == "NHWC");
      if (!s) continue;
      best = producer;
      step = std::move(s);
    }
    if (!best) return false;
    ir::Node fused = rw_.node(*best);
    Append(&fused, std::move(*step));
    NPUKIT_RETURN_IF_ERROR(Put(*best, slot, std::move(fused)));
    return true;
  }

  // An elementwise node behind another one: both become a chain, which later ones then join as its
  // epilogue.
  Result<bool> IntoChain(std::size_t slot) {
    const ir::Node n = rw_.node(slot);
    for (const ValueId middle : n.inputs) {
      const auto producer = rw_.Producer(middle);
      if (!producer || !rw_.SingleUse(middle) || !IsElementwise(rw_.node(*producer))) continue;
      const ir::Node& first = rw_.node(*producer);
      const auto second_step = AsStep(rw_.graph(), n, middle, true);
      if (!second_step) continue;
      for (const ValueId start : first.inputs) {
        if (rw_.graph().is_constant(start)) continue;
        const auto first_step = AsStep(rw_.graph(), first, start, true);
        if (!first_step) continue;
        ir::Node chain = NodeLike(first, op::chain, {start});
        Append(&chain, *first_step);
        Append(&chain, *second_step);
        NPUKIT_RETURN_IF_ERROR(Put(*producer, slot, std::move(chain)));
        return true;
      }
    }
    return false;
  }

  Rewriter rw_;
};

Status Run(ir::Graph& g, const target::Profile&, int* changes) { return Fusion(g).Run(changes); }

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef fuse_epilogue = {
    .name = "fuse_epilogue",
    .summary = "apply elementwise operators where their input is made",
    .run = passes::Run};
}  // namespace npukit::pass
