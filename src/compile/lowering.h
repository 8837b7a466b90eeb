// What a device offers the compiler. compile/ never sees a device: the caller passes a list of
// these in. All functions are pure (no state between calls) and may be called from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/kept_bytes.h"
#include "base/status.h"
#include "ir/graph.h"
#include "target/account.h"
#include "target/estimate.h"
#include "target/profile.h"
#include "target/verdict.h"

namespace npukit::compile {

// Bytes a device wants beside its blob, used in place from the mapped package. Equal (layout, hash)
// are stored once.
struct LoweredWeight {
  std::string layout;  // "f32_n16k", "fractal_z_f16", "raw", ...
  KeptBytes kept;
  std::uint64_t hash = 0;  // Hash64 of the bytes
};

struct Lowered {
  std::vector<std::byte> blob;         // devices/<d>/blob says what is in it
  std::vector<LoweredWeight> weights;  // index = the id the blob uses
  std::uint64_t scratch_bytes = 0;     // working memory for one run, 64-byte aligned
  target::Estimate estimate;           // on the profile it was lowered for
};

enum class Precision : std::uint8_t { kFp32, kFp16, kInt8 };
std::string_view PrecisionName(Precision p);

struct LowerOptions {
  Precision precision = Precision::kFp32;
  // The segment's types are known only when it runs: values of any kind pass its boundary. Asked of
  // the CPU alone.
  bool any_shape = false;
  std::function<void(std::string_view what, int done, int total)> progress;  // may be empty
};

class Lowering {
 public:
  virtual ~Lowering() = default;
  virtual std::string_view device() const = 0;  // "cpu", "npu_sim": the name run/ registers too
  virtual std::string_view device_class() const = 0;  // "CPU", "NPU", "GPU"
  virtual Precision precision() const = 0;            // what it computes in
  // May it run this node of g on the profile? Fills everything but from, segment and placed_on.
  virtual target::Verdict Supports(const ir::Graph& g, const ir::Node& n,
                                   const target::Profile& p) const = 0;
  // What this node alone would cost there: for partition. Only asked when Supports said yes.
  virtual target::Estimate Cost(const ir::Graph& g, const ir::Node& n,
                                const target::Profile& p) const = 0;
  // What it costs to hand `t` to or from this device (layout change, cast, flush, per crossing):
  // for partition.
  virtual target::Estimate BoundaryCost(const tensor::Type& t, const target::Profile& p) const = 0;
  // Lowers a whole segment: g's inputs and outputs are the segment's boundary, all static. Every
  // node is supported.
  virtual Result<Lowered> Lower(const ir::Graph& g, const target::Profile& p,
                                const LowerOptions& o) const = 0;
  // Where the time of one run of a blob that Lower gave goes, on any profile of the same buffers,
  // as if what `relief` names cost nothing. A pure function of its arguments. Spans only when asked
  // for. kUnsupported: the device has no model of it.
  virtual Result<target::Account> AccountOf(std::span<const std::byte> blob,
                                            const target::Profile& p, target::Relief relief,
                                            bool spans) const;
};

using LoweringList = std::vector<std::shared_ptr<const Lowering>>;

}  // namespace npukit::compile
