// gather, pad and where: what is copied depends on an index, a border or a condition.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "devices/cpu/run/calls.h"
#include "ops/pad.h"
#include "ops/rules.h"

namespace npukit::devices::cpu {
namespace {

constexpr std::int64_t kGrainBytes = 65536;

std::size_t GrainOf(std::int64_t bytes_each) {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, kGrainBytes / std::max<std::int64_t>(bytes_each, 1)));
}

// 1, 2, 4 or 8; 0 for types that share bytes or take more.
std::int64_t PlainBytes(tensor::DType t) {
  const int bits = tensor::DTypeBits(t);
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

// Calls f with an unsigned type of `size` bytes.
template <class F>
void WithSize(std::int64_t size, const F& f) {
  switch (size) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

class GatherCall final : public Call {
 public:
  GatherCall(const StepView& step, std::size_t axis, std::int64_t size)
      : x_(step.inputs[0].slot),
        indices_(step.inputs[1].slot),
        y_(step.outputs[0].slot),
        wide_(step.inputs[1].dtype == tensor::DType::kI64),
        axis_(axis),
        n_(step.inputs[0].dims[axis]),
        picks_(step.inputs[1].count()) {
    const tensor::Dims& x = step.inputs[0].dims;
    for (std::size_t i = 0; i < axis; ++i) outer_ *= x[i];
    row_ = size;
    for (std::size_t i = axis + 1; i < x.size(); ++i) row_ *= x[i];
  }

  Status Run(const Frame& frame) const override {
    const auto* indices = frame.At<const std::byte>(indices_);
    const auto index = [&](std::int64_t k) {
      std::int64_t i = 0;
      if (wide_) {
        std::memcpy(&i, indices + k * 8, 8);
      } else {
        std::int32_t narrow = 0;
        std::memcpy(&narrow, indices + k * 4, 4);
        i = narrow;
      }
      return i;
    };
    for (std::int64_t k = 0; k < picks_; ++k) {  // data from outside: checked before it is used
      if (const std::int64_t i = index(k); i < -n_ || i >= n_)
        return InvalidArgument(Cat("gather: index ", i, " is outside axis ", axis_, " of ", n_));
    }
    const auto* x = frame.At<const std::byte>(x_);
    auto* y = frame.At<std::byte>(y_);
    if (row_ == 0) return OkStatus();
    frame.pool->ParallelFor(
        static_cast<std::size_t>(outer_ * picks_), GrainOf(row_),
        [&](std::size_t begin, std::size_t end) {
          for (auto r = static_cast<std::int64_t>(begin); r < static_cast<std::int64_t>(end); ++r) {
            const std::int64_t i = index(r % picks_);
            const std::int64_t from = r / picks_ * n_ + (i < 0 ? i + n_ : i);
            std::memcpy(y + r * row_, x + from * row_, static_cast<std::size_t>(row_));
          }
        });
    return OkStatus();
  }
  const char* kernel() const override { return "gather"; }

 private:
  Slot x_, indices_, y_;
  bool wide_;
  std::size_t axis_;
  std::int64_t n_, picks_, outer_ = 1, row_ = 0;
};

// Dimensions behind the last padded one are one block; in the last padded one, what comes from x is
// one copy. Where each element of a dimension comes from is worked out beforehand.
class PadCall final : public Call {
 public:
  static std::unique_ptr<Call> Make(const StepView& step, ops::PadMode mode,
                                    const std::vector<ops::Padding>& padding, std::int64_t size) {
    const tensor::Dims& x = step.inputs[0].dims;
    const tensor::Dims& y = step.outputs[0].dims;
    auto call = std::make_unique<PadCall>();
    call->x_ = step.inputs[0].slot;
    call->y_ = step.outputs[0].slot;
    if (const Operand* filler = step.Input(2)) {
      call->filler_ = filler->slot;
      call->has_filler_ = true;
    }
    call->size_ = size;
    std::size_t rank = x.size();
    while (rank > 1 && padding[rank - 1].begin == 0 && padding[rank - 1].end == 0)
      call->block_ *= x[--rank];
    std::int64_t stride = call->block_ * size;
    call->dims_.resize(rank);
    for (std::size_t d = rank; d-- > 0;) {
      Dim& dim = call->dims_[d];
      dim.stride = stride;
      stride *= x[d];
      for (std::int64_t i = 0; i < y[d]; ++i)
        dim.source.push_back(ops::PadSource(mode, padding[d], x[d], i));
      if (d + 1 < rank) call->rows_ *= y[d];
    }
    const ops::Padding& last = padding[rank - 1];
    call->run_begin_ = std::clamp<std::int64_t>(last.begin, 0, y[rank - 1]);
    call->run_end_ =
        std::clamp<std::int64_t>(last.begin + x[rank - 1], call->run_begin_, y[rank - 1]);
    return call;
  }

  Status Run(const Frame& frame) const override {
    const auto* x = frame.At<const std::byte>(x_);
    auto* y = frame.At<std::byte>(y_);
    const Dim& inner = dims_.back();
    const auto columns = static_cast<std::int64_t>(inner.source.size());
    frame.pool->ParallelFor(
        static_cast<std::size_t>(rows_), GrainOf(columns * inner.stride),
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t r = begin; r < end; ++r) {
            std::byte* out = y + static_cast<std::int64_t>(r) * columns * inner.stride;
            auto rest = static_cast<std::int64_t>(r);
            std::int64_t from = 0;
            for (std::size_t d = dims_.size() - 1; d-- > 0;) {
              const auto n = static_cast<std::int64_t>(dims_[d].source.size());
              const std::int64_t at = dims_[d].source[static_cast<std::size_t>(rest % n)];
              from = at < 0 || from < 0 ? -1 : from + at * dims_[d].stride;
              rest /= n;
            }
            if (from < 0) {
              Fill(frame, out, columns);
            } else {
              Row(frame, x + from, out);
            }
          }
        });
    return OkStatus();
  }
  const char* kernel() const override { return "pad"; }
  std::uint64_t memory_bytes() const override {
    std::uint64_t n = 0;
    for (const Dim& d : dims_) n += d.source.size() * sizeof(std::int64_t);
    return n;
  }

 private:
  struct Dim {
    std::int64_t stride = 0;           // in bytes, of x
    std::vector<std::int64_t> source;  // of each element of y; -1: the constant
  };

  void Row(const Frame& frame, const std::byte* x, std::byte* out) const {
    const Dim& inner = dims_.back();
    const auto columns = static_cast<std::int64_t>(inner.source.size());
    for (std::int64_t i = 0; i < columns; ++i) {
      const std::int64_t at = inner.source[static_cast<std::size_t>(i)];
      if (i == run_begin_ && run_end_ > i) {
        std::memcpy(out + i * inner.stride, x + at * inner.stride,
                    static_cast<std::size_t>((run_end_ - i) * inner.stride));
        i = run_end_ - 1;
      } else if (at < 0) {
        Fill(frame, out + i * inner.stride, 1);
      } else {
        std::memcpy(out + i * inner.stride, x + at * inner.stride,
                    static_cast<std::size_t>(inner.stride));
      }
    }
  }

  void Fill(const Frame& frame, std::byte* out, std::int64_t blocks) const {
    const auto n = static_cast<std::size_t>(blocks * block_);
    if (!has_filler_) {
      std::memset(out, 0, n * static_cast<std::size_t>(size_));
      return;
    }
    WithSize(size_, [&](auto value) {
      std::memcpy(&value, frame.At<const void>(filler_), sizeof value);
      for (std::size_t i = 0; i < n; ++i) std::memcpy(out + i * sizeof value, &value, sizeof value);
    });
  }

  Slot x_, y_, filler_;
  bool has_filler_ = false;
  std::int64_t size_ = 4, block_ = 1, rows_ = 1;
  std::int64_t run_begin_ = 0, run_end_ = 0;  // of the last dimension: what comes from x in order
  std::vector<Dim> dims_;
};

