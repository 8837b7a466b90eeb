// The small components: answers, key figures, names and values, bars, findings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html/components.h"
#include "report/html/escape.h"

namespace npukit::report::html {
namespace {

constexpr std::string_view kDash = "\u2013";
constexpr std::string_view kThinSpace = "\u202f";  // narrow, never broken
constexpr double kBarWidth = 1000;
constexpr std::size_t kMaxNames = 2000;  // of a finding

std::string_view ToneClass(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "good";
    case Tone::kWarn:
      return "warn";
    case Tone::kBad:
      return "bad";
    case Tone::kQuiet:
    case Tone::kPlain:
      break;
  }
  return "plain";
}

std::string_view Sign(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "\u2713";
    case Tone::kWarn:
      return "!";
    case Tone::kBad:
      return "\u2717";
    case Tone::kQuiet:
    case Tone::kPlain:
      break;
  }
  return "\u2022";
}

}  // namespace

std::string Fixed(double value, int decimals) {
  if (!std::isfinite(value)) return std::string(kDash);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  std::size_t point = std::min(text.find('.'), text.size());
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  if (point - first > 4) {  // four digits read well without
    while (point > first + 3) text.insert(point -= 3, kThinSpace);
  }
  return text;
}

int DecimalsFor(double largest) {
  if (!(largest > 0)) return 0;
  return std::clamp(2 - static_cast<int>(std::floor(std::log10(largest))), 0, 6);
}

std::string KindMark(Kind kind) {
  const std::string_view name = target::KindName(kind);
  return fmt::format("<span class=\"kind {}\">{}</span>", name, name);
}

std::string Render(const Answer& a) {
  return fmt::format(
      "<div class=\"answer {}\"><span class=\"sign\" aria-hidden=\"true\">{}</span>"
      "<p><strong>{}</strong> {}</p></div>\n",
      ToneClass(a.tone), Sign(a.tone), Escaped(a.headline), Escaped(a.text));
}

std::string Render(const std::vector<Tile>& tiles) {
  std::string out = "<dl class=\"tiles\">\n";
  for (const Tile& t : tiles) {
    out += fmt::format("<div><dt>{}</dt><dd><span class=\"big\">{}", Escaped(t.name),
                       Escaped(t.value));
    if (!t.unit.empty()) out += fmt::format(" <small>{}</small>", Escaped(t.unit));
    out += "</span>";
    if (t.kind) out += KindMark(*t.kind);
    if (!t.more.empty()) out += fmt::format("<span class=\"more\">{}</span>", Escaped(t.more));
    out += "</dd></div>\n";
  }
  return out + "</dl>\n";
}

std::string Render(const Pairs& pairs) {
  std::string out = "<dl class=\"pairs\">\n";
  for (const auto& [name, value] : pairs.lines) {
    if (value.empty()) continue;
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", Escaped(name), Isolated(value));
  }
  return out + "</dl>\n";
}

std::string Render(const Bar& bar) {
  double total = 0;
  for (const Part& p : bar.parts) total += p.value;
  std::string out = fmt::format(
      "<figure class=\"bar\"><figcaption><strong>{}</strong><span>{} {} {}</span></figcaption>\n",
      Escaped(bar.title), Fixed(total, bar.decimals), Escaped(bar.unit),
      bar.kind ? KindMark(*bar.kind) : "");
  out += fmt::format(
      "<svg viewBox=\"0 0 {} 30\" preserveAspectRatio=\"none\" aria-hidden=\"true\">", kBarWidth);
  double at = 0;  // of the whole; rounding never adds up
  for (const Part& p : bar.parts) {
    if (!(p.value > 0) || !(total > 0)) continue;
    const double x = at / total * kBarWidth;
    at += p.value;
    const double end = at / total * kBarWidth;
    const double gap = end - x > 6 ? 2 : 0;
    out += fmt::format("<rect class=\"f-{}\" x=\"{:.2f}\" y=\"0\" width=\"{:.2f}\" height=\"30\"/>",
                       p.hue, x, end - x - gap);
  }
  out += "</svg>\n<ul class=\"legend\">\n";
  for (const Part& p : bar.parts) {
    const double share = total > 0 ? 100 * p.value / total : 0;
    out += fmt::format(
        "<li{}><svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\">"
        "<rect class=\"f-{}\" width=\"10\" height=\"10\" rx=\"2\"/></svg><span>{}</span>"
        "<span>{}</span><span class=\"share\">{:.1f} %</span>",
        p.value > 0 ? "" : " class=\"none\"", p.hue, Escaped(p.name), Fixed(p.value, bar.decimals),
        share);
    if (!p.more.empty()) out += fmt::format("<span class=\"more\">{}</span>", Isolated(p.more));
    out += "</li>\n";
  }
  return out + "</ul></figure>\n";
}

std::string Render(const Finding& f) {
  std::string out =
      fmt::format("<div class=\"card finding {}\"><h3>{}<span class=\"count\">{}</span></h3>\n",
                  ToneClass(f.tone), Isolated(f.title, kNameBytes), Escaped(f.count));
  for (const std::string& line : f.because) out += fmt::format("<p>{}</p>\n", Isolated(line));
  if (!f.remedy.empty()) out += fmt::format("<p class=\"do\">{}</p>\n", Isolated(f.remedy));
  if (!f.names.empty()) {
    out += fmt::format("<details><summary>{} node{}</summary><ul>\n", f.names.size(),
                       f.names.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < f.names.size() && i < kMaxNames; ++i)
      out += fmt::format("<li>{}</li>\n", Isolated(f.names[i], kNameBytes));
    if (f.names.size() > kMaxNames)
      out += fmt::format("<li>{} more: see --json</li>\n", f.names.size() - kMaxNames);
    out += "</ul></details>\n";
  }
  return out + "</div>\n";
}

}  // namespace npukit::report::html
