// Do two graphs compute the same? Judged by the interpreter on random and edge inputs: for passes
// and rewrites.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "eval/compare.h"
#include "ir/graph.h"

namespace npukit::eval {

struct EquivalenceOptions {
  std::uint64_t seed = 1;
  int trials = 3;  // random ones, after one of edge values
  Agreement agreement;
  std::int64_t symbol_size = 3;  // what an open dimension becomes
};

// A random value of the type: floats around 0 (standard deviation about 1), small integers, both
// bools. `edges`: zeros of both signs, ones, large and tiny numbers in turn. kUnsupported for types
// that are not numbers.
Result<tensor::Value> RandomValue(const tensor::Type& type, std::uint64_t seed, bool edges,
                                  std::int64_t symbol_size = 3);

// Ok when every output agrees in every trial. Otherwise kInternal, naming output, trial, seed and
// the difference; or the error of the run that failed. Both graphs must have inputs of the same
// types, in order.
Status CheckEquivalence(const ir::Graph& before, const ir::Graph& after,
                        const EquivalenceOptions& options);

}  // namespace npukit::eval
