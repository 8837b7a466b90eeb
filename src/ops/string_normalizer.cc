#include <set>

#include "base/text.h"
#include "ops/outputs.h"
#include "ops/strings.h"
#include "ops/utf8.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

Result<Casing> CasingOf(const Attrs& attrs) {
  const std::string_view name = attrs.String("case_change_action", "NONE");
  if (name == "NONE") return Casing::kNone;
  if (name == "LOWER") return Casing::kLower;
  if (name == "UPPER") return Casing::kUpper;
  return InvalidArgument(
      Cat("case_change_action is ", Printable(name), ", expected LOWER, UPPER or NONE"));
}

Result<std::string> Cased(const std::string& s, Casing casing, const Attrs& attrs) {
  const std::string_view locale = attrs.String("locale", "en_US");
  const bool turkic = locale.starts_with("tr") || locale.starts_with("az");
  auto cased = WithCase(s, casing, turkic);
  if (cased) return *std::move(cased);
  return InvalidArgument(Cat("\"", Printable(s), "\" is not UTF-8, so it has no case"));
}

Result<Strings> Normalized(const Value& x, const Attrs& attrs) {
  NPUKIT_ASSIGN_OR_RETURN(const Casing casing, CasingOf(attrs));
  const Casing compared = attrs.Int("is_case_sensitive", 0) != 0 ? Casing::kNone : Casing::kLower;
  std::set<std::string> stopwords;
  for (const std::string& w : StringList(attrs, "stopwords")) {
    NPUKIT_ASSIGN_OR_RETURN(std::string word, Cased(w, compared, attrs));
    stopwords.insert(std::move(word));
  }
  Strings kept;
  for (const std::string& s : x.strings()) {
    if (!stopwords.empty()) {
      NPUKIT_ASSIGN_OR_RETURN(const std::string word, Cased(s, compared, attrs));
      if (stopwords.contains(word)) continue;
    }
    NPUKIT_ASSIGN_OR_RETURN(std::string cased, Cased(s, casing, attrs));
    kept.push_back(std::move(cased));
  }
  if (kept.empty()) kept.emplace_back();
  return kept;
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantString(c, 0));
  NPUKIT_RETURN_IF_ERROR(CasingOf(c.attrs).status());
  c.outputs[0] = tensor::Type::Tensor(DType::kString, std::nullopt);
  if (!c.inputs[0].shape) return OkStatus();
  tensor::Shape shape = *c.inputs[0].shape;
  const std::size_t rank = shape.rank();
  const bool row = rank == 2 && (!shape.dims[0].known() || shape.dims[0].value == 1);
  if (rank != 1 && !row) {
    return InvalidArgument(
        Cat("input 0 is ", c.inputs[0].ToString(), ", expected the shape [C] or [1,C]"));
  }
  tensor::Dim& n = shape.dims.back();
  if (const Value* x = c.constants[0]; x != nullptr) {
    NPUKIT_ASSIGN_OR_RETURN(const Strings kept, Normalized(*x, c.attrs));
    n = tensor::Dim::Of(static_cast<std::int64_t>(kept.size()));
  } else if (!StringList(c.attrs, "stopwords").empty() || !n.known() || n.value == 0) {
    n = tensor::Dim();
  }
  if (row) shape.dims[0] = tensor::Dim::Of(1);
  c.outputs[0].shape = std::move(shape);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_RETURN_IF_ERROR(TypesWithoutValues(c, Infer, 1).status());
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(Strings kept, Normalized(x, *c.attrs));
  tensor::Dims dims = x.dims();
  dims.back() = static_cast<std::int64_t>(kept.size());
  return c.SetOutput(0, Value::Strings(dims, std::move(kept)));
}

constexpr AttrDef kAttrs[] = {{"case_change_action", AttrKind::kString},
                              {"is_case_sensitive", AttrKind::kInt},
                              {"locale", AttrKind::kString},
                              {"stopwords", AttrKind::kStrings}};

}  // namespace

constinit const OpDef op::string_normalizer = {
    .name = "string_normalizer",
    .summary = "strings without stop words, in lower or upper case",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement10,
    .foreign = {.onnx = "StringNormalizer"},
};

}  // namespace npukit
