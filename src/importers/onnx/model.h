// A model file's bytes as protobuf classes, bounded. Inside importers/onnx only.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "importers/import.h"
#include "importers/onnx/onnx_ml.pb.h"

namespace npukit::importers::onnx {

namespace pb = ::npukit_onnx;

// kDataCorrupt: not protobuf, or without a graph. kResourceExhausted: too large for protobuf.
Result<std::shared_ptr<pb::ModelProto>> ParseModel(std::span<const std::byte> bytes,
                                                   const ImportLimits& limits);

// "" and "ai.onnx" are the same domain.
std::string NormalDomain(const std::string& domain);

}  // namespace npukit::importers::onnx
