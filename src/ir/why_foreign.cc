#include "base/text.h"
#include "ir/node.h"

namespace npukit::ir {

ForeignReason WhyForeign(const Node& n) {
  const auto text = [&](const char* name) {
    const ops::AttrValue* v = n.attrs.Find(name);  // a graph read from text may hold anything
    const auto* s = v == nullptr ? nullptr : std::get_if<std::string>(v);
    return s == nullptr ? std::string() : Printable(*s);
  };
  const std::string op = Printable(n.foreign_op);
  const std::string why = text(kWhyForeign);
  const std::string remedy = text(kFormRemedy);
  if (!remedy.empty()) {
    return {"unsupported_form", Cat("npukit has ", op, ", but not in this form: ", why, "."),
            remedy};
  }
  const std::string domain =
      n.foreign_domain.empty() ? "" : Cat(" of domain \"", Printable(n.foreign_domain), "\"");
  return {"unknown_operator", Cat("npukit does not know the operator ", op, domain, "."),
          "export the model without it, or add it to src/ops"};
}

}  // namespace npukit::ir
