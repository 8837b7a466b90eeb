// TensorProto and TypeProto as our values and types.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/status.h"
#include "importers/onnx/onnx_ml.pb.h"
#include "tensor/value.h"

namespace npukit::importers::onnx {

namespace pb = ::npukit_onnx;

inline constexpr int kMaxRank = 32;  // as in packages

// ONNX's number of an element type; nullopt for those npukit has no name for.
std::optional<tensor::DType> DTypeOf(std::int64_t onnx);

// Reads tensors of one model. Small ones are copied; large ones share the memory of `model` or of
// the external file.
class TensorReader {
 public:
  TensorReader(Env& env, std::string folder, std::shared_ptr<const pb::ModelProto> model,
               bool structure_only = false)
      : env_(env),
        folder_(std::move(folder)),
        model_(std::move(model)),
        structure_only_(structure_only) {}
  // kDataCorrupt: fewer or more bytes than the shape needs. kInvalidArgument: external data outside
  // the folder.
  Result<tensor::Value> Read(const pb::TensorProto& t);
  // As a dense tensor, zero where the file gives nothing.
  Result<tensor::Value> ReadSparse(const pb::SparseTensorProto& t);

 private:
  Result<tensor::Value> ReadExternal(const pb::TensorProto& t, tensor::DType dtype,
                                     const tensor::Dims& dims);
  Result<std::shared_ptr<MappedFile>> OpenExternal(const std::string& location);

  Env& env_;
  std::string folder_;
  std::shared_ptr<const pb::ModelProto> model_;
  bool structure_only_;
  std::map<std::string, std::shared_ptr<MappedFile>> files_;
  std::uint64_t sparse_bytes_ = 0;  // made of sparse tensors so far
};

// kUnsupported for maps, sparse tensors and opaque types. A type without rank has no shape; a type
// that says nothing has an undefined dtype.
Result<tensor::Type> ReadType(const pb::TypeProto& t, int max_nesting);

}  // namespace npukit::importers::onnx
