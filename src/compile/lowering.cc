#include "compile/lowering.h"

namespace npukit::compile {

std::string_view PrecisionName(Precision p) {
  switch (p) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kFp16:
      return "fp16";
    case Precision::kInt8:
      return "int8";
  }
  return "fp32";
}

}  // namespace npukit::compile
