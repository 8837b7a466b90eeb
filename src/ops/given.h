// Optional inputs of which inference is told nothing: absent, or of a type that is not known. A
// type alone does not say which. Pure functions.
#pragma once

#include "ops/rules.h"

namespace npukit::ops {

// It may be there: refuse what needs it absent with Has, what needs it given with this. Where
// inference is asked about values at hand, all of them are known, and what is not is absent.
inline bool MayBeGiven(const InferContext& c, std::size_t input) {
  if (input >= c.inputs.size() || Has(c, input)) return input < c.inputs.size();
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (Has(c, i) && c.constants[i] == nullptr) return true;
  }
  return false;
}

// It is there, known or not: the last input of a node is, for nobody writes it where it is absent.
// Shapes go by this.
inline bool IsGiven(const InferContext& c, std::size_t input) {
  return Has(c, input) || (input + 1 == c.inputs.size() && MayBeGiven(c, input));
}

}  // namespace npukit::ops
