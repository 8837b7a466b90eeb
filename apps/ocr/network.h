#pragma once
// What the reader needs of a network: floats in, floats out, and an account of where and how long
// it ran. Behind it stands a compiled package (session_network.h), outputs computed elsewhere
// (replay_network.h), or a test's fake.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"

namespace ocr {

// A dense float tensor in row-major order.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<float> data;
};

std::string ShapeText(const std::vector<std::int64_t>& shape);  // "1x3x48x320"

// How a figure is known. Figures of different kinds are never added up.
enum class Kind { kAssumed, kModelled, kMeasured, kNone };
std::string_view KindName(Kind kind);

// A part of a run on one device, from the run's start.
struct DeviceStep {
  std::string device;  // "NPU (simulated kirin9030)"
  double start_ms = 0, end_ms = 0;
  Kind kind = Kind::kNone;
};

// One run, as the runtime accounts for it.
struct Account {
  std::string
      device;  // "NPU (simulated kirin9030), CPU avx2"; "replay" for outputs computed elsewhere
  std::string target;     // "kirin9030"
  std::string devices;    // of the chosen program: "NPU,CPU"
  std::string precision;  // "fp16"
  std::uint32_t npu = 0, gpu = 0, cpu = 0, folded = 0, total = 0;  // nodes of the imported graph
  double latency_ms = 0;                                           // by the clock of `kind`
  Kind kind = Kind::kNone;
  double wall_ms = 0;     // measured on this machine
  double energy_mj = -1;  // below 0: not known
  std::uint64_t copies = 0, bytes_copied = 0;
  std::vector<DeviceStep> steps;
};

struct Answer {
  Array output;
  Account account;
};

// One input, one output. Used by one thread at a time.
class Network {
 public:
  virtual ~Network() = default;
  // Input shapes it was compiled for; empty: any shape will do.
  virtual std::vector<std::vector<std::int64_t>> Shapes() const = 0;
  virtual Result<Answer> Run(const Array& input) = 0;
};

}  // namespace ocr
