#include "importers/onnx/composites/windows.h"

namespace npukit::importers::onnx {

namespace {

// output_shape as the pads and the output padding that lead to it, which need the sizes of x and w.
// False: not known, or no such list (then the operator says what is wrong with it).
bool ShapeToPads(const Emitter& e, const ops::Ints& wanted, ops::Attrs* attrs) {
  if (!e.has(0) || !e.has(1) || !e.Type(0).is_static() || !e.Type(1).is_static()) return false;
  const tensor::Dims x = e.Type(0).dims();
  const tensor::Dims w = e.Type(1).dims();
  const std::size_t n = wanted.size();
  if (x.size() != n + 2 || w.size() != n + 2) return false;
  const ops::Ints ones(n, 1), zeros(n, 0);
  const ops::Ints strides = attrs->IntList("strides", ones);
  const ops::Ints dilations = attrs->IntList("dilations", ones);
  ops::Ints more = attrs->IntList("output_padding", zeros);
  if (strides.size() != n || dilations.size() != n || more.size() != n) return false;
  ops::Ints pads(2 * n);
  const bool upper = attrs->String("auto_pad") == "SAME_UPPER";
  constexpr std::int64_t kMost = std::int64_t{1} << 30;  // no product below overflows
  for (std::size_t i = 0; i < n; ++i) {
    for (const std::int64_t v : {x[2 + i], w[2 + i], strides[i], dilations[i], more[i], wanted[i]})
      if (v < 0 || v > kMost) return false;
    if (x[2 + i] == 0 || w[2 + i] == 0) return false;
    const std::int64_t natural =
        strides[i] * (x[2 + i] - 1) + more[i] + (w[2 + i] - 1) * dilations[i] + 1;
    const std::int64_t total = natural - wanted[i];
    if (total > kMost || total < -kMost) return false;
    if (total < 0) {
      more[i] -= total;  // what no input reaches
      continue;
    }
    pads[i] = upper ? total / 2 : total - total / 2;
    pads[n + i] = total - pads[i];
  }
  attrs->Erase("auto_pad");
  attrs->Set("pads", std::move(pads));
  attrs->Set("output_padding", std::move(more));
  return true;
}

}  // namespace

Result<Outcome> ImportConvTranspose(Emitter& e) {
  NPUKIT_RETURN_IF_ERROR(CheckKernelShape(e));
  auto attrs =
      Only(e.op.attrs, {"strides", "pads", "dilations", "group", "auto_pad", "output_padding"});
  if (e.op.attrs.Find("output_shape") == nullptr)
    return EmitWindow(e, op::conv_transpose2d, op::conv_transpose_nd, std::move(attrs));
  ops::Ints wanted = e.op.attrs.IntList("output_shape");
  const auto n = SpatialDims(e);
  // Some exporters name the batch and the channels too.
  if (n && wanted.size() == *n + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (n && (*n == 1 || *n == 2) && ShapeToPads(e, wanted, &attrs))
    return EmitWindow(e, op::conv_transpose2d, op::conv_transpose_nd, std::move(attrs));
  attrs.Set("output_shape", std::move(wanted));
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::conv_transpose_nd, std::move(attrs), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
