#include "lab/prepared.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/text.h"
#include "lab/describe.h"
#include "lab/file_names.h"
#include "lab/npy.h"
#include "tensor/accepts.h"

namespace npukit::lab {
namespace {

std::vector<std::string> InputNames(const format::Head& head) {
  std::vector<std::string> names;
  for (const format::ValueSpec& s : head.inputs) names.push_back(s.name);
  return names;
}

// A model's names before it is compiled: given files decide open shapes.
Status ShapesFromFiles(const Kit& kit, const RunOptions& run, ModelOptions& options) {
  if (run.inputs.files.empty() && run.inputs.folder.empty()) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const bool is_package, IsPackage(*kit.env, options.path));
  if (is_package) return OkStatus();  // its shapes are fixed
  NPUKIT_ASSIGN_OR_RETURN(const importers::Imported imported, ReadModel(kit, options.path));
  std::vector<std::string> names;
  for (ir::ValueId v : imported.graph.inputs) names.push_back(imported.graph.value(v).name);
  NPUKIT_ASSIGN_OR_RETURN(const auto inputs, ReadInputs(*kit.env, names, run.inputs));
  if (options.shapes.empty()) options.shapes.emplace_back();
  for (ir::ValueId v : imported.graph.inputs) {
    const ir::ValueInfo& input = imported.graph.value(v);
    const auto given = inputs.find(input.name);
    if (given == inputs.end() || input.type.is_static()) continue;
    options.shapes[0].try_emplace(
        input.name, given->second.value.dims());  // a --shape that disagrees is refused at binding
  }
  return OkStatus();
}

Result<std::uint32_t> ChooseProgram(const runtime::Session& session,
                                    const std::map<std::string, InputFile>& given,
                                    const ShapeSet& shapes) {
  const format::Head& head = session.head();
  std::string there;
  for (std::uint32_t p : session.programs()) {
    bool fits = true;
    tensor::Symbols symbols;
    for (std::size_t i = 0; i < head.inputs.size(); ++i) {
      const tensor::Type& type = head.programs[p].input_types[i];
      const auto file = given.find(head.inputs[i].name);
      if (file != given.end()) {
        fits = fits && tensor::Accepts(type, file->second.value.type(), symbols);
      }
      const auto shape = shapes.find(head.inputs[i].name);
      if (shape != shapes.end()) {
        fits =
            fits && tensor::Accepts(type, tensor::Type::Tensor(type.dtype, shape->second), symbols);
      }
    }
    if (fits) return p;
    there += Cat(there.empty() ? "" : "; ", ProgramKey(head, head.programs[p]));
  }
  std::string asked;
  for (const auto& [name, file] : given)
    asked += Cat(" ", Printable(name), "=", file.value.type().ToString());
  for (const auto& [name, dims] : shapes)
    asked += Cat(" ", Printable(name), "=", JoinInts(dims, "x"));
  return InvalidArgument(Cat("no program takes the inputs given (",
                             asked.empty() ? "none" : asked.substr(1), "); there is: ", there));
}

int ThreadCount(int asked) {
  if (asked > 0) return asked;
  std::int64_t n = 0;
  if (const char* text = std::getenv("NPUKIT_THREADS");
      text != nullptr && ParseInt64(text, &n) && n > 0) {
    return static_cast<int>(n);
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

Result<Prepared> Prepare(const Kit& kit, ModelOptions options, const RunOptions& run) {
  if (options.shapes.size() > 1) {
    return InvalidArgument(
        "--shape: one shape per input here; several make several programs, with npukit compile");
  }
  const ShapeSet asked = options.shapes.empty() ? ShapeSet{} : options.shapes[0];
  NPUKIT_RETURN_IF_ERROR(ShapesFromFiles(kit, run, options));
  Prepared p;
  const std::int64_t open = kit.env->NowNs();
  NPUKIT_ASSIGN_OR_RETURN(p.model, OpenModel(kit, options));
  const std::int64_t read = kit.env->NowNs();
  for (const std::string& w : p.model.warnings) {
    if (kit.note) kit.note(w);
  }
  p.compile_ms = report::Measured(p.model.compile_ms, "ms");

  const format::Head& head = p.model.package->head();
  for (const auto& [name, dims] : asked) {
    const std::vector<std::string> names = InputNames(head);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return InvalidArgument(Cat("--shape: the model has no input \"", Printable(name),
                                 "\"; it has: ", Join(names, ", ")));
    }
  }
  NPUKIT_ASSIGN_OR_RETURN(auto given, ReadInputs(*kit.env, InputNames(head), run.inputs));
  // Loading a package is reading its head and opening it; a model's package is in memory already.
  const std::int64_t opened = kit.env->NowNs();
  const std::int64_t reading_ns = p.model.is_package ? read - open : 0;
  runtime::SessionOptions session;
  session.device = options.device;
  session.threads = run.threads;
  session.precision = run.precision;
  if (run.max_iterations > 0) session.max_iterations = run.max_iterations;
  session.profile = p.model.profile;
  NPUKIT_ASSIGN_OR_RETURN(p.session,
                          runtime::Session::Open(p.model.package, session, kit.open_device));
  p.load_ms =
      report::Measured(static_cast<double>(kit.env->NowNs() - opened + reading_ns) / 1e6, "ms");
  p.threads = ThreadCount(run.threads);
  NPUKIT_ASSIGN_OR_RETURN(p.program, ChooseProgram(*p.session, given, asked));
  for (std::size_t i = 0; i < head.inputs.size(); ++i) {
    BoundInput input;
    input.name = head.inputs[i].name;
    if (const auto file = given.find(input.name); file != given.end()) {
      input.value = std::move(file->second.value);
      input.path = file->second.path;
    } else {
      tensor::Type type = p.chosen().input_types[i];
      if (const auto shape = asked.find(input.name); shape != asked.end() && !type.is_static())
        type = tensor::Type::Tensor(type.dtype, shape->second);
      NPUKIT_ASSIGN_OR_RETURN(input.value, RandomInput(input.name, type, run.inputs.seed));
    }
    p.inputs.push_back(std::move(input));
  }
  return p;
}

Result<std::unique_ptr<runtime::Request>> Prepared::NewRequest() const {
  NPUKIT_ASSIGN_OR_RETURN(std::unique_ptr<runtime::Request> request, session->NewRequest());
  for (const BoundInput& i : inputs) {
    NPUKIT_RETURN_IF_ERROR(request->BindInput(i.name, i.value));
  }
  return request;
}

std::vector<report::Tensor> Prepared::InputRecords() const {
  std::vector<report::Tensor> records;
  for (const BoundInput& i : inputs) {
    records.push_back({i.name, std::string(tensor::DTypeName(i.value.dtype())), i.value.dims(),
                       i.path, i.path.empty() ? "random" : "file"});
  }
  return records;
}

namespace {

// One record, and one file, for each tensor: items of a sequence are NAME[0], NAME[1], ... in
// FILE.0.npy, FILE.1.npy; an optional is its item, or nothing.
Status TakeOutput(const Kit& kit, const std::string& name, const std::string& file,
                  const tensor::Value& value, std::vector<report::Tensor>& records) {
  if (value.is_optional()) {
    if (const tensor::Value* item = value.optional_item())
      return TakeOutput(kit, name, file, *item, records);
    records.push_back({name, value.type().ToString(), {}, "", "empty"});
    return OkStatus();
  }
  if (value.is_sequence()) {
    for (std::size_t k = 0; k < value.items().size(); ++k) {
      NPUKIT_RETURN_IF_ERROR(TakeOutput(kit, Cat(name, "[", k, "]"),
                                        file.empty() ? "" : Cat(file, ".", k), value.items()[k],
                                        records));
    }
    if (value.items().empty()) records.push_back({name, value.type().ToString(), {}, "", "empty"});
    return OkStatus();
  }
  report::Tensor record{name, std::string(tensor::DTypeName(value.dtype())), value.dims(), "", ""};
  if (!file.empty()) {
    record.file = file + ".npy";
    NPUKIT_RETURN_IF_ERROR(WriteNpy(*kit.env, record.file, value));
  }
  records.push_back(std::move(record));
  return OkStatus();
}

}  // namespace

Result<std::vector<report::Tensor>> TakeOutputs(const Kit& kit, const Prepared& prepared,
                                                const runtime::Request& request,
                                                const std::string& folder) {
  std::vector<std::string> names;
  for (const format::ValueSpec& s : prepared.session->head().outputs) names.push_back(s.name);
  if (!folder.empty()) NPUKIT_RETURN_IF_ERROR(kit.env->CreateFolder(folder));
  const std::vector<std::string> files = FileNames(names);
  std::vector<report::Tensor> records;
  for (std::size_t i = 0; i < names.size(); ++i) {
    NPUKIT_ASSIGN_OR_RETURN(const tensor::Value value, request.Output(names[i]));
    NPUKIT_RETURN_IF_ERROR(
        TakeOutput(kit, names[i], folder.empty() ? "" : folder + "/" + files[i], value, records));
  }
  return records;
}

}  // namespace npukit::lab
