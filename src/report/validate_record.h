// What `validate` answers: how well a simple model of a chip and its published software predicts
// published times. Predictions are modelled; the published times were measured by others and carry
// their source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/records.h"

namespace npukit::report {

// One free parameter: a fact whose value in the profile is not used but fitted.
struct FittedFact {
  std::string fact;
  std::string unit;
  double least = 0, most = 0;            // the range searched
  double value = 0;                      // fitted on every network: for information
  double fold_least = 0, fold_most = 0;  // over the folds, each of which leaves one network out
};

struct ValidatedNetwork {
  std::string name;
  std::string file;
  std::string model;        // where the graph is from
  std::uint64_t tasks = 0;  // dispatched one after the other
  double gmacs = 0;         // 1e9 multiply-adds, padding not counted
  double dram_mbytes = 0;   // 1e6 bytes
  double work_ms = 0;       // sum over tasks of the slowest of cube, vector unit and DRAM
  double predicted_ms = 0;  // by parameters fitted on the other networks
  double published_ms = 0;
  double error() const { return (predicted_ms - published_ms) / published_ms; }
};

struct Validation {
  std::string table;
  std::string title;
  std::string source;  // of the published times
  std::string date;
  Target target;
  std::vector<FittedFact> fitted;
  std::vector<ValidatedNetwork> networks;
  double goal_mean = 0, goal_worst = 0;  // shares of the published time
  double seconds = 0;

  double mean_error() const;   // of the absolute errors
  double worst_error() const;  // the largest absolute error
  bool meets_goal() const { return mean_error() <= goal_mean && worst_error() <= goal_worst; }
};

std::string ToJson(const Validation& record);
std::string ToText(const Validation& record);

}  // namespace npukit::report
