#include "devices/cpu/run/elementwise_program.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

namespace npukit::devices::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::optional<EwStep> UnaryStep(const ops::OpDef& op, const ops::Attrs& attrs) {
  EwStep s;
  if (&op == &op::relu) {
    s.op = EwOp::kRelu;
  } else if (&op == &op::clip) {
    s.op = EwOp::kClip;
    s.p0 = attrs.Float("min", -kInf);
    s.p1 = attrs.Float("max", kInf);
  } else if (&op == &op::hard_sigmoid) {
    s.op = EwOp::kHardSigmoid;
    s.p0 = attrs.Float("alpha", 0.2f);
    s.p1 = attrs.Float("beta", 0.5f);
  } else if (&op == &op::hard_swish) {
    s.op = EwOp::kHardSwish;
  } else if (&op == &op::sigmoid) {
    s.op = EwOp::kSigmoid;
  } else if (&op == &op::swish) {
    s.op = EwOp::kSwish;
  } else if (&op == &op::leaky_relu) {
    s.op = EwOp::kLeakyRelu;
    s.p0 = attrs.Float("alpha", 0.01f);
  } else if (&op == &op::elu) {
    s.op = EwOp::kElu;
    s.p0 = attrs.Float("alpha", 1);
  } else if (&op == &op::gelu) {
    s.op = attrs.String("approximate", "none") == "tanh" ? EwOp::kGeluTanh : EwOp::kGelu;
  } else {
    struct Plain {
      const ops::OpDef* op;
      EwOp step;
    };
    static constexpr Plain kPlain[] = {
        {&op::abs, EwOp::kAbs},     {&op::ceil, EwOp::kCeil},
        {&op::erf, EwOp::kErf},     {&op::exp, EwOp::kExp},
        {&op::floor, EwOp::kFloor}, {&op::neg, EwOp::kNeg},
        {&op::round, EwOp::kRound}, {&op::reciprocal, EwOp::kReciprocal},
        {&op::sqrt, EwOp::kSqrt},   {&op::tanh, EwOp::kTanh},
    };
    const auto* at = std::find_if(std::begin(kPlain), std::end(kPlain),
                                  [&](const Plain& p) { return p.op == &op; });
    if (at == std::end(kPlain)) return std::nullopt;
    s.op = at->step;
  }
  return s;
}

}  // namespace

std::optional<EwOp> ElementwiseProgram::BinaryOp(const ops::OpDef& op, bool swapped) {
  if (&op == &op::add) return EwOp::kAdd;
  if (&op == &op::mul) return EwOp::kMul;
  if (&op == &op::sub) return swapped ? EwOp::kRSub : EwOp::kSub;
  if (&op == &op::div) return swapped ? EwOp::kRDiv : EwOp::kDiv;
  if (&op == &op::min) return EwOp::kMin;
  if (&op == &op::max) return EwOp::kMax;
  if (&op == &op::prelu && !swapped) return EwOp::kPRelu;
  return std::nullopt;
}

ElementwiseProgram::ElementwiseProgram(const tensor::Dims& dims) : dims_(dims) {
  if (!dims.empty()) cols_ = dims.back();
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) rows_ *= dims[i];
}

bool ElementwiseProgram::uses(EwOperand kind) const {
  for (std::size_t i = 0; i < count_; ++i) {
    if (bound_[i].step.kind == kind) return true;
  }
  return false;
}

bool ElementwiseProgram::Classify(const tensor::Dims& operand, EwOperand* kind) {
  if (operand.size() > dims_.size()) return false;
  tensor::Dims o(dims_.size() - operand.size(), 1);
  o.insert(o.end(), operand.begin(), operand.end());
  const auto ones = [&](std::size_t from, std::size_t to) {
    return std::all_of(o.begin() + static_cast<std::ptrdiff_t>(from),
                       o.begin() + static_cast<std::ptrdiff_t>(to),
                       [](std::int64_t d) { return d == 1; });
  };
  const std::size_t rank = o.size();
  if (ones(0, rank)) {
    *kind = EwOperand::kScalar;
    return true;
  }
  if (o == dims_) {
    *kind = EwOperand::kSame;
    return true;
  }
  const std::size_t last = rank - 1;
  if (o[last] == dims_[last] && ones(0, last)) {
    *kind = EwOperand::kChannel;
    return true;
  }
  if (o[last] == 1 && std::equal(o.begin(), o.end() - 1, dims_.begin())) {
    *kind = EwOperand::kRow;
    return true;
  }
  // Leading dimensions alike, then ones, then the channels.
  if (o[last] != dims_[last]) return false;
  std::size_t lead = 0;
  while (lead < last && o[lead] == dims_[lead]) ++lead;
  if (!ones(lead, last)) return false;
  std::int64_t image_rows = 1;
  for (std::size_t i = lead; i < last; ++i) image_rows *= dims_[i];
  if (image_rows_ != 0 && image_rows_ != image_rows) return false;
  image_rows_ = image_rows;
  *kind = EwOperand::kImage;
  return true;
}

