// Activations, binary operators and chains.
#include <algorithm>
#include <cstring>

#include "devices/cpu/run/calls.h"
#include "devices/cpu/run/elementwise_program.h"

namespace npukit::devices::cpu {
namespace {

// A range of at least this many floats is worth a thread of its own: some microseconds of memory
// traffic.
constexpr std::int64_t kGrain = 16384;

class ElementwiseCall final : public Call {
 public:
  ElementwiseCall(const Kernels& kernels, const ElementwiseProgram& program, Slot in, Slot out)
      : kernels_(kernels), program_(program), in_(in), out_(out) {}

  Status Run(const Frame& frame) const override {
    ElementwiseProgram::Steps steps;
    program_.Resolve(frame, &steps);
    EwBlock whole;
    whole.steps = steps.data();
    whole.step_count = static_cast<std::int64_t>(program_.size());
    whole.in = frame.At<const float>(in_);
    whole.out = frame.At<float>(out_);
    const std::int64_t count = program_.rows() * program_.cols();
    if (count == 0) return OkStatus();
    if (!program_.has_position()) {  // any stretch is like any other
      frame.pool->ParallelFor(static_cast<std::size_t>(count), kGrain,
                              [&](std::size_t begin, std::size_t end) {
                                EwBlock b = whole;
                                b.offset = static_cast<std::int64_t>(begin);
                                b.in += begin;
                                b.out += begin;
                                b.rows = 1;
                                b.cols = static_cast<std::int64_t>(end - begin);
                                b.stride = b.cols;
                                kernels_.elementwise(b);
                              });
      return OkStatus();
    }
    const std::int64_t cols = program_.cols();
    const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, kGrain / cols));
    frame.pool->ParallelFor(
        static_cast<std::size_t>(program_.rows()), grain, [&](std::size_t begin, std::size_t end) {
          const std::int64_t per_image = program_.image_rows();
          for (auto r = static_cast<std::int64_t>(begin); r < static_cast<std::int64_t>(end);) {
            EwBlock b = whole;
            b.image = r / per_image;
            b.row0 = r;
            b.rows = std::min(static_cast<std::int64_t>(end), (b.image + 1) * per_image) - r;
            b.cols = b.stride = b.channels = cols;
            b.offset = r * cols;
            b.in += b.offset;
            b.out += b.offset;
            kernels_.elementwise(b);
            r += b.rows;
          }
        });
    return OkStatus();
  }
  const char* kernel() const override { return "elementwise_f32"; }

 private:
  const Kernels& kernels_;
  ElementwiseProgram program_;
  Slot in_, out_;
};

// Any broadcast: dimensions that both sides walk alike are merged; the innermost is a vector loop,
// the others count.
class BroadcastCall final : public Call {
 public:
  static constexpr std::size_t kMaxRank = 8;

  static std::unique_ptr<Call> Make(const Kernels& kernels, EwOp op, const Operand& a,
                                    const Operand& b, const Operand& out) {
    auto call = std::make_unique<BroadcastCall>(kernels, op, a.slot, b.slot, out.slot);
    const std::size_t rank = out.dims.size();
    if (a.dims.size() > rank || b.dims.size() > rank) return nullptr;
    const auto stride_of = [&](const tensor::Dims& dims) {
      tensor::Dims s(rank, 0);
      std::int64_t step = 1;
      for (std::size_t i = dims.size(); i-- > 0;) {
        if (dims[i] != 1) s[i + rank - dims.size()] = step;
        step *= dims[i];
      }
      return s;
    };
    const tensor::Dims sa = stride_of(a.dims), sb = stride_of(b.dims);
    for (std::size_t i = rank; i-- > 0;) {
      if (out.dims[i] == 1) continue;
      Dim d{out.dims[i], sa[i], sb[i]};
      if (call->rank_ > 0) {
        Dim& inner = call->dims_[call->rank_ - 1];
        if (d.a == inner.a * inner.n && d.b == inner.b * inner.n) {
          inner.n *= d.n;
          continue;
        }
      }
      if (call->rank_ == kMaxRank) return nullptr;
      call->dims_[call->rank_++] = d;
    }
    if (call->rank_ == 0) call->dims_[call->rank_++] = {1, 0, 0};
    for (std::size_t i = 1; i < call->rank_; ++i) call->outer_ *= call->dims_[i].n;
    return call;
  }

  BroadcastCall(const Kernels& kernels, EwOp op, Slot a, Slot b, Slot out)
      : kernels_(kernels), op_(op), a_(a), b_(b), out_(out) {}

