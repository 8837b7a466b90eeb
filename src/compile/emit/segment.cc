#include "compile/emit/segment.h"

#include <algorithm>

#include "base/text.h"

namespace npukit::compile {

Result<format::ExecutableInfo> LowerSegment(const ir::Graph& g, const Lowering& device,
                                            const target::Profile& profile,
                                            const LowerOptions& options,
                                            format::PackageWriter& writer, std::size_t number) {
  Result<Lowered> lowered = device.Lower(g, profile, options);
  if (!lowered.ok()) {
    return lowered.status().WithContext(
        Cat("segment ", number, " for the ", device.device_class()));
  }
  format::ExecutableInfo executable;
  executable.device = device.device();
  executable.blob_segment = writer.AddBlob(std::move(lowered->blob));
  for (LoweredWeight& w : lowered->weights) {
    executable.weights.push_back(writer.AddWeight(std::move(w.layout), std::move(w.kept), w.hash));
  }
  executable.scratch_bytes = lowered->scratch_bytes;
  executable.estimate = std::move(lowered->estimate);
  return executable;
}

std::string DevicesKey(const std::vector<std::string>& used) {
  std::string key;
  for (const char* name : {"NPU", "GPU", "CPU"}) {
    if (std::find(used.begin(), used.end(), name) == used.end()) continue;
    key += key.empty() ? name : Cat(",", name);
  }
  return key.empty() ? "CPU" : key;
}

}  // namespace npukit::compile
