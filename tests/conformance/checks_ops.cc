// Every tests/ops/*.case, lowered, loaded, run and compared with its expected values, which come
// from outside.
//
// A case is run as models mostly have it, with the first input given at run time and the others
// constants (the first too where the shape depends on its value); and, where the device accepts
// that too, with every input given at run time. A node that the device refuses as it stands
// (channels first, say) is asked again after the passes, as `compile` would.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "harness.h"
#include "ops/op_def.h"
#include "passes/pass.h"
#include "testing/cases.h"

namespace npukit::conformance {
namespace {

using tensor::DType;
using tensor::Value;
using testing::OpCase;
using testing::Tolerance;

constexpr double kHalfMax = 65504;

// The case as a graph of one node. Fails where the shape cannot be known without the inputs'
// values.
enum class Given { kNone, kFirst, kAll };  // at run time
Result<ir::Graph> CaseGraph(const OpCase& c, Given given) {
  ir::Graph g;
  ir::Node n;
  n.op = c.op;
  n.name = c.name;
  n.attrs = c.attrs;
  n.epilogue = c.epilogue;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const Value& v = c.inputs[i];
    if (!v.present()) {
      n.inputs.push_back(ir::kNoValue);
    } else if (given == Given::kAll || (given == Given::kFirst && i == 0)) {
      n.inputs.push_back(g.AddValue(Cat("in", i), v.type()));
      g.inputs.push_back(n.inputs.back());
    } else {
      n.inputs.push_back(g.AddConstant(Cat("const", i), v));
    }
  }
  for (std::size_t i = 0; i < c.outputs.size(); ++i)
    n.outputs.push_back(g.AddValue(Cat("out", i), {}));
  g.outputs = n.outputs;
  n.from = {0};
  g.source_nodes.push_back({c.name, std::string(c.op->foreign.onnx)});
  NPUKIT_RETURN_IF_ERROR(g.AddNode(std::move(n)).status());
  NPUKIT_RETURN_IF_ERROR(ir::Verify(g));
  for (const ir::ValueId id : g.outputs) {
    if (!g.value(id).type.is_static()) return Unsupported("the shape depends on an input's value");
  }
  return g;
}

// The largest finite magnitude among inputs and expected values.
double Magnitude(const OpCase& c) {
  double m = 0;
  for (const auto* values : {&c.inputs, &c.outputs}) {
    for (const Value& v : *values) {
      if (!v.present() || !tensor::IsFloat(v.dtype())) continue;
      for (std::int64_t i = 0; i < v.count(); ++i) {
        const double x = std::abs(tensor::ElementAsDouble(v, i));
        if (std::isfinite(x)) m = std::max(m, x);
      }
    }
  }
  return m;
}

// README.md says why for fp16.
Tolerance ToleranceOn(const Subject& s, const OpCase& c) {
  if (s.lowering->precision() != compile::Precision::kFp16 ||
      !tensor::IsFloat(c.outputs[0].dtype()))
    return c.tolerance;
  if (c.tolerance.absolute == 0 && c.tolerance.relative == 0) return {0x1p-25, 0x1p-11};
  return {std::max(c.tolerance.absolute, 0x1p-8 * std::max(1.0, Magnitude(c))),
          std::max(c.tolerance.relative, 0x1p-8)};
}

bool DeviceType(const Value& v) {
  return !v.present() || (v.is_tensor() && v.dtype() != DType::kString);
}

Outcome RunGraph(const Subject& s, const OpCase& c, const ir::Graph& g) {
  auto program = LoadGraph(s, g, true);
  CONFORM_OK(program.status());
  std::vector<Value> inputs;
  for (const Value& v : c.inputs) {
    if (v.present() && inputs.size() < g.inputs.size()) inputs.push_back(v);
  }
  Run run;
  CONFORM_OK(run.Fill(**program, inputs));
  CONFORM_OK(Execute(**program, run.work));
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    auto got = run.Output(i);
    CONFORM_OK(got.status());
    CONFORM_OK(
        testing::SameValue(*got, c.outputs[i], ToleranceOn(s, c)).WithContext(Cat("output ", i)));
  }
  return Outcome::Pass();
}

// Of the first node that the device refuses; supported when there is none.
target::Verdict Ask(const Subject& s, const ir::Graph& g) {
  for (const ir::Node& n : g.nodes) {
    target::Verdict v = s.lowering->Supports(g, n, s.profile);
    if (!v.supported) return v;
  }
  return {};
}

Outcome Try(const Subject& s, const OpCase& c, ir::Graph graph) {
  const target::Verdict first = Ask(s, graph);
  if (first.supported) return RunGraph(s, c, graph);
  if (first.code.empty() || first.reason.empty())
    return Outcome::Fail("a verdict without code or reason");
  CONFORM_OK(passes::RunPasses(graph, s.profile, {}, nullptr));
  const target::Verdict second = Ask(s, graph);
  if (second.supported) return RunGraph(s, c, graph);
  Outcome o = Outcome::Refused(Cat(second.code, ": ", second.reason));
  o.code = second.code;
  return o;
}

Outcome RunCase(const Subject& s, const OpCase& c) {
  if (s.lowering->precision() == compile::Precision::kFp16 && Magnitude(c) > kHalfMax) {
    return Outcome::Pass();  // no fp16 device can hold these values
  }
  auto graph = CaseGraph(c, Given::kFirst);
  if (graph.status().code() == Code::kUnsupported) graph = CaseGraph(c, Given::kNone);
  CONFORM_OK(graph.status());
  if (Outcome o = Try(s, c, std::move(*graph)); o.kind != Outcome::Kind::kPass) return o;
  if (c.inputs.size() < 2) return Outcome::Pass();
  auto all = CaseGraph(c, Given::kAll);
  if (!all.ok()) return Outcome::Pass();
  Outcome o = Try(s, c, std::move(*all));
  if (o.kind == Outcome::Kind::kRefused) return Outcome::Pass();
  if (o.kind == Outcome::Kind::kFail) o.why = Cat("with every input given at run time: ", o.why);
  return o;
}

}  // namespace

std::vector<Check> OpsChecks(std::vector<Status>& problems) {
  std::vector<Check> checks;
  for (const ops::OpDef* op : ops::AllOps()) {
    if (op->control) continue;  // no device sees it
    auto cases = testing::ReadCases(*op, NPUKIT_SOURCE_DIR "/tests/ops");
    if (!cases.ok()) {
      problems.push_back(cases.status());
      continue;
    }
    for (const OpCase& c : *cases) {
      if (!c.refused.empty())
        continue;  // the compiler's shape inference refuses it: there is nothing to run
      if (!std::all_of(c.inputs.begin(), c.inputs.end(), DeviceType)) continue;
      if (!std::all_of(c.outputs.begin(), c.outputs.end(), DeviceType)) continue;
      checks.push_back({.name = Cat("OpsTest.", op->name, "_", c.name),
                        .run = [c](const Subject& s) { return RunCase(s, c); },
                        .op = std::string(op->name)});
    }
  }
  return checks;
}

}  // namespace npukit::conformance
