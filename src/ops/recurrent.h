// What rnn, gru and lstm share: attributes, the type rule, activations, and the walk over
// directions, batch and time. Sizes: D directions, T steps, B sequences, I inputs, H hidden.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/rules.h"

namespace npukit::ops {

// An activation of a cell, with ONNX's name.
struct Activation {
  enum class Kind : std::uint8_t {
    kRelu,
    kTanh,
    kSigmoid,
    kAffine,
    kLeakyRelu,
    kThresholdedRelu,
    kScaledTanh,
    kHardSigmoid,
    kElu,
    kSoftsign,
    kSoftplus,
  };
  Kind kind = Kind::kTanh;
  double alpha = 0;
  double beta = 0;
  double operator()(double x) const;
};

// The kind of cell: how many gates it has and which activations it takes by default.
struct CellKind {
  std::int64_t gates;
  std::span<const std::string_view> activations;  // of one direction
  bool has_cell;                                  // a second state: lstm
};

inline constexpr std::string_view kRnnActivations[] = {"Tanh"};
inline constexpr std::string_view kGruActivations[] = {"Sigmoid", "Tanh"};
inline constexpr std::string_view kLstmActivations[] = {"Sigmoid", "Tanh", "Tanh"};
inline constexpr CellKind kRnnCell{1, kRnnActivations, false};
inline constexpr CellKind kGruCell{3, kGruActivations, false};
inline constexpr CellKind kLstmCell{4, kLstmActivations, true};

struct RecurrentAttrs {
  std::int64_t directions = 1;
  bool reverse = false;                 // the first direction
  bool batch_first = false;             // layout 1
  double clip = 0;                      // 0: none
  std::vector<Activation> activations;  // of the first direction, then of the second
};
Result<RecurrentAttrs> ReadRecurrentAttrs(const Attrs& attrs, const CellKind& kind);

// Y, Y_h and, where the kind has a cell, Y_c.
Status InferRecurrent(InferContext& c, const CellKind& kind);

// Everything of one call, as double.
struct Recurrent {
  RecurrentAttrs attrs;
  std::int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
  std::int64_t gates = 0;
  std::vector<double> w, r, bias;  // [D, G*H, I], [D, G*H, H], [D, 2*G*H] (zeros when absent)
  std::vector<double> peephole;    // [D, 3*H] (zeros when absent)

  const Activation& activation(std::int64_t direction, std::size_t i) const {
    const std::size_t each = attrs.activations.size() / static_cast<std::size_t>(attrs.directions);
    return attrs.activations[static_cast<std::size_t>(direction) * each + i];
  }
  double Clip(double x) const {
    return attrs.clip > 0 ? (x > attrs.clip ? attrs.clip : x < -attrs.clip ? -attrs.clip : x) : x;
  }
  // Row `gate * H + j` of W times x, of R times h, and the two biases of the row.
  double Input(std::int64_t direction, std::int64_t row, const double* x) const;
  double Hidden(std::int64_t direction, std::int64_t row, const double* h) const;
  double InputBias(std::int64_t direction, std::int64_t row) const;
  double HiddenBias(std::int64_t direction, std::int64_t row) const;
};

// One step of one sequence: x, then h and c (H numbers each), which it moves on.
using CellFn = void (*)(const Recurrent& r, const Attrs& attrs, std::int64_t direction,
                        const double* x, std::vector<double>& h, std::vector<double>& c);
Status EvaluateRecurrent(EvalContext& c, InferFn infer, const CellKind& kind, CellFn cell);

OpCost RecurrentCost(const CostContext& c);

// The attributes that all three have; `extra` more follow in each file's own table.
#define NPUKIT_RECURRENT_ATTRS                                                     \
  {"activation_alpha", AttrKind::kFloats}, {"activation_beta", AttrKind::kFloats}, \
      {"activations", AttrKind::kStrings}, {"clip", AttrKind::kFloat},             \
      {"direction", AttrKind::kString}, {"hidden_size", AttrKind::kInt}, {         \
    "layout", AttrKind::kInt                                                       \
  }

}  // namespace npukit::ops
