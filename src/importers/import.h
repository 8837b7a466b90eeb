// Bytes in, graph out. The format is found by looking, never by the file's name. Unknown operators
// become foreign nodes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/env.h"
#include "base/status.h"
#include "ir/graph.h"

namespace npukit::importers {

struct ImportLimits {
  std::uint64_t max_file_bytes = std::uint64_t{64} << 30;
  int max_nesting = 64;  // of graphs and types
  std::uint64_t max_nodes = 4'000'000;
};

struct ImportOptions {
  std::map<std::string, tensor::Dims> shapes;  // --shape: input name -> concrete dims
  // For looking at a model: external data is not read but where shapes need it, and bytes of large
  // constants may lie at odd addresses.
  bool structure_only = false;
  ImportLimits limits;
};

struct Imported {
  ir::Graph graph;     // verified, types inferred as far as known
  std::string sha256;  // of the model file
  std::uint64_t file_bytes = 0;
  std::string format;  // "onnx"
};

// Reads `path` (external data beside it, inside its folder only). kDataCorrupt: not a model, with
// what was found.
Result<Imported> ImportFile(Env& env, const std::string& path, const ImportOptions& options);

// Sets input shapes and re-infers. kInvalidArgument: no such input, wrong rank, contradiction with
// a fixed dim.
Status SetInputShapes(ir::Graph& g, const std::map<std::string, tensor::Dims>& shapes);

}  // namespace npukit::importers
