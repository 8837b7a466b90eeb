// By what an ONNX operator becomes ours: upgrade steps, then a composite, then the operator of the
// same meaning.
#include <algorithm>
#include <iterator>
#include <map>

#include "base/text.h"
#include "importers/names.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

#define COMPOSITE(name) Result<Outcome> Import##name(Emitter& e);
#define COMPOSITE_OF(domain, prefix, name) Result<Outcome> Import##prefix##name(Emitter& e);
#include "importers/onnx/composites.inc"
#undef COMPOSITE
#undef COMPOSITE_OF
#define UPGRADE(name, below, step) Result<Outcome> step(Emitter& e);
#include "importers/onnx/upgrade.inc"
#undef UPGRADE

namespace {

struct Composite {
  std::string_view name;  // SourceOp::key
  StepFn import;
};
constexpr Composite kComposites[] = {
#define COMPOSITE(name) {#name, Import##name},
#define COMPOSITE_OF(domain, prefix, name) {domain ":" #name, Import##prefix##name},
#include "importers/onnx/composites.inc"
#undef COMPOSITE
#undef COMPOSITE_OF
};

struct Step {
  std::string_view name;  // "*": every operator
  std::int64_t below;     // for files of an opset below this
  StepFn step;
};
constexpr Step kSteps[] = {
#define UPGRADE(name, below, step) {name, below, step},
#include "importers/onnx/upgrade.inc"
#undef UPGRADE
};

Result<Outcome> Upgrade(Emitter& e) {
  for (const Step& s : kSteps) {
    if (!e.op.domain.empty() || e.op.opset >= s.below || (s.name != "*" && s.name != e.op.op))
      continue;
    NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, s.step(e));
    if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  }
  return Outcome::GoOn();
}

