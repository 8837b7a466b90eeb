// Scan as a loop: each iteration gathers its slices of the scanned inputs, which the loop captures
// whole.
#include <limits>

#include "importers/onnx/composites/bodies.h"
#include "ir/control.h"

namespace npukit::importers::onnx {
namespace {

constexpr ops::Ints::value_type kReverse = 1;

struct Scan {
  Body body;
  std::size_t states = 0;
  std::vector<ir::ValueId> initial;
  std::vector<ir::ValueId> scanned;
  ops::Ints axes;      // of the scanned inputs
  ops::Ints reversed;  // likewise: 0 or 1
  std::size_t results() const { return body.graph->outputs.size() - states; }
};

// A list attribute with one entry for each of `count`, zeros where it is absent.
Result<ops::Ints> PerItem(const Emitter& e, std::string_view name, std::size_t count) {
  const ops::Ints list = e.op.attrs.IntList(name, ops::Ints(count, 0));
  if (list.size() != count) {
    return InvalidArgument(
        Cat("attribute ", name, ": expected ", count, " numbers, found ", list.size()));
  }
  return list;
}

Result<ops::Ints> Directions(const Emitter& e, std::string_view name, std::size_t count) {
  NPUKIT_ASSIGN_OR_RETURN(ops::Ints list, PerItem(e, name, count));
  for (const std::int64_t d : list) {
    if (d != 0 && d != kReverse)
      return InvalidArgument(Cat("attribute ", name, ": expected 0 or 1, found ", d));
  }
  return list;
}

// `first`: how many inputs come before the states.
Result<Scan> ReadScan(const Emitter& e, std::size_t first) {
  Scan s;
  NPUKIT_ASSIGN_OR_RETURN(s.body, FindBody(e, ir::kBody));
  const std::int64_t count = e.op.attrs.Int("num_scan_inputs", 0);
  const std::size_t given = e.op.inputs.size() < first ? 0 : e.op.inputs.size() - first;
  if (count < 1 || static_cast<std::uint64_t>(count) > given) {
    return InvalidArgument(
        Cat("attribute num_scan_inputs is ", count, ", found ", given, " inputs to scan"));
  }
  s.states = given - static_cast<std::size_t>(count);
  if (s.body.declared != given) {
    return InvalidArgument(Cat("its body has ", s.body.declared, " inputs, expected ", given));
  }
  const std::size_t outputs = s.body.graph->outputs.size();
  if (outputs < s.states || e.op.outputs.size() > outputs) {
    return InvalidArgument(Cat("its body has ", outputs, " outputs, expected ", s.states,
                               " states or more, and the node has ", e.op.outputs.size()));
  }
  for (std::size_t i = first; i < e.op.inputs.size(); ++i) {
    if (!e.has(i)) return InvalidArgument(Cat("input ", i, " is absent"));
    (i - first < s.states ? s.initial : s.scanned).push_back(e.op.inputs[i]);
  }
  return s;
}

// From [states, slices, captures] -> [states, results] to the body of a loop over [iteration, cond,
// states, captures, scanned inputs].
std::shared_ptr<ir::Graph> LoopBody(const Scan& s, const std::string& name) {
  auto body = std::make_shared<ir::Graph>(*s.body.graph);
  BodyBuilder b(*body, name);
  const ir::ValueId iteration = b.Iteration();
  const ir::ValueId cond = b.Condition();
  const auto states = static_cast<std::ptrdiff_t>(s.states);
  const auto slices = static_cast<std::ptrdiff_t>(s.scanned.size());
  const std::vector<ir::ValueId> old = body->inputs;
  std::vector<ir::ValueId> inputs = {iteration, cond};
  inputs.insert(inputs.end(), old.begin(), old.begin() + states);
  inputs.insert(inputs.end(), old.begin() + states + slices, old.end());
  for (std::size_t i = 0; i < s.scanned.size(); ++i) {
    ir::ValueId index = iteration;
    if (s.reversed[i] != 0) {  // -1, -2, ...: from the back
      index = b.Value();
      b.Before(op::sub, {b.Int64s({}, {-1}), iteration}, index);
    }
    const ir::ValueId whole = b.Value();
    b.Before(op::gather, {whole, index}, old[s.states + i], OneInt("axis", s.axes[i]));
    inputs.push_back(whole);
  }
  body->inputs = std::move(inputs);
  body->outputs.insert(body->outputs.begin(), b.Behind(op::identity, {cond}));
  b.Finish();
  return body;
}

ops::Attrs OneDim(std::int64_t axis) {
  ops::Attrs a = OneInt("start", axis);
  if (axis != -1) a.Set("end", axis + 1);
  return a;
}

// Opset 8: everything has a batch first, which a second loop runs over.
Result<Outcome> ImportBatched(Emitter& e) {
  if (e.has(0)) {
    return Outcome::Foreign("sequence_lens is given",
                            "scan sequences of one length, or export with opset 9 or later");
  }
  NPUKIT_ASSIGN_OR_RETURN(Scan s, ReadScan(e, 1));
  s.axes.assign(s.scanned.size(), 0);
  NPUKIT_ASSIGN_OR_RETURN(s.reversed, Directions(e, "directions", s.scanned.size()));
  auto outer = std::make_shared<ir::Graph>();
  outer->name = s.body.graph->name;
  BodyBuilder b(*outer, e.op.name);
  const ir::ValueId iteration = b.Iteration();
  const ir::ValueId cond = b.Condition();
  outer->inputs = {iteration, cond};
  std::vector<ir::ValueId> captures;
  for (std::size_t i = 0; i < s.body.captures.size(); ++i) captures.push_back(b.Value());
  Append(&outer->inputs, captures);
  std::vector<ir::ValueId> of_batch;  // states, then scanned inputs
  for (std::size_t i = 0; i < s.initial.size() + s.scanned.size(); ++i) {
    outer->inputs.push_back(b.Value());
    of_batch.push_back(b.Behind(op::gather, {outer->inputs.back(), iteration}, OneInt("axis", 0)));
  }
  const ir::ValueId trips = b.Behind(op::shape, {of_batch[s.states]}, OneDim(0));
  ir::Node loop;
  loop.op = &op::loop;
  loop.name = e.op.name;
  loop.attrs = OneInt("carried", static_cast<std::int64_t>(s.states));
  loop.inputs = {trips, ir::kNoValue};
  const auto states = of_batch.begin() + static_cast<std::ptrdiff_t>(s.states);
  loop.inputs.insert(loop.inputs.end(), of_batch.begin(), states);
  Append(&loop.inputs, captures);
  loop.inputs.insert(loop.inputs.end(), states, of_batch.end());
  for (std::size_t i = 0; i < s.body.graph->outputs.size(); ++i) loop.outputs.push_back(b.Value());
  loop.bodies = {{ir::kBody, LoopBody(s, e.op.name)}};
  outer->outputs = loop.outputs;
  outer->nodes.push_back(std::move(loop));
  outer->outputs.insert(outer->outputs.begin(), b.Behind(op::identity, {cond}));

  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId batches, e.Emit(op::shape, OneDim(0), {s.scanned[0]}));
  std::vector<ir::ValueId> inputs = {batches, ir::kNoValue};
  Append(&inputs, s.body.captures);
  Append(&inputs, s.initial);
  Append(&inputs, s.scanned);
  NPUKIT_RETURN_IF_ERROR(e.EmitAll(op::loop, OneInt("carried", 0), std::move(inputs),
                                   AllOutputs(e, s.body.graph->outputs.size()),
                                   {{ir::kBody, outer}}));
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportScan(Emitter& e) {
  if (e.op.opset < 9) return ImportBatched(e);
  NPUKIT_ASSIGN_OR_RETURN(Scan s, ReadScan(e, 0));
  NPUKIT_ASSIGN_OR_RETURN(s.axes, PerItem(e, "scan_input_axes", s.scanned.size()));
  NPUKIT_ASSIGN_OR_RETURN(s.reversed, Directions(e, "scan_input_directions", s.scanned.size()));
  NPUKIT_ASSIGN_OR_RETURN(const ops::Ints out_axes, PerItem(e, "scan_output_axes", s.results()));
  NPUKIT_ASSIGN_OR_RETURN(const ops::Ints out_reversed,
                          Directions(e, "scan_output_directions", s.results()));
  std::vector<ir::ValueId> outputs = AllOutputs(e, s.body.graph->outputs.size());
  const std::vector<ir::ValueId> wanted = outputs;
  std::vector<ops::Ints> perms(s.results());
  for (std::size_t i = 0; i < s.results(); ++i) {
    const tensor::Type& row = s.body.graph->value(s.body.graph->outputs[s.states + i]).type;
    if (out_axes[i] != 0) {
      if (!row.shape)
        return Outcome::Foreign(
            Cat("scan_output_axes of output ", s.states + i, ", whose rank is not known"));
      const auto rank = static_cast<std::int64_t>(row.shape->rank()) + 1;
      const std::int64_t axis = out_axes[i] < 0 ? out_axes[i] + rank : out_axes[i];
      if (axis < 0 || axis >= rank) {
        return InvalidArgument(Cat("attribute scan_output_axes: axis ", out_axes[i],
                                   " is outside a result of rank ", rank));
      }
      for (std::int64_t d = 1; d < rank; ++d) perms[i].push_back(d);
      perms[i].insert(perms[i].begin() + axis, 0);
    }
    if (out_axes[i] != 0 || out_reversed[i] != 0) outputs[s.states + i] = e.Fresh();
  }
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId trips,
                          e.Emit(op::shape, OneDim(s.axes[0]), {s.scanned[0]}));
  std::vector<ir::ValueId> inputs = {trips, ir::kNoValue};
  Append(&inputs, s.initial);
  Append(&inputs, s.body.captures);
  Append(&inputs, s.scanned);
  NPUKIT_RETURN_IF_ERROR(e.EmitAll(op::loop, OneInt("carried", static_cast<std::int64_t>(s.states)),
                                   std::move(inputs), outputs,
                                   {{ir::kBody, LoopBody(s, e.op.name)}}));
  for (std::size_t i = 0; i < s.results(); ++i) {
    ir::ValueId from = outputs[s.states + i];
    const ir::ValueId to = wanted[s.states + i];
    if (out_reversed[i] != 0) {
      const ir::ValueId turned = perms[i].empty() ? to : e.Fresh();
      NPUKIT_RETURN_IF_ERROR(
          e.Emit(op::slice, {},
                 {from, e.Int64s({-1}), e.Int64s({std::numeric_limits<std::int64_t>::min()}),
                  e.Int64s({0}), e.Int64s({-1})},
                 turned));
      from = turned;
    }
    if (perms[i].empty()) continue;
    ops::Attrs perm;
    perm.Set("perm", perms[i]);
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::transpose, std::move(perm), {from}, to));
  }
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
