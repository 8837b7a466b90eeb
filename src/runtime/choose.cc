#include "runtime/choose.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "base/text.h"

namespace npukit::runtime {
namespace {

constexpr std::array<std::string_view, 3> kDeviceClasses = {"NPU", "GPU", "CPU"};
constexpr std::size_t kMaxListed = 8;

// Positions in spec.devices of the classes a program uses, ascending; empty when it uses one that
// is not listed.
std::vector<std::size_t> Places(const format::Program& program, const DeviceSpec& spec) {
  std::vector<std::size_t> places;
  for (const std::string& device_class : Split(program.devices, ',')) {
    const auto it = std::find(spec.devices.begin(), spec.devices.end(), device_class);
    if (it == spec.devices.end()) return {};
    places.push_back(static_cast<std::size_t>(it - spec.devices.begin()));
  }
  std::sort(places.begin(), places.end());
  return places;
}

bool Uses(const format::Program& program, const std::string& device_class) {
  const std::vector<std::string> classes = Split(program.devices, ',');
  return std::find(classes.begin(), classes.end(), device_class) != classes.end();
}

// Why the package has no program on `device_class` alone: the first operator that is elsewhere, and
// the way out.
std::string WhyNotAlone(const format::Head& head, const std::string& device_class) {
  const format::Program* nearest = nullptr;  // the one that uses it most nearly
  for (const format::Program& p : head.programs) {
    if (nearest == nullptr || (!Uses(*nearest, device_class) && Uses(p, device_class)))
      nearest = &p;
  }
  if (nearest == nullptr) return "";
  std::string text;
  for (const target::Verdict& v : nearest->verdicts) {
    if (v.placed_on == device_class || v.placed_on == "folded" || v.from.empty()) continue;
    text = Cat(": ", v.op.empty() ? Printable(v.foreign_op) : Printable(v.op), " (",
               Printable(v.from[0]), ") runs on ", Printable(v.placed_on));
    std::string reason = Printable(v.reason);  // a sentence
    if (reason.ends_with('.')) reason.pop_back();
    if (!reason.empty()) text += Cat(": ", reason);
    break;
  }
  const std::string devices = Printable(nearest->devices);
  return Cat(text, "; try HETERO:",
             Uses(*nearest, device_class) ? devices : Cat(device_class, ",", devices));
}

std::string NoProgram(const format::Head& head, const DeviceSpec& spec,
                      const std::string& precision) {
  std::vector<std::uint32_t> all(head.programs.size());
  std::iota(all.begin(), all.end(), 0u);
  std::string message = Cat("no program for device ", spec.ToString());
  if (!precision.empty()) message += Cat(" in precision ", Printable(precision));
  if (spec.policy == DeviceSpec::Policy::kOne && precision.empty())
    message += WhyNotAlone(head, spec.devices[0]);
  return message + "; the package has " + DescribePrograms(head, all);
}

}  // namespace

Result<DeviceSpec> DeviceSpec::Parse(const std::string& text) {
  DeviceSpec spec;
  std::string list;
  const std::size_t colon = text.find(':');
  const std::string head = text.substr(0, colon);
  if (head == "AUTO" || head == "HETERO") {
    spec.policy = head == "AUTO" ? Policy::kAuto : Policy::kHetero;
    if (colon == std::string::npos) {
      spec.devices.assign(kDeviceClasses.begin(), kDeviceClasses.end());
      return spec;
    }
    list = text.substr(colon + 1);
  } else {
    spec.policy = Policy::kOne;
    list = text;
  }
  for (const std::string& word : Split(list, ',')) {
    if (std::find(kDeviceClasses.begin(), kDeviceClasses.end(), word) == kDeviceClasses.end()) {
      return InvalidArgument(Cat("device '", Printable(text), "': '", Printable(word),
                                 "' is no device; expected NPU, GPU or CPU, or a list such as "
                                 "AUTO:NPU,CPU or HETERO:NPU,CPU"));
    }
    if (std::find(spec.devices.begin(), spec.devices.end(), word) != spec.devices.end()) {
      return InvalidArgument(Cat("device '", Printable(text), "': ", word, " is named twice"));
    }
    spec.devices.push_back(word);
  }
  if (spec.policy == Policy::kOne && spec.devices.size() != 1) {
    return InvalidArgument(Cat("device '", Printable(text),
                               "': several devices need a policy: AUTO:", text,
                               " or HETERO:", text));
  }
  return spec;
}

std::string DeviceSpec::ToString() const {
  const std::string list = Join(devices, ",");
  switch (policy) {
    case Policy::kOne:
      return list;
    case Policy::kAuto:
      return "AUTO:" + list;
    case Policy::kHetero:
      return "HETERO:" + list;
  }
  return list;
}

std::string DescribePrograms(const format::Head& head, std::span<const std::uint32_t> programs) {
  if (programs.empty()) return "no programs";
  std::string text;
  for (std::size_t i = 0; i < programs.size() && i < kMaxListed; ++i) {
    const format::Program& p = head.programs[programs[i]];
    if (i > 0) text += "; ";
    text += Cat(Printable(p.devices), " ", Printable(p.precision));
    for (std::size_t k = 0; k < p.input_types.size() && k < head.inputs.size() && k < kMaxListed;
         ++k) {
      text += Cat(" ", Printable(head.inputs[k].name), "=", p.input_types[k].ToString());
    }
  }
  if (programs.size() > kMaxListed) text += Cat("; and ", programs.size() - kMaxListed, " more");
  return text;
}

Result<std::vector<std::uint32_t>> RankPrograms(const format::Head& head, const DeviceSpec& spec,
                                                const std::string& precision) {
  struct Ranked {
    std::uint32_t program;
    std::vector<std::size_t> places;
  };
  std::vector<Ranked> ranked;
  for (std::uint32_t i = 0; i < head.programs.size(); ++i) {
    const format::Program& p = head.programs[i];
    if (!precision.empty() && p.precision != precision) continue;
    std::vector<std::size_t> places = Places(p, spec);
    if (!places.empty()) ranked.push_back({i, std::move(places)});
  }
  const bool more_first = spec.policy == DeviceSpec::Policy::kHetero;
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Ranked& a, const Ranked& b) {
    if (more_first && a.places.size() != b.places.size()) return a.places.size() > b.places.size();
    return a.places < b.places;
  });
  if (ranked.empty()) return NotFound(NoProgram(head, spec, precision));
  std::vector<std::uint32_t> programs;
  for (const Ranked& r : ranked) programs.push_back(r.program);
  return programs;
}

}  // namespace npukit::runtime
