// Every pass by name, declared from passes.inc: a pass without a list line does not compile, a line
// without a file does not link. Definitions are constants.
#pragma once

#include "passes/pass.h"

namespace npukit::pass {
#define PASS(name) extern const ::npukit::passes::PassDef name;
#include "passes/passes.inc"
#undef PASS
}  // namespace npukit::pass
