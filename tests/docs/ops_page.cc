// docs/ops.md from the code that decides: definitions, the importer's tables, what the devices say
// about the cases that judge them. Prints the page, or with --check FILE says whether FILE is it.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/text.h"
#include "devices/all_lower/all_lower.h"
#include "devices/cpu/run/executable.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "importers/names.h"
#include "ir/graph.h"
#include "profile_io/profile_io.h"
#include "testing/cases.h"

using namespace npukit;

namespace {

using testing::OpCase;

constexpr const char* kTargets[] = {"kirin9030", "ascend310"};

std::string KindName(ops::AttrKind kind) {
  constexpr std::string_view kNames[] = {"int",    "float",   "string", "ints",
                                         "floats", "strings", "tensor"};
  return std::string(kNames[static_cast<std::size_t>(kind)]);
}

std::string CountText(int least, int most) {
  if (most < 0) return Cat(least, " or more");
  return least == most ? Cat(least) : Cat(least, " to ", most);
}

// "fp32 fp16 int64" in few words: families are named when all of them are there.
std::string TypesText(const std::set<tensor::DType>& types) {
  using tensor::DType;
  static const std::vector<std::pair<std::string, std::vector<DType>>> kFamilies = {
      {"floats", {DType::kF32, DType::kF16, DType::kBF16, DType::kF64}},
      {"fp8", {DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2, DType::kF8E5M2FNUZ}},
      {"ints",
       {DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kU8, DType::kU16, DType::kU32,
        DType::kU64}},
      {"small ints", {DType::kI4, DType::kU4, DType::kI2, DType::kU2}},
      {"complex", {DType::kComplex64, DType::kComplex128}}};
  std::set<DType> rest = types;
  std::vector<std::string> words;
  for (const auto& [name, family] : kFamilies) {
    if (!std::all_of(family.begin(), family.end(), [&](DType t) { return rest.contains(t); }))
      continue;
    words.push_back(name);
    for (const DType t : family) rest.erase(t);
  }
  for (const DType t : rest) words.emplace_back(tensor::DTypeName(t));
  return words.empty() ? "" : Join(words, ", ");
}

std::vector<OpCase> GoodCases(const ops::OpDef& op) {
  auto cases = testing::ReadCases(op, NPUKIT_SOURCE_DIR "/tests/ops");
  std::vector<OpCase> good;
  if (!cases.ok()) return good;
  for (OpCase& c : *cases) {
    if (c.refused.empty()) good.push_back(std::move(c));
  }
  return good;
}

// Element types of the first input that shape inference takes, the other inputs of that type
// changed along.
std::set<tensor::DType> TypesTaken(const ops::OpDef& op, const std::vector<OpCase>& cases) {
  std::set<tensor::DType> taken;
  for (const OpCase& c : cases) {
    const auto first = std::find_if(c.inputs.begin(), c.inputs.end(),
                                    [](const tensor::Value& v) { return v.present(); });
    if (first == c.inputs.end() || !first->is_tensor()) continue;
    const tensor::DType own = first->dtype();
    taken.insert(own);
    for (int n = 1; n < tensor::kDTypeCount; ++n) {
      const auto t = static_cast<tensor::DType>(n);
      std::vector<tensor::Type> types;
      std::vector<const tensor::Value*> constants;
      for (const tensor::Value& v : c.inputs) {
        tensor::Type type = v.present() ? v.type() : tensor::Type{};
        const bool change = v.present() && v.is_tensor() && v.dtype() == own;
        if (change) type.dtype = t;
        types.push_back(std::move(type));
        constants.push_back(v.present() && !change ? &v : nullptr);
      }
      std::vector<tensor::Type> outputs(op.outputs < 0 ? c.outputs.size()
                                                       : static_cast<std::size_t>(op.outputs));
      if (ops::Infer(op, c.attrs, c.epilogue, types, constants, outputs).ok()) taken.insert(t);
    }
  }
  return taken;
}

// The case as devices like it: channels last, where the operator has a layout.
OpCase ChannelsLast(OpCase c) {
  const bool has_layout = std::any_of(c.op->attrs.begin(), c.op->attrs.end(),
                                      [](const ops::AttrDef& a) { return a.name == "layout"; });
  if (!has_layout || c.attrs.Find("layout") != nullptr || c.inputs.empty()) return c;
  const auto turn = [](tensor::Value& v) {
    if (!v.is_tensor() || v.dims().size() != 4) return;
    const tensor::Dims& d = v.dims();
    v = v.Reshaped({d[0], d[2], d[3], d[1]});  // only the type is looked at
  };
  turn(c.inputs[0]);
  for (tensor::Value& v : c.outputs) turn(v);
  c.attrs.Set("layout", std::string("NHWC"));
  return c;
}

// The case as a graph of one node. `weights`: all inputs but the first are constants.
ir::Graph GraphOf(const OpCase& given, bool weights) {
  const OpCase c = ChannelsLast(given);
  ir::Graph g;
  ir::Node n;
  n.op = c.op;
  n.name = "n";
  n.attrs = c.attrs;
  n.epilogue = c.epilogue;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const tensor::Value& v = c.inputs[i];
    const std::string name = Cat("in", i);
    if (!v.present()) {
      n.inputs.push_back(ir::kNoValue);
    } else if (weights && i > 0) {
      n.inputs.push_back(g.AddConstant(name, v));
    } else {
      n.inputs.push_back(g.AddValue(name, v.type()));
      g.inputs.push_back(n.inputs.back());
    }
  }
  for (const tensor::Value& v : c.outputs) {
    n.outputs.push_back(g.AddValue("out", v.type()));
    g.outputs.push_back(n.outputs.back());
  }
  g.nodes.push_back(std::move(n));
  return g;
}

