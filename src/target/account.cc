#include "target/account.h"

namespace npukit::target {

std::string_view CauseName(Cause c) {
  switch (c) {
    case Cause::kDispatch:
      return "dispatch";
    case Cause::kWeightStreaming:
      return "weight_streaming";
    case Cause::kShapeUnderfill:
      return "shape_underfill";
    case Cause::kVectorBound:
      return "vector_bound";
    case Cause::kLayout:
      return "layout";
    case Cause::kBoundary:
      return "boundary_copies";
    case Cause::kCpuIslands:
      return "cpu_islands";
  }
  return "unknown";
}

}  // namespace npukit::target
