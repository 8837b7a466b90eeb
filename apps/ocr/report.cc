#include "report.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "json_writer.h"

namespace ocr {
namespace {

__attribute__((format(printf, 1, 2))) std::string Format(const char* format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return {buffer,
          static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(sizeof buffer) - 1))};
}

bool SameProgram(const Account& a, const Account& b) {
  return a.device == b.device && a.target == b.target && a.devices == b.devices &&
         a.precision == b.precision && a.kind == b.kind && a.npu == b.npu && a.gpu == b.gpu &&
         a.cpu == b.cpu && a.folded == b.folded;
}

void Add(const Account& run, NetworkReport* sum) {
  Account& total = sum->account;
  total.latency_ms += run.latency_ms;
  total.wall_ms += run.wall_ms;
  total.copies += run.copies;
  total.bytes_copied += run.bytes_copied;
  // Unknown once, unknown in sum.
  total.energy_mj = total.energy_mj < 0 || run.energy_mj < 0 ? -1 : total.energy_mj + run.energy_mj;
  ++sum->runs;
}

std::vector<NetworkReport> SumUp(const std::vector<Run>& runs) {
  std::vector<NetworkReport> sums;
  for (Role role : kRoles) {
    for (const Run& run : runs) {
      if (run.role != role) continue;
      auto same = [&](const NetworkReport& n) {
        return n.role == role && SameProgram(n.account, run.account);
      };
      auto found = std::ranges::find_if(sums, same);
      if (found != sums.end()) {
        Add(run.account, &*found);
      } else {
        sums.push_back({role, run.account, 1});
      }
    }
  }
  return sums;
}

std::string_view RoleTitle(Role role) {
  switch (role) {
    case Role::kDetect:
      return "det network";
    case Role::kAngle:
      return "cls network";
    case Role::kRecognise:
      break;
  }
  return "rec network";
}

std::string UnitsText(const Account& a) {
  return Format("Compute units: NPU (%u), GPU (%u), CPU (%u), folded (%u) | Total (%u)", a.npu,
                a.gpu, a.cpu, a.folded, a.total);
}

// "NAME  12.3 ms modelled (410.2 ms measured here), 5 runs"
std::string LatencyText(const NetworkReport& n) {
  const Account& a = n.account;
  if (a.kind == Kind::kNone)
    return Format("  %-18s  %10s    replayed, %zu runs\n", RoleTitle(n.role).data(), "-", n.runs);
  std::string line = Format("  %-18s  %10.3f ms %s, %zu run%s", RoleTitle(n.role).data(),
                            a.latency_ms, KindName(a.kind).data(), n.runs, n.runs == 1 ? "" : "s");
  if (a.kind != Kind::kMeasured) line += Format(" (%.1f ms measured on this machine)", a.wall_ms);
  return line + "\n";
}

void AppendPhoto(const PhotoReport& photo, std::string* out) {
  const PhotoReading& reading = photo.reading;
  *out += photo.file + Format(": %dx%d, %zu line%s", reading.size.width, reading.size.height,
                              reading.lines.size(), reading.lines.size() == 1 ? "" : "s");
  if (reading.dropped > 0)
    *out +=
        Format(", %d box%s too unsure to read", reading.dropped, reading.dropped == 1 ? "" : "es");
  *out += "\n";
  std::size_t number = 0;
  for (const Line& line : reading.lines) {
    *out += Format("  %2zu  %.3f  ", ++number, line.confidence) + line.text + "  at";
    for (cv::Point2f p : line.box) *out += Format(" (%.0f,%.0f)", p.x, p.y);
    *out += line.turned ? " upside down\n" : "\n";
  }
  for (const HostStage& stage : reading.host_stages) {
    *out += Format("  %-18s  %10.3f ms measured\n", std::string(stage.name).c_str(), stage.ms);
  }
  for (const NetworkReport& network : SumUp(reading.runs)) *out += LatencyText(network);
}

void AppendNetwork(const NetworkReport& network, std::string* out) {
  const Account& a = network.account;
  *out += std::string(RoleName(network.role)) + " on " + a.device;
  if (!a.precision.empty()) *out += ", " + a.precision;
  if (a.kind == Kind::kNone) {
    *out += Format(": %zu outputs\n", network.runs);
    return;
  }
  *out += "\n  " + UnitsText(a) + "\n";
  *out += Format("  %zu run%s, %.3f ms %s, ", network.runs, network.runs == 1 ? "" : "s",
                 a.latency_ms, KindName(a.kind).data());
  *out += a.energy_mj < 0 ? "energy not known" : Format("%.3f mJ modelled", a.energy_mj);
  *out += Format(", %llu copies", static_cast<unsigned long long>(a.copies));
  if (a.copies > 0) *out += Format(" of %.1f KiB", static_cast<double>(a.bytes_copied) / 1024);
  *out += "\n";
}