std::string KernelOf(const compile::Lowering& cpu, const ir::Graph& g) {
  const auto lowered = cpu.Lower(g, target::Profile(), {});
  if (!lowered.ok()) return "";
  std::vector<hal::WeightView> views;
  for (const auto& w : lowered->weights)
    views.push_back({.id = views.size(), .bytes = w.kept.bytes});
  const auto exe = devices::cpu::CpuExecutable::Load(
      lowered->blob, views, *devices::cpu::KernelsFor(devices::cpu::Target::kScalar), 1, {});
  if (!exe.ok() || (*exe)->steps().empty()) return "";
  return (*exe)->steps()[0].kernel;
}

// Kernels for the cases' shapes in fp32; what has none runs the reference, which knows every type.
std::string CpuText(const compile::Lowering& cpu, const std::vector<OpCase>& cases) {
  std::set<std::string> kernels;
  bool reference = false;
  for (const OpCase& c : cases) {
    for (const bool weights : {false, true}) {
      const std::string kernel = KernelOf(cpu, GraphOf(c, weights));
      if (kernel.empty()) continue;
      if (kernel == "reference") {
        reference = true;
      } else {
        kernels.insert(kernel);
      }
    }
  }
  if (kernels.empty()) return reference ? "reference" : "no";
  return Cat(Join({kernels.begin(), kernels.end()}, ", "), reference ? "; else reference" : "");
}

// What the NPU says about the cases, and the limits of the profile that hold for the operator.
std::string NpuText(const compile::Lowering& npu, const target::Profile& chip, const ops::OpDef& op,
                    const std::vector<OpCase>& cases) {
  std::set<std::string> refusals;
  bool yes = false;
  for (const OpCase& c : cases) {
    for (const bool weights : {false, true}) {
      const ir::Graph g = GraphOf(c, weights);
      const target::Verdict v = npu.Supports(g, g.nodes[0], chip);
      yes = yes || v.supported;
      if (!v.supported) refusals.insert(v.code);
    }
  }
  std::vector<std::string> parts;
  const std::string family = Cat("npu.op.", op.name, ".");
  for (const auto& [key, fact] : chip.facts) {
    if (!key.starts_with(family)) continue;
    const auto number = chip.Number(key);
    if (number.ok()) parts.push_back(Cat(key.substr(family.size()), " ", *number));
  }
  if (!refusals.empty())
    parts.push_back(Cat("not: ", Join({refusals.begin(), refusals.end()}, ", ")));
  if (yes) return parts.empty() ? "yes" : Cat("yes; ", Join(parts, "; "));
  return refusals.empty() ? "no" : Cat("no: ", Join({refusals.begin(), refusals.end()}, ", "));
}

// How closely a result must agree with the expected one, by the first case of floats.
std::string ExactText(const std::vector<OpCase>& cases) {
  double absolute = 0;
  double relative = 0;
  for (const OpCase& c : cases) {
    if (c.outputs.empty() || !c.outputs[0].is_tensor() ||
        c.outputs[0].dtype() != tensor::DType::kF32)
      continue;
    absolute = std::max(absolute, c.tolerance.absolute);
    relative = std::max(relative, c.tolerance.relative);
  }
  if (absolute == 0 && relative == 0) return cases.empty() ? "" : "exact";
  return Cat(absolute, " + ", relative, " x");
}

std::string AttrsText(const ops::OpDef& op) {
  std::vector<std::string> attrs;
  for (const ops::AttrDef& a : op.attrs)
    attrs.push_back(Cat("`", a.name, "` ", KindName(a.kind), a.required ? " (required)" : ""));
  return Join(attrs, ", ");
}

std::string UpgradeText(const std::vector<std::int64_t>& below) {
  return below.empty() ? "" : Cat(" (brought up to opset ", JoinInts(below, ", "), ")");
}

