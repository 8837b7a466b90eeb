#include "report/json_base.h"

namespace npukit::report {
namespace {

Json LineJson(const RoofLine& l) {
  return {{"ms", l.ms},
          {"p50_ms", l.p50_ms},
          {"share", l.share},
          {"macs", l.macs},
          {"flops", l.flops},
          {"bytes", l.bytes},
          {"gflops", l.gflops()},
          {"gbytes_per_s", l.gbytes_per_s()},
          {"roof", l.roof.empty() ? Json(nullptr) : Json(l.roof)},
          {"bound_ms", l.bound_ms},
          {"of_roof", l.of_roof()},
          {"above_ms", l.above_ms()}};
}

}  // namespace

Json RooflineJson(const Roofline& r) {
  Json steps = Json::array(), kernels = Json::array();
  for (const RoofLine& l : r.steps) {
    Json one = {{"name", l.name},
                {"op", l.op},
                {"kernel", l.kernel},
                {"shape", l.shape},
                {"segment", l.segment}};
    one.update(LineJson(l));
    steps.push_back(std::move(one));
  }
  for (const RoofLine& l : r.kernels) {
    Json one = {{"kernel", l.name}, {"steps", l.steps}};
    one.update(LineJson(l));
    kernels.push_back(std::move(one));
  }
  return {{"kind", target::KindName(target::Kind::kMeasured)},
          {"peak",
           {{"gflops", r.peak_gflops},
            {"read_gbytes_per_s", r.read_gbytes_per_s},
            {"copy_gbytes_per_s", r.copy_gbytes_per_s}}},
          {"runs", r.runs},
          {"total", LineJson(r.total)},
          {"kernels", std::move(kernels)},
          {"steps", std::move(steps)}};
}

}  // namespace npukit::report
