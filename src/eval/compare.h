// How far apart are two values? Numbers are compared as double, whatever their type; strings must
// be equal.
//
// A place where one is NaN and the other is not, or where infinities differ, counts as `mismatched`
// and is never within any agreement; equal infinities and NaN against NaN agree. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "tensor/value.h"

namespace npukit::eval {

struct Difference {
  std::int64_t count = 0;        // elements compared
  std::int64_t mismatched = 0;   // NaN or infinity against something else
  std::int64_t unequal = 0;      // elements that are not the same number (-0 equals +0)
  double max_abs = 0;            // max |a - b| over finite elements
  double max_reference = 0;      // max |b| over finite elements
  double max_ulp = 0;            // in units in the last place of the type (integers: |a - b|)
  double cosine = 1;             // of finite elements, as vectors; 1 when both are zero
  double error_squares = 0;      // sum of (a - b)^2 over finite elements
  double reference_squares = 0;  // sum of b^2 over finite elements
  std::int64_t worst = -1;       // index of the largest |a - b|, or of the first mismatch
  double relative() const;       // max_abs / max_reference; 0 when max_abs is 0
  std::string ToString() const;  // one line
};

// `b` is the reference. kInvalidArgument: types or shapes differ.
Result<Difference> Compare(const tensor::Value& a, const tensor::Value& b);

// Limits that must all hold. Default: the same numbers.
struct Agreement {
  double max_abs = 0;  // |a - b| <= max_abs + relative * max|b|
  double relative = 0;
  double max_ulp = 0;  // ... or within this many units in the last place
  double min_cosine = -1;
  static Agreement Exact() { return {}; }
  static Agreement Relative(double r) { return {0, r, 0, -1}; }
  static Agreement Ulp(double u) { return {0, 0, u, -1}; }
};

bool Within(const Difference& d, const Agreement& agreement);

}  // namespace npukit::eval
