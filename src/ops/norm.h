// What the normalisations share.
#pragma once

#include <cmath>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit::ops {

inline Status WantEpsilon(const InferContext& c) {
  const float epsilon = c.attrs.Float("epsilon", 1e-5f);
  if (epsilon >= 0) return OkStatus();
  return InvalidArgument(Cat("attribute epsilon is ", epsilon, ", expected a number of 0 or more"));
}

struct Moments {
  double mean = 0;
  double variance = 0;  // of the population
};
// Of the elements at from, from + step, ...: `count` of them, 1 or more.
inline Moments MomentsOf(const tensor::Value& x, std::int64_t from, std::int64_t count,
                         std::int64_t step = 1) {
  Moments m;
  for (std::int64_t i = 0; i < count; ++i) m.mean += Load(x, from + i * step);
  m.mean /= static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const double d = Load(x, from + i * step) - m.mean;
    m.variance += d * d;
  }
  m.variance /= static_cast<double>(count);
  return m;
}

inline OpCost NormCost(const CostContext& c) {
  return {.vector_ops = 7 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}

}  // namespace npukit::ops