bool ElementwiseProgram::Add(const ops::OpDef& op, const ops::Attrs& attrs, const Operand* operand,
                             bool swapped) {
  if (&op == &op::identity || &op == &op::chain) return operand == nullptr;
  if (count_ == kMaxSteps) return false;
  Bound& b = bound_[count_];
  if (operand == nullptr) {
    const auto s = UnaryStep(op, attrs);
    if (!s) return false;
    b.step = *s;
    ++count_;
    return true;
  }
  if (!operand->is_f32() || !operand->is_raw()) return false;
  if (&op == &op::pow) {  // x^2 and x^0.5 are what layer normalisation is written with
    if (swapped || operand->constant == nullptr || operand->count() != 1) return false;
    if (operand->dims.size() > dims_.size()) return false;
    const float exponent = *static_cast<const float*>(operand->constant);
    if (exponent != 2.0f) return false;
    b.step = EwStep{.op = EwOp::kSquare};
    ++count_;
    return true;
  }
  const auto binary = BinaryOp(op, swapped);
  if (!binary) return false;
  b.step = EwStep{.op = *binary};
  if (!Classify(operand->dims, &b.step.kind)) return false;
  b.slot = operand->slot;
  ++count_;
  return true;
}

bool ElementwiseProgram::AddEpilogue(const StepView& step) {
  for (const ops::EpilogueStep& e : step.epilogue) {
    const Operand* operand =
        e.operand < 0 ? nullptr : &step.inputs[static_cast<std::size_t>(e.operand)];
    if (!Add(*e.op, e.attrs, operand, e.swapped)) return false;
  }
  return true;
}

void ElementwiseProgram::TakeClamp(float* lo, float* hi) {
  *lo = -kInf;
  *hi = kInf;
  if (count_ == 0) return;
  const EwStep& s = bound_[0].step;
  if (s.op == EwOp::kRelu) {
    *lo = 0;
  } else if (s.op == EwOp::kClip) {
    *lo = s.p0;
    *hi = s.p1;
  } else {
    return;
  }
  std::copy(bound_.begin() + 1, bound_.begin() + static_cast<std::ptrdiff_t>(count_),
            bound_.begin());
  --count_;
}

void ElementwiseProgram::Resolve(const Frame& frame, Steps* steps) const {
  for (std::size_t i = 0; i < count_; ++i) {
    (*steps)[i] = bound_[i].step;
    if (bound_[i].step.kind != EwOperand::kNone)
      (*steps)[i].operand = frame.At<const float>(bound_[i].slot);
  }
}

void ElementwiseProgram::RunInPlace(const Kernels& kernels, const Steps& steps,
                                    const Region& region) const {
  if (count_ == 0) return;
  EwBlock b;
  b.steps = steps.data();
  b.step_count = static_cast<std::int64_t>(count_);
  b.cols = region.cols;
  b.stride = cols_;
  b.col0 = region.col0;
  b.channels = cols_;
  const std::int64_t per_image = std::max<std::int64_t>(image_rows(), 1);
  for (std::int64_t r = region.row0; r < region.row0 + region.rows;) {
    b.image = r / per_image;
    b.row0 = r;
    b.rows = std::min(region.row0 + region.rows, (b.image + 1) * per_image) - r;
    b.offset = r * cols_ + region.col0;
    b.out = region.out_base + b.offset;
    b.in = b.out;
    kernels.elementwise(b);
    r += b.rows;
  }
}

}  // namespace npukit::devices::cpu
