// rnn, gru and lstm in fp32 with constant weights: the inputs of many steps through the matrix
// kernel at once, then step after step the recurrent product and the gates, each for all sequences
// of the batch. Directions are work for two threads.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "devices/cpu/run/calls.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "ops/recurrent.h"

namespace npukit::devices::cpu {
namespace {

using tensor::DType;
using tensor::Value;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::int64_t kMaxInputFloats = 1 << 20;  // of the projected inputs held at a time
constexpr std::int64_t kSplitWeights = 1 << 18;    // floats of R from which a step is worth threads
constexpr std::int64_t kMost = std::int64_t{1} << 28;  // of any size here: products fit 63 bits

enum class Cell { kRnn, kGru, kLstm };

// Rows [first, first + n) of every direction of a weight [D, rows, k], as panels.
struct Packed {
  PanelSpec spec;
  Value floats;
  const float* Of(std::int64_t direction) const {
    return floats.as<float>().data() + direction * spec.group_floats();
  }
};

bool Pack(const float* w, std::int64_t directions, std::int64_t rows, std::int64_t k,
          std::int64_t first, std::int64_t n, Packed* out) {
  out->spec = PanelSpec{.groups = directions,
                        .n = n,
                        .taps = 1,
                        .c = k,
                        .group_stride = rows * k,
                        .n_stride = k,
                        .tap_stride = 0,
                        .c_stride = 1};
  auto v = Value::Allocate(DType::kF32, {out->spec.floats()});
  if (!v.ok()) return false;
  PackPanels(out->spec, w + first * k, v->as_mutable<float>().data());
  out->floats = std::move(v).value();
  return true;
}

// The vector form of an activation; nullopt: only the reference has it.
std::optional<EwStep> StepOf(const ops::Activation& a) {
  using Kind = ops::Activation::Kind;
  EwStep s;
  s.p0 = static_cast<float>(a.alpha);
  s.p1 = static_cast<float>(a.beta);
  switch (a.kind) {
    case Kind::kRelu:
      s.op = EwOp::kRelu;
      return s;
    case Kind::kTanh:
      s.op = EwOp::kTanh;
      return s;
    case Kind::kSigmoid:
      s.op = EwOp::kSigmoid;
      return s;
    case Kind::kLeakyRelu:
      s.op = EwOp::kLeakyRelu;
      return s;
    case Kind::kElu:
      s.op = EwOp::kElu;
      return s;
    case Kind::kHardSigmoid:
      s.op = EwOp::kHardSigmoid;
      return s;
    default:
      return std::nullopt;
  }
}

struct Sizes {
  std::int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, gates = 0, directions = 0;
  std::int64_t rows() const { return gates * hidden; }
  std::int64_t chunk = 0;  // steps whose inputs are projected at a time
};

class RecurrentCall final : public Call {
 public:
  Status Run(const Frame& frame) const override {
    frame.pool->ParallelFor(static_cast<std::size_t>(n_.directions), 1,
                            [&](std::size_t begin, std::size_t end) {
                              for (std::size_t d = begin; d < end; ++d)
                                RunDirection(frame, static_cast<std::int64_t>(d));
                            });
    return OkStatus();
  }
  const char* kernel() const override { return "recurrent_f32"; }
  std::uint64_t memory_bytes() const override {
    return w_.floats.byte_size() + r_.floats.byte_size() + r_last_.floats.byte_size() +
           bias_.byte_size() + bias_last_.byte_size();
  }

 private:
  friend std::unique_ptr<Call> npukit::devices::cpu::Prepare_recurrent_f32(const StepView& step,
                                                                           Preparation& prep);
  explicit RecurrentCall(const Kernels& kernels) : kernels_(kernels) {}

  // Working memory of a direction, one part after the other.
  std::int64_t WorkFloats() const {
    return n_.chunk * n_.batch * n_.rows() + n_.batch * n_.rows() + 3 * n_.batch * n_.hidden;
  }

