// How a Status crosses the C border: its code as npk_status, its message in a slot of the calling
// thread. Shared with bindings/c/compiler, so that npk_last_error() speaks for both.
#pragma once

#include "base/status.h"
#include "npukit/runtime.h"

namespace npukit::bindings {

// Remembers the message for npk_last_error() on this thread (an ok status changes nothing) and
// gives the code.
npk_status Report(const Status& status);

}  // namespace npukit::bindings
