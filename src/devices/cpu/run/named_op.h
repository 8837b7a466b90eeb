// The operator that a step of a blob names, with its attributes: checked, as every step of a blob
// is, since the file may be hostile.
#pragma once

#include <vector>

#include "base/status.h"
#include "devices/cpu/blob/blob.h"
#include "ops/op_def.h"

namespace npukit::devices::cpu {

struct NamedOp {
  const ops::OpDef* def = nullptr;
  ops::Attrs attrs;
  std::vector<ops::EpilogueStep> epilogue;
};

// kUnsupported: an operator this build does not have. kDataCorrupt: an attribute given twice.
Result<NamedOp> FindNamed(const BlobStep& step);

}  // namespace npukit::devices::cpu
