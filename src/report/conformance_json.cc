#include "report/conformance_record.h"
#include "report/json_base.h"

namespace npukit::report {

std::string ToJson(const Conformance& r) {
  Json j = Start();
  j["suite"] = r.suite;
  j["data"] = r.data;
  j["device"] = r.device;
  AddTarget(j, r.target);
  j["passed"] = r.Count(CaseResult::kPass);
  j["failed"] = r.Count(CaseResult::kFail);
  j["unsupported"] = r.Count(CaseResult::kUnsupported);
  j["crashed"] = r.Count(CaseResult::kCrash);
  j["hung"] = r.Count(CaseResult::kHang);
  j["total"] = r.cases.size();
  j["wrong_values"] = r.wrong_values();
  j["judged_by_distribution"] = r.by_distribution();
  j["seconds"] = r.seconds;
  j["cases"] = Json::array();
  for (const ConformanceCase& c : r.cases) {
    Json line = {
        {"name", c.name}, {"result", CaseResultName(c.result)}, {"judged_by", c.judged_by}};
    line["reason"] = c.reason.empty() ? Json(nullptr) : Json(c.reason);
    line["wrong_values"] = c.wrong_values;
    line["seconds"] = c.seconds;
    j["cases"].push_back(std::move(line));
  }
  j["expect"] = r.expect.empty() ? Json(nullptr) : Json(r.expect);
  j["unexpected"] = Json::array();
  for (const Unexpected& u : r.unexpected)
    j["unexpected"].push_back({{"name", u.name}, {"why", u.why}});
  return Finish(j);
}

}  // namespace npukit::report
