// concat, slice, transpose, expand and tile: as few and as long copies as the shapes allow.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "devices/cpu/run/calls.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "ops/rules.h"
#include "ops/slice.h"

namespace npukit::devices::cpu {
namespace {

constexpr std::int64_t kGrainBytes = 65536;

// Bytes of an element; 0 for types that share bytes.
std::int64_t ElementBytes(tensor::DType t) {
  const int bits = tensor::DTypeBits(t);
  return bits % 8 == 0 ? bits / 8 : 0;
}

std::size_t GrainOf(std::int64_t bytes_each) {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, kGrainBytes / std::max<std::int64_t>(bytes_each, 1)));
}

// Rows of the inputs, one behind the other.
class ConcatCall final : public Call {
 public:
  ConcatCall(std::vector<Slot> in, std::vector<std::int64_t> row_bytes, Slot out,
             std::int64_t outer)
      : in_(std::move(in)), row_bytes_(std::move(row_bytes)), out_(out), outer_(outer) {
    for (const std::int64_t b : row_bytes_) out_row_ += b;
  }
  Status Run(const Frame& frame) const override {
    auto* out = frame.At<std::byte>(out_);
    frame.pool->ParallelFor(static_cast<std::size_t>(outer_), GrainOf(out_row_),
                            [&](std::size_t begin, std::size_t end) {
                              std::int64_t at = 0;
                              for (std::size_t k = 0; k < in_.size(); ++k) {
                                const auto* in = frame.At<const std::byte>(in_[k]);
                                for (auto i = static_cast<std::int64_t>(begin);
                                     i < static_cast<std::int64_t>(end); ++i) {
                                  if (row_bytes_[k] != 0) {
                                    std::memcpy(out + i * out_row_ + at, in + i * row_bytes_[k],
                                                static_cast<std::size_t>(row_bytes_[k]));
                                  }
                                }
                                at += row_bytes_[k];
                              }
                            });
    return OkStatus();
  }
  const char* kernel() const override { return "concat"; }

 private:
  std::vector<Slot> in_;
  std::vector<std::int64_t> row_bytes_;
  Slot out_;
  std::int64_t outer_;
  std::int64_t out_row_ = 0;
};

// A dense result whose dimensions walk the input with any strides. The innermost is a copy where
// its stride is 1, a transposition of squares where the next one's is, else a loop.
class StridedCall final : public Call {
 public:
  static constexpr std::size_t kMaxRank = 8;

  // `dims` are those of y, perhaps split into more.
  static std::unique_ptr<Call> Make(const char* name, const Kernels& kernels, const Operand& x,
                                    const Operand& y, std::int64_t first, const tensor::Dims& dims,
                                    const tensor::Dims& strides) {
    const std::int64_t size = ElementBytes(y.dtype);
    if (size == 0 || x.dtype != y.dtype || !x.is_raw() || y.count() == 0) return nullptr;
    auto call = std::make_unique<StridedCall>(name, kernels, x.slot, y.slot);
    call->size_ = size;
    call->first_ = first;
    for (std::size_t i = dims.size(); i-- > 0;) {
      if (dims[i] == 1) continue;
      if (call->rank_ > 0) {
        Dim& inner = call->dims_[call->rank_ - 1];
        if (strides[i] == inner.stride * inner.n) {
          inner.n *= dims[i];
          continue;
        }
      }
      if (call->rank_ == kMaxRank) return nullptr;
      call->dims_[call->rank_++] = {dims[i], strides[i]};
    }
    if (call->rank_ == 0) call->dims_[call->rank_++] = {1, 1};
    // Innermost strided, but some other dimension is dense in the input: swap blocks of the two.
    if (size == 4 && call->dims_[0].stride > 1) {
      for (std::size_t d = 1; d < call->rank_; ++d) {
        if (call->dims_[d].stride == 1) call->dense_ = d;
      }
    }
    for (std::size_t d = 1; d < call->rank_; ++d) {
      if (d != call->dense_) call->outer_ *= call->dims_[d].n;
    }
    return call;
  }

  StridedCall(const char* name, const Kernels& kernels, Slot x, Slot y)
      : name_(name), kernels_(kernels), x_(x), y_(y) {}

