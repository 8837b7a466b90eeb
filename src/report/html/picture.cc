#include <fmt/format.h>

#include "report/html/components.h"
#include "report/html/escape.h"

namespace npukit::report::html {

std::string Render(const Picture& p) {
  std::string out = fmt::format(
      "<figure class=\"card picture\">\n<figcaption><strong>{}</strong><span class=\"quiet\">{}"
      "</span></figcaption>\n<div class=\"photo\"><svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}: {} boxes\">\n<image width=\"{:.0f}\" height=\"{:.0f}\" "
      "preserveAspectRatio=\"none\" href=\"data:{};base64,{}\"/>\n",
      Isolated(p.title, kNameBytes), Escaped(p.more), p.width, p.height,
      Escaped(p.title, kNameBytes), p.boxes.size(), p.width, p.height, Escaped(p.media_type, 40),
      Base64(p.bytes));
  for (std::size_t i = 0; i < p.boxes.size(); ++i) {
    const Box& b = p.boxes[i];
    out += fmt::format(
        "<g class=\"box\"><polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} "
        "{:.1f},{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
        b.x[0], b.y[0], b.x[1], b.y[1], b.x[2], b.y[2], b.x[3], b.y[3], b.x[0],
        b.y[0] < p.height / 30 ? b.y[3] + p.height / 30 : b.y[0] - p.height / 150, i + 1);
  }
  out += "</svg>";
  if (p.boxes.empty())
    return out + "</div>\n<p class=\"quiet\">Nothing was found here.</p></figure>\n";
  out += "<p class=\"said\" aria-hidden=\"true\"></p></div>\n";
  out += "<ol class=\"lines\">\n";
  for (std::size_t i = 0; i < p.boxes.size(); ++i) {
    const Box& b = p.boxes[i];
    out += fmt::format(
        "<li><button type=\"button\"><span class=\"no\">{}</span>{}<span class=\"sure\">{}</span>"
        "</button></li>\n",
        i + 1, Isolated(b.text), Escaped(b.more));
  }
  return out + "</ol></figure>\n";
}

}  // namespace npukit::report::html
