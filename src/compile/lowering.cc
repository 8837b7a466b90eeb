#include "compile/lowering.h"

#include "base/text.h"

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

Result<target::Account> Lowering::AccountOf(std::span<const std::byte>, const target::Profile&,
                                            target::Relief, bool) const {
  return Unsupported(Cat(device(), " has no model of where its time goes"));
}

}  // namespace npukit::compile
