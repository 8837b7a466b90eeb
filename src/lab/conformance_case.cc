#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/text.h"
#include "eval/interpret.h"
#include "importers/onnx/values.h"
#include "lab/conformance.h"
#include "profile_io/tolerance.h"
#include "runtime/session.h"

namespace npukit::lab {
namespace {

using importers::onnx::Face;
using importers::onnx::Port;
using importers::onnx::RandomNode;
using report::CaseResult;
using tensor::Value;

// Every open dimension 1 and n values i/n, as the flat layout has it.
Result<Value> Ramp(const Port& port) {
  if (!port.type.is_tensor() || !port.type.shape || port.type.dtype != tensor::DType::kF32)
    return Unsupported(Cat("input ", Printable(port.name), ": expected an fp32 tensor, found ",
                           port.type.ToString()));
  tensor::Dims dims;
  for (const tensor::Dim& d : port.type.shape->dims) dims.push_back(d.known() ? d.value : 1);
  NPUKIT_ASSIGN_OR_RETURN(Value v, Value::Allocate(tensor::DType::kF32, dims));
  const auto n = static_cast<double>(v.count());
  float* out = v.as_mutable<float>().data();
  for (std::int64_t i = 0; i < v.count(); ++i)
    out[i] = static_cast<float>(static_cast<double>(i) / n);
  return v;
}

// Before NumPy had bfloat16, files held its bits as uint16; the model says what they are.
Result<Value> AsDeclared(Value v, const tensor::Type& type) {
  if (!type.is_tensor() || type.dtype != tensor::DType::kBF16 || !v.is_tensor() ||
      v.dtype() != tensor::DType::kU16) {
    return v;
  }
  NPUKIT_ASSIGN_OR_RETURN(Value bits, Value::Allocate(tensor::DType::kBF16, v.dims()));
  if (v.byte_size() != 0) std::memcpy(bits.mutable_data(), v.data(), v.byte_size());
  return bits;
}

// By name; files that are not there are inputs that are not given.
Result<std::map<std::string, Value>> ReadAll(Env& env, const std::vector<Port>& ports,
                                             const std::string& prefix) {
  std::map<std::string, Value> values;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string path = Cat(prefix, static_cast<unsigned long long>(i), ".pb");
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    NPUKIT_ASSIGN_OR_RETURN(Value value,
                            importers::onnx::ReadValueFile(env, path, ports[i].type, {}));
    NPUKIT_ASSIGN_OR_RETURN(values[ports[i].name], AsDeclared(std::move(value), ports[i].type));
  }
  return values;
}

Result<std::map<std::string, Value>> InputsOf(Env& env, const Face& face, const CaseFiles& files,
                                              std::size_t set) {
  if (!files.inputs.empty()) return ReadAll(env, face.inputs, files.inputs[set]);
  std::map<std::string, Value> values;
  for (const Port& p : face.inputs) {
    if (p.has_default) continue;
    NPUKIT_ASSIGN_OR_RETURN(values[p.name], Ramp(p));
  }
  return values;
}

Result<std::vector<Value>> OnDevice(const Kit& kit, const std::string& path,
                                    const importers::Imported& imported,
                                    const std::vector<Value>& inputs, const CaseOptions& options) {
  ModelOptions model = options.model;
  model.path = path;
  model.shapes.assign(1, {});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::ValueInfo& info = imported.graph.value(imported.graph.inputs[i]);
    if (inputs[i].is_tensor() && !info.type.is_static())
      model.shapes[0][info.name] = inputs[i].dims();
  }
  NPUKIT_ASSIGN_OR_RETURN(const Model opened, OpenModel(kit, model));
  runtime::SessionOptions session_options;
  session_options.device = options.model.device;
  session_options.threads = options.threads;
  session_options.profile = opened.profile;
  NPUKIT_ASSIGN_OR_RETURN(const std::shared_ptr<runtime::Session> session,
                          runtime::Session::Open(opened.package, session_options, kit.open_device));
  NPUKIT_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Request> request, session->NewRequest());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = imported.graph.value(imported.graph.inputs[i]).name;
    NPUKIT_RETURN_IF_ERROR(request->BindInput(name, inputs[i]));
  }
  NPUKIT_RETURN_IF_ERROR(request->Run());
  std::vector<Value> outputs;
  for (const ir::ValueId v : imported.graph.outputs) {
    NPUKIT_ASSIGN_OR_RETURN(const Value borrowed, request->Output(imported.graph.value(v).name));
    NPUKIT_ASSIGN_OR_RETURN(Value own, borrowed.Clone());
    outputs.push_back(std::move(own));
  }
  return outputs;
}

