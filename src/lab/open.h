// A model file or a package, ready to run: a model is compiled in memory to the very bytes
// `compile` would write, and kept in NPUKIT_CACHE_DIR when that is set. Devices are passed in.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "compile/compile.h"
#include "format/reader.h"
#include "importers/import.h"
#include "report/records.h"
#include "runtime/session.h"

namespace npukit::lab {

struct Kit {
  Env* env = nullptr;
  compile::LoweringList lowerings;
  runtime::DeviceOpener open_device;
  // What the machine of a device reaches, by the device's name. Empty, or kUnsupported: not known.
  std::function<Result<hal::Peaks>(std::string_view device, const hal::OpenOptions&)> measure_peaks;
  std::string tool;  // "npukit 0.1.0 (1a2b3c4)": goes into packages
  std::function<void(std::string_view what, int done, int total)> progress;  // may be empty
  std::function<void(const std::string& line)> note;  // may be empty: warnings, to stderr
};

using ShapeSet = std::map<std::string, tensor::Dims>;

struct ModelOptions {
  std::string path;
  target::Profile profile;  // empty name: a package's own, for a model host_profile
  target::Profile host_profile;
  std::vector<ShapeSet> shapes;  // --shape, one entry per program wanted
  runtime::DeviceSpec device;
  bool strict_npu = false;         // records say what is off the NPU; `compile` then writes nothing
  std::vector<std::string> allow;  // operators that may be
};

struct Model {
  std::shared_ptr<const format::Package> package;
  target::Profile profile;  // what it was compiled for, changed by --set
  std::string sha256;       // of the model file; of a package, what its head says
  bool is_package = false;
  bool from_cache = false;
  double compile_ms = 0;
  std::vector<std::string> warnings;
};

// True when the file starts as a package does. Errors as MapFile.
Result<bool> IsPackage(Env& env, const std::string& path);

// kInvalidArgument: a package was compiled for another target than asked; a shape is open.
Result<Model> OpenModel(const Kit& kit, const ModelOptions& options);

// Reads a model (not a package).
Result<importers::Imported> ReadModel(const Kit& kit, const std::string& path,
                                      bool structure_only = false);

// The compile options that a device spec and shapes imply.
compile::CompileOptions OptionsFor(const Kit& kit, const ModelOptions& options);

}  // namespace npukit::lab
