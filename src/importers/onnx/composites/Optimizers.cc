// One step of training, as plain arithmetic: Adagrad, Adam and Momentum of
// ai.onnx.preview.training. Their inputs are R (rate), T (how many updates there were) and then
// lists of tensors: all X, all gradients G, and all of each state; their results the new X and the
// new states, in that order.
#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

using ir::ValueId;
using tensor::DType;

// Arithmetic on values of one type. After the first failure nothing more is emitted.
class Arithmetic {
 public:
  Arithmetic(Emitter& e, DType t) : e_(e), t_(t) {}

  ValueId Number(double x) {
    if (!status_.ok()) return ir::kNoValue;
    auto id = e_.Number(t_, x);
    if (id.ok()) return *id;
    status_ = id.status();
    return ir::kNoValue;
  }
  ValueId Cast(ValueId x) {
    ops::Attrs to;
    to.Set("to", static_cast<std::int64_t>(t_));
    return Do(op::cast, {x}, std::move(to));
  }
  ValueId Add(ValueId a, ValueId b) { return Do(op::add, {a, b}); }
  ValueId Sub(ValueId a, ValueId b) { return Do(op::sub, {a, b}); }
  ValueId Mul(ValueId a, ValueId b) { return Do(op::mul, {a, b}); }
  ValueId Mul(double a, ValueId b) { return a == 1 ? b : Mul(Number(a), b); }
  ValueId Div(ValueId a, ValueId b) { return Do(op::div, {a, b}); }
  ValueId Sqrt(ValueId x) { return Do(op::sqrt, {x}); }
  ValueId Power(double base, ValueId exponent) { return Do(op::pow, {Number(base), exponent}); }
  ValueId Positive(ValueId x) { return Do(op::greater, {x, Number(0)}); }
  ValueId Where(ValueId which, ValueId a, ValueId b) { return Do(op::where, {which, a, b}); }
  void Give(ValueId x, std::size_t output) {
    if (!status_.ok() || output >= e_.op.outputs.size()) return;
    status_ = e_.Emit(op::identity, {}, {x}, e_.op.outputs[output]);
  }
  // Tensor i of list `list`, of `n` in each.
  ValueId Tensor(std::size_t list, std::size_t n, std::size_t i) const {
    return e_.op.inputs[2 + list * n + i];
  }
  const Status& status() const { return status_; }

 private:
  ValueId Do(const ops::OpDef& def, std::vector<ValueId> inputs, ops::Attrs attrs = {}) {
    if (!status_.ok()) return ir::kNoValue;
    auto y = e_.Emit(def, std::move(attrs), std::move(inputs));
    if (!y.ok()) status_ = y.status();
    return y.ok() ? *y : ir::kNoValue;
  }
  Emitter& e_;
  DType t_;
  Status status_ = OkStatus();
};

// Calls step(arithmetic, rate, updates, n, i) for each of the n tensors to train.
template <class F>
Result<Outcome> EachTensor(Emitter& e, std::size_t lists, F step) {
  const std::size_t given = e.op.inputs.size() < 2 ? 0 : e.op.inputs.size() - 2;
  if (given == 0 || given % lists != 0) {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": it has ", e.op.inputs.size(),
                               " inputs, expected R, T and ", lists, " for each tensor to train"));
  }
  for (std::size_t i = 0; i < e.op.inputs.size(); ++i) {
    if (!e.has(i))
      return InvalidArgument(Cat("node ", Printable(e.op.name), ": input ", i, " is missing"));
  }
  const std::size_t n = given / lists;
  for (std::size_t i = 0; i < n; ++i) {
    const DType t = e.Type(2 + i).dtype;
    if (t == DType::kUndefined)
      return Outcome::Foreign("the type of a tensor to train is not known",
                              "run onnx.shape_inference on the model");
    Arithmetic a(e, t);
    const ValueId rate = a.Cast(e.op.inputs[0]);
    const ValueId updates = a.Cast(e.op.inputs[1]);
    step(a, rate, updates, n, i);
    NPUKIT_RETURN_IF_ERROR(a.status());
  }
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportTrainingAdagrad(Emitter& e) {
  const double decay = e.op.attrs.Float("decay_factor", 0);
  const double norm = e.op.attrs.Float("norm_coefficient", 0);
  const double epsilon = e.op.attrs.Float("epsilon", 1e-6f);
  return EachTensor(e, 3,
                    [=](Arithmetic& a, ValueId rate, ValueId t, std::size_t n, std::size_t i) {
                      const ValueId x = a.Tensor(0, n, i);
                      const ValueId g = a.Add(a.Mul(norm, x), a.Tensor(1, n, i));
                      const ValueId h = a.Add(a.Tensor(2, n, i), a.Mul(g, g));
                      const ValueId r = a.Div(rate, a.Add(a.Number(1), a.Mul(decay, t)));
                      const ValueId step = a.Div(a.Mul(r, g), a.Add(a.Sqrt(h), a.Number(epsilon)));
                      a.Give(a.Sub(x, step), i);
                      a.Give(h, n + i);
                    });
}

