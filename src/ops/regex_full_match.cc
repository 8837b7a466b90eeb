#include "ops/regex.h"
#include "ops/strings.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

constexpr double kAssumedCharacters = 64;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantString(c, 0));
  NPUKIT_RETURN_IF_ERROR(Regex::Steps(c.attrs.String("pattern")).status());
  c.outputs[0] = tensor::Type::Tensor(DType::kBool, c.inputs[0].shape);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const Regex regex, Regex::Parse(c.attrs->String("pattern")));
  const Value& x = c.inputs[0];
  for (std::int64_t i = 0; i < x.count(); ++i)
    StoreBits(y, i, regex.FullMatch(x.strings()[static_cast<std::size_t>(i)]) ? 1 : 0);
  return OkStatus();
}

// Types do not say how long the strings are: a short text each.
OpCost MatchCost(const CostContext& c) {
  const auto steps = Regex::Steps(c.attrs.String("pattern"));
  return {.vector_ops = CountOf(c.inputs[0]) * kAssumedCharacters * (steps.ok() ? *steps : 1),
          .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"pattern", AttrKind::kString, true}};

}  // namespace

constinit const OpDef op::regex_full_match = {
    .name = "regex_full_match",
    .summary = "does the whole of each string match a pattern in RE2's syntax; bool",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = MatchCost,
    .foreign = {.onnx = "RegexFullMatch"},
};

}  // namespace npukit