class WhereCall final : public Call {
 public:
  static constexpr std::size_t kMaxRank = 8;

  static std::unique_ptr<Call> Make(const StepView& step, std::int64_t size) {
    const tensor::Dims& y = step.outputs[0].dims;
    auto call = std::make_unique<WhereCall>();
    call->size_ = size;
    call->y_ = step.outputs[0].slot;
    std::array<tensor::Dims, 3> strides;
    for (std::size_t k = 0; k < 3; ++k) {
      call->in_[k] = step.inputs[k].slot;
      strides[k] = ops::BroadcastStrides(step.inputs[k].dims, y);
    }
    for (std::size_t i = y.size(); i-- > 0;) {
      if (y[i] == 1) continue;
      const Dim d{y[i], {strides[0][i], strides[1][i], strides[2][i]}};
      if (call->rank_ > 0) {
        Dim& inner = call->dims_[call->rank_ - 1];
        bool alike = true;
        for (std::size_t k = 0; k < 3; ++k)
          alike = alike && d.stride[k] == inner.stride[k] * inner.n;
        if (alike) {
          inner.n *= d.n;
          continue;
        }
      }
      if (call->rank_ == kMaxRank) return nullptr;
      call->dims_[call->rank_++] = d;
    }
    if (call->rank_ == 0) call->dims_[call->rank_++] = Dim{};
    for (std::size_t d = 1; d < call->rank_; ++d) call->outer_ *= call->dims_[d].n;
    return call;
  }

