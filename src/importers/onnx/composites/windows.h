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

// Pools have it; without it our operators pool over everything.
inline Status WantKernelShape(const Emitter& e) {
  if (e.op.attrs.Find("kernel_shape") != nullptr) return OkStatus();
  return InvalidArgument(Cat("node ", Printable(e.op.name), ": attribute kernel_shape is missing"));
}

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

// The lists of a one-dimensional window with a height of 1 before them.
inline Status AddHeight(const Emitter& e, ops::Attrs* attrs) {
  struct List {
    const char* name;
    std::int64_t height;
    std::size_t sides;
  };
  for (const List& l : {List{"kernel_shape", 1, 1}, List{"strides", 1, 1}, List{"dilations", 1, 1},
                        List{"output_padding", 0, 1}, List{"pads", 0, 2}}) {
    if (attrs->Find(l.name) == nullptr) continue;
    const ops::Ints given = attrs->IntList(l.name);
    if (given.size() != l.sides) {
      return InvalidArgument(Cat("node ", Printable(e.op.name), ": ", l.name, " has ", given.size(),
                                 " numbers, expected ", l.sides));
    }
    ops::Ints wide;
    for (const std::int64_t g : given) {
      wide.push_back(l.height);
      wide.push_back(g);
    }
    attrs->Set(l.name, std::move(wide));
  }
  return OkStatus();
}

// One result by the operator that suits the number of spatial dimensions: the fast one for two; for
// one the same, on an image of height 1; `nd` for any other number, known or not.
inline Result<Outcome> EmitWindow(Emitter& e, const ops::OpDef& two, const ops::OpDef& nd,
                                  ops::Attrs attrs) {
  const auto n = SpatialDims(e);
  if (n && *n == 2) {
    NPUKIT_RETURN_IF_ERROR(e.Emit(two, std::move(attrs), e.op.inputs, e.op.outputs[0]));
    return Outcome::Done();
  }
  if (!n || *n != 1) {
    NPUKIT_RETURN_IF_ERROR(e.EmitAll(nd, std::move(attrs), e.op.inputs, e.op.outputs));
    return Outcome::Done();
  }
  NPUKIT_RETURN_IF_ERROR(AddHeight(e, &attrs));
  ops::Attrs height;
  height.Set("axes", ops::Ints{2});
  std::vector<ir::ValueId> inputs = e.op.inputs;
  for (std::size_t i = 0; i < 2 && i < inputs.size(); ++i) {  // x and w; a bias stays
    NPUKIT_ASSIGN_OR_RETURN(inputs[i], e.Emit(op::unsqueeze, height, {inputs[i]}));
  }
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId y, e.Emit(two, std::move(attrs), std::move(inputs)));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::squeeze, std::move(height), {y}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
