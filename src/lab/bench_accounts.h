// What the segments of a program cost by their devices' models, from the package alone: shared by
// `bench --ops` and `explain`. Prices may be asked for any profile of the same buffers; nothing is
// compiled again. A Pricer keeps its package; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/reader.h"
#include "lab/open.h"
#include "report/records.h"
#include "target/account.h"

namespace npukit::lab {

bool UsesNpu(const format::Program& program);

// Time and energy of a whole program: segments run one after the other, as the runtime runs them.
struct Cost {
  double time_ns = 0;
  double energy_pj = 0;
  double macs = 0;
  target::Kind kind = target::Kind::kModelled;
  double ms() const { return time_ns / 1e6; }
  double mj() const { return energy_pj / 1e9; }
};

class Pricer {
 public:
  // kUnsupported: a device of the program is not in this build, or has no model. kDataCorrupt: a
  // damaged blob.
  static Result<Pricer> Make(const Kit& kit, std::shared_ptr<const format::Package> package,
                             std::uint32_t program);

  struct Segment {
    std::string device_class;  // "NPU", "CPU"
    std::shared_ptr<const compile::Lowering> lowering;
    std::span<const std::byte> blob;
  };
  const std::vector<Segment>& segments() const { return segments_; }
  const format::Program& program() const { return package_->head().programs[index_]; }
  const format::Head& head() const { return package_->head(); }

  // One account per segment, in order.
  Result<std::vector<target::Account>> Accounts(const target::Profile& profile,
                                                target::Relief relief, bool spans) const;
  Result<Cost> Price(const target::Profile& profile, target::Relief relief) const;
  // Only the segments on devices of this class ("" stands for all).
  Result<Cost> PriceClass(const target::Profile& profile, const std::string& device_class) const;

 private:
  std::shared_ptr<const format::Package> package_;
  std::uint32_t index_ = 0;
  std::vector<Segment> segments_;
};

Cost Sum(const std::vector<target::Account>& accounts);
Cost& operator+=(Cost& a, const Cost& b);

// Rows of --ops, in order of running; start times count from the start of the run.
std::vector<report::OpRow> OpRows(const Pricer& pricer,
                                  const std::vector<target::Account>& accounts);
// The timeline of all segments on one axis; Span::task indexes OpRows.
std::vector<target::Span> Timeline(const std::vector<target::Account>& accounts);

// The time the accelerator would take if every multiply-add it does ran at its peak.
double PeakNs(const Pricer& pricer, const std::vector<target::Account>& accounts,
              const std::string& device_class);

}  // namespace npukit::lab
