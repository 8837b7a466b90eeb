#include "html_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <string_view>

#include "npukit/compiler.h"
#include "pixels.h"
#include "session_network.h"

namespace ocr {
namespace {

constexpr int kShownSide = 1280;  // pixels of a photo's longer side in the report
constexpr int kJpegQuality = 82;

std::string FileName(const PhotoReport& photo) {
  return std::filesystem::path(photo.file).filename().string();
}

npk_report_field Words(const char* name, const std::string& text) {
  return {sizeof(npk_report_field), name, text.c_str(), nullptr, 0, 0, -1};
}
npk_report_field Count(const char* name, double value) {
  return {sizeof(npk_report_field), name, nullptr, nullptr, value, 0, -1};
}
int KindNumber(Kind kind) {
  switch (kind) {
    case Kind::kAssumed:
      return NPK_ASSUMED;
    case Kind::kModelled:
      return NPK_MODELLED;
    case Kind::kMeasured:
      return NPK_MEASURED;
    case Kind::kNone:
      break;
  }
  return -1;
}
npk_report_field Figure(const char* name, double value, const char* unit, int decimals, Kind kind) {
  return {sizeof(npk_report_field), name, nullptr, unit, value, decimals, KindNumber(kind)};
}

// compiler.h with the first failure remembered: what follows it does nothing.
class Html {
 public:
  explicit Html(const std::string& title, const std::string& under) {
    npk_report* report = nullptr;
    Try(npk_report_create("ocr", title.c_str(), under.c_str(), &report));
    report_.reset(report);
  }
  void Section(const char* title, const std::string& note) {
    if (good()) Try(npk_report_section(get(), title, note.c_str()));
  }
  void Figures(const std::vector<npk_report_field>& fields) {
    if (good()) Try(npk_report_figures(get(), fields.data(), fields.size()));
  }
  void Row(const char* table, const std::vector<npk_report_field>& fields) {
    if (good()) Try(npk_report_row(get(), table, fields.data(), fields.size()));
  }
  void Photo(const PhotoReport& photo, const std::vector<unsigned char>& bytes);
  std::uint32_t Timeline(const char* title, npk_kind kind) {
    std::uint32_t id = 0;
    if (good()) Try(npk_report_timeline(get(), title, kind, &id));
    return id;
  }
  void Span(std::uint32_t timeline, const std::string& track, const std::string& name,
            double start_ms, double ms, std::uint32_t task) {
    if (good())
      Try(npk_report_span(get(), timeline, track.c_str(), name.c_str(), start_ms, ms, task));
  }
  MaybeError Write(const std::filesystem::path& path) {
    if (good()) Try(npk_report_write(get(), path.c_str()));
    return error_;
  }

 private:
  struct Release {
    void operator()(npk_report* r) const { npk_report_release(r); }
  };
  bool good() const { return !error_; }
  npk_report* get() const { return report_.get(); }
  void Try(npk_status status) {
    if (status != NPK_OK) error_ = Error{ExitCode(status), npk_last_error(), false};
  }

