#include <algorithm>
#include <set>

#include "base/text.h"
#include "compile/emit/emit.h"
#include "lab/compare.h"

namespace npukit::lab {
namespace {

// Values that are handed out or fed go by their number: names need not be unique.
std::string NameOf(ir::ValueId v) { return Cat("value ", v); }

// Runs `g`, placed, once. Gives the values of g.outputs by id.
Result<Values> RunPlaced(const Kit& kit, const ir::Graph& g, const compile::Partition& partition,
                         const std::vector<tensor::Value>& inputs, const TapOptions& options) {
  format::Head head;
  head.model_name = g.name;
  head.tool_version = kit.tool;
  head.profile = options.profile;
  for (const ir::ValueId v : g.inputs) head.inputs.push_back({NameOf(v), g.value(v).type});
  for (const ir::ValueId v : g.outputs) head.outputs.push_back({NameOf(v), g.value(v).type});
  format::PackageWriter writer;
  compile::LowerOptions lower;
  lower.progress = kit.progress;
  NPUKIT_ASSIGN_OR_RETURN(
      format::Program program,
      compile::EmitProgram(g, partition, options.profile, kit.lowerings, lower, writer));
  const std::string devices = program.devices;
  head.programs.push_back(std::move(program));
  auto bytes = std::make_shared<std::vector<std::byte>>();
  NPUKIT_ASSIGN_OR_RETURN(*bytes, writer.ToBytes(std::move(head)));
  NPUKIT_ASSIGN_OR_RETURN(const auto package, format::Package::FromBytes(*bytes, bytes));
  runtime::SessionOptions session_options;
  NPUKIT_ASSIGN_OR_RETURN(session_options.device,
                          runtime::DeviceSpec::Parse(Cat("HETERO:", devices)));
  session_options.threads = options.threads;
  session_options.profile = options.profile;
  NPUKIT_ASSIGN_OR_RETURN(const auto session,
                          runtime::Session::Open(package, session_options, kit.open_device));
  NPUKIT_ASSIGN_OR_RETURN(const auto request, session->NewRequest());
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const tensor::Value& v = inputs[i];
    NPUKIT_RETURN_IF_ERROR(
        request->BindInput(NameOf(g.inputs[i]), v.dtype(), v.dims(), v.data(), v.byte_size()));
  }
  Values values(g.values.size());
  for (const ir::ValueId v : g.outputs) {
    const tensor::Type& type = g.value(v).type;
    NPUKIT_ASSIGN_OR_RETURN(values[v], tensor::Value::Allocate(type.dtype, type.dims()));
    NPUKIT_RETURN_IF_ERROR(
        request->BindOutput(NameOf(v), values[v].mutable_data(), values[v].byte_size()));
  }
  NPUKIT_RETURN_IF_ERROR(request->Run());
  return values;
}

}  // namespace

Result<Values> RunTapped(const Kit& kit, const ir::Graph& g, const compile::Partition& partition,
                         const std::vector<tensor::Value>& inputs, const TapOptions& options) {
  if (g.nodes.empty()) return Values(g.values.size());
  ir::Graph tapped = g;
  std::set<ir::ValueId> wanted;
  for (const ir::Node& n : g.nodes) wanted.insert(n.outputs.begin(), n.outputs.end());
  wanted.erase(ir::kNoValue);
  tapped.outputs.assign(wanted.begin(), wanted.end());
  return RunPlaced(kit, tapped, partition, inputs, options);
}

Result<Values> RunApart(const Kit& kit, const ir::Graph& g, const compile::Partition& partition,
                        const Values& reference, const TapOptions& options) {
  if (g.nodes.empty()) return Values(g.values.size());
  // The same nodes, in their places, but what a node reads comes from outside: a twin of the value.
  ir::Graph apart = g;
  apart.inputs.clear();
  apart.outputs.clear();
  std::vector<tensor::Value> fed;
  std::map<ir::ValueId, ir::ValueId> twins;
  for (ir::Node& n : apart.nodes) {
    for (ir::ValueId& v : n.inputs) {
      if (v == ir::kNoValue || g.is_constant(v)) continue;
      const auto [it, added] = twins.try_emplace(v, ir::kNoValue);
      if (added) {
        if (!reference[v].present()) {
          return Internal(Cat("value ", Printable(g.value(v).name), " has no reference"));
        }
        it->second = apart.AddValue(g.value(v).name, g.value(v).type);
        apart.inputs.push_back(it->second);
        fed.push_back(reference[v]);
      }
      v = it->second;
    }
    for (const ir::ValueId v : n.outputs) {
      if (v != ir::kNoValue) apart.outputs.push_back(v);
    }
  }
  // One segment per device: nodes no longer wait for each other.
  compile::Partition gathered;
  gathered.verdicts = partition.verdicts;
  std::vector<int> moved;  // segment before: segment now
  for (const compile::Segment& s : partition.segments) {
    const auto same = std::find_if(gathered.segments.begin(), gathered.segments.end(),
                                   [&](const compile::Segment& o) { return o.device == s.device; });
    moved.push_back(static_cast<int>(same - gathered.segments.begin()));
    if (same == gathered.segments.end()) {
      gathered.segments.push_back(s);
    } else {
      same->nodes.insert(same->nodes.end(), s.nodes.begin(), s.nodes.end());
    }
  }
  for (target::Verdict& v : gathered.verdicts) {
    if (v.segment >= 0) v.segment = moved[static_cast<std::size_t>(v.segment)];
  }
  return RunPlaced(kit, apart, gathered, fed, options);
}

}  // namespace npukit::lab
