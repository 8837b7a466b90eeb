// Can a device run an operator, and if not, why: data without pointers, the one record that check,
// rewriting, partition, explain, the support table and the tests share. Reason codes are listed in
// reasons.inc and documented in docs/reasons.md.
#pragma once

#include <string>
#include <vector>

namespace npukit::target {

struct Verdict {
  std::vector<std::string> from;  // names of nodes of the imported graph
  std::string op;                 // "conv2d"; "" for a foreign node
  std::string foreign_op;         // "Conv"
  std::string device;             // "NPU", "GPU", "CPU": who was asked
  bool supported = true;
  std::string code;   // stable reason code; "" when supported and placed there
  std::string fact;   // profile key behind the limit, or ""
  std::string limit;  // as text: numbers print plainly
  std::string found;
  std::string reason;             // one sentence
  std::string remedy;             // what to do
  std::string rewrite;            // rule tried, or ""
  std::string rewrite_result;     // "applied", "not equivalent: ...", "not needed", or ""
  std::string route = "offline";  // judged ahead of time; "online": by the device at load
  int segment = -1;
  std::string placed_on;  // "NPU", "GPU", "CPU", "folded"
};

}  // namespace npukit::target