Result<Outcome> ImportTrainingAdam(Emitter& e) {
  const double alpha = e.op.attrs.Float("alpha", 0.9f);
  const double beta = e.op.attrs.Float("beta", 0.999f);
  const double norm = e.op.attrs.Float("norm_coefficient", 0);
  const double norm_post = e.op.attrs.Float("norm_coefficient_post", 0);
  const double epsilon = e.op.attrs.Float("epsilon", 1e-6f);
  return EachTensor(
      e, 4, [=](Arithmetic& a, ValueId rate, ValueId t, std::size_t n, std::size_t i) {
        const ValueId x = a.Tensor(0, n, i);
        const ValueId g = a.Add(a.Mul(norm, x), a.Tensor(1, n, i));
        const ValueId v = a.Add(a.Mul(alpha, a.Tensor(2, n, i)), a.Mul(1 - alpha, g));
        const ValueId h = a.Add(a.Mul(beta, a.Tensor(3, n, i)), a.Mul(1 - beta, a.Mul(g, g)));
        const ValueId unbiased = a.Div(a.Mul(rate, a.Sqrt(a.Sub(a.Number(1), a.Power(beta, t)))),
                                       a.Sub(a.Number(1), a.Power(alpha, t)));
        const ValueId r = a.Where(a.Positive(t), unbiased, rate);
        const ValueId step = a.Div(a.Mul(r, v), a.Add(a.Sqrt(h), a.Number(epsilon)));
        a.Give(a.Mul(1 - norm_post, a.Sub(x, step)), i);
        a.Give(v, n + i);
        a.Give(h, 2 * n + i);
      });
}

Result<Outcome> ImportTrainingMomentum(Emitter& e) {
  const double alpha = e.op.attrs.Float("alpha", 0);
  const double beta = e.op.attrs.Float("beta", 0);
  const double norm = e.op.attrs.Float("norm_coefficient", 0);
  const std::string_view mode = e.op.attrs.String("mode");
  if (mode != "standard" && mode != "nesterov") {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": mode is ", Printable(mode),
                               ", expected standard or nesterov"));
  }
  const bool nesterov = mode == "nesterov";
  return EachTensor(e, 3,
                    [=](Arithmetic& a, ValueId rate, ValueId t, std::size_t n, std::size_t i) {
                      const ValueId x = a.Tensor(0, n, i);
                      const ValueId g = a.Add(a.Mul(norm, x), a.Tensor(1, n, i));
                      const ValueId weight = a.Where(a.Positive(t), a.Number(beta), a.Number(1));
                      const ValueId v = a.Add(a.Mul(alpha, a.Tensor(2, n, i)), a.Mul(weight, g));
                      const ValueId step = nesterov ? a.Add(g, a.Mul(alpha, v)) : v;
                      a.Give(a.Sub(x, a.Mul(rate, step)), i);
                      a.Give(v, n + i);
                    });
}

}  // namespace npukit::importers::onnx
