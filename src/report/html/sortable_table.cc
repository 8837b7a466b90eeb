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

// The kinds among cells: none, one, or several.
struct Kinds {
  std::optional<Kind> one;
  bool several = false;
  std::size_t figures = 0;
  void Add(const Cell& cell) {
    if (!cell.kind) return;
    ++figures;
    several = several || (one && *one != *cell.kind);
    one = cell.kind;
  }
  std::string Mark() const { return one && !several ? KindMark(*one) : ""; }
};

// Where the kinds of a table are said: once above it if it has but one, else in the headings if
// every column has but one, else beside the names of rows whose figures have but one, else in the
// cells.
struct KindsOf {
  explicit KindsOf(const Table& t) : columns(t.headings.size()) {
    for (const auto& row : t.rows) {
      for (std::size_t c = 0; c < row.size() && c < columns.size(); ++c) {
        table.Add(row[c]);
        columns[c].Add(row[c]);
      }
    }
    in_table = table.one && !table.several;
    in_headings = !in_table && std::none_of(columns.begin(), columns.end(),
                                            [](const Kinds& k) { return k.several; });
  }
  Kinds table;
  std::vector<Kinds> columns;
  bool in_table = false, in_headings = false;
};

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

std::string CellHtml(const Cell& cell, const Heading& heading, const std::string& mark,
                     bool label) {
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
  if (!mark.empty()) out += Cat(" ", mark);
  if (cell.part >= 0) {
    out += fmt::format(
        "<svg class=\"part\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" "
        "aria-hidden=\"true\"><rect width=\"{:.1f}\" height=\"4\"/></svg>",
        100 * std::clamp(cell.part, 0.0, 1.0));
  }
  return out + "</td>";
}

// Columns that hold something; the first always.
std::vector<bool> Used(const Table& t) {
  std::vector<bool> used(t.headings.size(), t.rows.empty());
  if (!used.empty()) used[0] = true;
  for (const auto& row : t.rows) {
    for (std::size_t c = 0; c < row.size() && c < used.size(); ++c)
      used[c] = used[c] || !row[c].text.empty();
  }
  return used;
}

std::string RowHtml(const Table& table, std::size_t r, const KindsOf& kinds,
                    const std::vector<bool>& used) {
  const auto& row = table.rows[r];
  Kinds of_row;
  for (const Cell& cell : row) of_row.Add(cell);
  const bool in_cells = !kinds.in_table && !kinds.in_headings;
  std::string out = "<tr";
  if (r < table.tasks.size())
    out += fmt::format(" data-of=\"{}\" data-task=\"{}\"", table.timeline, table.tasks[r]);
  out += '>';
  for (std::size_t c = 0; c < table.headings.size(); ++c) {
    if (!used[c]) continue;
    const Heading& heading = table.headings[c];
    const Cell cell = c < row.size() ? row[c] : Cell{};
    std::string mark;
    if (in_cells && !of_row.several && of_row.figures > 1) {
      if (c == 0) mark = of_row.Mark();
    } else if (in_cells && cell.kind) {
      mark = KindMark(*cell.kind);
    }
    out += CellHtml(cell, heading, mark, c > 0 && heading.column != Column::kDevice);
  }
  return out + "</tr>\n";
}

}  // namespace

Cell NumberCell(double value, int decimals, std::optional<Kind> kind) {
  return {.text = Fixed(value, decimals), .value = value, .kind = kind};
}

Cell NoCell() { return {.text = "\u2013", .tone = Tone::kQuiet}; }

std::string Render(const Table& table) {
  std::string out = "<div class=\"card table\">\n";
  const KindsOf kinds(table);
  const std::vector<bool> used = Used(table);
  const bool search = table.rows.size() >= kSearchFrom;
  if (search || kinds.in_table) out += "<div class=\"bar-above\">";
  if (search) {
    out += fmt::format(
        "<label><span class=\"unseen\">Search in {}</span>"
        "<input class=\"search\" type=\"search\" placeholder=\"Search\" hidden></label>",
        Escaped(table.title));
  }
  if (search || kinds.in_table) {
    const std::size_t shown = std::min(table.rows.size(), kMaxRows);
    out +=
        fmt::format("<p><span class=\"shown\" aria-live=\"polite\">{} row{}</span>{}</p></div>\n",
                    shown, shown == 1 ? "" : "s", kinds.in_table ? kinds.table.Mark() : "");
  }
  out += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">"
      "<table class=\"stack\"><caption class=\"unseen\">{}</caption>\n<thead><tr>",
      Escaped(table.title), Escaped(table.title));
  for (std::size_t c = 0; c < table.headings.size(); ++c) {
    if (!used[c]) continue;
    out += fmt::format("<th scope=\"col\" class=\"{}\"><button type=\"button\">{}</button>{}</th>",
                       Class(table.headings[c].column), Escaped(table.headings[c].text, kNameBytes),
                       kinds.in_headings ? kinds.columns[c].Mark() : "");
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size() && r < kMaxRows; ++r)
    out += RowHtml(table, r, kinds, used);
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
