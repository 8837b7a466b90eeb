// Published operator tests: a folder of cases, each run in a process of its own, so that a crash or
// a hang is counted and ends nothing else. No case is known by name; what a case is, its files say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/judge.h"
#include "lab/open.h"
#include "report/conformance_record.h"

namespace npukit::lab {

// Two layouts. A folder: one model, and test_data_set_N with input_I.pb and output_I.pb. Flat:
// NAME.onnx and NAME_output_I.pb beside one another, where every input is arange(n)/n in fp32, open
// dimensions 1.
struct CaseFiles {
  std::string name;                 // the folder (or NAME) relative to the data
  std::string model;                // path
  std::vector<std::string> inputs;  // prefixes: PREFIX0.pb, PREFIX1.pb, ...; of a flat case none
  std::vector<std::string> outputs;
};

// Every case under `folder`, by name. kNotFound: none.
Result<std::vector<CaseFiles>> FindCases(const std::string& folder);
// The case of a model file that FindCases found.
CaseFiles CaseOfModel(const std::string& model);

struct CaseOptions {
  bool interpret = false;  // each operator's definition instead of a device
  ModelOptions model;      // device and target; path and shapes are the case's
  int threads = 1;
};
// Runs one case here and judges it.
report::ConformanceCase RunCase(const Kit& kit, const CaseFiles& files, const CaseOptions& options);

struct ConformanceOptions {
  std::string data_folder;
  std::string only;    // a glob over names or their last parts; "": all
  std::string expect;  // a file of "NAME  reason" lines: the cases that do not pass; "": none
  int jobs = 0;        // 0: the machine's cores
  double timeout_s = 60;
  std::vector<std::string> worker;  // arguments of the process for one case, before its model file
};
// kNotFound, kInvalidArgument: no cases, or a list that is not one.
Result<report::Conformance> RunConformance(const Kit& kit, const ConformanceOptions& options);

// One case in the process for it: its result as a line for the parent.
std::string WorkerLine(const report::ConformanceCase& result);

}  // namespace npukit::lab