  Status Run(const Frame& frame) const override {
    WithSize(size_, [&](auto zero) { RunAs<decltype(zero)>(frame); });
    return OkStatus();
  }
  const char* kernel() const override { return "where"; }

 private:
  struct Dim {
    std::int64_t n = 1;
    std::array<std::int64_t, 3> stride{};
  };

  template <class T>
  void RunAs(const Frame& frame) const {
    const Dim& inner = dims_[0];
    frame.pool->ParallelFor(
        static_cast<std::size_t>(outer_), GrainOf(inner.n * size_),
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t r = begin; r < end; ++r) {
            auto rest = static_cast<std::int64_t>(r);
            std::array<std::int64_t, 3> at{};
            for (std::size_t d = 1; d < rank_; ++d) {
              for (std::size_t k = 0; k < 3; ++k) at[k] += rest % dims_[d].n * dims_[d].stride[k];
              rest /= dims_[d].n;
            }
            const std::uint8_t* c = frame.At<const std::uint8_t>(in_[0]) + at[0];
            const auto* a = frame.At<const std::byte>(in_[1]) + at[1] * size_;
            const auto* b = frame.At<const std::byte>(in_[2]) + at[2] * size_;
            auto* y = frame.At<std::byte>(y_) + static_cast<std::int64_t>(r) * inner.n * size_;
            constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
            for (std::int64_t i = 0; i < inner.n; ++i) {
              T chosen;
              const std::byte* from = c[i * inner.stride[0]] != 0 ? a + i * inner.stride[1] * kSize
                                                                  : b + i * inner.stride[2] * kSize;
              std::memcpy(&chosen, from, sizeof(T));
              std::memcpy(y + i * kSize, &chosen, sizeof(T));
            }
          }
        });
  }

  std::array<Slot, 3> in_;
  Slot y_;
  std::int64_t size_ = 4;
  std::array<Dim, kMaxRank> dims_;  // innermost first
  std::size_t rank_ = 0;
  std::int64_t outer_ = 1;
};

bool AllRaw(const StepView& step) {
  return step.epilogue.empty() &&
         std::all_of(step.inputs.begin(), step.inputs.end(),
                     [](const Operand& o) { return !o.present || o.is_raw(); });
}

}  // namespace

std::unique_ptr<Call> Prepare_gather(const StepView& step, Preparation&) {
  if (step.def != &op::gather || !AllRaw(step)) return nullptr;
  const Operand& x = step.inputs[0];
  const std::int64_t size = PlainBytes(x.dtype);
  const auto axis = ops::NormalAxis(step.attrs->Int("axis", 0), x.dims.size());
  if (size == 0 || !axis.ok() || step.inputs[1].count() == 0) return nullptr;
  return std::make_unique<GatherCall>(step, *axis, size);
}

std::unique_ptr<Call> Prepare_pad(const StepView& step, Preparation&) {
  if (step.def != &op::pad || !AllRaw(step)) return nullptr;
  const Operand& x = step.inputs[0];
  const std::int64_t size = PlainBytes(x.dtype);
  if (size == 0 || x.dims.empty() || x.count() == 0 || step.outputs[0].count() == 0) return nullptr;
  std::vector<tensor::Value> lists(step.inputs.size());
  for (const std::size_t i : {1u, 3u}) {
    if (i >= step.inputs.size() || !step.inputs[i].present) continue;
    if (step.inputs[i].constant == nullptr) return nullptr;
    lists[i] =
        tensor::Value::Borrow(step.inputs[i].dtype, step.inputs[i].dims, step.inputs[i].constant);
  }
  const auto mode = ops::ReadPadMode(*step.attrs);
  const auto padding = ops::PlanPad(x.dims.size(), lists);
  if (!mode.ok() || !padding.ok()) return nullptr;
  return PadCall::Make(step, *mode, *padding, size);
}

std::unique_ptr<Call> Prepare_where(const StepView& step, Preparation&) {
  if (step.def != &op::where || !AllRaw(step) || step.outputs[0].count() == 0) return nullptr;
  const std::int64_t size = PlainBytes(step.outputs[0].dtype);
  return size == 0 ? nullptr : WhereCall::Make(step, size);
}

}  // namespace npukit::devices::cpu
