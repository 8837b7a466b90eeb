#include "report/json_base.h"
#include "report/validate_record.h"

namespace npukit::report {

std::string ToJson(const Validation& r) {
  Json j = Start();
  j["table"] = r.table;
  j["title"] = r.title;
  j["source"] = r.source;
  j["date"] = r.date;
  AddTarget(j, r.target);
  j["kind"] = target::KindName(target::Kind::kModelled);
  j["method"] = "leave-one-out";
  j["fitted"] = Json::array();
  for (const FittedFact& f : r.fitted) {
    j["fitted"].push_back({{"fact", f.fact},
                           {"unit", f.unit},
                           {"value", f.value},
                           {"range", {f.least, f.most}},
                           {"folds", {f.fold_least, f.fold_most}}});
  }
  j["networks"] = Json::array();
  for (const ValidatedNetwork& n : r.networks) {
    j["networks"].push_back({{"name", n.name},
                             {"file", n.file},
                             {"model", n.model},
                             {"tasks", n.tasks},
                             {"gmacs", n.gmacs},
                             {"dram_mbytes", n.dram_mbytes},
                             {"work_ms", n.work_ms},
                             {"predicted_ms", n.predicted_ms},
                             {"published_ms", n.published_ms},
                             {"error", n.error()}});
  }
  j["mean_error"] = r.mean_error();
  j["worst_error"] = r.worst_error();
  j["goal"] = {{"mean_error", r.goal_mean}, {"worst_error", r.goal_worst}, {"met", r.meets_goal()}};
  j["seconds"] = r.seconds;
  return Finish(j);
}

}  // namespace npukit::report