  // out[r, :] = bias + a[r, :] w for `rows` rows; columns over threads where that is worth it.
  void Product(const Frame& frame, const Packed& w, std::int64_t direction, const float* a,
               std::int64_t rows, const float* bias, float* out, std::int64_t out_stride) const {
    const auto part = [&](std::int64_t first, std::int64_t last) {  // panels
      const GemmSegment segment{a, 0};
      GemmTile t;
      t.segments = &segment;
      t.segment_count = 1;
      t.run = w.spec.c;
      t.a_stride = w.spec.c;
      t.rows = rows;
      t.w = w.Of(direction) + first * w.spec.panel_floats();
      t.panel_stride = w.spec.panel_floats();
      t.cols = std::min(w.spec.n, last * kPanel) - first * kPanel;
      t.bias = bias == nullptr ? nullptr : bias + first * kPanel;
      t.lo = -kInf;
      t.hi = kInf;
      t.out = out + first * kPanel;
      t.out_stride = out_stride;
      kernels_.gemm(t);
    };
    const std::int64_t panels = w.spec.panels();
    if (w.spec.group_floats() < kSplitWeights) return part(0, panels);
    frame.pool->ParallelFor(
        static_cast<std::size_t>(panels), 4, [&](std::size_t begin, std::size_t end) {
          part(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
        });
  }

  // x = f(clip(x + added)) over `cols` columns from `col` on of [batch, rows()]; `added` lies as x.
  void Activate(const EwStep& f, float* x, const float* added, std::int64_t col,
                std::int64_t cols) const {
    EwStep steps[3];
    std::int64_t count = 0;
    if (added != nullptr)
      steps[count++] = EwStep{.op = EwOp::kAdd, .kind = EwOperand::kSame, .operand = added};
    if (clip_ > 0) steps[count++] = EwStep{.op = EwOp::kClip, .p0 = -clip_, .p1 = clip_};
    steps[count++] = f;
    EwBlock b;
    b.steps = steps;
    b.step_count = count;
    b.in = b.out = x + col;
    b.rows = n_.batch;
    b.cols = cols;
    b.stride = n_.rows();
    b.offset = col;
    kernels_.elementwise(b);
  }

  // out = f(in) over [batch, hidden], dense: the state of an lstm, which clip does not touch.
  void ActivateDense(const EwStep& f, const float* in, float* out) const {
    EwBlock b;
    b.steps = &f;
    b.step_count = 1;
    b.in = in;
    b.out = out;
    b.rows = 1;
    b.cols = b.stride = n_.batch * n_.hidden;
    kernels_.elementwise(b);
  }

  void RunDirection(const Frame& frame, std::int64_t d) const {
    const std::int64_t batch = n_.batch, hidden = n_.hidden, rows = n_.rows();
    const std::int64_t state = batch * hidden;
    const auto* x = frame.At<const float>(x_);
    auto* y = frame.At<float>(y_);
    float* projected = frame.At<float>(work_) + d * WorkFloats();
    float* sums = projected + n_.chunk * batch * rows;
    float* c = sums + batch * rows;
    float* spare = c + state;
    float* zeros = spare + state;
    std::fill_n(zeros, state, 0.0f);
    const float* h = has_h_ ? frame.At<const float>(initial_h_) + d * state : zeros;
    std::memcpy(c, has_c_ ? frame.At<const float>(initial_c_) + d * state : zeros,
                static_cast<std::size_t>(state) * sizeof(float));
    const bool reverse = reverse_ || d == 1;
    const float* bias = bias_.as<float>().data() + d * w_.spec.panels() * kPanel;
    for (std::int64_t done = 0; done < n_.steps; done += n_.chunk) {
      const std::int64_t count = std::min(n_.chunk, n_.steps - done);
      const std::int64_t first = reverse ? n_.steps - done - count : done;
      // Rows of the inputs over threads; the kernel blocks within.
      const std::int64_t each = std::max<std::int64_t>(
          kernels_.gemm_rows, kSplitWeights / std::max<std::int64_t>(1, rows * n_.inputs));
      frame.pool->ParallelFor(static_cast<std::size_t>(count * batch),
                              static_cast<std::size_t>(each),
                              [&](std::size_t begin, std::size_t end) {
                                const auto b = static_cast<std::int64_t>(begin);
                                const auto e = static_cast<std::int64_t>(end);
                                Product(frame, w_, d, x + (first * batch + b) * n_.inputs, e - b,
                                        bias, projected + b * rows, rows);
                              });
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t t = reverse ? first + count - 1 - i : first + i;
        float* out = y + (t * n_.directions + d) * state;
        Step(frame, d, projected + (t - first) * batch * rows, h, c, sums, spare, out);
        h = out;
      }
    }
    std::memcpy(frame.At<float>(y_h_) + d * state, h,
                static_cast<std::size_t>(state) * sizeof(float));
    if (cell_ == Cell::kLstm) {
      std::memcpy(frame.At<float>(y_c_) + d * state, c,
                  static_cast<std::size_t>(state) * sizeof(float));
    }
  }

