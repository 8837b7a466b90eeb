// One page per record: what `--report-folder` writes. A record that has a page here gets one from
// every verb that prints it (cli/context.h).
#pragma once

#include "report/html/page.h"
#include "report/records.h"

namespace npukit::report::html {

Page ToPage(const Check& record);
Page ToPage(const Bench& record);
Page ToPage(const Explain& record);
Page ToPage(const Compare& record);

}  // namespace npukit::report::html
