// What a report is made of: plain values, and for each one function that makes HTML of it. A new
// page is a function that fills these (pages.h); no page writes HTML of its own.
//
// All texts may be hostile; they are escaped here. Every figure says its kind; counts (nodes,
// bytes of files, copies) are exact and have none. Pure functions; nothing fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "target/fact.h"

namespace npukit::report::html {

using target::Kind;

enum class Tone : std::uint8_t { kPlain, kGood, kWarn, kBad, kQuiet };

// "1 234 567.8": groups of three, `decimals` after the point; "–" when not finite.
std::string Fixed(double value, int decimals);
// Decimals that show three figures of `largest`: 0 to 6.
int DecimalsFor(double largest);
std::string KindMark(Kind kind);

// The answer to what was asked, in one line on top.
struct Answer {
  Tone tone = Tone::kPlain;
  std::string headline;
  std::string text;
};
std::string Render(const Answer& answer);

// Key figures, side by side.
struct Tile {
  std::string name;
  std::string value;  // "32.5"
  std::string unit;
  std::optional<Kind> kind;
  std::string more;  // one short line below
};
std::string Render(const std::vector<Tile>& tiles);

// Names and values, one a line.
struct Pairs {
  std::vector<std::pair<std::string, std::string>> lines;
};
std::string Render(const Pairs& pairs);

// Parts of a whole, drawn to scale, with a legend. Parts are not negative.
struct Part {
  std::string name;
  double value = 0;
  std::string hue;   // "npu", "gpu", "cpu", "folded", "c0" .. "c6", "rest"
  std::string more;  // one short line below
};
struct Bar {
  std::string title;
  std::string unit;  // "ms", "nodes"
  int decimals = 0;
  std::optional<Kind> kind;
  std::vector<Part> parts;
};
std::string Render(const Bar& bar);

// Something found, why, and what to do about it.
struct Finding {
  Tone tone = Tone::kWarn;
  std::string title;
  std::string count;  // "12 operators"
  std::vector<std::string> because;
  std::string remedy;
  std::vector<std::string> names;  // behind a fold
};
std::string Render(const Finding& finding);

// A table that sorts by a click on a heading and can be searched.
struct Cell {
  std::string text;
  std::optional<double> value = std::nullopt;  // sorts by it, else by the text
  std::optional<Kind> kind = std::nullopt;  // said once in the heading where a column has but one
  double part = -1;                         // 0 to 1: a small bar below the number
  Tone tone = Tone::kPlain;
};
Cell NumberCell(double value, int decimals, std::optional<Kind> kind = std::nullopt);
Cell NoCell();  // "–": not known
enum class Column : std::uint8_t {
  kText,
  kName,    // hostile and long: gets room
  kLong,    // a sentence
  kCode,    // a word that is not broken if it can be helped
  kNumber,  // to the right
  kDevice,  // "NPU", with its colour
};
struct Heading {
  std::string text;
  Column column = Column::kText;
};
struct Table {
  std::string title;
  std::vector<Heading> headings;
  std::vector<std::vector<Cell>> rows;
  std::string timeline;              // id of one: a click there marks rows
  std::vector<std::uint32_t> tasks;  // of rows, beside `timeline`
  std::string after;                 // a line below
};
inline constexpr std::size_t kMaxRows = 5000;  // the rest is counted, and is in --json
std::string Render(const Table& table);

// Work on tracks over time. All of one kind: one clock.
struct TimelineSpan {
  std::uint32_t track = 0;
  std::string name;
  double start_ns = 0;
  double duration_ns = 0;
  std::uint32_t task = 0;  // spans of one task light up together
};
struct Timeline {
  std::string id;
  std::string title;
  Kind kind = Kind::kModelled;
  std::vector<std::string> tracks;
  std::vector<TimelineSpan> spans;
  double end_ns = 0;           // of the whole, where it ends later than the last span
  std::uint64_t left_out = 0;  // spans that were too many to keep
  std::uint32_t TrackOf(std::string_view name);  // added when new
  void Add(std::string_view track, TimelineSpan span);
};
inline constexpr std::size_t kMaxTimelineSpans = 50000;  // more: one per task and track
std::string Render(const Timeline& timeline);

// A picture with boxes, and the line of text in each.
struct Box {
  double x[4] = {}, y[4] = {};  // corners in picture coordinates
  std::string text;
  std::string more;  // "0.99"
};
struct Picture {
  std::string title;
  std::string media_type;  // "image/jpeg" or "image/png"
  std::string bytes;
  double width = 0, height = 0;  // of the coordinates
  std::string more;
  std::vector<Box> boxes;
};
std::string Render(const Picture& picture);

}  // namespace npukit::report::html
