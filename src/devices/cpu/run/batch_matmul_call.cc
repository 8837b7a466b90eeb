// Matrix products whose right side is not one constant matrix: each is packed into panels in
// working memory, then multiplied like a constant one. Packing costs one pass over b; the product
// reads it once per few rows of a.
#include <algorithm>
#include <vector>

#include "devices/cpu/run/calls.h"
#include "devices/cpu/run/elementwise_program.h"

namespace npukit::devices::cpu {
namespace {

class BatchMatmulCall final : public Call {
 public:
  static constexpr std::int64_t kMaxBatch = 1 << 16;

  BatchMatmulCall(const Kernels& kernels, ElementwiseProgram program)
      : kernels_(kernels), program_(std::move(program)) {}

  bool Prepare(const StepView& step, Preparation& prep) {
    const Operand& a = step.inputs[0];
    const Operand& b = step.inputs[1];
    const tensor::Dims& y = step.outputs[0].dims;
    if (a.dims.size() < 2 || b.dims.size() < 2 || step.outputs[0].count() == 0) return false;
    m_ = a.dims[a.dims.size() - 2], k_ = a.dims.back(), n_ = b.dims.back();
    if (k_ == 0) return false;
    std::int64_t batch = 1;
    for (std::size_t i = 0; i + 2 < y.size(); ++i) batch *= y[i];
    if (batch > kMaxBatch) return false;
    a_at_ = Offsets(a.dims, y, batch);
    b_at_ = Offsets(b.dims, y, batch);
    panels_ = (n_ + kPanel - 1) / kPanel;
    packed_ = b.layout == Layout::kMatmul;
    program_.TakeClamp(&lo_, &hi_);
    a_ = a.slot, b_ = b.slot, y_ = step.outputs[0].slot;
    if (const Operand* bias = step.Input(2)) bias_ = static_cast<const float*>(bias->constant);
    const double macs = static_cast<double>(batch * m_) * static_cast<double>(k_ * n_);
    tasks_ = prep.threads() == 1
                 ? 1
                 : static_cast<std::int64_t>(std::clamp(macs / 200'000, 1.0, 4.0 * prep.threads()));
    tasks_ = std::min(tasks_, batch);
    if (!packed_) {
      task_floats_ = panels_ * k_ * kPanel;
      pack_ = prep.Workspace(static_cast<std::uint64_t>(tasks_ * task_floats_) * sizeof(float));
    }
    return true;
  }

  Status Run(const Frame& frame) const override {
    ElementwiseProgram::Steps steps;
    program_.Resolve(frame, &steps);
    const auto* a = frame.At<const float>(a_);
    const auto* b = frame.At<const float>(b_);
    auto* y = frame.At<float>(y_);
    auto* pack = packed_ ? nullptr : frame.At<float>(pack_);
    const auto batch = static_cast<std::int64_t>(a_at_.size());
    frame.pool->ParallelFor(
        static_cast<std::size_t>(tasks_), 1, [&](std::size_t begin, std::size_t end) {
          for (auto t = static_cast<std::int64_t>(begin); t < static_cast<std::int64_t>(end); ++t) {
            for (std::int64_t i = t * batch / tasks_; i < (t + 1) * batch / tasks_; ++i) {
              const float* w = nullptr;
              if (packed_) {
                w = b + b_at_[static_cast<std::size_t>(i)] * panels_ * k_ * kPanel;
              } else {
                Pack(b + b_at_[static_cast<std::size_t>(i)] * k_ * n_, pack + t * task_floats_);
                w = pack + t * task_floats_;
              }
              Multiply(a + a_at_[static_cast<std::size_t>(i)] * m_ * k_, w, y + i * m_ * n_);
              program_.RunInPlace(kernels_, steps, {y, i * m_, m_, 0, n_});
            }
          }
        });
    return OkStatus();
  }
  const char* kernel() const override { return "batch_matmul_f32"; }
  std::uint64_t memory_bytes() const override {
    return (a_at_.size() + b_at_.size()) * sizeof(std::int64_t);
  }

 private:
  // Which matrix of an operand the i-th of the result takes.
  static std::vector<std::int64_t> Offsets(const tensor::Dims& dims, const tensor::Dims& y,
                                           std::int64_t batch) {
    const std::size_t lead = y.size() - 2, own = dims.size() - 2;
    std::vector<std::int64_t> out(static_cast<std::size_t>(batch));
    for (std::int64_t i = 0; i < batch; ++i) {
      std::int64_t rest = i, at = 0, step = 1;
      for (std::size_t d = lead; d-- > 0; rest /= y[d]) {
        if (d + own < lead) break;
        const std::int64_t size = dims[d + own - lead];
        if (size != 1) at += rest % y[d] * step;
        step *= size;
      }
      out[static_cast<std::size_t>(i)] = at;
    }
    return out;
  }

  void Pack(const float* b, float* out) const {
    for (std::int64_t p = 0; p < panels_; ++p) {
      const std::int64_t lanes = std::min(kPanel, n_ - p * kPanel);
      for (std::int64_t k = 0; k < k_; ++k) {
        const float* from = b + k * n_ + p * kPanel;
        float* to = out + (p * k_ + k) * kPanel;
        for (std::int64_t i = 0; i < lanes; ++i) to[i] = from[i];
        for (std::int64_t i = lanes; i < kPanel; ++i) to[i] = 0;
      }
    }
  }

  void Multiply(const float* a, const float* w, float* y) const {
    GemmSegment segment{a, 0};
    GemmTile t;
    t.segments = &segment;
    t.segment_count = 1;
    t.run = k_;
    t.a_stride = k_;
    t.rows = m_;
    t.w = w;
    t.panel_stride = k_ * kPanel;
    t.cols = n_;
    t.bias = bias_;
    t.lo = lo_;
    t.hi = hi_;
    t.out = y;
    t.out_stride = n_;
    kernels_.gemm(t);
  }

  const Kernels& kernels_;
  ElementwiseProgram program_;
  std::vector<std::int64_t> a_at_, b_at_;
  std::int64_t m_ = 0, k_ = 0, n_ = 0, panels_ = 0, tasks_ = 1, task_floats_ = 0;
  bool packed_ = false;
  const float* bias_ = nullptr;
  float lo_ = 0, hi_ = 0;
  Slot a_, b_, y_, pack_;
};

}  // namespace

std::unique_ptr<Call> Prepare_batch_matmul_f32(const StepView& step, Preparation& prep) {
  const Operand* a = step.Input(0);
  const Operand* b = step.Input(1);
  const Operand* bias = step.Input(2);
  if (a == nullptr || b == nullptr || !a->is_f32() || !a->is_raw() || !b->is_f32() ||
      !step.outputs[0].is_f32())
    return nullptr;
  if (bias != nullptr && bias->layout != Layout::kPad16) return nullptr;
  if (!b->is_raw()) {
    const auto spec = SpecFor(Layout::kMatmul, b->dims, 1);
    if (b->layout != Layout::kMatmul || !spec || spec->groups == 1)
      return nullptr;  // one matrix: matmul_f32 is better
  }
  ElementwiseProgram program(step.outputs[0].dims);
  if (!program.AddEpilogue(step)) return nullptr;
  auto call = std::make_unique<BatchMatmulCall>(prep.kernels(), std::move(program));
  if (!call->Prepare(step, prep)) return nullptr;
  return call;
}

}  // namespace npukit::devices::cpu
