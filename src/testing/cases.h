// tests/ops/<op>.case: what an operator must answer, as text. Written by tools/make_cases.py or by
// hand; the expected values come from outside npukit, and each case says from where. The references
// are judged by these files, every other device by the same ones.
//
//   case relu_nan
//   expected: numpy 2.3
//   attr alpha=0.5 strides=[1,2] layout=NHWC   (optional; kinds come from the operator's
//   definition) step add operand=1 swapped=1               (optional, repeated: the epilogue) in
//   fp32[2,2] 1 -2 nan inf                  (one line per input; `in -` is an absent one) out
//   fp32[2,2] 1 0 nan inf                  (or `refused <part of the message>`) within 1e-6 1e-5
//   (optional: absolute and relative tolerance)
//
// Sequences: seq(fp32[...]) fp32[1] 7 | fp32[2] 8 9; optionals: opt(fp32[1]) fp32[1] 7, or
// opt(fp32[1]) for an empty one. Types are written without spaces.
//
// A case ends at an empty line; `#` begins a comment. In strings \s is a space, \c a comma, \n and
// \t what they are in C, \\ a backslash; \e alone is the empty string. Attributes that are lists
// of strings: [a,b]; tensors: fp32[2]:1,2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/op_def.h"
#include "tensor/value.h"

namespace npukit::testing {

struct Tolerance {
  double absolute = 0;  // |got - expected| <= absolute + relative * |expected|; NaN equals NaN; 0,
                        // 0: the same value
  double relative = 0;
};

struct OpCase {
  std::string name;
  std::string expected_from;
  const ops::OpDef* op = nullptr;
  ops::Attrs attrs;
  std::vector<ops::EpilogueStep> epilogue;
  std::vector<tensor::Value> inputs;
  std::vector<tensor::Value> outputs;  // empty when refused
  std::string refused;                 // part of the message; empty: it must succeed
  Tolerance
      tolerance;  // the file's, or by type: fp32 1e-6 + 1e-5, fp16 1e-3 + 1e-3, exact for moves
};

// The message names the file and the line.
Result<std::vector<OpCase>> ParseCases(const ops::OpDef& op, std::string_view text,
                                       std::string_view file);
// <folder>/<op>.case; kNotFound when there is none.
Result<std::vector<OpCase>> ReadCases(const ops::OpDef& op, const std::string& folder);

// Same dtype, dims and values; the message names the first element that differs and how many do.
Status SameValue(const tensor::Value& got, const tensor::Value& expected, Tolerance tolerance);

// Evaluates the references and keeps the results.
class Results final : public ops::EvalContext {
 public:
  Result<tensor::Value> Output(int i, tensor::DType t, const tensor::Dims& dims) override;
  Status SetOutput(int i, tensor::Value v) override;
  std::vector<tensor::Value> values;
};

}  // namespace npukit::testing