// Plain when it is of the record's kind; null when not known.
void WriteFigure(std::string_view name, double value, std::string_view unit, Kind kind, Kind record,
                 JsonWriter* json) {
  json->Key(name);
  if (value < 0) {
    json->Null();
  } else if (kind == record) {
    json->Value(value);
  } else {
    json->Begin('{').Member("value", value).Member("unit", unit);
    json->Member("kind", KindName(kind)).End('}');
  }
}

void WriteNetwork(const NetworkReport& network, JsonWriter* json) {
  const Account& a = network.account;
  json->Begin('{').Member("network", RoleName(network.role)).Member("runs", network.runs);
  json->Member("device", a.device).Member("target", a.target).Member("program", a.devices);
  json->Member("precision", a.precision).Member("kind", KindName(a.kind));
  json->Member("latency_ms", a.latency_ms);
  WriteFigure("wall_ms", a.wall_ms, "ms", Kind::kMeasured, a.kind, json);
  WriteFigure("energy_mj", a.energy_mj, "mJ", Kind::kModelled, a.kind, json);
  json->Member("copies", a.copies).Member("bytes_copied", a.bytes_copied);
  json->Key("compute_units")
      .Begin('{')
      .Member("NPU", a.npu)
      .Member("GPU", a.gpu)
      .Member("CPU", a.cpu);
  json->Member("folded", a.folded).Member("total", a.total).End('}').End('}');
}

void WritePhoto(const PhotoReport& photo, JsonWriter* json) {
  const PhotoReading& reading = photo.reading;
  json->Begin('{').Member("file", photo.file);
  json->Member("width", reading.size.width)
      .Member("height", reading.size.height)
      .Member("dropped", reading.dropped);
  json->Key("lines").Begin('[');
  for (const Line& line : reading.lines) {
    json->Begin('{')
        .Member("text", line.text)
        .Member("confidence", static_cast<double>(line.confidence));
    json->Member("upside_down", line.turned).Key("box").Begin('[');
    for (cv::Point2f p : line.box) {
      json->Begin('[').Value(static_cast<double>(p.x)).Value(static_cast<double>(p.y)).End(']');
    }
    json->End(']').End('}');
  }
  json->End(']').Key("stages").Begin('[');
  for (const HostStage& stage : reading.host_stages) {
    json->Begin('{')
        .Member("stage", stage.name)
        .Member("latency_ms", stage.ms)
        .Member("kind", "measured")
        .End('}');
  }
  json->End(']').Key("networks").Begin('[');
  for (const NetworkReport& network : SumUp(reading.runs)) WriteNetwork(network, json);
  json->End(']').End('}');
}

}  // namespace

std::vector<NetworkReport> SumUp(const std::vector<PhotoReport>& photos) {
  std::vector<Run> runs;
  for (const PhotoReport& photo : photos)
    runs.insert(runs.end(), photo.reading.runs.begin(), photo.reading.runs.end());
  return SumUp(runs);
}

std::string PhotoText(const PhotoReport& photo) {
  std::string out;
  AppendPhoto(photo, &out);
  return out + "\n";
}

std::string NetworksText(const std::vector<PhotoReport>& photos) {
  std::string out;
  for (const NetworkReport& network : SumUp(photos)) AppendNetwork(network, &out);
  return out;
}

std::string JsonReport(const std::vector<PhotoReport>& photos, const std::string& version,
                       const std::string& git) {
  JsonWriter json;
  json.Begin('{').Member("schema_version", 1);
  json.Key("tool")
      .Begin('{')
      .Member("name", "npukit-ocr")
      .Member("version", version)
      .Member("git", git)
      .End('}');
  json.Key("photos").Begin('[');
  for (const PhotoReport& photo : photos) WritePhoto(photo, &json);
  json.End(']').Key("networks").Begin('[');
  for (const NetworkReport& network : SumUp(photos)) WriteNetwork(network, &json);
  json.End(']').End('}');
  return json.text() + "\n";
}

}  // namespace ocr