// What the attributes hold that steps and composites read: a file may put anything under these
// names.
constexpr ops::AttrDef kKinds[] = {
    {"activation", ops::AttrKind::kString},
    {"activation_alpha", ops::AttrKind::kFloat},
    {"activation_beta", ops::AttrKind::kFloat},
    {"activation_gamma", ops::AttrKind::kFloat},
    {"activation_params", ops::AttrKind::kFloats},
    {"allowzero", ops::AttrKind::kInt},
    {"alpha", ops::AttrKind::kFloat},
    {"antialias", ops::AttrKind::kInt},
    {"approximate", ops::AttrKind::kString},
    {"auto_pad", ops::AttrKind::kString},
    {"axes", ops::AttrKind::kInts},
    {"axis", ops::AttrKind::kInt},
    {"beta", ops::AttrKind::kFloat},
    {"bias", ops::AttrKind::kFloat},
    {"block_size", ops::AttrKind::kInt},
    {"blocksize", ops::AttrKind::kInt},
    {"broadcast", ops::AttrKind::kInt},
    {"causal", ops::AttrKind::kInt},
    {"ceil_mode", ops::AttrKind::kInt},
    {"channels_last", ops::AttrKind::kInt},
    {"coordinate_transformation_mode", ops::AttrKind::kString},
    {"count_include_pad", ops::AttrKind::kInt},
    {"decay_factor", ops::AttrKind::kFloat},
    {"dilations", ops::AttrKind::kInts},
    {"do_rotary", ops::AttrKind::kInt},
    {"directions", ops::AttrKind::kInts},
    {"dtype", ops::AttrKind::kInt},
    {"end", ops::AttrKind::kInt},
    {"ends", ops::AttrKind::kInts},
    {"epsilon", ops::AttrKind::kFloat},
    {"group", ops::AttrKind::kInt},
    {"interleaved", ops::AttrKind::kInt},
    {"is_packed_batching", ops::AttrKind::kInt},
    {"is_test", ops::AttrKind::kInt},
    {"k", ops::AttrKind::kInt},
    {"keep_aspect_ratio_policy", ops::AttrKind::kString},
    {"keepdims", ops::AttrKind::kInt},
    {"kernel_shape", ops::AttrKind::kInts},
    {"kv_num_heads", ops::AttrKind::kInt},
    {"local_window_size", ops::AttrKind::kInt},
    {"mask_filter_value", ops::AttrKind::kFloat},
    {"max", ops::AttrKind::kFloat},
    {"min", ops::AttrKind::kFloat},
    {"mode", ops::AttrKind::kString},
    {"momentum", ops::AttrKind::kFloat},
    {"nearest_mode", ops::AttrKind::kString},
    {"noop_with_empty_axes", ops::AttrKind::kInt},
    {"norm_coefficient", ops::AttrKind::kFloat},
    {"norm_coefficient_post", ops::AttrKind::kFloat},
    {"num_heads", ops::AttrKind::kInt},
    {"num_outputs", ops::AttrKind::kInt},
    {"opset", ops::AttrKind::kInt},
    {"output_datatype", ops::AttrKind::kInt},
    {"output_dtype", ops::AttrKind::kInt},
    {"num_scan_inputs", ops::AttrKind::kInt},
    {"output_padding", ops::AttrKind::kInts},
    {"output_shape", ops::AttrKind::kInts},
    {"p", ops::AttrKind::kInt},
    {"paddings", ops::AttrKind::kInts},
    {"pads", ops::AttrKind::kInts},
    {"past_present_share_buffer", ops::AttrKind::kInt},
    {"perm", ops::AttrKind::kInts},
    {"precision", ops::AttrKind::kInt},
    {"qkv_hidden_sizes", ops::AttrKind::kInts},
    {"rotary_embedding_dim", ops::AttrKind::kInt},
    {"rotary_interleaved", ops::AttrKind::kInt},
    {"round_mode", ops::AttrKind::kString},
    {"saturate", ops::AttrKind::kInt},
    {"scale", ops::AttrKind::kFloat},
    {"scales", ops::AttrKind::kFloats},
    {"scan_input_axes", ops::AttrKind::kInts},
    {"scan_input_directions", ops::AttrKind::kInts},
    {"scan_output_axes", ops::AttrKind::kInts},
    {"scan_output_directions", ops::AttrKind::kInts},
    {"select_last_index", ops::AttrKind::kInt},
    {"shape", ops::AttrKind::kInts},
    {"size", ops::AttrKind::kInt},
    {"sliding_window_cache", ops::AttrKind::kInt},
    {"smooth_softmax", ops::AttrKind::kInt},
    {"softcap", ops::AttrKind::kFloat},
    {"softmax_precision", ops::AttrKind::kInt},
    {"spatial", ops::AttrKind::kInt},
    {"sparse_value", ops::AttrKind::kTensor},
    {"split", ops::AttrKind::kInts},
    {"start", ops::AttrKind::kInt},
    {"starts", ops::AttrKind::kInts},
    {"stash_type", ops::AttrKind::kInt},
    {"storage_order", ops::AttrKind::kInt},
    {"strides", ops::AttrKind::kInts},
    {"training_mode", ops::AttrKind::kInt},
    {"transA", ops::AttrKind::kInt},
    {"transB", ops::AttrKind::kInt},
    {"transBatchA", ops::AttrKind::kInt},
    {"transBatchB", ops::AttrKind::kInt},
    {"unidirectional", ops::AttrKind::kInt},
    {"upper", ops::AttrKind::kInt},
    {"value", ops::AttrKind::kTensor},
    {"value_float", ops::AttrKind::kFloat},
    {"value_floats", ops::AttrKind::kFloats},
    {"value_int", ops::AttrKind::kInt},
    {"value_ints", ops::AttrKind::kInts},
    {"value_string", ops::AttrKind::kString},
    {"value_strings", ops::AttrKind::kStrings},
};

bool IsOurs(std::string_view op) {
  const auto named = [op](const auto& item) { return item.name == op; };
  return std::any_of(std::begin(kComposites), std::end(kComposites), named) ||
         std::any_of(std::begin(kSteps), std::end(kSteps), named) || ops::FindOnnxOp(op) != nullptr;
}

