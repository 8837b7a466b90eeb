#include "devices/npu_sim/lower/supports.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "devices/npu_sim/lower/conv_transpose.h"
#include "devices/npu_sim/lower/depthwise.h"
#include "devices/npu_sim/lower/elementwise.h"
#include "devices/npu_sim/lower/group_conv.h"
#include "devices/npu_sim/lower/layer_norm.h"
#include "devices/npu_sim/lower/matmul.h"
#include "devices/npu_sim/lower/move.h"
#include "devices/npu_sim/lower/reduce.h"
#include "devices/npu_sim/lower/remap.h"
#include "devices/npu_sim/lower/resize.h"
#include "devices/npu_sim/lower/softmax.h"
#include "ops/window.h"
#include "target/reasons.h"

namespace npukit::devices::npu_sim {
namespace {

class Judgement {
 public:
  Judgement(const ir::Graph& g, const ir::Node& n, const target::Profile& profile)
      : g_(g), n_(n), profile_(profile) {
    v_.device = "NPU";
    v_.op = n.op ? std::string(n.op->name) : "";
    v_.foreign_op = n.foreign_op;
  }

  target::Verdict Run() {
    if (!profile_.has_npu()) {
      No("no_npu", "choose a target with an NPU: npukit targets");
      return v_;
    }
    if (n_.is_foreign()) {
      No("unknown_operator", "replace the operator in the model, or run it elsewhere", "", "",
         n_.foreign_op);
      return v_;
    }
    if (!Shapes()) return v_;
    if (profile_.NumberOr(Cat("npu.op.", n_.op->name, ".supported"), 1) == 0) {
      No("not_on_this_device", "let it run on the CPU", Cat("npu.op.", n_.op->name, ".supported"),
         "0", "1");
      return v_;
    }
    const auto config = ReadConfig(profile_);
    if (!config.ok()) {
      No("no_npu", "complete the profile");
      v_.reason = config.status().message();
      return v_;
    }
    config_ = *config;
    Operator();
    return v_;
  }

 private:
  void No(std::string_view code, std::string_view remedy, std::string fact = {},
          std::string limit = {}, std::string found = {}) {
    v_.supported = false;
    v_.code = code;
    const target::ReasonDef* reason = target::FindReason(code);
    v_.reason = reason ? std::string(reason->sentence) : std::string(code);
    v_.remedy = remedy;
    v_.fact = std::move(fact);
    v_.limit = std::move(limit);
    v_.found = std::move(found);
  }
  bool ok() const { return v_.supported; }

  // npu.op.<op>.<limit>: absent means no limit.
  void Limit(std::string_view limit, std::int64_t found, std::string_view code,
             std::string_view remedy) {
    if (!ok()) return;
    const std::string key = Cat("npu.op.", n_.op->name, ".", limit);
    const auto most = profile_.Number(key);
    if (most.ok() && static_cast<double>(found) > *most)
      No(code, remedy, key, Cat(*most), Cat(found));
  }
  void Fits(const Overflow& o) {
    if (ok() && !o.fact.empty()) {
      No("tile_does_not_fit", "split the operator, or choose a target with larger buffers", o.fact,
         Cat(o.limit), Cat(o.found));
    }
  }
  void Steps(const StepProblem& p) {
    if (ok() && !p.code.empty())
      No(p.code, "compute this step on the CPU, or rewrite it", "", "", p.found);
  }

  const tensor::Type& TypeOf(ir::ValueId id) const { return g_.value(id).type; }

  // Static, not empty, floating point: of every tensor that is data (constant shapes and axes are
  // not).
  bool Shapes() {
    for (std::size_t i = 0; i < n_.inputs.size() + n_.outputs.size(); ++i) {
      const bool input = i < n_.inputs.size();
      const ir::ValueId id = input ? n_.inputs[i] : n_.outputs[i - n_.inputs.size()];
      if (id == ir::kNoValue) continue;
      const tensor::Type& t = TypeOf(id);
      if (!t.is_static()) {
        No("dynamic_shape", "fix the model's input shapes: --shape NAME=1x3x224x224", "", "static",
           t.ToString());
        return false;
      }
      if (input && i > 0 && g_.is_constant(id) && TakesParameters()) continue;
      if (t.dtype != tensor::DType::kF32 && t.dtype != tensor::DType::kF16) {
        No("unsupported_dtype", "keep integer and shape arithmetic on the CPU", "", "fp32, fp16",
           std::string(DTypeName(t.dtype)));
        return false;
      }
      if (tensor::ElementCount(t.dims()).value_or(0) == 0) {
        No("empty_value", "leave the operator on the CPU", "", "1", "0");
        return false;
      }
    }
    return true;
  }

