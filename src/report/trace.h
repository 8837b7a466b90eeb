// A modelled run as a trace of Chrome's format ("Trace Event Format": complete events, one thread a
// track), which ui.perfetto.dev and chrome://tracing read. Times are modelled, and the trace says
// so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/records.h"

namespace npukit::report {

// `title` names the process: "ppocrv4_rec.onnx on kirin9030". "" when there is nothing to show: the
// run was measured, or no device of it has a model.
std::string ToTrace(std::string_view title, const std::vector<OpRow>& ops,
                    const std::vector<target::Span>& spans);
std::string ToTrace(const Bench& record);
std::string ToTrace(const Explain& record);

}  // namespace npukit::report
