// A package as plain structs: what writer.cc packs and reader.cc gives back after verifying. The
// FlatBuffers schema is package.fbs; nobody outside this folder sees it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "target/estimate.h"
#include "target/profile.h"
#include "target/verdict.h"
#include "tensor/type.h"

namespace npukit::format {

inline constexpr std::uint32_t kSchemaVersion =
    0;  // 0: not settled; files are refused by any other version

enum class SegmentKind : std::uint8_t { kWeights = 0, kBlob = 1, kData = 2 };

// A raw stretch of the file: 4096-aligned, 64-bit offset.
struct SegmentInfo {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  SegmentKind kind = SegmentKind::kWeights;
  std::uint64_t checksum = 0;  // Hash64 of its bytes
};

// A weight: a stretch of a weights segment.
struct WeightInfo {
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;  // within the segment, 64-aligned
  std::uint64_t length = 0;
  std::string layout;
};

struct ExecutableInfo {
  std::string device;  // "cpu", "npu_sim"
  std::uint32_t blob_segment = 0;
  std::vector<std::uint32_t> weights;  // indices into Head::weights, in the blob's id order
  std::uint64_t scratch_bytes = 0;
  target::Estimate estimate;  // of one run, on the package's profile
};

// Fixed: offset known. Planned: symbolic shape, laid out per distinct input shape. Dynamic: a value
// of any kind, made by the step that writes it. (Version 0 writes no
// planned slots: executables that take any shape plan for themselves.)
enum class SlotKind : std::uint8_t {
  kInput = 0,
  kOutput = 1,
  kFixed = 2,
  kPlanned = 3,
  kDynamic = 4,
  kConstant = 5
};
inline constexpr std::uint32_t kNoSlot = 0xFFFFFFFFu;
struct Slot {
  std::string name;  // of the value, for messages
  tensor::Type type;
  SlotKind kind = SlotKind::kFixed;
  std::uint64_t offset = 0;  // in the arena (kFixed)
  std::uint32_t index = 0;   // which input, output or weight (kInput, kOutput, kConstant)
};

enum class StepKind : std::uint8_t { kCall = 0, kIf = 1, kLoop = 2, kCopy = 3, kRelease = 4 };
struct Step {
  StepKind kind = StepKind::kCall;
  std::uint32_t executable = 0;        // kCall: index into Program::executables
  std::vector<std::uint32_t> inputs;   // slots (kCall, kCopy: source)
  std::vector<std::uint32_t> outputs;  // slots (kCall, kCopy: destination)
  std::vector<std::uint32_t> blocks;   // kIf, kLoop: indices into Program::blocks
  // kIf: inputs [condition], blocks [then, else]; the blocks write what the branch gives. kLoop:
  // inputs [carried...], outputs [carried..., scans...], blocks [body], `params` [iteration,
  // condition, carried...] are set before the body runs and `results` [condition, carried...,
  // scans...] read after it; scans are stacked along a new first dimension. `limits` [trip count,
  // condition] are slots, kNoSlot where the loop has none. kRelease: inputs are forgotten.
  std::vector<std::uint32_t> params = {};
  std::vector<std::uint32_t> results = {};
  std::vector<std::uint32_t> limits = {};
};
struct Block {
  std::vector<Step> steps;
};

struct ComputeUnits {
  std::uint32_t npu = 0, gpu = 0, cpu = 0, folded = 0, total = 0;
};

struct Program {
  std::string devices;                    // key: "CPU", "NPU,CPU", "NPU"
  std::string precision;                  // key: "fp32", "fp16"
  std::vector<tensor::Type> input_types;  // key: concrete shapes, in the order of Head::inputs
  std::vector<tensor::Type> output_types;
  std::vector<ExecutableInfo> executables;
  // Run one step after the other over values of any kind, in dynamic slots; else all steps are
  // submitted at once over fixed ones, and there is one block.
  bool by_step = false;
  std::vector<Slot> slots;
  std::vector<Block> blocks;      // [0] is the entry
  std::uint64_t arena_bytes = 0;  // of fixed slots
  target::Estimate estimate;      // sum over steps
  ComputeUnits compute_units;
  std::vector<std::string> segment_devices;  // "NPU", "CPU", ... in order
  std::vector<target::Verdict> verdicts;     // one per node of the final graph for this program
};

struct StateInfo {
  std::string name;
  std::uint32_t input = 0, output = 0;  // indices into inputs and outputs
};

struct ValueSpec {
  std::string name;
  tensor::Type type;  // as the model says it, symbols kept
};

struct Head {
  std::string model_name;
  std::string model_sha256;
  std::string tool_version;  // "npukit 0.1.0 (git)"
  target::Profile profile;   // what it was compiled for
  std::vector<ValueSpec> inputs;
  std::vector<ValueSpec> outputs;
  std::vector<StateInfo> states;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<SegmentInfo> segments;
  std::vector<WeightInfo> weights;
  std::vector<Program> programs;
};

}  // namespace npukit::format
