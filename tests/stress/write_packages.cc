// Writes the packages of the stress test into a folder, for builds that cannot compile: the phone
// set under thread sanitizer or on another machine.
#include <cstdio>

#include "base/env.h"
#include "base/text.h"
#include "packages.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: stress_packages FOLDER\n");
    return 2;
  }
  for (const char* target : {"host", "kirin9030"}) {
    const auto bytes = npukit::stress::CompilePackage(target);
    npukit::Status s = bytes.status();
    if (s.ok())
      s = npukit::WriteFile(npukit::RealEnv(), npukit::Cat(argv[1], "/", target, ".npk"), *bytes);
    if (s.ok()) continue;
    std::fprintf(stderr, "%s: %s\n", target, s.message().c_str());
    return 1;
  }
  return 0;
}
