#include <algorithm>
#include <limits>

#include "base/text.h"
#include "ops/outputs.h"
#include "ops/strings.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

bool IsSpace(char ch) { return ch == ' ' || (ch >= '\t' && ch <= '\r'); }

// At most `most` pieces before the rest. Calls take(begin, length).
template <class F>
void Pieces(std::string_view s, std::string_view delimiter, std::int64_t most, F take) {
  std::size_t at = 0;
  std::int64_t pieces = 0;
  if (delimiter.empty()) {  // runs of white space, none at the ends
    while (!s.empty() && IsSpace(s.back())) s.remove_suffix(1);
    const auto skip = [&] {
      while (at < s.size() && IsSpace(s[at])) ++at;
    };
    for (skip(); at < s.size(); skip()) {
      std::size_t end = at;
      while (end < s.size() && (pieces == most || !IsSpace(s[end]))) ++end;
      take(at, end - at);
      ++pieces;
      at = end;
    }
    return;
  }
  if (s.empty()) return;
  for (; pieces < most; ++pieces) {
    const std::size_t end = s.find(delimiter, at);
    if (end == std::string_view::npos) break;
    take(at, end - at);
    at = end + delimiter.size();
  }
  take(at, s.size() - at);
}

std::int64_t MostPieces(const Attrs& attrs) {
  const std::int64_t most = attrs.Int("maxsplit", -1);
  return most < 0 ? std::numeric_limits<std::int64_t>::max() : most;
}

std::int64_t Longest(const Value& x, const Attrs& attrs) {
  std::int64_t longest = 0;
  for (const std::string& s : x.strings()) {
    std::int64_t n = 0;
    Pieces(s, attrs.String("delimiter"), MostPieces(attrs), [&](auto, auto) { ++n; });
    longest = std::max(longest, n);
  }
  return longest;
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantString(c, 0));
  c.outputs[0] = tensor::Type::Tensor(DType::kString, std::nullopt);
  c.outputs[1] = tensor::Type::Tensor(DType::kI64, c.inputs[0].shape);
  if (!c.inputs[0].shape) return OkStatus();
  tensor::Shape shape = *c.inputs[0].shape;
  const Value* x = c.constants[0];
  shape.dims.push_back(x != nullptr ? tensor::Dim::Of(Longest(*x, c.attrs)) : tensor::Dim());
  c.outputs[0].shape = std::move(shape);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_RETURN_IF_ERROR(TypesWithoutValues(c, Infer, 2).status());
  const Value& x = c.inputs[0];
  const std::int64_t longest = Longest(x, *c.attrs);
  tensor::Dims dims = x.dims();
  dims.push_back(longest);
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeStrings(c, 0, dims));
  NPUKIT_ASSIGN_OR_RETURN(Value counts, c.Output(1, DType::kI64, x.dims()));
  auto& out = y.mutable_strings();
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::string& s = x.strings()[static_cast<std::size_t>(i)];
    std::int64_t n = 0;
    Pieces(s, c.attrs->String("delimiter"), MostPieces(*c.attrs),
           [&](std::size_t at, std::size_t length) {
             out[static_cast<std::size_t>(i * longest + n++)] = s.substr(at, length);
           });
    StoreBits(counts, i, static_cast<std::uint64_t>(n));
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"delimiter", AttrKind::kString}, {"maxsplit", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::string_split = {
    .name = "string_split",
    .summary =
        "each string cut at a delimiter (or white space), padded with empty strings; and "
        "how many pieces each has",
    .outputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .foreign = {.onnx = "StringSplit"},
};

}  // namespace npukit