  // Shapes, axes, indices: constants that are read when compiling.
  bool TakesParameters() const {
    for (const ops::OpDef* o : {&op::reshape, &op::slice, &op::resize, &op::pad, &op::expand,
                                &op::tile, &op::gather, &op::squeeze, &op::unsqueeze}) {
      if (n_.op == o) return true;
    }
    return false;
  }

  // Constants that are stored in fp16 as they are. Weights of the cube are scaled, biases and
  // single numbers stay fp32.
  void Constant(ir::ValueId id) {
    const tensor::Value* v = ok() ? g_.constant(id) : nullptr;
    if (v == nullptr) return;
    const std::string found = TooLargeForHalf(*v);
    if (!found.empty()) {
      No("constant_too_large", "scale it in the model, or leave the operator on the CPU", "",
         "65504", Cat(g_.value(id).name, " holds ", found));
    }
  }

  bool Nhwc() {
    if (n_.attrs.String("layout", "NCHW") == "NHWC" && TypeOf(n_.inputs[0]).dims().size() == 4)
      return true;
    No("unsupported_layout", "do not skip the pass choose_layout", "", "NHWC",
       std::string(n_.attrs.String("layout", "NCHW")));
    return false;
  }

  StepsPlan Epilogue() {
    StepProblem problem;
    StepsPlan plan = PlanSteps(g_, n_, &problem);
    Steps(problem);
    return plan;
  }

  bool ConstantParameters() {
    const bool weights = g_.is_constant(n_.inputs[1]);
    if (weights && (!HasBias(g_, n_) || ConstantBias(g_, n_) != nullptr)) return true;
    No("weights_not_constant", "leave the operator on the CPU", "", "constant",
       weights ? "bias computed" : "weights computed");
    return false;
  }

  void Operator() {
    const ops::OpDef* o = n_.op;
    if (o == &op::conv2d) return Conv();
    if (o == &op::conv_transpose2d) return ConvTranspose();
    if (o == &op::max_pool2d || o == &op::avg_pool2d) return Pool();
    if (o == &op::matmul) return MatMul();
    if (o->loop == ops::LoopShape::kReduce) return Reduce();
    if (o == &op::softmax) return Softmax();
    if (o == &op::layer_normalization) return LayerNorm();
    if (o == &op::resize) return Resize();
    if (o == &op::transpose) return Transpose();
    if (IsRemap(o)) return Remap();
    if (o == &op::concat) return Concat();
    if (IsAlias(o)) return;
    if (o->loop == ops::LoopShape::kUnary || o->loop == ops::LoopShape::kBinary || o == &op::chain)
      return Elementwise();
    No("unsupported_operator", "let it run on the CPU", "", "", std::string(o->name));
  }

  void MaxRank() {
    Limit("max_rank", static_cast<std::int64_t>(TypeOf(n_.inputs[0]).dims().size()),
          "rank_too_large", "merge dimensions with a reshape");
  }

  void WindowLimits(const ConvGeometry& g) {
    Limit("max_kernel", std::max(g.kernel_h, g.kernel_w), "kernel_too_large",
          "split the kernel into smaller ones");
    Limit("max_stride", std::max(g.stride_h, g.stride_w), "stride_too_large",
          "use a smaller stride, then take every other position");
    Limit("max_dilation", std::max(g.dilation_h, g.dilation_w), "dilation_too_large",
          "use a smaller dilation");
  }