  Status Run(const Frame& frame) const override {
    const Dim& inner = dims_[0];
    if (outer_ == 0 || inner.n == 0) return OkStatus();
    const auto* a = frame.At<const float>(a_);
    const auto* b = frame.At<const float>(b_);
    auto* out = frame.At<float>(out_);
    const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, kGrain / inner.n));
    frame.pool->ParallelFor(static_cast<std::size_t>(outer_), grain,
                            [&](std::size_t begin, std::size_t end) {
                              for (std::size_t i = begin; i < end; ++i) {
                                BinaryRow row{.op = op_,
                                              .a = a,
                                              .b = b,
                                              .a_moves = inner.a != 0,
                                              .b_moves = inner.b != 0,
                                              .out = out + static_cast<std::int64_t>(i) * inner.n,
                                              .n = inner.n};
                                auto rest = static_cast<std::int64_t>(i);
                                for (std::size_t d = 1; d < rank_; ++d) {
                                  row.a += rest % dims_[d].n * dims_[d].a;
                                  row.b += rest % dims_[d].n * dims_[d].b;
                                  rest /= dims_[d].n;
                                }
                                kernels_.binary_row(row);
                              }
                            });
    return OkStatus();
  }
  const char* kernel() const override { return "broadcast_f32"; }

 private:
  struct Dim {
    std::int64_t n = 1, a = 0, b = 0;  // size; strides, 0 or dense
  };
  const Kernels& kernels_;
  EwOp op_;
  Slot a_, b_, out_;
  std::array<Dim, kMaxRank> dims_;  // innermost first
  std::size_t rank_ = 0;
  std::int64_t outer_ = 1;
};

class CopyCall final : public Call {
 public:
  CopyCall(Slot in, Slot out, std::uint64_t bytes)
      : in_(in), out_(out), bytes_(static_cast<std::size_t>(bytes)) {}
  Status Run(const Frame& frame) const override {
    if (bytes_ != 0) std::memmove(frame.At<void>(out_), frame.At<const void>(in_), bytes_);
    return OkStatus();
  }
  const char* kernel() const override { return "copy"; }

 private:
  Slot in_, out_;
  std::size_t bytes_;
};

}  // namespace

// An operator with one input, or a chain with any epilogue.
std::unique_ptr<Call> Prepare_unary_f32(const StepView& step, Preparation& prep) {
  const Operand* x = step.Input(0);
  const Operand& y = step.outputs[0];
  if (step.own_inputs != 1 || x == nullptr || !x->is_f32() || !y.is_f32() || !x->is_raw() ||
      x->dims != y.dims)
    return nullptr;
  ElementwiseProgram program(y.dims);
  if (!program.Add(*step.def, *step.attrs, nullptr, false) || !program.AddEpilogue(step))
    return nullptr;
  return std::make_unique<ElementwiseCall>(prep.kernels(), program, x->slot, y.slot);
}

// add, sub, mul, div, pow, min, max, prelu: whichever side has the result's shape is walked, the
// other is the operand.
std::unique_ptr<Call> Prepare_binary_f32(const StepView& step, Preparation& prep) {
  const Operand* a = step.Input(0);
  const Operand* b = step.Input(1);
  const Operand& y = step.outputs[0];
  if (a == nullptr || b == nullptr || !a->is_f32() || !b->is_f32() || !y.is_f32() || !a->is_raw() ||
      !b->is_raw())
    return nullptr;
  for (const bool swapped : {false, true}) {
    const Operand* x = swapped ? b : a;
    if (x->dims != y.dims) continue;
    ElementwiseProgram program(y.dims);
    if (!program.Add(*step.def, *step.attrs, swapped ? a : b, swapped) ||
        !program.AddEpilogue(step))
      continue;
    return std::make_unique<ElementwiseCall>(prep.kernels(), program, x->slot, y.slot);
  }
  if (!step.epilogue.empty()) return nullptr;
  const auto op = ElementwiseProgram::BinaryOp(*step.def, false);
  if (!op) return nullptr;
  return BroadcastCall::Make(prep.kernels(), *op, *a, *b, y);
}

// What only renames its input, where the compiler could not make it a view (a boundary output, a
// constant).
std::unique_ptr<Call> Prepare_copy(const StepView& step, Preparation&) {
  const bool renames = step.def == &op::identity || step.def == &op::reshape ||
                       step.def == &op::squeeze || step.def == &op::unsqueeze;
  if (!renames || !step.epilogue.empty() || !step.inputs[0].present || !step.inputs[0].is_raw())
    return nullptr;
  const Operand& x = step.inputs[0];
  const Operand& y = step.outputs[0];
  const auto bytes = tensor::StorageBytes(y.dtype, static_cast<std::uint64_t>(y.count()));
  if (x.dtype != y.dtype || x.count() != y.count() || !bytes) return nullptr;
  return std::make_unique<CopyCall>(x.slot, y.slot, *bytes);
}

}  // namespace npukit::devices::cpu
