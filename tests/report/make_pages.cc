// Pages of records as bad as a model can make them, and of a run with more spans than a page shows:
// what test_pages.py looks at in a browser.
#include <cstdio>
#include <string>
#include <vector>

#include "base/env.h"
#include "report/html/pages.h"

namespace npukit::report {
namespace {

// tests/report/test_pages.py knows the first two by heart.
const std::vector<std::string>& HostileNames() {
  static const auto& names = *new std::vector<std::string>{
      "</script><script>document.title='owned'</script>",
      "\"><img src=x onerror=\"document.title='owned'\">",
      "' onmouseover='document.title=1",
      "</style></title><svg onload=document.title=1>",
      "<!-- --!> ]]> &lt;b&gt; &amp;quot;",
      "\u202Eexe.txt\u202C \u200Fright to left",
      "\u05E9\u05DC\u05D5\u05DD \u0645\u0631\u062D\u0628\u0627",
      "\xff\xfe broken \xc0\xaf utf-8 \xed\xa0\x80",
      std::string(10000, 'x'),
      std::string("nul\0and\nnewline\ttab", 19),
      "javascript:document.title=1",
      "\u795E\u7ECF\u7F51\u7EDC",
      "",
  };
  return names;
}

Target SomeTarget() {
  Target t{"kirin9030", {"npu.dispatch_us=7", HostileNames()[0]}, {}};
  for (const char* source : {"assumed", "datasheet", "vendor_api", "measured"}) {
    t.facts.push_back({std::string("npu.") + source, 4.5, "us", source, HostileNames()[1],
                       "2026-11-30", "what it is"});
  }
  t.facts.push_back({"npu.model", std::string(HostileNames()[3]), "", "assumed", "", "", ""});
  return t;
}

std::vector<target::Verdict> Verdicts() {
  std::vector<target::Verdict> verdicts;
  for (const std::string& name : HostileNames()) {
    target::Verdict v;
    v.from = {name, name};
    v.foreign_op = name;
    v.device = "NPU";
    v.supported = false;
    v.code = verdicts.size() % 2 ? "kernel_too_large" : name;
    v.fact = verdicts.size() % 2 ? "npu.op.conv2d.max_kernel" : name;
    v.limit = "7";
    v.found = name;
    v.reason = name;
    v.remedy = name;
    v.rewrite = name;
    v.rewrite_result = name;
    v.placed_on = "CPU";
    verdicts.push_back(v);
  }
  for (int i = 0; i < 40; ++i) {
    target::Verdict v;
    v.from = {"Conv_" + std::to_string(i)};
    v.op = "conv2d";
    v.placed_on = i % 5 ? "NPU" : "folded";
    verdicts.push_back(v);
  }
  return verdicts;
}

// `count` tasks one after the other, each on three queues, `spans` spans a queue and task.
void FillRun(int count, int spans, std::vector<OpRow>* ops, std::vector<target::Span>* all) {
  double at_ms = 0;
  for (int i = 0; i < count; ++i) {
    OpRow o;
    const auto& names = HostileNames();
    o.name = i < static_cast<int>(names.size()) ? names[static_cast<std::size_t>(i)]
                                                : "Conv_" + std::to_string(i) + "+relu";
    o.kind = i % 3 ? "cube" : "vector";
    o.device = i % 7 ? "NPU" : "CPU";
    o.start_ms = at_ms;
    o.ms = 0.001 * (1 + (i * 37) % 91);
    o.share = o.ms;
    o.bound_ms = o.ms / 2;
    o.utilisation = (i * 13 % 100) / 100.0;
    o.macs = i % 3 ? 1e6 : 0;
    o.dram_bytes = 1000.0 * (i * 71 % 113);
    o.energy_mj = 1e-4 * (i + 1);
    for (const char* queue : {"core0/mte2", "core0/cube", "core0/vector"}) {
      for (int k = 0; k < spans; ++k) {
        const double step = o.ms * 1e6 / spans;
        all->push_back(
            {queue, "mmad", at_ms * 1e6 + k * step, 0.6 * step, static_cast<std::uint32_t>(i)});
      }
    }
    at_ms += o.ms;
    ops->push_back(o);
  }
  for (OpRow& o : *ops) o.share = o.ms / at_ms;
}

Check SomeCheck() {
  Check r;
  r.model = "/some/where/" + HostileNames()[0] + ".onnx";
  r.target = SomeTarget();
  r.shapes = {{HostileNames()[1], {1, 3, 48, 320}}};
  r.verdicts = Verdicts();
  r.compute_units = {32, 0, 13, 8, 53};
  r.bytes = r.restored_bytes = 10'000'000;
  r.gate_bytes = 200'000'000;
  return r;
}

Bench SomeBench() {
  Bench r;
  r.model = "model.onnx";
  r.device = "AUTO:NPU,CPU";
  r.device_description = "NPU (simulated kirin9030), CPU avx2";
  r.target = SomeTarget();
  r.program = HostileNames()[1];
  r.kind = target::Kind::kModelled;
  r.latency_ms = Summarise({1.25, 1.25});
  r.wall_ms = Summarise({300, 310.5});
  r.load_ms = Measured(3, "ms");
  r.compile_ms = Measured(4000, "ms");
  r.peak_rss_bytes = r.idle_rss_bytes = Measured(1e8, "B");
  r.throughput_per_s = 800;
  r.energy_mj = Figure{0.42, "mJ", target::Kind::kModelled};
  r.npu_utilisation = Figure{0.31, "1", target::Kind::kModelled};
  r.compute_units = {32, 0, 13, 8, 53};
  r.steps = {{"NPU (simulated kirin9030)", 0, {1.2, "ms", target::Kind::kModelled}, {}},
             {"CPU avx2", 1, {0.05, "ms", target::Kind::kMeasured}, {}}};
  r.verdicts = Verdicts();
  FillRun(60, 300, &r.ops, &r.spans);  // 54000 spans: drawn by task
  Roofline roofline;
  roofline.peak_gflops = 100;
  roofline.read_gbytes_per_s = 10;
  roofline.copy_gbytes_per_s = 8;
  roofline.runs = 5;
  for (const std::string& name : HostileNames()) {
    RoofLine l;
    l.name = name;
    l.op = "conv2d+relu";
    l.kernel = roofline.steps.empty() ? "reference" : "gemm";
    l.shape = "f32[1, 16, 4, 4]";
    l.roof = "compute";
    l.ms = 1.5;
    l.bound_ms = 0.5;
    l.flops = 5e7;
    l.share = 0.2;
    roofline.steps.push_back(l);
  }
  roofline.kernels = {{.name = "gemm", .roof = "compute", .steps = 4, .ms = 6, .bound_ms = 2},
                      {.name = "view", .ms = 0.5}};
  r.roofline = std::move(roofline);
  return r;
}

Explain SomeExplain() {
  Explain r;
  r.model = "model.onnx";
  r.target = SomeTarget();
  r.program = "NPU,CPU fp16 x=1x3x48x320";
  r.devices = "NPU,CPU";
  r.total_ms = 2.5;
  r.energy_mj = 1.5;
  r.compute_bound_ms = 0.6;
  r.memory_bound_ms = 0.4;
  const double ms[] = {0.5, 0.3, 0.25, 0.2, 0.15, 0.1, 0, 1.0};  // add up to 2.5
  for (int i = 0; i < 8; ++i) {
    const std::string code(i < 7 ? target::CauseName(static_cast<target::Cause>(i))
                                 : std::string_view("hardware_bound"));
    r.causes.push_back({code,
                        ms[i],
                        target::Kind::kModelled,
                        ms[i] / 2.5,
                        {{HostileNames()[static_cast<std::size_t>(i)], ms[i] / 2}}});
  }
  r.remainder = "hardware_bound";
  r.what_if = {{HostileNames()[0], "dispatch", 0.5, target::Kind::kModelled, {}},
               {"npu.dram_gbytes_per_s = 68", "", 0.1, target::Kind::kAssumed, {}}};
  r.alternatives = {{"CPU", "CPU fp32", 9.5, 30, target::Kind::kModelled}};
  r.adopt = {"yes", "yes", "no", HostileNames()[0]};
  r.sensitive_to = {{"npu.dispatch_us", "us", 3, 41, "latency", "no"}};
  r.assumed_facts = 12;
  r.verdicts = Verdicts();
  r.compute_units = {32, 0, 13, 8, 53};
  r.notes = {HostileNames()[1]};
  FillRun(30, 2, &r.ops, &r.spans);
  return r;
}

Compare SomeCompare() {
  Compare r;
  r.model = "model.onnx";
  r.target = SomeTarget();
  r.device = "NPU (simulated kirin9030)";
  r.program = "NPU fp16";
  r.reference = "fp32 on the CPU";
  r.min_cosine = 0.999;
  r.outputs = {{HostileNames()[0], {0.5, 0.9999, 40.0, 0}, true, ""},
               {"y", {0.5, 0.9, 10.0, 2}, false, ""}};
  for (int i = 0; i < 30; ++i) {
    CompareLayer l;
    const auto& names = HostileNames();
    l.node = i < static_cast<int>(names.size()) ? names[static_cast<std::size_t>(i)]
                                                : "Conv_" + std::to_string(i);
    l.op = "conv2d";
    l.device = "NPU";
    l.entire = {0.1, 1 - 1e-5 * i * i, 60.0 - i, 0};
    l.single = {0.1, 1 - 1e-6 * i, 70.0 - i, 0};
    l.entire_within = l.entire.cosine >= r.min_cosine;
    r.layers.push_back(l);
  }
  r.compute_units = {32, 0, 0, 8, 40};
  r.first_divergence = Divergence{11, r.layers[11].node, "entire", r.layers[11].entire.cosine};
  return r;
}

// A 2x1 picture, red and blue, as PNG.
std::string TinyPng() {
  static constexpr unsigned char kPng[] = {
      0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48,
      0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
      0x00, 0x7B, 0x40, 0xE8, 0xDD, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x44, 0x41, 0x54, 0x78,
      0xDA, 0x63, 0xF8, 0xCF, 0x00, 0x04, 0xFF, 0x01, 0x07, 0x00, 0x01, 0xFF, 0x3D, 0x7D,
      0x8C, 0x49, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};
  return {reinterpret_cast<const char*>(kPng), sizeof kPng};
}

html::Page PicturePage() {
  html::Page page("ocr", HostileNames()[0], HostileNames()[5]);
  html::Picture p{HostileNames()[1], "image/png", TinyPng(), 400, 200, "", {}};
  for (std::size_t i = 0; i < HostileNames().size(); ++i) {
    const double x = 10 + 30.0 * static_cast<double>(i);
    p.boxes.push_back({{x, x + 20, x + 20, x}, {40, 45, 90, 85}, HostileNames()[i], "0.99"});
  }
  page.Section("Photos");
  page.Add(p);
  return page;
}

int Main(const std::string& folder) {
  const std::pair<const char*, html::Page> pages[] = {{"check", html::ToPage(SomeCheck())},
                                                      {"bench", html::ToPage(SomeBench())},
                                                      {"explain", html::ToPage(SomeExplain())},
                                                      {"compare", html::ToPage(SomeCompare())},
                                                      {"picture", PicturePage()}};
  for (const auto& [name, page] : pages) {
    const Status s = html::WritePage(RealEnv(), folder + "/" + name + ".html", page);
    if (!s.ok()) {
      std::fprintf(stderr, "%s\n", s.message().c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace npukit::report

int main(int argc, char** argv) { return argc == 2 ? npukit::report::Main(argv[1]) : 2; }
