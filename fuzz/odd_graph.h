// Graphs that a small grammar spells with the fuzzer's bytes: any operator, on values of any type
// and odd sizes, static or open. What shape inference refuses is left out, so the graph is valid.
#pragma once

#include "fuzz/fuzz.h"
#include "ir/graph.h"

namespace npukit::fuzz {

ir::Graph OddGraph(Bytes& bytes);

}  // namespace npukit::fuzz
