// How well does a simple model of a chip and its published software predict times that others
// published? Every network of a table is predicted by parameters fitted on the others; what is not
// fitted is a fact of the profile. docs/validation.md says what the model is and what came out.
#pragma once

#include <string>

#include "base/status.h"
#include "lab/open.h"
#include "report/validate_record.h"
#include "target/profile.h"

namespace npukit::lab {

struct ValidateOptions {
  std::string table;        // as the table calls itself, and the profile
  std::string data_folder;  // table.json and the models
  target::Profile profile;
};

// kInvalidArgument: another table lies in the folder, too few networks to fit on, or --set names a
// fact that is fitted. kUnsupported: a network holds an operator npukit does not know. kNotFound: a
// model or a fact is missing. Messages name the network's file.
Result<report::Validation> Validate(const Kit& kit, const ValidateOptions& options);

}  // namespace npukit::lab
