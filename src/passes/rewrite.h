// What passes share: editing a graph while knowing who makes and who reads each value, and asking
// about constants.
//
// A Rewriter keeps `Uses` true through its edits. Nodes keep their slot (index) until Finish, so a
// pass may walk slots forwards while it edits; erased slots are skipped with `alive`. Fusing puts
// the result into the *reader's* slot: there all operands are already made, so the order stays
// topological.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace npukit::passes {

class Rewriter {
 public:
  explicit Rewriter(ir::Graph& g);

  ir::Graph& graph() { return g_; }
  std::size_t slots() const { return g_.nodes.size(); }
  bool alive(std::size_t slot) const { return alive_[slot]; }
  const ir::Node& node(std::size_t slot) const { return g_.nodes[slot]; }

  // The slot that makes `id`; nullopt for inputs, constants and absent values.
  std::optional<std::size_t> Producer(ir::ValueId id) const;
  // The node that makes `id` when its operator is `op`; null otherwise.
  const ir::Node* ProducerNode(ir::ValueId id, const ops::OpDef& op) const;
  // Read exactly once, and neither a graph's nor a state's output: whoever reads it may swallow its
  // producer.
  bool SingleUse(ir::ValueId id) const;

  // The slot of its one reader; nullopt unless SingleUse.
  std::optional<std::size_t> OnlyReader(ir::ValueId id) const;

  // Puts `n` in place of the node in `slot` and infers its output types.
  Status Replace(std::size_t slot, ir::Node n);
  void Erase(std::size_t slot);
  // Makes every reader of the slot's (only) output read `with` instead and erases the slot. False,
  // and nothing done, where the output is the graph's and `with` cannot take its name.
  bool Bypass(std::size_t slot, ir::ValueId with);
  // The node in `slot` now does the work of those that made `ids`: what nobody reads any more is
  // erased, backwards, and its origin becomes the node's. What others read stays.
  void Absorb(std::size_t slot, const std::vector<ir::ValueId>& ids);
  // Takes out the erased slots.
  void Finish();

 private:
  void Link(std::size_t slot);
  void Unlink(std::size_t slot);

  ir::Graph& g_;
  ir::Uses uses_;
  std::vector<bool> alive_;
};

// What a fused node came from: the union, sorted.
void MergeFrom(ir::Node& into, const ir::Node& other);

// One-output node with the outputs, name and origin of `like`.
ir::Node NodeLike(const ir::Node& like, const ops::OpDef& op, std::vector<ir::ValueId> inputs,
                  ops::Attrs attrs = {});

// Attributes of a reshape to exactly these sizes: a 0 among them is a size, not "as before".
ops::Attrs ReshapeTo(const tensor::Dims& dims);

// The number when `id` is an fp32 constant of one element (any rank), so that broadcasting it never
// changes a shape of rank `rank` or more.
std::optional<float> ScalarConstant(const ir::Graph& g, ir::ValueId id);

// A binary node seen as "x with a constant": the constant side may be either.
struct WithConstant {
  ir::ValueId x = ir::kNoValue;
  ir::ValueId constant = ir::kNoValue;
  bool constant_first = false;
};
std::optional<WithConstant> MatchWithConstant(const ir::Graph& g, const ir::Node& n);

// Both static and equal.
bool SameStaticShape(const tensor::Type& a, const tensor::Type& b);

ir::ValueId AddInt64s(ir::Graph& g, std::string name, const std::vector<std::int64_t>& v);
std::string NameOf(const ir::Graph& g, ir::ValueId id, std::string_view suffix);

}  // namespace npukit::passes
