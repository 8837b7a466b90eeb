// For tests: random epilogues for an operator that makes images.
#pragma once

#include <string>
#include <utility>

#include "devices/cpu/run/step_test.h"

namespace npukit::devices::cpu {

// One of everything an epilogue may hold, with operands of every broadcast.
inline void AddEpilogue(TestStep& s, const tensor::Dims& y, Random& random) {
  if (s.inputs.size() == 2) s.inputs.emplace_back();  // no bias: operands come after its place
  const auto unary = [&](const ops::OpDef& op, ops::Attrs attrs = {}) {
    s.epilogue.push_back({&op, std::move(attrs), -1, false});
  };
  const auto binary = [&](const ops::OpDef& op, tensor::Value v, bool constant, bool swapped) {
    s.epilogue.push_back({&op, {}, static_cast<int>(s.inputs.size()), swapped});
    s.inputs.push_back({.value = std::move(v), .constant = constant});
  };
  for (std::int64_t n = random.Int(1, 4); n > 0; --n) {
    switch (random.Int(0, 10)) {
      case 0:
        unary(op::relu);
        break;
      case 1: {
        ops::Attrs a;
        a.Set("min", -0.5f);
        a.Set("max", 1.5f);
        unary(op::clip, a);
        break;
      }
      case 2:
        unary(op::hard_swish);
        break;
      case 3:
        unary(op::hard_sigmoid);
        break;
      case 4:
        unary(op::swish);
        break;
      case 5:
        binary(op::mul, random.Floats({}), true, false);
        break;
      case 6:
        binary(op::add, random.Floats({y[3]}), true, random.Coin());
        break;
      case 7:
        binary(op::sub, random.Floats(y), false, random.Coin());
        break;
      case 8:
        binary(op::mul, random.Floats({y[0], 1, 1, y[3]}), false, false);
        break;
      case 9:
        binary(op::div, random.Floats({1, 1, 1, 1}, 1, 2), true, false);
        break;
      case 10:
        binary(op::add, random.Floats({y[0], y[1], y[2], 1}), false, false);
        break;
      default:
        break;
    }
  }
}

}  // namespace npukit::devices::cpu
