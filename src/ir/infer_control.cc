// Types of if_else and loop: those of their bodies, inferred with the types of what they read. A
// branch of a known condition counts alone. A loop's carried values may change their sizes from one
// iteration to the next: the body is inferred again with what is common to all iterations, until
// that is stable.
#include "ir/infer_control.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "ir/control.h"
#include "ir/node.h"
#include "ops/kinds.h"

namespace npukit::ir {
namespace {

using ops::JoinTypes;
using ops::OfAnyShape;
using tensor::DType;
using tensor::Type;
using tensor::Value;

constexpr int kMaxRounds = 3;        // with sizes; then carried values may have any shape
constexpr int kMaxPreciseLoops = 2;  // loops in loops that are inferred more than once
constexpr std::int64_t kMuchWork = 200'000;
constexpr std::int64_t kTooMuchWork = 1'000'000;

// One number, as loops and conditions read it. False: not known.
bool KnownBool(const Value* v, bool* out) {
  if (v == nullptr || !v->is_tensor() || v->count() != 1 || v->dtype() != DType::kBool)
    return false;
  *out = tensor::ElementAsInt64(*v, 0) != 0;
  return true;
}

Status CheckScalar(const Type& t, DType want, std::string_view what) {
  bool fits = t.is_tensor() && (t.dtype == want || t.dtype == DType::kUndefined);
  if (fits && t.is_static()) fits = tensor::ElementCount(t.dims()) == 1;
  if (fits) return OkStatus();
  return InvalidArgument(
      Cat(what, ": expected one ", tensor::DTypeName(want), ", found ", t.ToString()));
}

// A copy of the body with these types of inputs, inferred.
Result<std::shared_ptr<Graph>> InferBody(const Graph& body, const std::vector<Type>& types,
                                         std::span<const Value* const> known, Effort& effort,
                                         std::string_view name, std::vector<Value>* results) {
  if (effort.depth >= kMaxBodyDepth)
    return ResourceExhausted(Cat("graphs nested deeper than ", kMaxBodyDepth));
  auto g = std::make_shared<Graph>(body);
  for (std::size_t i = 0; i < types.size(); ++i) {
    Type& t = g->value(g->inputs[i]).type;
    // Where nothing is known outside, the file's element type is taken; its sizes may be wrong.
    t = types[i] == Type{} ? OfAnyShape(t) : types[i];
  }
  ++effort.depth;
  const Status s = InferGraph(*g, known, effort, results);
  --effort.depth;
  if (!s.ok()) return s.WithContext(Cat("body ", name));
  return g;
}

std::vector<Type> TypesOf(const Graph& g, std::span<const ValueId> ids) {
  std::vector<Type> types;
  for (const ValueId id : ids) types.push_back(g.value(id).type);
  return types;
}

void SetTypes(Graph& g, const Node& n, std::vector<Type> types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    Type& t = g.value(n.outputs[i]).type;
    t = KeepNames(std::move(types[i]), t);
  }
}

Status InferIf(Graph& g, Node& n, std::span<const Value* const> constants, Effort& effort,
               std::vector<Value>* results) {
  NPUKIT_ASSIGN_OR_RETURN(const IfForm form, ReadIf(n));
  NPUKIT_RETURN_IF_ERROR(CheckScalar(g.value(n.inputs[0]).type, DType::kBool, "cond"));
  bool cond = false;
  const bool known = KnownBool(constants[0], &cond);
  std::vector<Type> types[2];
  bool fits[2] = {true, true};
  Status failed;
  for (const bool then : {true, false}) {
    if (known && then != cond) continue;
    const std::size_t at = then ? 0 : 1;
    const auto captures = then ? form.then_captures : form.else_captures;
    const std::size_t first = then ? 1 : 1 + form.then_captures.size();
    auto body = InferBody(then ? *form.then_branch : *form.else_branch, TypesOf(g, captures),
                          constants.subspan(first, captures.size()), effort, n.bodies[at].first,
                          known ? results : nullptr);
    if (!body.ok()) {
      // A branch for inputs of another rank or size: what it cannot do is an error when it is
      // taken. The other one must fit.
      if (known || !failed.ok() || body.status().code() != Code::kInvalidArgument)
        return failed.ok() ? body.status() : failed;
      failed = body.status();
      fits[at] = false;
      continue;
    }
    n.bodies[at].second = std::move(body).value();
    types[at] = TypesOf(*n.bodies[at].second, n.bodies[at].second->outputs);
  }
  if (!known && fits[0] && fits[1]) {
    for (std::size_t i = 0; i < n.outputs.size(); ++i) {
      auto both = JoinTypes(types[0][i], types[1][i]);
      if (!both.ok())
        return both.status().WithContext(Cat("output ", i, " of then_branch and else_branch"));
      types[0][i] = std::move(both).value();
    }
  }
  const bool of_else = known ? !cond : !fits[0];
  SetTypes(g, n, std::move(types[of_else ? 1 : 0]));
  return OkStatus();
}

// Whether the body hands on its condition, or says true itself: then only the count ends the loop.
bool NeverStops(const Graph& body) {
  ValueId id = body.outputs[0];
  for (std::size_t i = body.nodes.size(); i-- > 0;) {
    const Node& n = body.nodes[i];
    if (n.op == &op::identity && n.outputs.size() == 1 && n.outputs[0] == id) id = n.inputs[0];
  }
  bool cond = false;
  return id == body.inputs[1] || (KnownBool(body.constant(id), &cond) && cond);
}

// How many iterations, where that is certain.
std::optional<std::int64_t> Iterations(const LoopForm& form, const Graph& body,
                                       std::span<const Value* const> constants) {
  const Value* trips = constants[0];
  if (trips == nullptr || !trips->is_tensor() || trips->count() != 1 ||
      trips->dtype() != DType::kI64) {
    return std::nullopt;
  }
  const std::int64_t count = std::max<std::int64_t>(tensor::ElementAsInt64(*trips, 0), 0);
  bool cond = true;
  if (form.cond != kNoValue && !KnownBool(constants[1], &cond)) return std::nullopt;
  if (!cond || count == 0) return 0;
  return NeverStops(body) ? std::optional(count) : std::nullopt;
}

Type Stacked(const Type& row, std::optional<std::int64_t> rows) {
  Type t = row;
  if (!t.shape) return t;
  t.shape->dims.insert(t.shape->dims.begin(), rows ? tensor::Dim::Of(*rows) : tensor::Dim{});
  return t;
}

// Joins what the body gives into what it was given; true when that is something else. `any_shape`:
// then all of them may have any shape, or values that are handed on from one to the next would open
// one in each round.
Result<bool> Widen(std::vector<Type>* carried, const Graph& body, bool any_shape) {
  bool changed = false;
  for (std::size_t i = 0; i < carried->size(); ++i) {
    Type& t = (*carried)[i];
    auto joined = JoinTypes(t, body.value(body.outputs[1 + i]).type);
    if (!joined.ok()) {
      return joined.status().WithContext(
          Cat("carried value ", i, " before and after an iteration"));
    }
    if (*joined == t) continue;
    changed = true;
    t = std::move(joined).value();
  }
  if (changed && any_shape) {
    for (Type& t : *carried) t = OfAnyShape(t);
  }
  return changed;
}

Status InferLoop(Graph& g, Node& n, std::span<const Value* const> constants, Effort& effort) {
  NPUKIT_ASSIGN_OR_RETURN(const LoopForm form, ReadLoop(n));
  if (form.trip_count != kNoValue) {
    NPUKIT_RETURN_IF_ERROR(
        CheckScalar(g.value(form.trip_count).type, DType::kI64, "trip count (input 0)"));
  }
  if (form.cond != kNoValue)
    NPUKIT_RETURN_IF_ERROR(CheckScalar(g.value(form.cond).type, DType::kBool, "cond (input 1)"));
  std::vector<Type> carried = TypesOf(g, form.initial);
  const std::vector<Type> captured = TypesOf(g, form.captures);
  std::vector<const Value*> known(2 + carried.size(), nullptr);
  known.insert(known.end(), constants.begin() + static_cast<std::ptrdiff_t>(known.size()),
               constants.end());
  const bool brief = effort.loops >= kMaxPreciseLoops || effort.nodes > kMuchWork;
  if (brief) {
    for (Type& t : carried) t = OfAnyShape(t);
  }
  std::shared_ptr<Graph> body;
  for (int round = 0;; ++round) {
    std::vector<Type> types = {Type::Tensor(DType::kI64, tensor::Dims{}),
                               Type::Tensor(DType::kBool, tensor::Dims{})};
    types.insert(types.end(), carried.begin(), carried.end());
    types.insert(types.end(), captured.begin(), captured.end());
    const std::int64_t before = effort.nodes;
    ++effort.loops;
    auto inferred = InferBody(*form.body, types, known, effort, kBody, nullptr);
    --effort.loops;
    if (!inferred.ok()) return inferred.status();
    body = std::move(inferred).value();
    const bool any_shape = round >= kMaxRounds || brief || effort.nodes > kMuchWork;
    NPUKIT_ASSIGN_OR_RETURN(const bool changed, Widen(&carried, *body, any_shape));
    if (!changed) break;
    effort.again += effort.nodes - before;
    if (round > 2 * kMaxRounds || effort.again > kTooMuchWork) {
      return ResourceExhausted(
          Cat("the types of the carried values still change after ", round + 1,
              " iterations; expected at most ", 2 * kMaxRounds, ", and ", kTooMuchWork,
              " nodes of bodies inferred again; give the body's outputs one type"));
    }
  }
  NPUKIT_RETURN_IF_ERROR(CheckScalar(body->value(body->outputs[0]).type, DType::kBool,
                                     "the condition (output 0) of body"));
  std::vector<Type> types = std::move(carried);
  const auto rows = Iterations(form, *body, constants);
  for (std::size_t i = 0; i < form.scanned; ++i) {
    const Type& row = body->value(body->outputs[1 + form.carried + i]).type;
    if (!row.is_tensor()) {
      return InvalidArgument(Cat("scanned output ", i, " is ", row.ToString(),
                                 ", expected a tensor: a sequence must be carried"));
    }
    types.push_back(Stacked(row, rows));
  }
  n.bodies[0].second = std::move(body);
  SetTypes(g, n, std::move(types));
  return OkStatus();
}

}  // namespace

Status InferControl(Graph& g, Node& n, std::span<const Value* const> constants, Effort& effort,
                    std::vector<Value>* results) {
  if (n.op == &op::if_else) return InferIf(g, n, constants, effort, results);
  if (n.op == &op::loop) return InferLoop(g, n, constants, effort);
  return Internal(Cat(n.op->name, " is no operator with known bodies"));
}

}  // namespace npukit::ir
