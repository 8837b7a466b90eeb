#include "devices/cpu/lower/lowering.h"

#include <algorithm>

#include "base/text.h"
#include "devices/cpu/blob/blob.h"
#include "devices/cpu/lower/flow.h"
#include "devices/cpu/lower/segment.h"
#include "devices/cpu/model/model.h"
#include "ir/node.h"

namespace npukit::devices::cpu {
namespace {

// The work of one step of a blob from anywhere: what does not fit its operator is an error, since
// cost functions trust their operands.
Result<CallSize> SizeOf(const Blob& blob, const BlobStep& step) {
  const ops::OpDef* def = ops::FindOp(step.op);
  if (def == nullptr || def->infer == nullptr || def->cost == nullptr)
    return Unsupported(Cat("no operator ", Printable(step.op), " in this build"));
  ops::Attrs attrs;
  for (const auto& [name, value] : step.attrs) attrs.Set(name, value);
  std::vector<ops::EpilogueStep> epilogue;
  for (const BlobEpilogueStep& e : step.epilogue) {
    const ops::OpDef* op = ops::FindOp(e.op);
    if (op == nullptr) return Unsupported(Cat("no operator ", Printable(e.op), " in this build"));
    ops::Attrs own;
    for (const auto& [name, value] : e.attrs) own.Set(name, value);
    epilogue.push_back({op, std::move(own), e.operand, e.swapped});
  }
  const auto type = [&](std::uint32_t t) {
    return tensor::Type::Tensor(blob.tensors[t].dtype, blob.tensors[t].dims);
  };
  std::vector<tensor::Type> inputs, outputs;
  for (const std::int32_t t : step.inputs)
    inputs.push_back(t < 0 ? tensor::Type() : type(static_cast<std::uint32_t>(t)));
  for (const std::uint32_t t : step.outputs) outputs.push_back(type(t));
  if (def->outputs >= 0 && static_cast<int>(outputs.size()) != def->outputs)
    return DataCorrupt(Cat("expected ", def->outputs, " outputs, found ", outputs.size()));
  const std::vector<const tensor::Value*> unknown(inputs.size(), nullptr);
  std::vector<tensor::Type> inferred(outputs.size());
  if (const Status s = ops::Infer(*def, attrs, epilogue, inputs, unknown, inferred); !s.ok())
    return DataCorrupt(s.message());
  const ops::OpCost c = ops::Cost(*def, attrs, epilogue, inputs, outputs);
  return CallSize{c.macs, c.vector_ops, c.bytes};
}

class CpuLowering final : public compile::Lowering {
 public:
  std::string_view device() const override { return "cpu"; }
  std::string_view device_class() const override { return "CPU"; }
  compile::Precision precision() const override { return compile::Precision::kFp32; }

  target::Verdict Supports(const ir::Graph&, const ir::Node& n,
                           const target::Profile&) const override {
    target::Verdict v;
    v.op = n.op ? std::string(n.op->name) : std::string();
    v.foreign_op = n.foreign_op;
    v.device = device_class();
    const auto refuse = [&](const char* code, std::string found, std::string reason,
                            const char* remedy) {
      v.supported = false;
      v.code = code;
      v.found = std::move(found);
      v.reason = std::move(reason);
      v.remedy = remedy;
      return v;
    };
    if (n.is_foreign()) {
      const ir::ForeignReason why = ir::WhyForeign(n);
      return refuse(why.code.c_str(), n.foreign_op, why.sentence, why.remedy.c_str());
    }
    if (n.op->reference == nullptr && !n.op->control) {
      return refuse("unknown_operator", std::string(n.op->name),
                    Cat(n.op->name, " has no reference the CPU could run"),
                    "add a reference to its definition in src/ops");
    }
    return v;
  }