  void Conv() {
    if (!Nhwc() || !ConstantParameters()) return;
    const auto g = GeometryOf(g_, n_);
    if (!g.ok())
      return No("unsupported_window", "check the attributes", "", "", g.status().message());
    WindowLimits(*g);
    if (!ok()) return;
    const StepsPlan steps = Epilogue();
    if (!ok()) return;
    const std::int64_t group = n_.attrs.Int("group", 1);
    Overflow overflow;
    if (group == 1) {
      ChooseConvTiling(config_, *g, steps, &overflow);
    } else if (group == g->channels && g->channels == g->out_channels) {
      ChooseWindowTiling(config_, *g, steps, &overflow);
      Constant(n_.inputs[1]);
    } else {
      ChooseConvTiling(config_, PlanGroups(*g, group).part, steps, &overflow);
    }
    Fits(overflow);
  }

  void ConvTranspose() {
    if (!Nhwc() || !ConstantParameters()) return;
    const tensor::Dims w = TypeOf(n_.inputs[1]).dims();
    Limit("max_kernel", std::max(w[2], w[3]), "kernel_too_large",
          "split the kernel into smaller ones");
    const ops::Ints strides = n_.attrs.IntList("strides", {1, 1});
    Limit("max_stride", std::max(strides[0], strides[1]), "stride_too_large",
          "enlarge in two steps");
    if (!ok()) return;
    if (n_.attrs.Int("group", 1) != 1) {
      return No("unsupported_groups", "split the convolution by group", "", "1",
                Cat(n_.attrs.Int("group", 1)));
    }
    std::string problem;
    const auto g = TapGeometry(g_, n_, &problem);
    if (!g.ok()) problem = g.status().message();
    if (!problem.empty())
      return No("unsupported_window", "use a kernel as large as the stride, without padding", "",
                "", problem);
    const StepsPlan steps = Epilogue();
    if (!ok()) return;
    Overflow overflow;
    ChooseConvTiling(config_, *g, steps, &overflow);
    Fits(overflow);
  }

  void Pool() {
    if (!Nhwc()) return;
    const auto g = GeometryOf(g_, n_);
    const auto window = ops::ReadPoolWindow(n_.attrs);
    if (!g.ok() || !window.ok()) return No("unsupported_window", "check the attributes");
    WindowLimits(*g);
    if (!ok()) return;
    if (n_.op == &op::avg_pool2d) {
      // Every window of an average must count alike.
      const bool counts_padding = n_.attrs.Int("count_include_pad", 0) != 0;
      for (int axis = 0; axis < 2; ++axis) {
        const std::int64_t in = axis == 0 ? g->height : g->width;
        const auto span = ops::SlideOver(*window, axis, in);
        if (!span.ok()) return No("unsupported_window", "check the attributes");
        const std::int64_t reach =
            (span->out - 1) * window->stride[static_cast<std::size_t>(axis)] + window->extent(axis);
        const std::int64_t room = in + (counts_padding ? span->pad_begin + span->pad_end : 0);
        if (reach > room || (!counts_padding && span->pad_begin > 0)) {
          return No("unsupported_window", "pad before the pool", "", Cat(room), Cat(reach));
        }
      }
    }
    Overflow overflow;
    ChooseWindowTiling(config_, *g, StepsPlan{}, &overflow);
    Fits(overflow);
  }

  void MatMul() {
    Limit("max_rank",
          static_cast<std::int64_t>(
              std::max(TypeOf(n_.inputs[0]).dims().size(), TypeOf(n_.inputs[1]).dims().size())),
          "rank_too_large", "merge batch dimensions with a reshape");
    if (!ok()) return;
    if (HasBias(g_, n_) && ConstantBias(g_, n_) == nullptr) {
      return No("weights_not_constant", "add the bias by itself", "", "constant", "bias computed");
    }
    const MatMulShape s = MatMulShapeOf(g_, n_);
    if (!s.problem.empty())
      return No("unsupported_broadcast", "give both operands the same batch", "", "", s.problem);
    Constant(n_.inputs[0]);
    if (!s.constant_b) Constant(n_.inputs[1]);
    const StepsPlan steps = Epilogue();
    if (!ok()) return;
    Overflow overflow;
    if (s.constant_b) {
      ChooseConvTiling(config_, WeightGeometry(s), steps, &overflow);
    } else {
      ChooseBatchTiling(config_, s, steps, &overflow);
    }
    Fits(overflow);
  }

