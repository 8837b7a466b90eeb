#include "ops/recurrent.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/outputs.h"

namespace npukit::ops {

using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::Type;
using tensor::Value;

namespace {

// Numbers that the names take from activation_alpha and activation_beta, and what stands for them
// where the lists are short: as the ONNX operators of those names have it.
struct ActivationName {
  std::string_view name;
  Activation::Kind kind;
  bool alpha, beta;
  double default_alpha, default_beta;
};
constexpr ActivationName kActivations[] = {
    {"relu", Activation::Kind::kRelu, false, false, 0, 0},
    {"tanh", Activation::Kind::kTanh, false, false, 0, 0},
    {"sigmoid", Activation::Kind::kSigmoid, false, false, 0, 0},
    {"affine", Activation::Kind::kAffine, true, true, 1, 0},
    {"leakyrelu", Activation::Kind::kLeakyRelu, true, false, 0.01f, 0},
    {"thresholdedrelu", Activation::Kind::kThresholdedRelu, true, false, 1, 0},
    {"scaledtanh", Activation::Kind::kScaledTanh, true, true, 1, 1},
    {"hardsigmoid", Activation::Kind::kHardSigmoid, true, true, 0.2f, 0.5},
    {"elu", Activation::Kind::kElu, true, false, 1, 0},
    {"softsign", Activation::Kind::kSoftsign, false, false, 0, 0},
    {"softplus", Activation::Kind::kSoftplus, false, false, 0, 0},
};

std::string Lower(std::string_view s) {
  std::string out(s);
  for (char& ch : out) {
    if (ch >= 'A' && ch <= 'Z') ch = static_cast<char>(ch - 'A' + 'a');
  }
  return out;
}

// Input `i` has the given dimensions; known ones of either fill the other.
Status Unify(const InferContext& c, std::size_t i, std::string_view name,
             std::initializer_list<Dim*> dims) {
  if (!Has(c, i) || !c.inputs[i].shape) return OkStatus();
  const Shape& s = *c.inputs[i].shape;
  bool fits = s.rank() == dims.size();
  std::size_t d = 0;
  for (Dim* dim : dims) {
    if (!fits) break;
    auto same = SameDim(*dim, s.dims[d++]);
    fits = same.ok();
    if (fits) *dim = *same;
  }
  if (fits) return OkStatus();
  std::vector<std::string> expected;
  for (const Dim* dim : dims) expected.push_back(dim->known() ? Cat(dim->value) : "?");
  return InvalidArgument(Cat(name, " (input ", i, ") is ", c.inputs[i].ToString(), ", expected [",
                             Join(expected, ", "), "]"));
}

// by * dim; a size beyond any tensor is refused.
Result<Dim> Times(std::int64_t by, const Dim& dim) {
  if (!dim.known()) return Dim{};
  if (dim.value > (std::int64_t{1} << 40))
    return InvalidArgument(Cat("a hidden size of ", dim.value, " is too large"));
  return Dim::Of(by * dim.value);
}

std::vector<double> Numbers(const Value& v) {
  std::vector<double> out(static_cast<std::size_t>(v.count()));
  for (std::int64_t i = 0; i < v.count(); ++i) out[static_cast<std::size_t>(i)] = Load(v, i);
  return out;
}

double Dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

double Activation::operator()(double x) const {
  switch (kind) {
    case Kind::kRelu:
      return x > 0 || std::isnan(x) ? x : 0;
    case Kind::kTanh:
      return std::tanh(x);
    case Kind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Kind::kAffine:
      return alpha * x + beta;
    case Kind::kLeakyRelu:
      return x >= 0 ? x : alpha * x;
    case Kind::kThresholdedRelu:
      return x >= alpha ? x : 0;
    case Kind::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case Kind::kHardSigmoid:
      return std::min(std::max(alpha * x + beta, 0.0), 1.0);
    case Kind::kElu:
      return x >= 0 ? x : alpha * std::expm1(x);
    case Kind::kSoftsign:
      return x / (1 + std::fabs(x));
    case Kind::kSoftplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
  return x;
}

Result<RecurrentAttrs> ReadRecurrentAttrs(const Attrs& attrs, const CellKind& kind) {
  RecurrentAttrs r;
  const std::string_view direction = attrs.String("direction", "forward");
  if (direction == "bidirectional") {
    r.directions = 2;
  } else if (direction == "reverse") {
    r.reverse = true;
  } else if (direction != "forward") {
    return InvalidArgument(
        Cat("direction is ", Printable(direction), ", expected forward, reverse or bidirectional"));
  }
  const std::int64_t layout = attrs.Int("layout", 0);
  if (layout != 0 && layout != 1)
    return InvalidArgument(Cat("layout is ", layout, ", expected 0 or 1"));
  r.batch_first = layout == 1;
  r.clip = attrs.Float("clip", 0);
  if (!(r.clip >= 0)) return InvalidArgument(Cat("clip is ", r.clip, ", expected 0 or more"));

  Strings names;
  if (const AttrValue* v = attrs.Find("activations")) names = std::get<Strings>(*v);
  const std::size_t each = kind.activations.size();
  const std::size_t wanted = each * static_cast<std::size_t>(r.directions);
  if (names.empty()) {
    for (std::size_t i = 0; i < wanted; ++i) names.emplace_back(kind.activations[i % each]);
  }
  // An rnn in one direction has the default list of two in its schema.
  if (names.size() > wanted && names.size() == 2 * each) names.resize(wanted);
  if (names.size() != wanted) {
    return InvalidArgument(Cat("activations has ", names.size(), " names, expected ", wanted));
  }
  const Floats alphas = attrs.FloatList("activation_alpha");
  const Floats betas = attrs.FloatList("activation_beta");
  std::size_t next_alpha = 0, next_beta = 0;  // taken in turn by those that have one
  for (const std::string& name : names) {
    const std::string lower = Lower(name);
    const auto* at = std::find_if(std::begin(kActivations), std::end(kActivations),
                                  [&](const ActivationName& a) { return a.name == lower; });
    if (at == std::end(kActivations))
      return InvalidArgument(Cat("activations holds ", Printable(name), ", which is none of ONNX"));
    Activation a{at->kind, at->default_alpha, at->default_beta};
    if (at->alpha && next_alpha < alphas.size()) a.alpha = alphas[next_alpha++];
    if (at->beta && next_beta < betas.size()) a.beta = betas[next_beta++];
    r.activations.push_back(a);
  }
  return r;
}

Status InferRecurrent(InferContext& c, const CellKind& kind) {
  NPUKIT_ASSIGN_OR_RETURN(const RecurrentAttrs attrs, ReadRecurrentAttrs(c.attrs, kind));
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  for (std::size_t i = 1; i < c.inputs.size(); ++i) {
    if (i == 4) {  // sequence_lens
      const DType t = c.inputs[i].dtype;
      if (t != DType::kUndefined && t != DType::kI32 && t != DType::kI64) {
        return InvalidArgument(
            Cat("input 4 is ", tensor::DTypeName(t), ", expected int32 or int64"));
      }
    } else if (Has(c, i)) {
      NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, i));
    }
  }
  Dim steps, batch, inputs, hidden, directions = Dim::Of(attrs.directions);
  if (c.attrs.Find("hidden_size") != nullptr) {
    hidden.value = c.attrs.Int("hidden_size");
    if (hidden.value < 1)
      return InvalidArgument(Cat("hidden_size is ", hidden.value, ", expected 1 or more"));
  }
  if (attrs.batch_first) {
    NPUKIT_RETURN_IF_ERROR(Unify(c, 0, "X", {&batch, &steps, &inputs}));
  } else {
    NPUKIT_RETURN_IF_ERROR(Unify(c, 0, "X", {&steps, &batch, &inputs}));
  }
  // The hidden size from any of the weights before all are checked against it.
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const auto& s = c.inputs[i].shape;
    if (hidden.known() || !s || s->rank() != 3) continue;
    if (i == 2 && s->dims[2].known()) {
      hidden = s->dims[2];
    } else if (s->dims[1].known() && s->dims[1].value % kind.gates == 0) {
      hidden = Dim::Of(s->dims[1].value / kind.gates);
    }
  }
  NPUKIT_ASSIGN_OR_RETURN(Dim rows, Times(kind.gates, hidden));
  NPUKIT_ASSIGN_OR_RETURN(Dim biases, Times(2 * kind.gates, hidden));
  NPUKIT_ASSIGN_OR_RETURN(Dim peepholes, Times(3, hidden));
  NPUKIT_RETURN_IF_ERROR(Unify(c, 1, "W", {&directions, &rows, &inputs}));
  NPUKIT_RETURN_IF_ERROR(Unify(c, 2, "R", {&directions, &rows, &hidden}));
  NPUKIT_RETURN_IF_ERROR(Unify(c, 3, "B", {&directions, &biases}));
  NPUKIT_RETURN_IF_ERROR(Unify(c, 4, "sequence_lens", {&batch}));
  for (const std::size_t i : {std::size_t{5}, std::size_t{6}}) {
    const std::string_view name = i == 5 ? "initial_h" : "initial_c";
    if (attrs.batch_first) {
      NPUKIT_RETURN_IF_ERROR(Unify(c, i, name, {&batch, &directions, &hidden}));
    } else {
      NPUKIT_RETURN_IF_ERROR(Unify(c, i, name, {&directions, &batch, &hidden}));
    }
  }
  NPUKIT_RETURN_IF_ERROR(Unify(c, 7, "P", {&directions, &peepholes}));
  const DType t = c.inputs[0].dtype;
  if (attrs.batch_first) {
    c.outputs[0] = Type::Tensor(t, Shape({batch, steps, directions, hidden}));
    c.outputs[1] = Type::Tensor(t, Shape({batch, directions, hidden}));
  } else {
    c.outputs[0] = Type::Tensor(t, Shape({steps, directions, batch, hidden}));
    c.outputs[1] = Type::Tensor(t, Shape({directions, batch, hidden}));
  }
  if (kind.has_cell) c.outputs[2] = c.outputs[1];
  return OkStatus();
}

