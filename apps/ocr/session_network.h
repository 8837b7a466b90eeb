#pragma once
// A compiled package run by npukit's runtime.
#include <memory>
#include <string>

#include "network.h"
#include "npukit/runtime.h"
#include "result.h"

namespace ocr {

// What the user can put right, and what broke while working (exit codes 2 and 3).
int ExitCode(npk_status status);

// Opens `package` (.npk) for `device` ("CPU", "HETERO:NPU,CPU", ...); `threads` 0 leaves the choice
// to the runtime. Fails when the package has not exactly one float input and one float output.
Result<std::unique_ptr<Network>> OpenPackage(const std::string& package, const std::string& device,
                                             int threads);

}  // namespace ocr