Result<std::vector<Value>> RunModelOn(const Kit& kit, const std::string& path,
                                      const std::map<std::string, Value>& given,
                                      const CaseOptions& options) {
  NPUKIT_ASSIGN_OR_RETURN(const importers::Imported imported,
                          importers::ImportFile(*kit.env, path, {}));
  std::vector<Value> inputs;
  for (const ir::ValueId v : imported.graph.inputs) {
    const auto at = given.find(imported.graph.value(v).name);
    if (at == given.end())
      return NotFound(Cat("no data for input ", Printable(imported.graph.value(v).name)));
    inputs.push_back(at->second);
  }
  if (options.interpret) return eval::Interpret(imported.graph, inputs, {});
  return OnDevice(kit, path, imported, inputs, options);
}

// How to judge this data set: numbers are drawn when a node does so whatever its inputs, or when
// the data switch Dropout on.
struct Randomness {
  bool drawn = false;
  bool dropout = true;  // and nothing else draws
};
Randomness RandomnessOf(const Face& face, const std::map<std::string, Value>& given) {
  const auto off = [&](const std::string& name) {
    const auto at = given.find(name);
    return at != given.end() && at->second.is_tensor() && at->second.count() == 1 &&
           at->second.dtype() != tensor::DType::kString &&
           tensor::ElementAsDouble(at->second, 0) == 0;
  };
  Randomness r;
  for (const RandomNode& n : face.random) {
    if (off(n.training) || off(n.ratio)) continue;
    r.drawn = true;
    r.dropout = r.dropout && n.op == "Dropout";
  }
  return r;
}

Result<Tolerance> ToleranceOf(Env& env, const std::string& model) {
  const std::string path = (std::filesystem::path(model).parent_path() / "data.json").string();
  std::error_code error;
  Tolerance tolerance;
  if (!std::filesystem::exists(path, error)) return tolerance;
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, env.ReadFile(path, 1 << 20));
  const auto said = profile_io::CaseToleranceFromJson(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!said.ok()) return said.status().WithContext(Printable(path, 300));
  tolerance.rtol = said->rtol.value_or(tolerance.rtol);
  tolerance.atol = said->atol.value_or(tolerance.atol);
  return tolerance;
}

// Runs one data set. A Status: it did not run; the text: what is wrong with its values.
Result<std::string> RunSet(const Kit& kit, const CaseFiles& files, std::size_t set,
                           const Face& face, const CaseOptions& options,
                           report::ConformanceCase* record) {
  NPUKIT_ASSIGN_OR_RETURN(const Tolerance tolerance, ToleranceOf(*kit.env, files.model));
  NPUKIT_ASSIGN_OR_RETURN(const auto given, InputsOf(*kit.env, face, files, set));
  NPUKIT_ASSIGN_OR_RETURN(const auto expected, ReadAll(*kit.env, face.outputs, files.outputs[set]));
  if (expected.empty())
    return NotFound(Cat(Printable(files.outputs[set], 300), "0.pb: no expected values"));
  const Randomness random = RandomnessOf(face, given);
  if (random.drawn) record->judged_by = "distribution";
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<Value> found,
                          RunModelOn(kit, files.model, given, options));
  if (found.size() != face.outputs.size())
    return Internal(Cat("expected ", face.outputs.size(), " outputs, found ", found.size()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto at = expected.find(face.outputs[i].name);
    if (at == expected.end()) continue;
    const std::string why = random.drawn
                                ? JudgeDistribution(found[i], at->second, random.dropout, tolerance)
                                : JudgeValues(found[i], at->second, tolerance);
    if (!why.empty()) return Cat("output ", Printable(at->first), ": ", why);
  }
  return std::string();
}

}  // namespace

report::ConformanceCase RunCase(const Kit& kit, const CaseFiles& files,
                                const CaseOptions& options) {
  report::ConformanceCase record;
  record.name = files.name;
  const auto refuse = [&](const Status& status) {
    record.result =
        status.code() == Code::kUnsupported ? CaseResult::kUnsupported : CaseResult::kFail;
    record.reason = status.message();
    return record;
  };
  const auto face = importers::onnx::ReadFace(*kit.env, files.model, {});
  if (!face.ok()) return refuse(face.status());
  for (std::size_t set = 0; set < files.outputs.size(); ++set) {
    const Result<std::string> wrong = RunSet(kit, files, set, *face, options, &record);
    if (!wrong.ok()) return refuse(wrong.status());
    if (wrong->empty()) continue;
    record.result = CaseResult::kFail;
    record.wrong_values = true;
    record.reason = files.outputs.size() == 1 ? *wrong : Cat("data set ", set, ": ", *wrong);
    return record;
  }
  return record;
}

}  // namespace npukit::lab
