// Does a value agree with the one that a published test expects? Says where it does not, in one
// sentence; "" is agreement. Kinds, element types and shapes must agree exactly, whichever way the
// values are judged.
#pragma once

#include <string>

#include "tensor/value.h"

namespace npukit::lab {

// Floats: |found - expected| <= atol + rtol * |expected|, NaN equals NaN, infinities are equal or
// not. Integers, bools and strings are equal or not.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;
};
std::string JudgeValues(const tensor::Value& found, const tensor::Value& expected,
                        const Tolerance& tolerance);

// For values drawn at random: `expected` is one sample of what `found` is another of. Mean, spread
// and range must be those of one distribution, within what samples of that size differ by; whole
// numbers stay whole numbers, and what varies must vary. `dropout`: elements that neither sample
// drops are equal.
std::string JudgeDistribution(const tensor::Value& found, const tensor::Value& expected,
                              bool dropout, const Tolerance& tolerance);

}  // namespace npukit::lab
