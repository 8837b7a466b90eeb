// What the files of ir/ and its users say and do about a single node, said once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace npukit::ir {

// Attributes of a foreign node, strings: why it is one ("no operator of this name"), and, where
// npukit has the operator but not in this form, what to do about it. Without the second the
// operator is unknown.
inline constexpr char kWhyForeign[] = "npukit.why_foreign";
inline constexpr char kFormRemedy[] = "npukit.form_remedy";

// Why no device runs a foreign node: the reason code of target/reasons.inc, a sentence, and what to
// do.
struct ForeignReason {
  std::string code;
  std::string sentence;
  std::string remedy;
};
ForeignReason WhyForeign(const Node& n);

// "node Conv_12 (conv2d)": how every message names a node. Safe for hostile names.
std::string Describe(const Node& n);

// Sets the types of the node's outputs from its inputs' types; `constants[i]` is non-null where
// input i is known.
Status InferNode(Graph& g, const Node& n, std::span<const tensor::Value* const> constants);

// Runs the reference of one node, epilogue included, on given values; an absent optional input is
// an absent Value. Results have memory of their own or share an input's. Foreign nodes are refused
// (kUnsupported, naming the node).
Result<std::vector<tensor::Value>> EvaluateNode(const Node& n,
                                                std::span<const tensor::Value> inputs);

}  // namespace npukit::ir