  Status Run(const Frame& frame) const override {
    const std::byte* x = frame.At<const std::byte>(x_) + first_ * size_;
    auto* y = frame.At<std::byte>(y_);
    const Dim& inner = dims_[0];
    const std::int64_t each = inner.n * (dense_ == 0 ? 1 : dims_[dense_].n) * size_;
    frame.pool->ParallelFor(
        static_cast<std::size_t>(outer_), GrainOf(each), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            auto rest = static_cast<std::int64_t>(i);
            std::int64_t from = 0, to = 0, out_stride = inner.n;
            for (std::size_t d = 1; d < rank_; ++d) {
              if (d != dense_) {
                from += rest % dims_[d].n * dims_[d].stride;
                to += rest % dims_[d].n * out_stride;
                rest /= dims_[d].n;
              }
              out_stride *= dims_[d].n;
            }
            const std::byte* in = x + from * size_;
            std::byte* out = y + to * size_;
            if (dense_ != 0) {
              std::int64_t dense_stride = inner.n;
              for (std::size_t d = 1; d < dense_; ++d) dense_stride *= dims_[d].n;
              kernels_.transpose(reinterpret_cast<const float*>(in), inner.n, dims_[dense_].n,
                                 inner.stride, reinterpret_cast<float*>(out), dense_stride);
            } else if (inner.stride == 1) {
              std::memcpy(out, in, static_cast<std::size_t>(inner.n * size_));
            } else {
              CopyStrided(in, out, inner);
            }
          }
        });
    return OkStatus();
  }
  const char* kernel() const override { return name_; }

 private:
  struct Dim {
    std::int64_t n = 1, stride = 1;  // elements of the input
  };
  template <class T>
  static void CopyAs(const std::byte* in, std::byte* out, const Dim& d) {
    for (std::int64_t i = 0; i < d.n; ++i)
      std::memcpy(out + i * static_cast<std::int64_t>(sizeof(T)),
                  in + i * d.stride * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  }
  void CopyStrided(const std::byte* in, std::byte* out, const Dim& d) const {
    switch (size_) {
      case 1:
        return CopyAs<std::uint8_t>(in, out, d);
      case 2:
        return CopyAs<std::uint16_t>(in, out, d);
      case 4:
        return CopyAs<std::uint32_t>(in, out, d);
      case 8:
        return CopyAs<std::uint64_t>(in, out, d);
      default:
        for (std::int64_t i = 0; i < d.n; ++i) {
          std::memcpy(out + i * size_, in + i * d.stride * size_, static_cast<std::size_t>(size_));
        }
    }
  }

  const char* name_;
  const Kernels& kernels_;
  Slot x_, y_;
  std::int64_t size_ = 4, first_ = 0;
  std::array<Dim, kMaxRank> dims_;  // innermost first
  std::size_t rank_ = 0;
  std::size_t dense_ = 0;  // the dimension with stride 1, when it is not the innermost; 0: none
  std::int64_t outer_ = 1;
};

}  // namespace

std::unique_ptr<Call> Prepare_concat(const StepView& step, Preparation&) {
  if (step.def != &op::concat || !step.epilogue.empty()) return nullptr;
  const Operand& y = step.outputs[0];
  const auto axis = ops::NormalAxis(step.attrs->Int("axis"), y.dims.size());
  const std::int64_t size = ElementBytes(y.dtype);
  if (!axis.ok() || size == 0) return nullptr;
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < *axis; ++i) outer *= y.dims[i];
  std::vector<Slot> in;
  std::vector<std::int64_t> row_bytes;
  for (const Operand& x : step.inputs) {
    if (!x.present || !x.is_raw() || x.dtype != y.dtype || x.dims.size() != y.dims.size())
      return nullptr;
    std::int64_t row = size;
    for (std::size_t i = *axis; i < x.dims.size(); ++i) row *= x.dims[i];
    in.push_back(x.slot);
    row_bytes.push_back(row);
  }
  return std::make_unique<ConcatCall>(std::move(in), std::move(row_bytes), y.slot, outer);
}

std::unique_ptr<Call> Prepare_transpose(const StepView& step, Preparation& prep) {
  if (step.def != &op::transpose || !step.epilogue.empty()) return nullptr;
  const Operand& x = step.inputs[0];
  const std::size_t rank = x.dims.size();
  ops::Ints perm = step.attrs->IntList("perm");
  if (step.attrs->Find("perm") == nullptr) {
    for (std::size_t i = rank; i-- > 0;) perm.push_back(static_cast<std::int64_t>(i));
  }
  if (perm.size() != rank) return nullptr;
  const tensor::Dims dense = tensor::DenseStrides(x.dims);
  tensor::Dims strides;
  for (const std::int64_t p : perm)
    strides.push_back(dense[static_cast<std::size_t>(p)]);  // checked by Infer
  return StridedCall::Make("transpose", prep.kernels(), x, step.outputs[0], 0, step.outputs[0].dims,
                           strides);
}

std::unique_ptr<Call> Prepare_slice(const StepView& step, Preparation& prep) {
  if (step.def != &op::slice || !step.epilogue.empty()) return nullptr;
  std::vector<tensor::Value> lists(step.inputs.size());
  for (std::size_t i = 1; i < step.inputs.size(); ++i) {
    const Operand& in = step.inputs[i];
    if (!in.present) continue;
    if (in.constant == nullptr || !in.is_raw()) return nullptr;
    lists[i] = tensor::Value::Borrow(in.dtype, in.dims, in.constant);
  }
  const Operand& x = step.inputs[0];
  const auto cuts = ops::PlanSlice(x.dims, lists);
  if (!cuts.ok()) return nullptr;
  tensor::Dims strides = tensor::DenseStrides(x.dims);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    first += (*cuts)[i].start * strides[i];
    strides[i] = (*cuts)[i].count > 1 ? strides[i] * (*cuts)[i].step : 0;
  }
  return StridedCall::Make("slice", prep.kernels(), x, step.outputs[0], first, step.outputs[0].dims,
                           strides);
}

// A repeated dimension is one with stride 0; tile splits each of its dimensions into repeats and
// x's.
std::unique_ptr<Call> Prepare_expand(const StepView& step, Preparation& prep) {
  const bool tile = step.def == &op::tile;
  if ((!tile && step.def != &op::expand) || !step.epilogue.empty()) return nullptr;
  const Operand& x = step.inputs[0];
  const Operand& y = step.outputs[0];
  if (!x.present || x.count() == 0 || y.count() == 0) return nullptr;
  if (!tile) {
    return StridedCall::Make("expand", prep.kernels(), x, y, 0, y.dims,
                             ops::BroadcastStrides(x.dims, y.dims));
  }
  const tensor::Dims dense = tensor::DenseStrides(x.dims);
  tensor::Dims dims, strides;
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    dims.insert(dims.end(), {y.dims[i] / x.dims[i], x.dims[i]});
    strides.insert(strides.end(), {0, dense[i]});
  }
  return StridedCall::Make("tile", prep.kernels(), x, y, 0, dims, strides);
}

}  // namespace npukit::devices::cpu