constexpr const char* kHead =
    "# Operators\n\n"
    "Made from the code that decides, by `./dev fix`; do not edit. What an operator means in every "
    "detail is its reference in\n`src/ops`, judged by `tests/ops/<operator>.case`; where it "
    "differs "
    "from ONNX is in `src/ops/README.md`.\n\n"
    "- *types*: element types of the first input that shape inference takes, with the other inputs "
    "of that type changed along.\n"
    "  floats: fp32, fp16, bf16, fp64; ints: int8 to int64, uint8 to uint64; small ints: int4, "
    "uint4, int2, uint2; fp8: all four.\n"
    "- *agrees*: how closely fp32 results must agree with values from outside: exact, or absolute "
    "+ relative times the value.\n"
    "- *CPU*: the kernels for the cases' shapes in fp32; every other type runs the reference.\n"
    "- *NPU*: what the simulated NPU says about the cases, the limits of the profile that hold for "
    "the operator, and the\n  [reasons](reasons.md) for which cases are refused. `npukit check` "
    "says "
    "it for a model.\n\n";

Result<std::string> Page() {
  compile::LoweringList devices = devices::MakeLowerings();
  const compile::Lowering* cpu = nullptr;
  const compile::Lowering* npu = nullptr;
  for (const auto& d : devices) {
    if (d->device_class() == "CPU") cpu = d.get();
    if (d->device_class() == "NPU") npu = d.get();
  }
  std::vector<target::Profile> chips;
  for (const char* name : kTargets) {
    NPUKIT_ASSIGN_OR_RETURN(
        target::Profile chip,
        profile_io::LoadProfile(RealEnv(), name, {NPUKIT_SOURCE_DIR "/profiles"}));
    chips.push_back(std::move(chip));
  }
  std::map<std::string_view, importers::OnnxName> onnx;
  for (importers::OnnxName& n : importers::OnnxNames()) {
    if (!n.ours.empty() && !n.composite) onnx[n.ours] = n;
  }

  std::string s = kHead;
  s += "| operator | what it does | inputs | results | attributes | ONNX | TFLite | NNRT | types | "
       "agrees | CPU | NPU kirin9030 | NPU ascend310 |\n"
       "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const ops::OpDef* op : ops::AllOps()) {
    const std::vector<OpCase> cases = op->control ? std::vector<OpCase>() : GoodCases(*op);
    const auto name = onnx.find(op->name);
    const std::string from = name == onnx.end()
                                 ? std::string(op->foreign.onnx)
                                 : Cat(name->second.name, UpgradeText(name->second.upgraded_below));
    s += Cat("| `", op->name, "` | ", op->summary, " | ", CountText(op->min_inputs, op->max_inputs),
             " | ", CountText(std::max(op->outputs, 0), op->outputs), " | ", AttrsText(*op), " | ",
             from, " | ", op->foreign.tflite, " | ", op->foreign.nnrt, " | ");
    if (op->control) {
      s += "any | | runs its bodies | its bodies' operators | its bodies' operators |\n";
      continue;
    }
    s += Cat(TypesText(TypesTaken(*op, cases)), " | ", ExactText(cases), " | ",
             CpuText(*cpu, cases));
    for (const target::Profile& chip : chips) s += Cat(" | ", NpuText(*npu, chip, *op, cases));
    s += " |\n";
  }

  s += "\n## ONNX operators that become several of these\n\n"
       "Opset 7 and later. Operators above are imported too, as the one of the same meaning.\n\n";
  std::vector<std::string> words;
  for (const importers::OnnxName& n : importers::OnnxNames()) {
    if (n.composite) words.push_back(Cat("`", n.name, "`", UpgradeText(n.upgraded_below)));
  }
  return s + Join(words, ", ") + "\n";
}

std::string_view FirstDifference(std::string_view a, std::string_view b) {
  std::size_t line = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) {
    if (a[i] == '\n') line = i + 1;
  }
  return a.substr(line, std::min<std::size_t>(a.find('\n', line) - line, 300));
}

}  // namespace

int main(int argc, char** argv) {
  const auto page = Page();
  if (!page.ok()) {
    std::fprintf(stderr, "%s\n", page.status().message().c_str());
    return 1;
  }
  if (argc == 1) {
    std::fwrite(page->data(), 1, page->size(), stdout);
    return 0;
  }
  const auto bytes = RealEnv().ReadFile(argv[argc - 1], 1 << 24);
  const std::string_view there =
      bytes.ok() ? std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size())
                 : std::string_view();
  if (there == *page) return 0;
  const std::string expected(FirstDifference(*page, there));
  std::fprintf(stderr, "%s is stale: run ./dev fix. Expected first: %s\n", argv[argc - 1],
               expected.c_str());
  return 1;
}
