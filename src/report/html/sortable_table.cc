#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/html/components.h"
#include "report/html/escape.h"

namespace npukit::report::html {
namespace {

constexpr std::size_t kSearchFrom = 12;  // rows; fewer are seen at a glance

std::string_view Class(Column column) {
  switch (column) {
    case Column::kName:
      return "name";
    case Column::kLong:
      return "long";
    case Column::kCode:
      return "code";
    case Column::kNumber:
      return "n";
    case Column::kText:
    case Column::kDevice:
      break;
  }
  return "";
}

std::string_view ToneClass(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "t-good";
    case Tone::kWarn:
      return "t-warn";
    case Tone::kBad:
      return "t-bad";
    case Tone::kQuiet:
      return "t-quiet";
    case Tone::kPlain:
      break;
  }
  return "";
}

// The kind that every cell of a column has, if they have but one.
std::optional<Kind> CommonKind(const Table& table, std::size_t column) {
  std::optional<Kind> common;
  for (const auto& row : table.rows) {
    if (column >= row.size() || !row[column].kind) continue;
    if (common && *common != *row[column].kind) return std::nullopt;
    common = row[column].kind;
  }
  return common;
}

// The kind that every figure of a table has, if they have but one.
std::optional<Kind> CommonKind(const Table& table) {
  std::optional<Kind> common;
  for (const auto& row : table.rows) {
    for (const Cell& cell : row) {
      if (!cell.kind) continue;
      if (common && *common != *cell.kind) return std::nullopt;
      common = cell.kind;
    }
  }
  return common;
}

std::string DeviceText(const std::string& device) {
  const std::string_view hue = device.starts_with("NPU")   ? "npu"
                               : device.starts_with("GPU") ? "gpu"
                               : device.starts_with("CPU") ? "cpu"
                                                           : "folded";
  return fmt::format(
      "<span class=\"device\"><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\">"
      "<circle class=\"f-{}\" cx=\"5\" cy=\"5\" r=\"5\"/></svg>{}</span>",
      hue, Escaped(device, kNameBytes));
}

std::string CellHtml(const Cell& cell, const Heading& heading, bool say_kind, bool label) {
  std::string classes(Class(heading.column));
  const std::string_view tone = ToneClass(cell.tone);
  if (!tone.empty()) classes += fmt::format("{}{}", classes.empty() ? "" : " ", tone);
  std::string out = "<td";
  if (!classes.empty()) out += fmt::format(" class=\"{}\"", classes);
  if (label && !cell.text.empty())
    out += fmt::format(" data-l=\"{}\"", Escaped(heading.text, kNameBytes));
  if (cell.value) out += fmt::format(" data-v=\"{}\"", *cell.value);
  out += '>';
  if (heading.column == Column::kDevice && !cell.text.empty()) {
    out += DeviceText(cell.text);
  } else if (heading.column == Column::kNumber || cell.text.empty()) {
    out += Escaped(cell.text, kNameBytes);
  } else {
    out += Isolated(cell.text, heading.column == Column::kLong ? kTextBytes : kNameBytes);
  }
  if (say_kind && cell.kind) out += Cat(" ", KindMark(*cell.kind));
  if (cell.part >= 0) {
    out += fmt::format(
        "<svg class=\"part\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" "
        "aria-hidden=\"true\"><rect width=\"{:.1f}\" height=\"4\"/></svg>",
        100 * std::clamp(cell.part, 0.0, 1.0));
  }
  return out + "</td>";
}

}  // namespace

Cell NumberCell(double value, int decimals, std::optional<Kind> kind) {
  return {.text = Fixed(value, decimals), .value = value, .kind = kind};
}

Cell NoCell() { return {.text = "\u2013", .tone = Tone::kQuiet}; }

std::string Render(const Table& table) {
  std::string out = "<div class=\"card table\">\n";
  const std::optional<Kind> one_kind = CommonKind(table);
  const bool search = table.rows.size() >= kSearchFrom;
  if (search || one_kind) out += "<div class=\"bar-above\">";
  if (search) {
    out += fmt::format(
        "<label><span class=\"unseen\">Search in {}</span>"
        "<input class=\"search\" type=\"search\" placeholder=\"Search\" hidden></label>",
        Escaped(table.title));
  }
  if (search || one_kind) {
    out +=
        fmt::format("<p><span class=\"shown\" aria-live=\"polite\">{} row{}</span>{}</p></div>\n",
                    std::min(table.rows.size(), kMaxRows), table.rows.size() == 1 ? "" : "s",
                    one_kind ? KindMark(*one_kind) : "");
  }
  out += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">"
      "<table class=\"stack\"><caption class=\"unseen\">{}</caption>\n<thead><tr>",
      Escaped(table.title), Escaped(table.title));
  std::vector<bool> say_kind;
  for (std::size_t c = 0; c < table.headings.size(); ++c) {
    const std::optional<Kind> common = CommonKind(table, c);
    say_kind.push_back(!common && !one_kind);
    out += fmt::format("<th scope=\"col\" class=\"{}\"><button type=\"button\">{}</button>{}</th>",
                       Class(table.headings[c].column), Escaped(table.headings[c].text, kNameBytes),
                       common && !one_kind ? KindMark(*common) : "");
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size() && r < kMaxRows; ++r) {
    out += "<tr";
    if (r < table.tasks.size())
      out += fmt::format(" data-of=\"{}\" data-task=\"{}\"", table.timeline, table.tasks[r]);
    out += '>';
    const auto& row = table.rows[r];
    for (std::size_t c = 0; c < table.headings.size(); ++c) {
      const Heading& heading = table.headings[c];
      const bool label = c > 0 && heading.column != Column::kDevice;
      out += CellHtml(c < row.size() ? row[c] : Cell{}, heading, say_kind[c], label);
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  std::string after = table.after;
  if (table.rows.size() > kMaxRows) {
    after += fmt::format("{}{} more rows are left out here: --json has them all.",
                         after.empty() ? "" : " ", table.rows.size() - kMaxRows);
  }
  if (!after.empty()) out += fmt::format("<p class=\"after\">{}</p>\n", Escaped(after));
  return out + "</div>\n";
}

}  // namespace npukit::report::html