// kGoOn, or foreign before anything was read.
Result<Outcome> Examine(const SourceOp& op) {
  if (!IsOurs(op.key())) {
    return Outcome::Unknown(
        op.domain.empty() ? "no operator of this name"
                          : Cat("no operator of this name in the domain ", Printable(op.domain)));
  }
  if (!op.odd_attrs.empty()) {
    return Outcome::Foreign(
        Cat("attribute ", Printable(op.odd_attrs[0]), " is of a kind that is not supported"));
  }
  if (op.outputs.empty()) return InvalidArgument("it has no output");
  const ops::OpDef* same = ops::FindOnnxOp(op.key());
  for (const auto& [name, value] : op.attrs.all()) {
    const auto at = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](const auto& k) { return k.name == name; });
    // Composites of ai.onnx.ml check theirs: its names mean other things.
    if (at == std::end(kKinds) || op.domain == "ai.onnx.ml") continue;
    const bool number = op.op == "Pad" && name == "value";  // a number in opsets before 11
    ops::AttrKind kind = number ? ops::AttrKind::kFloat : at->kind;
    // activation_alpha is a list of an LSTM and a number of FusedGemm: the operator's own word
    // goes.
    if (same != nullptr) {
      for (const ops::AttrDef& d : same->attrs) {
        if (d.name == name && !number) kind = d.kind;
      }
    }
    if (value.index() != static_cast<std::size_t>(kind)) {
      return InvalidArgument(
          Cat("attribute ", name, " holds a value of another kind than ", op.op, " has"));
    }
  }
  return Outcome::GoOn();
}

}  // namespace

Result<Outcome> Convert(Emitter& e) {
  NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, Examine(e.op));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  NPUKIT_ASSIGN_OR_RETURN(outcome, Upgrade(e));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  for (const Composite& c : kComposites) {
    if (c.name == e.op.key()) return c.import(e);
  }
  const ops::OpDef* def = ops::FindOnnxOp(e.op.key());
  if (def == nullptr) return Outcome::Unknown(Cat("no operator of this name (was ", e.op.op, ")"));
  for (const auto& [name, value] : e.op.attrs.all()) {
    const bool known = std::any_of(def->attrs.begin(), def->attrs.end(),
                                   [&](const auto& d) { return d.name == name; });
    if (!known) return Outcome::Foreign(Cat("attribute ", Printable(name), " is not supported"));
  }
  if (def->outputs >= 0 && e.op.outputs.size() > static_cast<std::size_t>(def->outputs)) {
    return Outcome::Foreign(Cat("it has ", e.op.outputs.size(), " outputs that are read"));
  }
  if (!e.op.bodies.empty()) {
    return Outcome::Foreign(Cat("attribute ", Printable(e.op.bodies[0].first),
                                " holds a graph, which it does not take"));
  }
  NPUKIT_RETURN_IF_ERROR(e.EmitAll(*def, e.op.attrs, e.op.inputs, e.op.outputs));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx

namespace npukit::importers {

std::vector<OnnxName> OnnxNames() {
  std::map<std::string_view, OnnxName> names;
  for (const ops::OpDef* def : ops::AllOps()) {
    const std::string_view name = def->foreign.onnx;
    if (!name.empty()) names[name] = {name, false, def->name, {}};
  }
  for (const onnx::Composite& c : onnx::kComposites) {
    names[c.name].name = c.name;
    names[c.name].composite = true;
  }
  for (const onnx::Step& s : onnx::kSteps) {
    const auto at = names.find(s.name);
    if (at != names.end()) at->second.upgraded_below.push_back(s.below);
    if (at == names.end() && s.name != "*") names[s.name] = {s.name, true, {}, {s.below}};
  }
  std::vector<OnnxName> sorted;
  for (auto& [name, entry] : names) sorted.push_back(std::move(entry));
  return sorted;
}

}  // namespace npukit::importers
