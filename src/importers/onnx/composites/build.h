// For composites of many nodes: emits one after the other and keeps the first error, so that each
// line says only what is computed.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

inline ops::Attrs Attributes(
    std::initializer_list<std::pair<std::string_view, ops::AttrValue>> list) {
  ops::Attrs attrs;
  for (const auto& [name, value] : list) attrs.Set(name, value);
  return attrs;
}

class Build {
 public:
  explicit Build(Emitter& e) : e_(e) {}

  // kNoValue after an error.
  ir::ValueId operator()(const ops::OpDef& def, std::vector<ir::ValueId> inputs,
                         ops::Attrs attrs = {}) {
    if (!status_.ok()) return ir::kNoValue;
    auto id = e_.Emit(def, std::move(attrs), std::move(inputs));
    if (id.ok()) return *id;
    status_ = id.status();
    return ir::kNoValue;
  }
  // The node's output `which`, when the file has it.
  void To(std::size_t which, const ops::OpDef& def, std::vector<ir::ValueId> inputs,
          ops::Attrs attrs = {}) {
    if (!status_.ok() || which >= e_.op.outputs.size()) return;
    status_ = e_.Emit(def, std::move(attrs), std::move(inputs), e_.op.outputs[which]);
  }
  void Fail(Status s) {
    if (status_.ok()) status_ = std::move(s);
  }
  Result<Outcome> Done() const {
    if (!status_.ok()) return status_;
    return Outcome::Done();
  }
  bool ok() const { return status_.ok(); }

  ir::ValueId Ints(const std::vector<std::int64_t>& v) { return e_.Int64s(v); }
  ir::ValueId Scalar(tensor::DType t, double x) {
    auto id = e_.Number(t, x);
    if (id.ok()) return *id;
    Fail(id.status());
    return ir::kNoValue;
  }
  ir::ValueId Slice(ir::ValueId x, std::int64_t from, std::int64_t to, std::int64_t axis) {
    return (*this)(op::slice, {x, Ints({from}), Ints({to}), Ints({axis})});
  }
  ir::ValueId Reshape(ir::ValueId x, const std::vector<std::int64_t>& shape) {
    return (*this)(op::reshape, {x, Ints(shape)});
  }
  ir::ValueId Transpose(ir::ValueId x, ops::Ints perm) {
    return (*this)(op::transpose, {x}, Attributes({{"perm", std::move(perm)}}));
  }
  ir::ValueId Cast(ir::ValueId x, tensor::DType to) {
    return (*this)(op::cast, {x}, Attributes({{"to", static_cast<std::int64_t>(to)}}));
  }
  // One size of x, as a list of one number.
  ir::ValueId Size(ir::ValueId x, std::int64_t axis) {
    return (*this)(op::shape, {x}, Attributes({{"start", axis}, {"end", axis + 1}}));
  }

 private:
  Emitter& e_;
  Status status_ = OkStatus();
};

// A composite that makes another operator and goes on from its result: the node writes a new value
// while `import` runs. kForeign and errors are the caller's to pass on.
template <class Import>
Result<Outcome> Redirected(Emitter& e, Import import, ir::ValueId* result) {
  const ir::ValueId own = e.op.outputs[0];
  e.op.outputs[0] = *result = e.Fresh();
  Result<Outcome> outcome = import(e);
  e.op.outputs[0] = own;
  return outcome;
}

inline Outcome UnknownType(const char* what) {
  return Outcome::Foreign(Cat("the type of ", what, " is not known"),
                          "declare it in the model (value_info)");
}
inline Outcome UnknownRank(const char* what) {
  return Outcome::Foreign(Cat("the rank of ", what, " is not known"),
                          "declare its shape in the model (value_info)");
}

// The activation of a fused node by its name, with its parameters in the order of ONNX;
// kForeign where it is none of ours.
Result<Outcome> EmitActivation(Emitter& e, std::string_view name, const ops::Floats& params,
                               ir::ValueId x, ir::ValueId output);

}  // namespace npukit::importers::onnx
