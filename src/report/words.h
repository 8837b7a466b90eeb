// Words and numbers that several texts share. For report/ alone.
#pragma once

#include <string>
#include <vector>

#include "report/records.h"

namespace npukit::report {

std::string TargetText(const Target& t);  // "kirin9030  --set npu.cores=2"
std::string Ms(double ms);                // "12.30 ms"
std::string Percent(double share);        // "12.3%"
// "a+b+3 more"
std::string Names(const std::vector<std::string>& names, std::size_t most);
std::string OperatorName(const target::Verdict& v);
// A bar of '#', `width` characters for a share of 1; something for anything above nothing.
std::string Bar(double share, int width);
std::string OpsText(const std::vector<OpRow>& ops);  // the table of --ops
std::string RooflineText(const Roofline& r);         // the same of a measured run

}  // namespace npukit::report
