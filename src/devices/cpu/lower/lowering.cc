#include "devices/cpu/lower/lowering.h"

#include "base/text.h"
#include "devices/cpu/lower/segment.h"
#include "devices/cpu/model/model.h"

namespace npukit::devices::cpu {
namespace {

class CpuLowering final : public compile::Lowering {
 public:
  std::string_view device() const override { return "cpu"; }
  std::string_view device_class() const override { return "CPU"; }
  compile::Precision precision() const override { return compile::Precision::kFp32; }

  target::Verdict Supports(const ir::Graph& g, const ir::Node& n,
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
      return refuse("unknown_operator", n.foreign_op,
                    Cat("npukit has no operator for ", Printable(n.foreign_op)),
                    "remove the operator from the model, or add it to src/ops");
    }
    if (n.op->reference == nullptr) {
      return refuse("unknown_operator", std::string(n.op->name),
                    Cat(n.op->name, " has no reference the CPU could run"),
                    "add a reference to its definition in src/ops");
    }
    const auto open_type = [&](const std::vector<ir::ValueId>& ids) -> const ir::ValueInfo* {
      for (const ir::ValueId id : ids) {
        if (id == ir::kNoValue || g.is_constant(id)) continue;
        if (!g.value(id).type.is_static() || !g.value(id).type.bytes()) return &g.value(id);
      }
      return nullptr;
    };
    const ir::ValueInfo* open = open_type(n.inputs);
    if (open == nullptr) open = open_type(n.outputs);
    if (open != nullptr) {
      return refuse("dynamic_shape", open->type.ToString(),
                    Cat("the size of ", Printable(open->name),
                        " is not known before running: ", open->type.ToString()),
                    "give every input a fixed shape (--shape)");
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
    SegmentBuilder builder(g);
    NPUKIT_RETURN_IF_ERROR(builder.Build(o, &out));
    out.estimate.kind = target::Kind::kModelled;
    for (const ir::Node& n : g.nodes) out.estimate += Cost(g, n, p);
    return out;
  }
};

}  // namespace

std::shared_ptr<const compile::Lowering> MakeLowering() { return std::make_shared<CpuLowering>(); }

}  // namespace npukit::devices::cpu
