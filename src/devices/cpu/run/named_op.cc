#include "devices/cpu/run/named_op.h"

#include "base/text.h"

namespace npukit::devices::cpu {
namespace {

Result<ops::Attrs> ToAttrs(const BlobAttrs& in) {
  ops::Attrs out;
  for (const auto& [name, value] : in) {
    if (out.Find(name) != nullptr)
      return DataCorrupt(Cat("attribute ", Printable(name), " is given twice"));
    out.Set(name, value);
  }
  return out;
}

Result<const ops::OpDef*> FindDef(const std::string& name) {
  const ops::OpDef* def = ops::FindOp(name);
  if (def == nullptr) {
    return Unsupported(Cat("no operator ", Printable(name),
                           " in this build; update npukit or compile the model again"));
  }
  if (def->reference == nullptr || def->infer == nullptr)
    return Unsupported(Cat("operator ", name, " has no reference"));
  return def;
}

}  // namespace

Result<NamedOp> FindNamed(const BlobStep& step) {
  NamedOp out;
  NPUKIT_ASSIGN_OR_RETURN(out.def, FindDef(step.op));
  NPUKIT_ASSIGN_OR_RETURN(out.attrs, ToAttrs(step.attrs));
  for (const BlobEpilogueStep& e : step.epilogue) {
    ops::EpilogueStep to;
    NPUKIT_ASSIGN_OR_RETURN(to.op, FindDef(e.op));
    NPUKIT_ASSIGN_OR_RETURN(to.attrs, ToAttrs(e.attrs));
    to.operand = e.operand;
    to.swapped = e.swapped;
    out.epilogue.push_back(std::move(to));
  }
  return out;
}

}  // namespace npukit::devices::cpu
