// One node of the file on its way to ours, and what upgrade steps and composites may do with it.
// Inside importers/onnx only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace npukit::importers::onnx {

struct SourceOp {
  std::string op;      // "Conv"
  std::string domain;  // "" is ONNX's own
  std::string name;    // given or made up
  std::int64_t opset = 0;
  std::uint32_t from = 0;              // index in source_nodes
  ops::Attrs attrs;                    // under ONNX's names
  std::vector<std::string> odd_attrs;  // names of attributes that Attrs cannot hold
  std::vector<ir::ValueId> inputs;     // trailing absent ones are dropped
  std::vector<ir::ValueId> outputs;    // trailing ones that nobody reads are dropped
  std::size_t declared_outputs = 0;    // those in the file, dropped ones too
  std::vector<std::pair<std::string, std::shared_ptr<ir::Graph>>> bodies;
  // What the bodies read of this graph, body after body: each body's last inputs stand for its own.
  std::vector<ir::ValueId> captures;
  std::vector<std::size_t> captured;  // how many of them are of each body
  // "Conv", "com.microsoft:FusedMatMul": as OpDef::foreign spells it.
  std::string key() const { return domain.empty() ? op : domain + ":" + op; }
};

// What became of a node: done (our nodes stand for it), go on (it was changed in place), or foreign
// for a reason: npukit has no such operator (kUnknown), or has it but not in this form (kForeign;
// then `remedy` says what to do).
struct Outcome {
  enum class Kind { kDone, kGoOn, kUnknown, kForeign } kind = Kind::kDone;
  std::string why;
  std::string remedy;
  static Outcome Done() { return {Kind::kDone, {}, {}}; }
  static Outcome GoOn() { return {Kind::kGoOn, {}, {}}; }
  static Outcome Unknown(std::string why) { return {Kind::kUnknown, std::move(why), {}}; }
  static Outcome Foreign(std::string why,
                         std::string remedy = "export it in a form that src/ops/README.md lists") {
    return {Kind::kForeign, std::move(why), std::move(remedy)};
  }
};

// Adds our nodes in place of a SourceOp. Values that follow from constants alone are worked out on
// the way, so that limits, axes and shapes computed by a few nodes count as constants.
class Emitter {
 public:
  explicit Emitter(ir::Graph& g) : g_(g) {}

  SourceOp op;  // the node at hand

  bool has(std::size_t input) const {
    return input < op.inputs.size() && op.inputs[input] != ir::kNoValue;
  }
  // Null when absent or not known. Good until the next node or value is added.
  const tensor::Value* Constant(std::size_t input) const;
  std::optional<std::size_t> Rank(std::size_t input) const;
  // Of an absent input: nothing is known. By value: emitting a node moves what the graph holds.
  tensor::Type Type(std::size_t input) const {
    return has(input) ? g_.value(op.inputs[input]).type : tensor::Type();
  }
  ir::ValueId input(std::size_t i) const { return has(i) ? op.inputs[i] : ir::kNoValue; }

  ir::ValueId Int64s(const std::vector<std::int64_t>& v);
  // A scalar of a type that the file chose; kInvalidArgument where that holds no numbers.
  Result<ir::ValueId> Number(tensor::DType t, double x);
  ir::ValueId Fresh() { return g_.AddValue(op.name, {}); }  // for a node to write
  ir::ValueId Add(tensor::Value v) { return g_.AddConstant(op.name, std::move(v)); }
  // Our node, writing the given value or a new one. The status names the node and what does not
  // fit.
  Status Emit(const ops::OpDef& def, ops::Attrs attrs, std::vector<ir::ValueId> inputs,
              ir::ValueId output);
  Result<ir::ValueId> Emit(const ops::OpDef& def, ops::Attrs attrs,
                           std::vector<ir::ValueId> inputs);
  // A node with any number of outputs (and bodies). Fewer outputs than the operator has: the rest
  // get values that nobody reads.
  using Bodies = std::vector<std::pair<std::string, std::shared_ptr<ir::Graph>>>;
  Status EmitAll(const ops::OpDef& def, ops::Attrs attrs, std::vector<ir::ValueId> inputs,
                 std::vector<ir::ValueId> outputs, Bodies bodies = {});
  // Nodes of a graph whose inputs are `inputs` and whose results are `outputs`, in place of `op`.
  Status Splice(const ir::Graph& body, const std::vector<ir::ValueId>& inputs,
                const std::vector<ir::ValueId>& outputs);
  // A value worked out on the way, null when not known.
  const tensor::Value* KnownValue(ir::ValueId id) const {
    if (const tensor::Value* v = g_.constant(id)) return v;
    return id < known_.size() && known_[id] ? &*known_[id] : nullptr;
  }
  // The node's first output is this constant.
  void SetConstant(tensor::Value v);
  // `op` as a node of its own, kept for what it is.
  Status EmitForeign(const Outcome& why);

 private:
  bool TakeWork(const ir::Node& node);  // false: too much was worked out already
  Status Append(ir::Node node);

  ir::Graph& g_;
  std::vector<std::optional<tensor::Value>> known_;  // by ValueId
  double known_work_ = 0;
};

// Attributes `names` of `from`, where present.
ops::Attrs Only(const ops::Attrs& from, std::initializer_list<std::string_view> names);
// The attribute `axes`, or the constant input that newer opsets have instead; nullopt: neither
// given. kForeign outcomes are the caller's: `known` is false when the input is not a constant.
struct Axes {
  bool given = false;
  bool known = true;
  ops::Ints values;
};
Axes ReadAxes(const Emitter& e, std::size_t input);

using StepFn = Result<Outcome> (*)(Emitter& e);
// e.op as our nodes: brought to the newest signature step by step (upgrade.inc), then a composite
// (composites.inc) or the one operator of the same meaning. kForeign: nothing of ours stands for
// it.
Result<Outcome> Convert(Emitter& e);

}  // namespace npukit::importers::onnx
