#include "devices/cpu/lower/weights.h"

#include "base/hash.h"
#include "base/text.h"
#include "devices/cpu/lower/winograd.h"
#include "tensor/strings.h"

namespace npukit::devices::cpu {
namespace {

using tensor::DType;

// Each input pixel makes kh x kw output pixels of its own: no padding, no overlap, no gap.
bool IsPixelwiseDeconv(const ops::Attrs& a, const tensor::Dims& w) {
  const std::string_view auto_pad = a.String("auto_pad", "NOTSET");
  return w.size() == 4 && a.Int("group", 1) == 1 &&
         (auto_pad.empty() || auto_pad == "NOTSET" || auto_pad == "VALID") &&
         a.IntList("strides", {1, 1}) == ops::Ints{w[2], w[3]} &&
         a.IntList("pads", {0, 0, 0, 0}) == ops::Ints(4, 0) &&
         a.IntList("dilations", {1, 1}) == ops::Ints{1, 1} &&
         a.IntList("output_padding", {0, 0}) == ops::Ints{0, 0};
}

bool IsF32Constant(const ir::Graph& g, ir::ValueId v) {
  const tensor::Value* c = g.constant(v);
  return c != nullptr && c->is_tensor() && c->dtype() == DType::kF32 && c->count() > 0;
}

}  // namespace

Form FormOf(const ir::Graph& g, const ir::Node& n, std::size_t i) {
  if (i == 0 || i > 2 || n.inputs[0] == ir::kNoValue || !IsF32Constant(g, n.inputs[i])) return {};
  for (const ops::EpilogueStep& e : n.epilogue) {
    if (e.operand == static_cast<int>(i)) return {};
  }
  if (g.value(n.inputs[0]).type.dtype != DType::kF32) return {};
  const tensor::Dims& dims = g.constant(n.inputs[i])->dims();
  const bool deconv = n.op == &op::conv_transpose2d;
  if (n.op == &op::conv2d || deconv) {
    if (n.attrs.String("layout", "NCHW") != "NHWC") return {};
    if (i == 2) return {Layout::kPad16, 1};
    const std::int64_t group = n.attrs.Int("group", 1);
    if (group < 1 || group > INT32_MAX) return {};
    const auto groups = static_cast<std::uint32_t>(group);
    if (!deconv && group > 1 && SpecFor(Layout::kDepthwise, dims, group))
      return {Layout::kDepthwise, groups};
    const Layout layout = !deconv ? ConvLayout(g, n, *g.constant(n.inputs[i]))
                          : IsPixelwiseDeconv(n.attrs, dims) ? Layout::kDeconvRow
                                                             : Layout::kDeconv;
    return SpecFor(layout, dims, group) ? Form{layout, groups} : Form{};
  }
  if (n.op == &op::matmul) {
    if (i == 2) return dims.size() == 1 ? Form{Layout::kPad16, 1} : Form{};
    return SpecFor(Layout::kMatmul, dims, 1) ? Form{Layout::kMatmul, 1} : Form{};
  }
  return {};
}

Result<std::uint32_t> WeightTable::Add(const tensor::Value& v, Layout layout,
                                       std::uint32_t groups) {
  compile::LoweredWeight w;
  w.layout = LayoutName(layout);
  if (v.dtype() == DType::kString) {
    w.kept = KeepBytes(tensor::EncodeStrings(v));
  } else if (layout == Layout::kRaw) {
    // The value itself, wherever it lies: in memory, or in the model's file.
    w.kept = {v.bytes(), std::make_shared<const tensor::Value>(v)};
  } else {
    const auto spec = SpecFor(layout, v.dims(), groups);
    NPUKIT_CHECK(spec.has_value());
    std::vector<std::byte> bytes(static_cast<std::size_t>(spec->floats()) * sizeof(float));
    PackPanels(*spec, static_cast<const float*>(v.data()), reinterpret_cast<float*>(bytes.data()));
    w.kept = KeepBytes(std::move(bytes));
  }
  w.hash = Hash64(w.kept.bytes);
  DropPages(v.bytes());
  DropPages(w.kept.bytes);
  const auto [it, added] =
      ids_.try_emplace({w.hash, w.layout}, static_cast<std::uint32_t>(weights_.size()));
  if (added) weights_.push_back(std::move(w));
  return it->second;
}

BlobStep NameStep(const ir::Node& n) {
  BlobStep s;
  s.op = n.op->name;
  s.name = n.name;
  s.attrs = n.attrs.all();
  for (const ops::EpilogueStep& e : n.epilogue) {
    s.epilogue.push_back({std::string(e.op->name), e.attrs.all(), e.operand, e.swapped});
  }
  return s;
}

}  // namespace npukit::devices::cpu