  // `in`: W x + biases of this step; h: the state before; out: the state after.
  void Step(const Frame& frame, std::int64_t d, const float* in, const float* h, float* c,
            float* sums, float* spare, float* out) const {
    const std::int64_t batch = n_.batch, hidden = n_.hidden, rows = n_.rows();
    const EwStep* f = activations_ + d * 3;
    Product(frame, r_, d, h, batch, nullptr, sums, rows);
    if (cell_ == Cell::kRnn) {
      Activate(f[0], sums, in, 0, hidden);
      std::memcpy(out, sums, static_cast<std::size_t>(batch * hidden) * sizeof(float));
      return;
    }
    if (cell_ == Cell::kLstm) {  // i o f c
      Activate(f[0], sums, in, 0, 3 * hidden);
      Activate(f[1], sums, in, 3 * hidden, hidden);
      for (std::int64_t b = 0; b < batch; ++b) {
        const float* g = sums + b * rows;
        float* to = c + b * hidden;
        if (coupled_) {
          for (std::int64_t j = 0; j < hidden; ++j)
            to[j] = (1 - g[j]) * to[j] + g[j] * g[3 * hidden + j];
        } else {
          for (std::int64_t j = 0; j < hidden; ++j)
            to[j] = g[2 * hidden + j] * to[j] + g[j] * g[3 * hidden + j];
        }
      }
      ActivateDense(f[2], c, out);
      for (std::int64_t b = 0; b < batch; ++b) {
        const float* o = sums + b * rows + hidden;
        for (std::int64_t j = 0; j < hidden; ++j) out[b * hidden + j] *= o[j];
      }
      return;
    }
    // z r h
    Activate(f[0], sums, in, 0, 2 * hidden);
    if (linear_before_reset_) {
      Product(frame, r_last_, d, h, batch,
              bias_last_.as<float>().data() + d * r_last_.spec.panels() * kPanel, sums + 2 * hidden,
              rows);
      for (std::int64_t b = 0; b < batch; ++b) {
        float* g = sums + b * rows;
        for (std::int64_t j = 0; j < hidden; ++j) g[2 * hidden + j] *= g[hidden + j];
      }
    } else {
      for (std::int64_t b = 0; b < batch; ++b) {
        const float* reset = sums + b * rows + hidden;
        for (std::int64_t j = 0; j < hidden; ++j)
          spare[b * hidden + j] = reset[j] * h[b * hidden + j];
      }
      Product(frame, r_last_, d, spare, batch, nullptr, sums + 2 * hidden, rows);
    }
    Activate(f[1], sums, in, 2 * hidden, hidden);
    for (std::int64_t b = 0; b < batch; ++b) {
      const float* g = sums + b * rows;
      const float* before = h + b * hidden;
      for (std::int64_t j = 0; j < hidden; ++j)
        out[b * hidden + j] = (1 - g[j]) * g[2 * hidden + j] + g[j] * before[j];
    }
  }