  void Reduce() {
    MaxRank();
    if (!ok()) return;
    const ReduceShape s = ReduceShapeOf(g_, n_);
    if (!s.problem.empty()) return No("unsupported_axes", "transpose first", "", "", s.problem);
    Overflow overflow;
    ChooseReduceTiling(config_, s, &overflow);
    Fits(overflow);
  }

  void Softmax() {
    MaxRank();
    if (!ok()) return;
    const tensor::Dims x = TypeOf(n_.inputs[0]).dims();
    const auto rank = static_cast<std::int64_t>(x.size());
    const std::int64_t axis = n_.attrs.Int("axis", -1);
    if (rank == 0 || (axis != -1 && axis != rank - 1))
      return No("unsupported_axes", "transpose first", "", "last", Cat(axis));
    const std::int64_t ub = config_.buffers.ub_bytes;
    if (SoftmaxLeastBytes() > ub) Fits({"npu.ub_bytes", ub, SoftmaxLeastBytes()});
  }

  void LayerNorm() {
    MaxRank();
    if (!ok()) return;
    for (std::size_t i = 1; i < n_.inputs.size(); ++i) {
      if (n_.inputs[i] != ir::kNoValue && !g_.is_constant(n_.inputs[i])) {
        return No("weights_not_constant", "leave the operator on the CPU", "", "constant",
                  i == 1 ? "scale computed" : "bias computed");
      }
    }
    const LayerNormShape s = LayerNormShapeOf(g_, n_);
    if (!s.problem.empty())
      return No("unsupported_axes", "check the attributes", "", "", s.problem);
    Overflow overflow;
    ChooseLayerNormRows(config_, s, &overflow);
    Fits(overflow);
  }

  void Concat() {
    MaxRank();
    for (const ir::ValueId id : n_.inputs) Constant(id);
    Overflow overflow;
    CheckConcat(g_, n_, config_, &overflow);
    Fits(overflow);
  }

  void Resize() {
    MaxRank();
    if (!ok()) return;
    const ResizeShape s = ResizeShapeOf(g_, n_);
    if (!s.problem.empty()) No("unsupported_resize", "let it run on the CPU", "", "", s.problem);
  }

  void Transpose() {
    MaxRank();
    if (!ok()) return;
    Overflow overflow;
    const bool fp32 = TypeOf(n_.inputs[0]).dtype == tensor::DType::kF32;
    const std::string problem =
        TransposeProblem(config_, TransposeShapeOf(g_, n_), fp32, &overflow);
    if (!problem.empty())
      return No("unsupported_movement", "transpose in two steps", "", "", problem);
    Fits(overflow);
  }

  void Remap() {
    MaxRank();
    Constant(n_.inputs[0]);
    if (!ok()) return;
    const devices::npu_sim::Remap r = RemapOf(g_, n_);
    if (!r.problem.empty()) {
      return No("unsupported_movement", "give constants, and few separate pieces", "", "",
                r.problem);
    }
    Overflow overflow;
    CheckRemap(config_, r, &overflow);
    Fits(overflow);
  }

  void Elementwise() {
    MainInput main;
    StepProblem problem;
    const StepsPlan steps = PlanElementwise(g_, n_, &main, &problem);
    Steps(problem);
    if (n_.op != &op::chain) Constant(n_.inputs[main.index]);
    if (!ok()) return;
    const RowsChannels out = SplitDims(TypeOf(n_.outputs[0]).dims());
    Overflow overflow;
    ChooseVectorTiling(config_, CeilDiv(out.channels, kLanes), out.rows, steps, &overflow);
    Fits(overflow);
  }

  const ir::Graph& g_;
  const ir::Node& n_;
  const target::Profile& profile_;
  Config config_;
  target::Verdict v_;
};

}  // namespace

target::Verdict Judge(const ir::Graph& g, const ir::Node& n, const target::Profile& profile) {
  return Judgement(g, n, profile).Run();
}

}  // namespace npukit::devices::npu_sim
