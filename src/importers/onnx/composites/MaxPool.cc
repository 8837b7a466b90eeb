#include "importers/onnx/composites/windows.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportMaxPool(Emitter& e) {
  NPUKIT_RETURN_IF_ERROR(WantKernelShape(e));
  auto attrs =
      Only(e.op.attrs, {"kernel_shape", "strides", "pads", "dilations", "ceil_mode", "auto_pad"});
  if (e.op.outputs.size() == 1)
    return EmitWindow(e, op::max_pool2d, op::max_pool_nd, std::move(attrs));
  attrs.Set("storage_order", e.op.attrs.Int("storage_order", 0));
  NPUKIT_RETURN_IF_ERROR(e.EmitAll(op::max_pool_nd, std::move(attrs), e.op.inputs, e.op.outputs));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