  const Kernels& kernels_;
  Cell cell_ = Cell::kRnn;
  Sizes n_;
  Packed w_, r_, r_last_;   // gru: r_ is of z and r, r_last_ of h
  Value bias_, bias_last_;  // padded to panels, a direction after the other
  EwStep activations_[6];   // three a direction
  float clip_ = 0;
  bool reverse_ = false, coupled_ = false, linear_before_reset_ = false;
  bool has_h_ = false, has_c_ = false;
  Slot x_, y_, y_h_, y_c_, initial_h_, initial_c_, work_;
};

const Operand* ConstantF32(const StepView& step, std::size_t i) {
  const Operand* o = step.Input(i);
  return o != nullptr && o->is_f32() && o->is_raw() && o->constant != nullptr ? o : nullptr;
}

// Absent, or plain fp32.
bool StateFits(const StepView& step, std::size_t i) {
  const Operand* o = step.Input(i);
  return o == nullptr || (o->is_f32() && o->is_raw());
}

}  // namespace

std::unique_ptr<Call> Prepare_recurrent_f32(const StepView& step, Preparation& prep) {
  const bool lstm = step.def == &op::lstm;
  const bool gru = step.def == &op::gru;
  if (!lstm && !gru && step.def != &op::rnn) return nullptr;
  const Operand* x = step.Input(0);
  const Operand* w = ConstantF32(step, 1);
  const Operand* r = ConstantF32(step, 2);
  const Operand* b = step.Input(3);
  if (x == nullptr || !x->is_f32() || !x->is_raw() || w == nullptr || r == nullptr ||
      (b != nullptr && ConstantF32(step, 3) == nullptr) || step.Input(4) != nullptr ||
      !StateFits(step, 5) || !StateFits(step, 6) || step.Input(7) != nullptr ||
      !step.epilogue.empty()) {
    return nullptr;  // sequence_lens, peepholes and computed weights are the reference's
  }
  const auto attrs = ops::ReadRecurrentAttrs(*step.attrs, lstm  ? ops::kLstmCell
                                                          : gru ? ops::kGruCell
                                                                : ops::kRnnCell);
  if (!attrs.ok() || attrs->batch_first) return nullptr;

  auto call = std::unique_ptr<RecurrentCall>(new RecurrentCall(prep.kernels()));
  call->cell_ = lstm ? Cell::kLstm : gru ? Cell::kGru : Cell::kRnn;
  Sizes& n = call->n_;
  n.steps = x->dims[0];
  n.batch = x->dims[1];
  n.inputs = x->dims[2];
  n.directions = w->dims[0];
  n.hidden = r->dims[2];
  n.gates = lstm ? 4 : gru ? 3 : 1;
  for (const std::int64_t size : {n.steps, n.batch, n.inputs, n.hidden}) {
    if (size < 1 || size > kMost) return nullptr;
  }
  const std::size_t each = attrs->activations.size() / static_cast<std::size_t>(n.directions);
  for (std::size_t i = 0; i < attrs->activations.size(); ++i) {
    const auto s = StepOf(attrs->activations[i]);
    if (!s) return nullptr;
    call->activations_[i / each * 3 + i % each] = *s;
  }
  call->clip_ = static_cast<float>(attrs->clip);
  call->reverse_ = attrs->reverse;
  call->coupled_ = step.attrs->Int("input_forget", 0) != 0;
  call->linear_before_reset_ = step.attrs->Int("linear_before_reset", 0) != 0;

  const std::int64_t rows = n.rows(), h = n.hidden;
  const auto* wp = static_cast<const float*>(w->constant);
  const auto* rp = static_cast<const float*>(r->constant);
  const bool packed = Pack(wp, n.directions, rows, n.inputs, 0, rows, &call->w_) &&
                      (gru ? Pack(rp, n.directions, rows, h, 0, 2 * h, &call->r_) &&
                                 Pack(rp, n.directions, rows, h, 2 * h, h, &call->r_last_)
                           : Pack(rp, n.directions, rows, h, 0, rows, &call->r_));
  const std::int64_t padded = call->w_.spec.panels() * kPanel;
  auto bias = Value::Allocate(DType::kF32, {n.directions * padded});
  const std::int64_t padded_last = gru ? call->r_last_.spec.panels() * kPanel : 0;
  auto bias_last = Value::Allocate(DType::kF32, {n.directions * padded_last});
  if (!packed || !bias.ok() || !bias_last.ok()) return nullptr;
  std::fill_n(bias->as_mutable<float>().data(), bias->count(), 0.0f);
  std::fill_n(bias_last->as_mutable<float>().data(), bias_last->count(), 0.0f);
  for (std::int64_t d = 0; b != nullptr && d < n.directions; ++d) {
    const float* from = static_cast<const float*>(b->constant) + d * 2 * rows;
    float* to = bias->as_mutable<float>().data() + d * padded;
    // The hidden gate's recurrent bias stays inside the reset where that comes after it.
    const std::int64_t both = gru && call->linear_before_reset_ ? 2 * h : rows;
    for (std::int64_t i = 0; i < rows; ++i) to[i] = from[i] + (i < both ? from[rows + i] : 0);
    for (std::int64_t i = both; i < rows; ++i)
      bias_last->as_mutable<float>()[static_cast<std::size_t>(d * padded_last + i - both)] =
          from[rows + i];
  }
  call->bias_ = std::move(bias).value();
  call->bias_last_ = std::move(bias_last).value();

  n.chunk = std::clamp<std::int64_t>(kMaxInputFloats / std::max<std::int64_t>(1, n.batch * rows), 1,
                                     n.steps);
  call->x_ = x->slot;
  call->y_ = step.outputs[0].slot;
  call->y_h_ = step.outputs[1].slot;
  if (lstm) call->y_c_ = step.outputs[2].slot;
  if (const Operand* o = step.Input(5)) call->initial_h_ = o->slot, call->has_h_ = true;
  if (const Operand* o = step.Input(6)) call->initial_c_ = o->slot, call->has_c_ = true;
  call->work_ =
      prep.Workspace(static_cast<std::uint64_t>(n.directions * call->WorkFloats()) * sizeof(float));
  return call;
}

}  // namespace npukit::devices::cpu
