// The files of a published operator test: input_0.pb and its like hold one value, and the model
// says of which kind. No protobuf in this header, so that lab can use it.
//
// For one thread. The files are hostile as models are: everything is bounded and compared with what
// is there.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "importers/import.h"
#include "tensor/value.h"

namespace npukit::importers::onnx {

// An input or output of the outermost graph, in the file's order.
struct Port {
  std::string name;
  tensor::Type type;         // of an undefined dtype where the file does not say
  bool has_default = false;  // an input that an initializer fills
};

// A node that draws random numbers, wherever in the model it is. Dropout does when it trains:
// `training` and `ratio` name the values that decide it, "" where the file settles that it does.
struct RandomNode {
  std::string op;
  std::string training;
  std::string ratio;
};

struct Face {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<RandomNode> random;
};
// kDataCorrupt: not an ONNX model. kUnsupported: a map, a sparse tensor, an element type that
// npukit has no name for.
Result<Face> ReadFace(Env& env, const std::string& path, const ImportLimits& limits);

// A TensorProto, SequenceProto or OptionalProto, by the kind of `type`; element types are the
// file's own. kDataCorrupt: not one. kUnsupported: as ReadFace.
Result<tensor::Value> ReadValueFile(Env& env, const std::string& path, const tensor::Type& type,
                                    const ImportLimits& limits);

}  // namespace npukit::importers::onnx
