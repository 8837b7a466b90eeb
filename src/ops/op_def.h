// What an operator means, in one constant: names, arity, attributes, shape rule, reference, cost.
// One per file in this folder, listed once in ops.inc; importers, verifier, interpreter, devices,
// docs and conformance all read it.
//
// `op::relu` etc. are declared from ops.inc below, so a definition without a list line does not
// compile and a list line without a file does not link. Definitions are constants: no code runs
// before main. All functions are pure and may be called from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "ops/attrs.h"
#include "tensor/value.h"

namespace npukit::ops {

struct OpDef;

// One step of an epilogue: what a producing loop does to its result on the way out. `op` is an
// elementwise operator with one or two inputs; the running result is its first input (second when
// `swapped`), `operand` the index, in the owning node's inputs, of the other one (-1: unary). A
// step never changes the shape.
struct EpilogueStep {
  const OpDef* op = nullptr;
  Attrs attrs;
  int operand = -1;
  bool swapped = false;
  bool operator==(const EpilogueStep&) const = default;
};

// Shape inference. `inputs[i]` is the type; `constants[i]` is non-null where the value is known (so
// Reshape can read it). An absent optional input has an undefined dtype.
struct InferContext {
  std::span<const tensor::Type> inputs;
  std::span<const tensor::Value* const> constants;
  const Attrs& attrs;
  std::span<tensor::Type> outputs;  // to fill
};
using InferFn = Status (*)(InferContext&);

// Evaluation. The callee asks for each output's memory when it knows its type; the caller decides
// where it lies.
class EvalContext {
 public:
  virtual ~EvalContext() = default;
  std::span<const tensor::Value> inputs;
  const Attrs* attrs = nullptr;
  // A writable dense tensor for output i. The same i may be asked once. Fails with kOutOfMemory or,
  // where memory was planned for another shape, kInternal.
  virtual Result<tensor::Value> Output(int i, tensor::DType t, const tensor::Dims& dims) = 0;
  virtual Status SetOutput(
      int i, tensor::Value v) = 0;  // sequences, optionals, strings; or a view of an input
};
using ReferenceFn = Status (*)(EvalContext&);

// Work of one call on static types: what a roofline needs.
struct OpCost {
  double macs = 0;        // multiply-accumulates in matrix-like loops
  double vector_ops = 0;  // elementwise operations
  double bytes = 0;       // inputs + weights + outputs, each once
};
struct CostContext {
  std::span<const tensor::Type> inputs;
  std::span<const tensor::Type> outputs;
  const Attrs& attrs;
};
using CostFn = OpCost (*)(const CostContext&);

// Loop shape: how devices group operators. Kernels and lowerings are per shape, not per operator.
enum class LoopShape : std::uint8_t {
  kUnary,   // y[i] = f(x[i])
  kBinary,  // y[i] = f(a[i], b[i]) with broadcast
  kConv,    // conv2d, conv_transpose2d
  kPool,
  kMatMul,
  kReduce,
  kSoftmax,
  kMove,  // transpose, slice, concat, reshape, ...: no arithmetic
  kResize,
  kShape,  // reads only shapes
  kOther,
};

// What happens when the activation layout changes from NCHW to NHWC (passes/choose_layout).
enum class LayoutRule : std::uint8_t {
  kAny,        // same-shape elementwise: any permutation may pass through
  kBroadcast,  // elementwise with broadcast: all inputs of full rank are permuted alike
  kAxes,       // attributes `axis`/`axes` name dimensions and are remapped
  kSpatial,    // has attribute `layout`: "NCHW" (default) or "NHWC"
  kFixed,      // nothing passes through
};

enum class AttrKind : std::uint8_t { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor };
struct AttrDef {
  std::string_view name;
  AttrKind kind;
  bool required = false;
};

// Names this operator has elsewhere; empty: none. One of ours may be made of a composite import
// instead. ONNX operators outside ONNX's own domain are spelled "com.microsoft:FusedMatMul".
struct ForeignNames {
  std::string_view onnx;
  std::string_view tflite;
  std::string_view nnrt;
};

struct OpDef {
  std::string_view name;     // snake case
  std::string_view summary;  // one line for docs/ops.md
  int min_inputs = 1;
  int max_inputs = 1;  // -1: any number
  // Results; -1: any number. All of them are always computed: where a file leaves one out, the
  // importer gives it a value that nobody reads.
  int outputs = 1;
  std::span<const AttrDef> attrs = {};
  InferFn infer = nullptr;
  ReferenceFn reference = nullptr;
  CostFn cost = nullptr;
  LoopShape loop = LoopShape::kOther;
  LayoutRule layout = LayoutRule::kFixed;
  ForeignNames foreign = {};
  bool any_kind = false;  // inputs may be sequences and optionals too
  // Owns bodies (Node::bodies) and is run by whoever runs graphs: `infer` and `reference` are null.
  bool control = false;
};

// The list as a table, sorted by name.
std::span<const OpDef* const> AllOps();
const OpDef* FindOp(std::string_view name);  // null when unknown
// "Conv", "com.microsoft:FusedMatMul"; null when no definition claims the name.
const OpDef* FindOnnxOp(std::string_view onnx_name);

// How many of a node's inputs belong to the operator itself; the rest are operands of its epilogue.
// kInvalidArgument: a step names an input that is not there.
Result<std::size_t> OwnInputCount(std::span<const EpilogueStep> epilogue, std::size_t inputs);

// The reference with its epilogue: applies `def.reference`, then each step's reference in order.
// Works for `chain` too. `inputs` are the node's inputs, epilogue operands included. Safe on any
// inputs: attributes, arity, types and shapes are checked first, and what does not fit is an error
// that begins with the operator's name.
Status Evaluate(const OpDef& def, const Attrs& attrs, std::span<const EpilogueStep> epilogue,
                std::span<const tensor::Value> inputs, EvalContext& out);
// Types of outputs, epilogue included (steps must keep the shape; the dtype may follow the last
// step).
Status Infer(const OpDef& def, const Attrs& attrs, std::span<const EpilogueStep> epilogue,
             std::span<const tensor::Type> inputs, std::span<const tensor::Value* const> constants,
             std::span<tensor::Type> outputs);
OpCost Cost(const OpDef& def, const Attrs& attrs, std::span<const EpilogueStep> epilogue,
            std::span<const tensor::Type> inputs, std::span<const tensor::Type> outputs);
// Attribute names, kinds and required ones. The message names the attribute, expected and found.
Status CheckAttrs(const OpDef& def, const Attrs& attrs);

}  // namespace npukit::ops

namespace npukit::op {
#define OP(name) extern const ::npukit::ops::OpDef name;
#include "ops/ops.inc"
#undef OP
}  // namespace npukit::op
