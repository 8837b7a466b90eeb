// com.microsoft: activations that optimisers fuse.
#include "importers/onnx/composites/build.h"

namespace npukit::importers::onnx {

namespace {

ops::Attrs Tanh() { return Attributes({{"approximate", std::string("tanh")}}); }

}  // namespace

Result<Outcome> EmitActivation(Emitter& e, std::string_view name, const ops::Floats& params,
                               ir::ValueId x, ir::ValueId output) {
  struct Known {
    std::string_view name;
    const ops::OpDef& def;
    std::string_view params[2];  // attributes
  };
  const Known known[] = {{"Relu", op::relu, {}},
                         {"Sigmoid", op::sigmoid, {}},
                         {"Tanh", op::tanh, {}},
                         {"Softplus", op::softplus, {}},
                         {"HardSwish", op::hard_swish, {}},
                         {"LeakyRelu", op::leaky_relu, {"alpha", {}}},
                         {"Elu", op::elu, {"alpha", {}}},
                         {"Clip", op::clip, {"min", "max"}},
                         {"HardSigmoid", op::hard_sigmoid, {"alpha", "beta"}}};
  for (const Known& k : known) {
    if (k.name != name) continue;
    ops::Attrs attrs;
    for (std::size_t i = 0; i < 2 && i < params.size(); ++i) {
      if (!k.params[i].empty()) attrs.Set(k.params[i], params[i]);
    }
    NPUKIT_RETURN_IF_ERROR(e.Emit(k.def, std::move(attrs), {x}, output));
    return Outcome::Done();
  }
  return Outcome::Foreign(Cat("the fused activation ", Printable(name), " is not supported"),
                          "export without fusing it");
}

Result<Outcome> ImportMicrosoftGelu(Emitter& e) {
  Build b(e);
  b.To(0, op::gelu, {e.input(0)});
  return b.Done();
}

Result<Outcome> ImportMicrosoftBiasGelu(Emitter& e) {
  Build b(e);
  b.To(0, op::gelu, {b(op::add, {e.input(0), e.input(1)})});
  return b.Done();
}

Result<Outcome> ImportMicrosoftFastGelu(Emitter& e) {
  Build b(e);
  const ir::ValueId x = e.has(1) ? b(op::add, {e.input(0), e.input(1)}) : e.input(0);
  b.To(0, op::gelu, {x}, Tanh());
  return b.Done();
}

// x * sigmoid(alpha x)
Result<Outcome> ImportMicrosoftQuickGelu(Emitter& e) {
  const float alpha = e.op.attrs.Float("alpha", 1.702f);
  Build b(e);
  if (alpha == 1) {
    b.To(0, op::swish, {e.input(0)});
    return b.Done();
  }
  if (!e.has(0) || !tensor::IsFloat(e.Type(0).dtype)) return UnknownType("x");
  const ir::ValueId scaled = b(op::mul, {e.input(0), b.Scalar(e.Type(0).dtype, alpha)});
  b.To(0, op::mul, {e.input(0), b(op::sigmoid, {scaled})});
  return b.Done();
}

}  // namespace npukit::importers::onnx
