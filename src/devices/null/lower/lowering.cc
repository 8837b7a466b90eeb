#include "devices/null/lower/lowering.h"

#include <cstring>

#include "base/text.h"
#include "devices/null/blob/blob.h"
#include "devices/null/model/model.h"

namespace npukit::devices::null {
namespace {

class NullLowering final : public compile::Lowering {
 public:
  std::string_view device() const override { return "null"; }
  std::string_view device_class() const override { return "NULL"; }
  compile::Precision precision() const override { return compile::Precision::kFp32; }

  // A real device looks at the node's operator, types and attributes and compares them with facts
  // of the profile; a refusal names the fact, its limit and what was found, so that the user knows
  // what to change.
  target::Verdict Supports(const ir::Graph&, const ir::Node& n,
                           const target::Profile&) const override {
    target::Verdict v;
    v.op = n.op ? std::string(n.op->name) : std::string();
    v.foreign_op = n.foreign_op;
    v.device = device_class();
    v.supported = false;
    v.code = "op_unsupported";
    v.reason = Cat("the null device runs no operator, so not ", n.op_name(), " either");
    v.remedy = "choose another device";
    return v;
  }

  target::Estimate Cost(const ir::Graph&, const ir::Node&,
                        const target::Profile& p) const override {
    return CostOfNothing(p);
  }
  target::Estimate BoundaryCost(const tensor::Type&, const target::Profile& p) const override {
    return CostOfNothing(p);
  }

  Result<compile::Lowered> Lower(const ir::Graph& g, const target::Profile& p,
                                 const compile::LowerOptions&) const override {
    if (!g.nodes.empty()) {
      return Unsupported(Cat("null: cannot lower ", g.nodes[0].op_name(), " (node ",
                             Printable(g.nodes[0].name), "): the null device runs no operator"));
    }
    const Blob blob;
    compile::Lowered out;
    out.blob.resize(sizeof blob);
    std::memcpy(out.blob.data(), &blob, sizeof blob);
    out.estimate = CostOfNothing(p);
    return out;
  }
};

}  // namespace

std::shared_ptr<const compile::Lowering> MakeLowering() { return std::make_shared<NullLowering>(); }

}  // namespace npukit::devices::null