  target::Estimate Cost(const ir::Graph& g, const ir::Node& n,
                        const target::Profile& p) const override {
    if (n.is_foreign() || IsView(g, n)) {
      target::Estimate nothing;
      nothing.kind = target::Kind::kModelled;
      return nothing;
    }
    const std::vector<tensor::Type> inputs = g.InputTypes(n);
    const std::vector<tensor::Type> outputs = g.OutputTypes(n);
    const auto open = [](const tensor::Type& t) {
      return t.dtype != tensor::DType::kUndefined && !(t.is_static() && t.bytes());
    };
    if (std::any_of(inputs.begin(), inputs.end(), open) ||
        std::any_of(outputs.begin(), outputs.end(), open))
      return Roofline({}, p);  // what it works on is known when it runs
    const ops::OpCost c = ops::Cost(*n.op, n.attrs, n.epilogue, inputs, outputs);
    return Roofline({c.macs, c.vector_ops, c.bytes}, p);
  }

  // Host memory is the CPU's own.
  target::Estimate BoundaryCost(const tensor::Type&, const target::Profile&) const override {
    target::Estimate nothing;
    nothing.kind = target::Kind::kModelled;
    return nothing;
  }

  Result<compile::Lowered> Lower(const ir::Graph& g, const target::Profile& p,
                                 const compile::LowerOptions& o) const override {
    if (o.precision != compile::Precision::kFp32) {
      return Unsupported(Cat("cpu: precision ", compile::PrecisionName(o.precision),
                             ": the CPU computes in fp32"));
    }
    compile::Lowered out;
    out.estimate.kind = target::Kind::kModelled;
    if (o.any_shape) {  // what it costs is known when it runs
      NPUKIT_RETURN_IF_ERROR(BuildFlow(g, &out));
      return out;
    }
    SegmentBuilder builder(g);
    NPUKIT_RETURN_IF_ERROR(builder.Build(o, &out));
    for (const ir::Node& n : g.nodes) out.estimate += Cost(g, n, p);
    return out;
  }

  // One task per step. There is nothing to take away but the CPU itself: what its operators cost is
  // one cause.
  Result<target::Account> AccountOf(std::span<const std::byte> bytes, const target::Profile& p,
                                    target::Relief relief, bool spans) const override {
    NPUKIT_ASSIGN_OR_RETURN(const Blob blob, Read(bytes));
    if (blob.flow) return Unsupported("cpu: what an open shape costs is known when it runs");
    const target::Estimate dispatch = Roofline({}, p);
    constexpr double kManyMacs = 1e12;
    const double ns_per_mac =
        (Roofline({kManyMacs, 0, 0}, p).time_ns - dispatch.time_ns) / kManyMacs;
    target::Account account;
    account.total.kind = target::Kind::kModelled;
    for (const BlobStep& step : blob.steps) {
      const auto size = SizeOf(blob, step);
      if (!size.ok())
        return size.status().WithContext(Cat("CPU blob: node ", Printable(step.name)));
      target::TaskAccount task;
      task.name = step.epilogue.empty() ? step.name : Cat(step.name, "+…");
      task.kind = "call";
      task.start_ns = account.total.time_ns;
      task.estimate = Roofline(*size, p);
      task.bound_ns = task.estimate.time_ns - dispatch.time_ns;
      if (task.estimate.time_ns > 0)
        task.utilisation = size->macs * ns_per_mac / task.estimate.time_ns;
      if (relief.has(target::Cause::kCpuIslands)) {
        const target::Kind kind = task.estimate.kind;
        task.estimate = {};
        task.estimate.kind = kind;
        task.utilisation = task.bound_ns = 0;
      }
      account.total += task.estimate;
      if (spans && account.spans.size() == target::kMaxSpans) {
        ++account.spans_left_out;
      } else if (spans) {
        account.spans.push_back({"cpu", task.name, task.start_ns, task.estimate.time_ns,
                                 static_cast<std::uint32_t>(account.tasks.size())});
      }
      account.tasks.push_back(std::move(task));
    }
    return account;
  }
};

}  // namespace

std::shared_ptr<const compile::Lowering> MakeLowering() { return std::make_shared<CpuLowering>(); }

}  // namespace npukit::devices::cpu
