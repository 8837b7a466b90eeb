#include "packages.h"

#include <random>

#include "compile/compile.h"
#include "devices/all_lower/all_lower.h"
#include "ir/builder.h"
#include "profile_io/profile_io.h"

namespace npukit::stress {
namespace {

ir::Graph Network() {
  std::mt19937 random(7);
  const auto weights = [&](std::size_t n) {
    std::vector<float> w(n);
    for (float& v : w) v = (static_cast<float>(random() % 2001) - 1000) * 1e-4f;
    return w;
  };
  ir::Builder b;
  const tensor::Shape shape(
      {tensor::Dim::Of(1), tensor::Dim::Of(3), tensor::Dim::Symbol("h"), tensor::Dim::Of(32)});
  ir::ValueId v = b.Input("x", tensor::Type::Tensor(tensor::DType::kF32, shape));
  const auto pads = ir::AttrsOf({{"pads", ops::Ints{1, 1, 1, 1}}});
  v = b.Op(op::relu,
           {b.Op(op::conv2d, {v, b.Floats("w0", {64, 3, 3, 3}, weights(64 * 27))}, pads)});
  const ir::ValueId left =
      b.Op(op::conv2d, {v, b.Floats("w1", {64, 64, 3, 3}, weights(64 * 64 * 9))}, pads);
  v = b.Op(op::hard_swish, {b.Op(op::add, {left, v})});
  v = b.Op(op::reduce_mean, {v},
           ir::AttrsOf({{"axes", ops::Ints{2}}, {"keepdims", std::int64_t{0}}}));  // [1, 64, 32]
  v = b.Op(op::matmul, {b.Op(op::transpose, {v}, ir::AttrsOf({{"perm", ops::Ints{0, 2, 1}}})),
                        b.Floats("w2", {64, 50}, weights(64 * 50))});
  return b.Finish({b.Op(op::softmax, {v})});
}

}  // namespace

Result<std::vector<std::byte>> CompilePackage(const std::string& target) {
  NPUKIT_ASSIGN_OR_RETURN(
      const target::Profile profile,
      profile_io::LoadProfile(RealEnv(), target, {NPUKIT_SOURCE_DIR "/profiles"}));
  compile::CompileOptions options;
  options.npu = profile.has_npu();
  options.shapes = {{{"x", {1, 3, 16, 32}}}, {{"x", {1, 3, 24, 32}}}};
  options.tool_version = "stress test";
  NPUKIT_ASSIGN_OR_RETURN(compile::CompileResult compiled,
                          compile::Compile(Network(), profile, devices::MakeLowerings(), options));
  return compiled.writer.ToBytes(std::move(compiled.head));
}

}  // namespace npukit::stress
