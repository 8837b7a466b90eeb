#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/text.h"
#include "report/html/components.h"
#include "report/html/escape.h"

namespace npukit::report::html {
namespace {

constexpr std::size_t kMaxTracks = 64;

// A track's colour follows what works there, so that it is the same in every report; others take
// turns.
std::string_view HueOf(std::string_view track, std::size_t index) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kHues = {{
      {"NPU", "npu"},
      {"CPU", "cpu"},
      {"cpu", "cpu"},
      {"cube", "c0"},
      {"vector", "c1"},
      {"mte1", "c2"},
      {"mte2", "c5"},
      {"mte3", "c3"},
      {"fixpipe", "c4"},
      {"scalar", "c6"},
      {"dram", "rest"},
  }};
  for (const auto& [word, hue] : kHues) {
    if (track.find(word) != std::string_view::npos) return hue;
  }
  static constexpr std::array<std::string_view, 4> kOthers = {"c5", "c0", "c3", "c2"};
  return kOthers[index % kOthers.size()];
}

struct Drawn {
  TimelineSpan span;
  double busy = 1;  // share of its duration that was work
};

// One span per task and track where there are too many: from its first work to its last.
std::vector<Drawn> ByTask(const std::vector<TimelineSpan>& spans) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Drawn> merged;
  for (const TimelineSpan& s : spans) {
    const auto [at, fresh] = merged.try_emplace({s.track, s.task}, Drawn{s, s.duration_ns});
    if (fresh) continue;
    TimelineSpan& m = at->second.span;
    const double end = std::max(m.start_ns + m.duration_ns, s.start_ns + s.duration_ns);
    m.start_ns = std::min(m.start_ns, s.start_ns);
    m.duration_ns = end - m.start_ns;
    at->second.busy += s.duration_ns;
  }
  std::vector<Drawn> result;
  for (auto& [key, drawn] : merged) {
    drawn.busy =
        drawn.span.duration_ns > 0 ? std::min(1.0, drawn.busy / drawn.span.duration_ns) : 1;
    result.push_back(std::move(drawn));
  }
  return result;
}

bool Good(const TimelineSpan& s, std::size_t tracks) {
  return s.track < tracks && std::isfinite(s.start_ns) && std::isfinite(s.duration_ns) &&
         s.start_ns >= 0 && s.duration_ns >= 0;
}

std::string Time(double ns) {
  if (ns >= 1e6) return fmt::format("{} ms", Fixed(ns / 1e6, DecimalsFor(ns / 1e6)));
  return fmt::format("{} \u00b5s", Fixed(ns / 1e3, DecimalsFor(ns / 1e3)));
}

}  // namespace

std::uint32_t Timeline::TrackOf(std::string_view name) {
  const auto at = std::find(tracks.begin(), tracks.end(), name);
  if (at == tracks.end()) {
    tracks.emplace_back(name);
    return static_cast<std::uint32_t>(tracks.size() - 1);
  }
  return static_cast<std::uint32_t>(at - tracks.begin());
}

void Timeline::Add(std::string_view track, TimelineSpan span) {
  span.track = TrackOf(track);
  spans.push_back(std::move(span));
}

std::string Render(const Timeline& t) {
  const std::size_t tracks = std::min(t.tracks.size(), kMaxTracks);
  std::vector<TimelineSpan> good;
  std::vector<double> busy_ns(tracks, 0);
  double end = std::isfinite(t.end_ns) ? std::max(0.0, t.end_ns) : 0;
  for (const TimelineSpan& s : t.spans) {
    if (!Good(s, tracks)) continue;
    good.push_back(s);
    busy_ns[s.track] += s.duration_ns;
    end = std::max(end, s.start_ns + s.duration_ns);
  }
  const bool aggregated = good.size() > kMaxTimelineSpans;
  std::vector<Drawn> drawn;
  if (aggregated) {
    drawn = ByTask(good);
  } else {
    for (TimelineSpan& s : good) drawn.push_back({std::move(s), 1});
  }
  std::stable_sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) {
    return a.span.start_ns < b.span.start_ns;
  });

  // [start, duration, name, task, busy] five by five, per track; names once.
  std::map<std::string, std::size_t> name_index;
  std::vector<std::string> names;
  std::vector<std::string> lists(tracks);
  for (const Drawn& d : drawn) {
    const TimelineSpan& s = d.span;
    const auto [at, fresh] = name_index.try_emplace(s.name, names.size());
    if (fresh) names.push_back(s.name);
    std::string& list = lists[s.track];
    list += fmt::format("{}{:.1f},{:.1f},{},{},{:.4g}", list.empty() ? "" : ",", s.start_ns,
                        s.duration_ns, at->second, s.task, d.busy);
  }
  std::string json = fmt::format("{{\"end\":{:.1f},\"kind\":{},\"names\":[", end,
                                 JsonText(target::KindName(t.kind)));
  for (std::size_t i = 0; i < names.size(); ++i) json += Cat(i ? "," : "", JsonText(names[i]));
  json += "],\"labels\":[";
  for (std::size_t i = 0; i < tracks; ++i) json += Cat(i ? "," : "", JsonText(t.tracks[i]));
  json += "],\"hues\":[";
  for (std::size_t i = 0; i < tracks; ++i)
    json += Cat(i ? "," : "", JsonText(HueOf(t.tracks[i], i)));
  json += "],\"tracks\":[";
  for (std::size_t i = 0; i < tracks; ++i) json += fmt::format("{}[{}]", i ? "," : "", lists[i]);
  json += "]}";

  std::string out = fmt::format(
      "<figure class=\"card timeline\" id=\"{}\">\n<figcaption><span><strong>{}</strong> {} {}"
      "</span><span class=\"tools\"><button type=\"button\" class=\"tool\" "
      "aria-label=\"Zoom out\">\u2212</button><button type=\"button\" class=\"tool\" "
      "aria-label=\"Zoom in\">+</button><button type=\"button\" class=\"tool\">Fit</button></span>"
      "</figcaption>\n<div class=\"rows\" tabindex=\"0\" role=\"group\" aria-label=\"{}: {} "
      "tracks. "
      "Arrows move, plus and minus zoom, 0 fits, n and p go through the operators\">\n"
      "<div class=\"track axis\"><div class=\"label\"></div><canvas></canvas></div>\n",
      Escaped(t.id), Escaped(t.title), Time(end), KindMark(t.kind), Escaped(t.title), tracks);
  for (std::size_t i = 0; i < tracks; ++i) {
    out += fmt::format(
        "<div class=\"track\"><div class=\"label\">{}<span class=\"busy\">{:.0f} %</span></div>"
        "<canvas></canvas></div>\n",
        Isolated(t.tracks[i], kNameBytes), end > 0 ? 100 * std::min(1.0, busy_ns[i] / end) : 0);
  }
  out +=
      "</div>\n<output class=\"tell\">Touch or point at a bar. Drag to move; pinch, Ctrl+wheel or "
      "the buttons zoom.</output>\n";
  std::string note;
  if (aggregated) {
    note =
        fmt::format("{} stretches of work are drawn as one per operator and track. ", good.size());
  }
  if (t.left_out > 0) note += fmt::format("{} more were too many to keep. ", t.left_out);
  if (t.tracks.size() > kMaxTracks)
    note += fmt::format("{} tracks are left out.", t.tracks.size() - kMaxTracks);
  if (!note.empty()) out += fmt::format("<p class=\"note\">{}</p>\n", Escaped(note));
  return out + fmt::format(
                   "<script type=\"application/json\" class=\"data\">{}</script></figure>\n", json);
}

}  // namespace npukit::report::html
