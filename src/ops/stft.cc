#include <algorithm>

#include "base/text.h"
#include "ops/fourier.h"
#include "ops/given.h"
#include "ops/indexing.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

constexpr std::size_t kStep = 1, kWindow = 2, kFrame = 3;

// Elements of a frame; -1: not known.
Result<std::int64_t> FrameLength(const Dim& signal, const Dim& window, bool has_window,
                                 const Value* frame, bool has_frame) {
  std::int64_t n = -1;
  if (has_frame) {
    if (frame == nullptr || frame->count() != 1) return n;
    n = tensor::ElementAsInt64(*frame, 0);
  } else {
    n = has_window ? window.value : signal.value;
    if (n < 0) return std::int64_t{-1};
  }
  if (n < 1) return InvalidArgument(Cat("a frame has ", n, " elements"));
  if (n > kMaxTransform) return ResourceExhausted(Cat("a frame of ", n, " elements is too long"));
  if (has_window && window.known() && window.value != n) {
    return InvalidArgument(Cat("the window has ", window.value, " elements, a frame has ", n));
  }
  if (signal.known() && n > signal.value) {
    return InvalidArgument(Cat("a frame has ", n, " elements, the signal only ", signal.value));
  }
  return n;
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantOneInteger(c, kStep));
  Dim window;
  if (Has(c, kWindow)) {
    NPUKIT_RETURN_IF_ERROR(WantFloat(c, kWindow));
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, kWindow));
    const tensor::Type& w = c.inputs[kWindow];
    if (w.shape && w.shape->rank() != 1)
      return InvalidArgument(Cat("input 2 is ", w.ToString(), ", expected rank 1"));
    if (w.shape) window = w.shape->dims[0];
  }
  if (Has(c, kFrame)) NPUKIT_RETURN_IF_ERROR(WantOneInteger(c, kFrame));
  const tensor::Type& x = c.inputs[0];
  std::vector<Dim> dims{Dim{}, Dim{}, Dim{}, Dim::Of(2)};
  Dim length;
  if (x.shape) {
    const std::size_t rank = x.shape->rank();
    if (rank != 2 && rank != 3)
      return InvalidArgument(
          Cat("input 0 is ", x.ToString(), ", expected [batch, length, 1 or 2]"));
    const Dim& parts = x.shape->dims.back();
    if (rank == 3 && parts.known() && parts.value != 1 && parts.value != 2)
      return InvalidArgument(Cat("a number has ", parts.value, " parts, expected 1 or 2"));
    dims[0] = x.shape->dims[0];
    length = x.shape->dims[1];
  }
  NPUKIT_ASSIGN_OR_RETURN(
      const std::int64_t frame,
      FrameLength(length, window, IsGiven(c, kWindow),
                  IsGiven(c, kFrame) ? c.constants[kFrame] : nullptr, IsGiven(c, kFrame)));
  const Value* step_value = c.constants[kStep];
  std::int64_t step = -1;
  if (step_value != nullptr && step_value->count() == 1) {
    step = tensor::ElementAsInt64(*step_value, 0);
    if (step < 1) return InvalidArgument(Cat("frame_step is ", step));
  }
  if (frame > 0) dims[2] = Dim::Of(c.attrs.Int("onesided", 1) != 0 ? frame / 2 + 1 : frame);
  if (frame > 0 && step > 0 && length.known()) dims[1] = Dim::Of((length.value - frame) / step + 1);
  c.outputs[0] = tensor::Type::Tensor(x.dtype, tensor::Shape(std::move(dims)));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const auto input = [&](std::size_t i) {
    return i < c.inputs.size() && c.inputs[i].present() ? &c.inputs[i] : nullptr;
  };
  const Value* window = input(kWindow);
  const std::int64_t length = x.dims()[1];
  NPUKIT_ASSIGN_OR_RETURN(
      const std::int64_t frame,
      FrameLength(Dim::Of(length), window != nullptr ? Dim::Of(window->count()) : Dim{},
                  window != nullptr, input(kFrame), input(kFrame) != nullptr));
  const std::int64_t step = tensor::ElementAsInt64(c.inputs[kStep], 0);
  const std::int64_t parts = x.dims().size() == 3 ? x.dims()[2] : 1;
  const std::int64_t frames = y.dims()[1], bins = y.dims()[2];
  std::vector<std::complex<double>> v(static_cast<std::size_t>(frame));
  for (std::int64_t f = 0; f < x.dims()[0] * frames; ++f) {
    const std::int64_t first = f / frames * length + f % frames * step;
    for (std::int64_t i = 0; i < frame; ++i) {
      const double w = window != nullptr ? Load(*window, i) : 1;
      const std::int64_t at = (first + i) * parts;
      v[static_cast<std::size_t>(i)] = {w * Load(x, at), parts == 2 ? w * Load(x, at + 1) : 0};
    }
    Transform(v, false);
    for (std::int64_t k = 0; k < bins; ++k) {
      Store(y, (f * bins + k) * 2, v[static_cast<std::size_t>(k)].real());
      Store(y, (f * bins + k) * 2 + 1, v[static_cast<std::size_t>(k)].imag());
    }
  }
  return OkStatus();
}

OpCost StftCost(const CostContext& c) {
  return {.vector_ops = 40 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"onesided", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::stft = {
    .name = "stft",
    .summary = "the discrete Fourier transforms of the frames of a signal, each times a window",
    .min_inputs = 2,
    .max_inputs = 4,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = StftCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "STFT"},
};

}  // namespace npukit
