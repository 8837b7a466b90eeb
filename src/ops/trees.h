// Ensembles of decision trees: what TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor
// share. Everything comes from a file, so every index is checked when a forest is read and a walk
// that goes round is an error.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/rules.h"

namespace npukit::ops {

struct Forest {
  enum class Mode : std::uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };
  enum class Aggregate : std::uint8_t { kAverage, kSum, kMin, kMax };
  struct Node {
    Mode mode = Mode::kLeaf;
    bool missing_is_true = false;      // where NaN goes
    std::uint32_t yes = 0, no = 0;     // nodes
    std::uint32_t begin = 0, end = 0;  // of votes (a leaf) or of members
    std::int64_t feature = 0;
    double split = 0;
  };
  struct Vote {
    std::uint32_t target = 0;
    double weight = 0;
  };
  std::vector<Node> nodes;
  std::vector<std::uint32_t> roots;
  std::vector<Vote> votes;
  std::vector<double> members;
  std::int64_t targets = 0;
  Aggregate aggregate = Aggregate::kSum;

  // Every child and vote is there.
  Status Check() const;
  // Sums of one row x (as doubles) into scores (one per target), and which targets got a vote.
  Status Run(std::span<const double> x, std::span<double> scores, std::vector<bool>& voted) const;
};

// The nodes and votes of `attrs` in the form of ai.onnx.ml's TreeEnsembleRegressor, its modes under
// nodes_mode_names; f holds what is said of the whole.
Result<Forest> ReadOldForest(const Attrs& attrs, Forest f);
// A list of floats or, under NAME_as_tensor, doubles.
Result<std::vector<double>> DoublesOf(const Attrs& attrs, std::string_view name);

}  // namespace npukit::ops
