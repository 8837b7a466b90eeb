// Elementwise steps (an epilogue, an activation, a binary operator) bound to slots at load and to
// pointers per run.
#pragma once

#include <array>
#include <optional>

#include "devices/cpu/run/kernels/kernels.h"
#include "devices/cpu/run/step.h"

namespace npukit::devices::cpu {

class ElementwiseProgram {
 public:
  static constexpr std::size_t kMaxSteps = 16;
  using Steps = std::array<EwStep, kMaxSteps>;

  // The tensor it works on: rows of `cols`, the last dimension.
  explicit ElementwiseProgram(const tensor::Dims& dims);

  // Appends op(x, operand), or op(operand, x) when swapped; null operand: op(x). False when no
  // kernel does this operator or this broadcast, and then the program is of no use.
  bool Add(const ops::OpDef& op, const ops::Attrs& attrs, const Operand* operand, bool swapped);
  // The kernel's name for a binary operator; nullopt when it has none.
  static std::optional<EwOp> BinaryOp(const ops::OpDef& op, bool swapped);
  // All steps of the epilogue.
  bool AddEpilogue(const StepView& step);
  // Takes a leading relu or clip away, for a kernel that clamps by itself.
  void TakeClamp(float* lo, float* hi);

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  bool uses(EwOperand kind) const;
  // True when a step depends on where in the tensor an element lies: channel, image or row.
  bool has_position() const {
    return uses(EwOperand::kChannel) || uses(EwOperand::kImage) || uses(EwOperand::kRow);
  }
  // Rows that share a kImage operand; rows() when there is none. A block must not cross from one
  // image to the next.
  std::int64_t image_rows() const { return image_rows_ == 0 ? rows_ : image_rows_; }

  // Fills the first size() steps. The block's other fields are the caller's.
  void Resolve(const Frame& frame, Steps* steps) const;
  // Runs the steps in place over a stretch of rows of the tensor at out_base, splitting where
  // images end.
  struct Region {
    float* out_base = nullptr;
    std::int64_t row0 = 0, rows = 0, col0 = 0, cols = 0;
  };
  void RunInPlace(const Kernels& kernels, const Steps& steps, const Region& region) const;

 private:
  struct Bound {
    EwStep step;
    Slot slot;
  };
  bool Classify(const tensor::Dims& operand, EwOperand* kind);
  tensor::Dims dims_;
  std::int64_t rows_ = 1, cols_ = 1;
  std::int64_t image_rows_ = 0;
  std::array<Bound, kMaxSteps> bound_;
  std::size_t count_ = 0;
};

}  // namespace npukit::devices::cpu
