// CHECK is for our own bugs only: a failed one prints the place and aborts. Bad input is never a
// CHECK.
#pragma once

namespace npukit {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace npukit

#define NPUKIT_CHECK(cond)                                         \
  do {                                                             \
    if (!(cond)) ::npukit::CheckFailed(__FILE__, __LINE__, #cond); \
  } while (false)
#ifdef NDEBUG
#define NPUKIT_DCHECK(cond) \
  do {                      \
  } while (false)
#else
#define NPUKIT_DCHECK(cond) NPUKIT_CHECK(cond)
#endif
