// Devices of paper for the tests of this folder: supports, costs and hand-overs are what the test
// says.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/hash.h"
#include "compile/lowering.h"

namespace npukit::compile {

class FakeLowering : public Lowering {
 public:
  std::string name = "cpu";
  std::string kind = "CPU";
  Precision computes_in = Precision::kFp32;
  std::function<bool(const ir::Node&)> can = [](const ir::Node&) { return true; };
  std::function<double(const ir::Node&)> cost_ns = [](const ir::Node&) { return 1000.0; };
  double hand_over_ns = 0;
  mutable std::size_t most_nodes_priced = 0;  // in the graphs that Cost was given
  std::function<double(const ir::Graph&)> lowered_ns = [](const ir::Graph& g) {
    return 1000.0 * static_cast<double>(g.nodes.size());
  };

  std::string_view device() const override { return name; }
  std::string_view device_class() const override { return kind; }
  Precision precision() const override { return computes_in; }
  target::Verdict Supports(const ir::Graph&, const ir::Node& n,
                           const target::Profile&) const override {
    target::Verdict v;
    v.op = std::string(n.op->name);
    v.device = kind;
    v.supported = can(n);
    if (!v.supported) v.code = "kernel_too_large";
    return v;
  }
  target::Estimate Cost(const ir::Graph& g, const ir::Node& n,
                        const target::Profile&) const override {
    most_nodes_priced = std::max(most_nodes_priced, g.nodes.size());
    target::Estimate e;
    e.time_ns = cost_ns(n);
    return e;
  }
  target::Estimate BoundaryCost(const tensor::Type&, const target::Profile&) const override {
    target::Estimate e;
    e.time_ns = hand_over_ns;
    return e;
  }
  // A blob that names the segment's nodes; its constants as weights.
  Result<Lowered> Lower(const ir::Graph& g, const target::Profile&,
                        const LowerOptions&) const override {
    Lowered l;
    std::string text = kind;
    for (const ir::Node& n : g.nodes) text += " " + n.name;
    for (char c : text) l.blob.push_back(static_cast<std::byte>(c));
    for (const ir::ValueInfo& v : g.values) {
      if (!v.constant) continue;
      LoweredWeight w;
      w.layout = "raw";
      w.kept = KeepBytes({v.constant->bytes().begin(), v.constant->bytes().end()});
      w.hash = Hash64(w.kept.bytes);
      l.weights.push_back(std::move(w));
    }
    l.estimate.time_ns = lowered_ns(g);
    return l;
  }
};

// A CPU at 1000 ns a node, and an NPU made by `make`.
inline LoweringList FakeDevices(const std::function<void(FakeLowering&)>& make) {
  auto npu = std::make_shared<FakeLowering>();
  npu->name = "npu_sim";
  npu->kind = "NPU";
  npu->computes_in = Precision::kFp16;
  npu->cost_ns = [](const ir::Node&) { return 100.0; };
  make(*npu);
  return {std::make_shared<FakeLowering>(), npu};
}

inline target::Profile FakeChip(double launch_us) {
  target::Profile p;
  p.name = "chip";
  p.facts["npu.model"].value = std::string("paper");
  p.facts["npu.inference_fixed_us"].value = launch_us;
  return p;
}

}  // namespace npukit::compile
