#include "report/print.h"
#include "report/version.h"  // made by cmake/version.cmake

namespace npukit::report {

const Tool& ThisTool() {
  static const Tool tool = {"npukit", NPUKIT_VERSION, NPUKIT_GIT};
  return tool;
}

std::string ToolText() {
  const Tool& t = ThisTool();
  return t.name + " " + t.version + " (" + t.git + ")";
}

}  // namespace npukit::report
