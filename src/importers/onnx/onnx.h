// ONNX in, graph out. The file's operators become ours by name (OpDef::foreign.onnx), after upgrade
// steps to the newest signature and through composites where one of theirs is several of ours; the
// rest stay as foreign nodes, with a reason.
//
// Every function is for one thread; constants share the memory of the parsed model or of the mapped
// files, kept alive by the values themselves. The file is hostile: everything it claims is bounded
// and compared with what is there.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/env.h"
#include "base/status.h"
#include "importers/import.h"
#include "ir/graph.h"

namespace npukit::importers::onnx {

// `folder`: where external data may lie. kDataCorrupt: not an ONNX model, or one that contradicts
// itself.
Result<ir::Graph> ImportModel(Env& env, std::span<const std::byte> bytes, const std::string& folder,
                              const ImportOptions& options);

}  // namespace npukit::importers::onnx