  std::unique_ptr<npk_report, Release> report_;
  MaybeError error_;
};

void Html::Photo(const PhotoReport& photo, const std::vector<unsigned char>& bytes) {
  if (!good()) return;
  const PhotoReading& reading = photo.reading;
  std::uint32_t id = 0;
  Try(npk_report_picture(get(), FileName(photo).c_str(), bytes.data(), bytes.size(),
                         reading.size.width, reading.size.height, &id));
  for (const Line& line : reading.lines) {
    double corners[8];
    for (std::size_t i = 0; i < 4; ++i) {
      corners[2 * i] = static_cast<double>(line.box[i].x);
      corners[2 * i + 1] = static_cast<double>(line.box[i].y);
    }
    char note[64];
    std::snprintf(note, sizeof note, "%.2f%s", static_cast<double>(line.confidence),
                  line.turned ? ", upside down" : "");
    if (good()) Try(npk_report_box(get(), id, corners, line.text.c_str(), note));
  }
}

// The photo as the reader saw it (turned as its EXIF says), small enough for a page.
Result<std::vector<unsigned char>> ShownPhoto(const PhotoReport& photo) {
  Result<cv::Mat> pixels = ReadPhoto(photo.file);
  if (!pixels.ok()) return pixels.error();
  cv::Mat shown = pixels.value();
  const int side = std::max(shown.cols, shown.rows);
  if (side > kShownSide) {
    const double scale = static_cast<double>(kShownSide) / side;
    const cv::Size size(std::max(1, static_cast<int>(std::lround(shown.cols * scale))),
                        std::max(1, static_cast<int>(std::lround(shown.rows * scale))));
    cv::Mat smaller;
    cv::resize(shown, smaller, size, 0, 0, cv::INTER_AREA);
    shown = smaller;
  }
  std::vector<unsigned char> bytes;
  if (!cv::imencode(".jpg", shown, bytes, {cv::IMWRITE_JPEG_QUALITY, kJpegQuality}))
    return Failed(photo.file + ": cannot be encoded as JPEG for the report");
  return bytes;
}

void AddFigures(const std::vector<PhotoReport>& photos, Html* html) {
  std::size_t lines = 0;
  double energy = 0;
  bool energy_known = true;
  std::map<Kind, double> latency;  // kinds are never added up
  double here_ms = 0;
  for (const PhotoReport& photo : photos) {
    lines += photo.reading.lines.size();
    for (const HostStage& stage : photo.reading.host_stages) here_ms += stage.ms;
  }
  for (const NetworkReport& n : SumUp(photos)) {
    latency[n.account.kind] += n.account.latency_ms;
    energy_known = energy_known && n.account.energy_mj >= 0;
    energy += n.account.energy_mj;
  }
  std::vector<npk_report_field> fields = {Count("Photos", static_cast<double>(photos.size())),
                                          Count("Lines read", static_cast<double>(lines))};
  for (const auto& [kind, ms] : latency) {
    if (kind != Kind::kNone) fields.push_back(Figure("All networks", ms, "ms", 1, kind));
  }
  fields.push_back(Figure("Steps between them", here_ms, "ms", 1, Kind::kMeasured));
  if (energy_known) fields.push_back(Figure("Energy", energy, "mJ", 1, Kind::kModelled));
  html->Figures(fields);
}

void AddNetworks(const std::vector<PhotoReport>& photos, Html* html) {
  html->Section("Networks",
                "Where each network ran: nodes on NPU and CPU, the rest is folded. Wall here: how "
                "long this machine took, for a simulated device the simulation.");
  for (const NetworkReport& n : SumUp(photos)) {
    const Account& a = n.account;
    const std::string role(RoleName(n.role));
    html->Row(
        "Networks",
        {Words("network", role), Words("ran on", a.device), Words("precision", a.precision),
         Count("runs", static_cast<double>(n.runs)), Count("on NPU", a.npu), Count("on CPU", a.cpu),
         Figure("time", a.kind == Kind::kNone ? std::nan("") : a.latency_ms, "ms", 2, a.kind),
         Figure("wall here", a.wall_ms, "ms", 1, Kind::kMeasured),
         Figure("energy", a.energy_mj < 0 ? std::nan("") : a.energy_mj, "mJ", 2, Kind::kModelled)});
  }
}

void AddSteps(const std::vector<PhotoReport>& photos, Html* html) {
  html->Section("Steps", "Per photo: the networks, and the reader's own work between them.");
  for (const PhotoReport& photo : photos) {
    const std::string name = FileName(photo);
    for (const HostStage& stage : photo.reading.host_stages) {
      html->Row("Steps",
                {Words("photo", name), Words("step", std::string(stage.name)),
                 Count("runs", std::nan("")), Figure("time", stage.ms, "ms", 3, Kind::kMeasured)});
    }
    for (const NetworkReport& n : SumUp({photo})) {
      html->Row("Steps",
                {Words("photo", name), Words("step", std::string(RoleName(n.role)) + " network"),
                 Count("runs", static_cast<double>(n.runs)),
                 Figure("time", n.account.latency_ms, "ms", 3, n.account.kind)});
    }
  }
}

std::string SpanName(const PhotoReport& photo, std::string_view what, std::size_t line) {
  std::string name(what);
  if (line > 0) name += ", line " + std::to_string(line);
  return name + ", " + FileName(photo);
}

// The networks alone, one run after the other, by the devices' own clock; then everything by the
// clock of this machine. The two are never drawn on one axis.
void AddTimelines(const std::vector<PhotoReport>& photos, Html* html) {
  html->Section("Timeline", "Photos one after the other; each clock has a timeline of its own.");
  for (Kind kind : {Kind::kAssumed, Kind::kModelled}) {
    bool begun = false;
    std::uint32_t id = 0, task = 0;
    double at = 0;
    for (const PhotoReport& photo : photos) {
      for (const Run& run : photo.reading.runs) {
        if (run.account.kind != kind) continue;
        if (!begun)
          id = html->Timeline("Networks, by the model's clock",
                              static_cast<npk_kind>(KindNumber(kind)));
        begun = true;
        const std::string name = SpanName(
            photo, std::string(RoleName(run.role)) + " " + ShapeText(run.input_shape), run.line);
        html->Span(id, "networks", name, at, run.account.latency_ms, task);
        for (const DeviceStep& step : run.account.steps) {
          html->Span(id, step.device, name, at + step.start_ms,
                     std::max(0.0, step.end_ms - step.start_ms), task);
        }
        at += run.account.latency_ms;
        ++task;
      }
    }
  }
  const std::uint32_t id = html->Timeline("Everything, on this machine", NPK_MEASURED);
  double at = 0;
  std::uint32_t task = 0;
  for (const PhotoReport& photo : photos) {
    double end = 0;
    for (const Event& event : photo.reading.events) {
      html->Span(id, std::string(event.track), SpanName(photo, event.name, event.line),
                 at + event.start_ms, event.ms, task++);
      end = std::max(end, event.start_ms + event.ms);
    }
    at += end;
  }
}

}  // namespace

MaybeError WriteHtml(const std::vector<PhotoReport>& photos, const std::filesystem::path& path) {
  std::string under;
  for (const NetworkReport& n : SumUp(photos)) {
    if (under.empty()) under = "PP-OCR on " + n.account.device;
  }
  Html html("Text on photos", under);
  AddFigures(photos, &html);
  html.Section("Photos",
               "Touch a box or a line; the number beside a line is how sure the recogniser is.");
  for (const PhotoReport& photo : photos) {
    const Result<std::vector<unsigned char>> bytes = ShownPhoto(photo);
    if (!bytes.ok()) return bytes.error();
    html.Photo(photo, bytes.value());
  }
  AddNetworks(photos, &html);
  AddTimelines(photos, &html);
  AddSteps(photos, &html);
  return html.Write(path);
}

}  // namespace ocr
