// What the composites of convolution and pooling share.
#pragma once

#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

// Spatial dimensions: from kernel_shape, else from the rank of an input. nullopt when neither is
// known.
inline std::optional<std::size_t> SpatialDims(const Emitter& e) {
  if (e.op.attrs.Find("kernel_shape") != nullptr) return e.op.attrs.IntList("kernel_shape").size();
  for (std::size_t i = 0; i < 2; ++i) {
    if (const auto rank = e.Rank(i)) return *rank < 2 ? 0 : *rank - 2;
  }
  return std::nullopt;
}

// A reason when the node is not the 2-D form that npukit has.
inline std::optional<std::string> WhyNot2d(const Emitter& e) {
  const auto n = SpatialDims(e);
  if (n && *n == 2) return std::nullopt;
  return n ? Cat("only two spatial dimensions are supported, found ", *n)
           : "the number of dimensions is not known";
}
inline constexpr char k2dRemedy[] =
    "make it two-dimensional: insert a dimension of 1 before it (Unsqueeze) and remove it after";

// kernel_shape repeats what w says.
inline Status CheckKernelShape(const Emitter& e) {
  if (e.op.attrs.Find("kernel_shape") == nullptr || !e.has(1) || !e.Type(1).is_static())
    return OkStatus();
  const ops::Ints kernel = e.op.attrs.IntList("kernel_shape");
  const tensor::Dims w = e.Type(1).dims();
  if (w.size() == kernel.size() + 2 && std::equal(kernel.begin(), kernel.end(), w.begin() + 2))
    return OkStatus();
  return InvalidArgument(Cat("node ", Printable(e.op.name), ": kernel_shape is [",
                             JoinInts(kernel, ", "), "], w is ", e.Type(1).ToString()));
}

}  // namespace npukit::importers::onnx
