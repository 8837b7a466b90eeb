// include/npukit/compiler.h over lab. Nothing throws across: the only exceptions below are the
// system's "out of memory".
#include "npukit/compiler.h"

#include <new>
#include <string>
#include <vector>

#include "base/text.h"
#include "bindings/c/runtime/error.h"
#include "devices/all_lower/all_lower.h"
#include "devices/all_run/all_run.h"
#include "lab/shapes.h"
#include "lab/targets.h"
#include "lab/verbs.h"

namespace npukit {
namespace {

// Fields of `options` that its caller knew about.
template <class T>
bool Knows(const npk_compile_options& o, const T npk_compile_options::* field) {
  const auto* base = reinterpret_cast<const char*>(&o);
  const auto* end = reinterpret_cast<const char*>(&(o.*field) + 1);
  return static_cast<std::size_t>(end - base) <= o.struct_size;
}

Status Compile(const char* model_path, const char* package_path,
               const npk_compile_options* options) {
  if (model_path == nullptr || package_path == nullptr)
    return InvalidArgument("npk_compile_file: a path is NULL");
  npk_compile_options o = {};
  if (options != nullptr) {
    if (options->struct_size < sizeof(std::uint32_t))
      return InvalidArgument("npk_compile_options: struct_size is not set");
    if (Knows(*options, &npk_compile_options::target)) o.target = options->target;
    if (Knows(*options, &npk_compile_options::shape_count)) {
      o.shapes = options->shapes;
      o.shape_count = options->shape_count;
    }
    if (Knows(*options, &npk_compile_options::no_cpu)) o.no_cpu = options->no_cpu;
  }
  std::vector<std::string> shapes;
  for (std::size_t i = 0; i < o.shape_count; ++i) {
    if (o.shapes == nullptr || o.shapes[i] == nullptr)
      return InvalidArgument("npk_compile_options: a shape is NULL");
    shapes.emplace_back(o.shapes[i]);
  }
  Env& env = RealEnv();
  lab::Kit kit;
  kit.env = &env;
  kit.lowerings = devices::MakeLowerings();
  kit.open_device = [](const std::string& name, const hal::OpenOptions& open) {
    return devices::OpenDevice(name, open);
  };
  kit.tool = Cat("npukit ", npk_version(), " (C API)");
  lab::ModelOptions model;
  model.path = model_path;
  NPUKIT_ASSIGN_OR_RETURN(model.profile,
                          lab::LoadTarget(env, o.target == nullptr ? "host" : o.target, {}));
  NPUKIT_ASSIGN_OR_RETURN(model.shapes, lab::ParseShapes(shapes));
  lab::CompileOptions compile;
  compile.output = package_path;
  compile.cpu_only_program = o.no_cpu == 0;
  return lab::CompileModel(kit, model, compile).status();
}

}  // namespace
}  // namespace npukit

extern "C" npk_status npk_compile_file(const char* model_path, const char* package_path,
                                       const npk_compile_options* options) {
  try {
    return npukit::bindings::Report(npukit::Compile(model_path, package_path, options));
  } catch (const std::bad_alloc&) {
    return npukit::bindings::Report(
        npukit::Status(npukit::Code::kOutOfMemory, "npk_compile_file: out of memory"));
  }
}
