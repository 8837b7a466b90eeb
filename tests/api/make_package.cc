// Writes the package of the API tests: y = max(2 x + 1, 0) on fp32[N, 4], compiled for the CPU of
// target `host` with N = 1 and N = 2. What the tests expect is worked out by hand from that
// formula.
#include <cstdio>

#include "compile/compile.h"
#include "devices/all_lower/all_lower.h"
#include "ir/builder.h"
#include "profile_io/profile_io.h"

namespace npukit {
namespace {

Status Make(const char* path) {
  ir::Builder b;
  const tensor::Shape shape({tensor::Dim::Symbol("N"), tensor::Dim::Of(4)});
  const ir::ValueId x = b.Input("x", tensor::Type::Tensor(tensor::DType::kF32, shape));
  const ir::ValueId two = b.Floats("two", {4}, {2, 2, 2, 2});
  const ir::ValueId one = b.Floats("one", {4}, {1, 1, 1, 1});
  const ir::ValueId y = b.Op(op::relu, {b.Op(op::add, {b.Op(op::mul, {x, two}), one})});
  b.graph().value(y).name = "y";
  const ir::Graph graph = b.Finish({y});

  NPUKIT_ASSIGN_OR_RETURN(
      const target::Profile host,
      profile_io::LoadProfile(RealEnv(), "host", {NPUKIT_SOURCE_DIR "/profiles"}));
  compile::CompileOptions options;
  options.npu = false;
  options.shapes = {{{"x", {1, 4}}}, {{"x", {2, 4}}}};
  options.tool_version = "api test";
  NPUKIT_ASSIGN_OR_RETURN(const compile::CompileResult result,
                          compile::Compile(graph, host, devices::MakeLowerings(), options));
  return result.writer.ToFile(result.head, RealEnv(), path);
}

}  // namespace
}  // namespace npukit

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const npukit::Status s = npukit::Make(argv[1]);
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.message().c_str());
  return s.ok() ? 0 : 1;
}