double Recurrent::Input(std::int64_t direction, std::int64_t row, const double* x) const {
  return Dot(w.data() + (direction * gates * hidden + row) * inputs, x, inputs);
}
double Recurrent::Hidden(std::int64_t direction, std::int64_t row, const double* h) const {
  return Dot(r.data() + (direction * gates * hidden + row) * hidden, h, hidden);
}
double Recurrent::InputBias(std::int64_t direction, std::int64_t row) const {
  return bias.empty() ? 0 : bias[static_cast<std::size_t>(direction * 2 * gates * hidden + row)];
}
double Recurrent::HiddenBias(std::int64_t direction, std::int64_t row) const {
  return InputBias(direction, gates * hidden + row);
}

Status EvaluateRecurrent(EvalContext& c, InferFn infer, const CellKind& kind, CellFn cell) {
  NPUKIT_ASSIGN_OR_RETURN(auto results, MakeOutputs(c, infer, kind.has_cell ? 3 : 2));
  Recurrent r;
  NPUKIT_ASSIGN_OR_RETURN(r.attrs, ReadRecurrentAttrs(*c.attrs, kind));
  const auto given = [&](std::size_t i) {
    return i < c.inputs.size() && c.inputs[i].present() ? &c.inputs[i] : nullptr;
  };
  const Value& x = c.inputs[0];
  const bool batch_first = r.attrs.batch_first;
  r.steps = x.dims()[batch_first ? 1 : 0];
  r.batch = x.dims()[batch_first ? 0 : 1];
  r.inputs = x.dims()[2];
  r.hidden = c.inputs[2].dims()[2];
  r.gates = kind.gates;
  const Value* lens = given(4);
  for (std::int64_t b = 0; lens && b < r.batch; ++b) {
    const std::int64_t n = tensor::ElementAsInt64(*lens, b);
    if (n < 0 || n > r.steps) {
      return InvalidArgument(
          Cat("sequence_lens holds ", n, ", expected 0 to the ", r.steps, " steps of X"));
    }
  }
  r.w = Numbers(c.inputs[1]);
  r.r = Numbers(c.inputs[2]);
  if (const Value* b = given(3)) r.bias = Numbers(*b);
  if (const Value* p = given(7)) r.peephole = Numbers(*p);

  const std::int64_t directions = r.attrs.directions;
  const auto state_at = [&](std::int64_t d, std::int64_t b) {
    return (batch_first ? b * directions + d : d * r.batch + b) * r.hidden;
  };
  const auto load_state = [&](const Value* from, std::int64_t at) {
    std::vector<double> s(static_cast<std::size_t>(r.hidden), 0.0);
    for (std::int64_t j = 0; from && j < r.hidden; ++j)
      s[static_cast<std::size_t>(j)] = Load(*from, at + j);
    return s;
  };
  const auto store = [&](Value& to, std::int64_t at, const std::vector<double>& s) {
    for (std::int64_t j = 0; j < r.hidden; ++j) Store(to, at + j, s[static_cast<std::size_t>(j)]);
  };
  std::vector<double> in(static_cast<std::size_t>(r.inputs));
  const std::vector<double> zeros(static_cast<std::size_t>(r.hidden), 0.0);
  for (std::int64_t d = 0; d < directions; ++d) {
    const bool reverse = d == 1 || r.attrs.reverse;
    for (std::int64_t b = 0; b < r.batch; ++b) {
      const std::int64_t length = lens ? tensor::ElementAsInt64(*lens, b) : r.steps;
      std::vector<double> h = load_state(given(5), state_at(d, b));
      std::vector<double> cell_state = load_state(given(6), state_at(d, b));
      const auto y_at = [&](std::int64_t t) {
        return (batch_first ? (b * r.steps + t) * directions + d
                            : (t * directions + d) * r.batch + b) *
               r.hidden;
      };
      for (std::int64_t step = 0; step < length; ++step) {
        const std::int64_t t = reverse ? length - 1 - step : step;
        const std::int64_t from = (batch_first ? b * r.steps + t : t * r.batch + b) * r.inputs;
        for (std::int64_t i = 0; i < r.inputs; ++i)
          in[static_cast<std::size_t>(i)] = Load(x, from + i);
        cell(r, *c.attrs, d, in.data(), h, cell_state);
        store(results[0], y_at(t), h);
      }
      // Behind the end of a sequence there is nothing.
      for (std::int64_t t = length; t < r.steps; ++t) store(results[0], y_at(t), zeros);
      store(results[1], state_at(d, b), h);
      if (kind.has_cell) store(results[2], state_at(d, b), cell_state);
    }
  }
  return OkStatus();
}

OpCost RecurrentCost(const CostContext& c) {
  OpCost cost{.bytes = AllBytes(c)};
  // Each step of each sequence takes every weight once.
  if (c.inputs[0].is_static() && c.inputs[0].dims().size() == 3) {
    const tensor::Dims x = c.inputs[0].dims();
    cost.macs = static_cast<double>(x[0]) * static_cast<double>(x[1]) *
                (CountOf(c.inputs[1]) + CountOf(c.inputs[2]));
  }
  cost.vector_ops = 40 * CountOf(c.outputs[0]);
  return cost;
}

}  // namespace npukit::ops
