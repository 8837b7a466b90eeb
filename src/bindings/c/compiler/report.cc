// The report half of include/npukit/compiler.h, over report/html. Nothing throws across: the only
// exceptions below are the system's "out of memory".
#include <cmath>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "bindings/c/runtime/error.h"
#include "npukit/compiler.h"
#include "report/html/page.h"

namespace html = npukit::report::html;
using npukit::InvalidArgument;
using npukit::OkStatus;
using npukit::Status;
using npukit::bindings::Report;

namespace {

struct Section {
  std::string title, note;
};
using Item =
    std::variant<Section, std::vector<html::Tile>, html::Table, html::Picture, html::Timeline>;

}  // namespace

struct npk_report {
  std::string verb, title, under;
  std::vector<Item> items;
};

namespace {

constexpr std::size_t kMaxItems = 100000;
constexpr std::size_t kMaxRowsOrSpans = 1000000;
constexpr std::size_t kMaxFields = 1000;
constexpr std::size_t kMaxPictureBytes = std::size_t{64} << 20;
constexpr int kMaxDecimals = 12;
constexpr std::size_t kShortText = 16;  // bytes; a column of longer ones gets room

std::string Text(const char* text) { return text == nullptr ? "" : text; }

Status Full(const char* call, std::size_t most) {
  return npukit::ResourceExhausted(npukit::Cat(call, ": at most ", most, " in one report"));
}

Status Append(npk_report* report, const char* call, Item item) {
  if (report->items.size() >= kMaxItems) return Full(call, kMaxItems);
  report->items.push_back(std::move(item));
  return OkStatus();
}

Status CheckFields(const char* call, const npk_report_field* fields, std::size_t count) {
  if (fields == nullptr || count == 0) return InvalidArgument(npukit::Cat(call, ": no fields"));
  if (count > kMaxFields) return Full(call, kMaxFields);
  for (std::size_t i = 0; i < count; ++i) {
    // The fields are an array: a caller of another version steps through it with another stride.
    if (fields[i].struct_size != sizeof(npk_report_field)) {
      return InvalidArgument(npukit::Cat(call, ": struct_size of field ", i, " is ",
                                         fields[i].struct_size, ", expected ",
                                         sizeof(npk_report_field)));
    }
    if (fields[i].name == nullptr)
      return InvalidArgument(npukit::Cat(call, ": the name of field ", i, " is NULL"));
    if (fields[i].kind < -1 || fields[i].kind > NPK_MEASURED)
      return InvalidArgument(npukit::Cat(call, ": kind of field ", i, " is ", fields[i].kind,
                                         ", expected an npk_kind or -1"));
  }
  return OkStatus();
}

std::optional<html::Kind> KindOf(std::int32_t kind) {
  if (kind < 0) return std::nullopt;
  return static_cast<html::Kind>(kind);  // the same numbers
}
static_assert(NPK_ASSUMED == static_cast<int>(html::Kind::kAssumed) &&
              NPK_MODELLED == static_cast<int>(html::Kind::kModelled) &&
              NPK_MEASURED == static_cast<int>(html::Kind::kMeasured));

std::string ValueText(const npk_report_field& f) {
  if (f.text != nullptr) return f.text;
  return html::Fixed(f.value, std::min(std::max(f.decimals, 0), kMaxDecimals));
}

std::string HeadingText(const npk_report_field& f) {
  return f.unit == nullptr || *f.unit == '\0' ? f.name : npukit::Cat(f.name, ", ", f.unit);
}

Status AddRow(npk_report* report, const char* title, const npk_report_field* fields,
              std::size_t count) {
  constexpr char kCall[] = "npk_report_row";
  if (report == nullptr || title == nullptr)
    return InvalidArgument(npukit::Cat(kCall, ": an argument is NULL"));
  NPUKIT_RETURN_IF_ERROR(CheckFields(kCall, fields, count));
  html::Table* table = nullptr;
  for (Item& item : report->items) {
    auto* t = std::get_if<html::Table>(&item);
    if (t != nullptr && t->title == title) table = t;
  }
  if (table == nullptr) {
    html::Table made;
    made.title = title;
    for (std::size_t i = 0; i < count; ++i) {
      html::Column column = html::Column::kNumber;
      if (fields[i].text != nullptr) {
        const bool wide = i == 0 || std::strlen(fields[i].text) > kShortText;
        column = wide ? html::Column::kName : html::Column::kText;
      }
      made.headings.push_back({HeadingText(fields[i]), column});
    }
    NPUKIT_RETURN_IF_ERROR(Append(report, kCall, std::move(made)));
    table = &std::get<html::Table>(report->items.back());
  }
  if (table->rows.size() >= kMaxRowsOrSpans) return Full(kCall, kMaxRowsOrSpans);
  if (table->headings.size() != count) {
    return InvalidArgument(npukit::Cat(kCall, ": table \"", title, "\" has ",
                                       table->headings.size(), " fields, found ", count));
  }
  std::vector<html::Cell> row;
  for (std::size_t i = 0; i < count; ++i) {
    if (table->headings[i].text != HeadingText(fields[i])) {
      return InvalidArgument(npukit::Cat(kCall, ": field ", i, " of table \"", title, "\" is \"",
                                         table->headings[i].text, "\", found \"",
                                         HeadingText(fields[i]), "\""));
    }
    html::Cell cell{.text = ValueText(fields[i]), .kind = KindOf(fields[i].kind)};
    if (fields[i].text == nullptr && std::isfinite(fields[i].value)) cell.value = fields[i].value;
    row.push_back(std::move(cell));
  }
  table->rows.push_back(std::move(row));
  return OkStatus();
}

Status AddPicture(npk_report* report, const char* title, const void* bytes, std::size_t size,
                  double width, double height, std::uint32_t* id) {
  constexpr char kCall[] = "npk_report_picture";
  if (report == nullptr || title == nullptr || bytes == nullptr || id == nullptr)
    return InvalidArgument(npukit::Cat(kCall, ": an argument is NULL"));
  if (size > kMaxPictureBytes)
    return npukit::ResourceExhausted(
        npukit::Cat(kCall, ": ", size, " bytes, at most ", kMaxPictureBytes));
  if (!(width >= 1 && width <= 1e6 && height >= 1 && height <= 1e6))
    return InvalidArgument(
        npukit::Cat(kCall, ": size ", width, " x ", height, ", expected 1 to 1000000 each"));
  html::Picture picture;
  picture.title = title;
  picture.bytes.assign(static_cast<const char*>(bytes), size);
  picture.width = width;
  picture.height = height;
  if (picture.bytes.starts_with("\xff\xd8\xff")) {
    picture.media_type = "image/jpeg";
  } else if (picture.bytes.starts_with("\x89PNG\r\n\x1a\n")) {
    picture.media_type = "image/png";
  } else {
    return InvalidArgument(npukit::Cat(kCall, ": the bytes are neither a JPEG nor a PNG file"));
  }
  *id = static_cast<std::uint32_t>(report->items.size());
  return Append(report, kCall, std::move(picture));
}

template <class T>
T* ItemOf(npk_report* report, std::uint32_t id) {
  return id < report->items.size() ? std::get_if<T>(&report->items[id]) : nullptr;
}

Status AddBox(npk_report* report, std::uint32_t id, const double corners[8], const char* text,
              const char* note) {
  constexpr char kCall[] = "npk_report_box";
  if (report == nullptr || corners == nullptr || text == nullptr)
    return InvalidArgument(npukit::Cat(kCall, ": an argument is NULL"));
  auto* picture = ItemOf<html::Picture>(report, id);
  if (picture == nullptr) return InvalidArgument(npukit::Cat(kCall, ": no picture ", id));
  if (picture->boxes.size() >= kMaxItems) return Full(kCall, kMaxItems);
  html::Box box;
  for (std::size_t i = 0; i < 4; ++i) {
    box.x[i] = corners[2 * i];
    box.y[i] = corners[2 * i + 1];
    if (!std::isfinite(box.x[i]) || !std::isfinite(box.y[i]))
      return InvalidArgument(npukit::Cat(kCall, ": a corner is not finite"));
  }
  box.text = text;
  box.more = Text(note);
  picture->boxes.push_back(std::move(box));
  return OkStatus();
}

Status AddTimeline(npk_report* report, const char* title, std::int32_t kind, std::uint32_t* id) {
  constexpr char kCall[] = "npk_report_timeline";
  if (report == nullptr || title == nullptr || id == nullptr)
    return InvalidArgument(npukit::Cat(kCall, ": an argument is NULL"));
  if (kind < NPK_ASSUMED || kind > NPK_MEASURED)
    return InvalidArgument(npukit::Cat(kCall, ": kind ", static_cast<int>(kind)));
  html::Timeline timeline;
  *id = static_cast<std::uint32_t>(report->items.size());
  timeline.id = npukit::Cat("timeline", *id);
  timeline.title = title;
  timeline.kind = *KindOf(kind);
  return Append(report, kCall, std::move(timeline));
}

Status AddSpan(npk_report* report, std::uint32_t id, const char* track, const char* name,
               double start_ms, double duration_ms, std::uint32_t task) {
  constexpr char kCall[] = "npk_report_span";
  if (report == nullptr || track == nullptr || name == nullptr)
    return InvalidArgument(npukit::Cat(kCall, ": an argument is NULL"));
  auto* timeline = ItemOf<html::Timeline>(report, id);
  if (timeline == nullptr) return InvalidArgument(npukit::Cat(kCall, ": no timeline ", id));
  if (!(start_ms >= 0 && start_ms < 1e12 && duration_ms >= 0 && duration_ms < 1e12))
    return InvalidArgument(npukit::Cat(kCall, ": ", duration_ms, " ms from ", start_ms,
                                       " ms, expected 0 to 1e12 each"));
  if (timeline->spans.size() >= kMaxRowsOrSpans) return Full(kCall, kMaxRowsOrSpans);
  timeline->Add(
      track,
      {.name = name, .start_ns = start_ms * 1e6, .duration_ns = duration_ms * 1e6, .task = task});
  return OkStatus();
}

Status Write(npk_report* report, const char* path) {
  if (report == nullptr || path == nullptr)
    return InvalidArgument("npk_report_write: an argument is NULL");
  html::Page page(report->verb, report->title, report->under);
  for (const Item& item : report->items) {
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Section>) {
            page.Section(value.title, value.note);
          } else {
            page.Add(value);
          }
        },
        item);
  }
  return html::WritePage(npukit::RealEnv(), path, page);
}

// What the functions below have in common: no exception leaves.
template <class F>
npk_status Guarded(const char* call, F&& f) {
  try {
    return Report(f());
  } catch (const std::bad_alloc&) {
    return Report(Status(npukit::Code::kOutOfMemory, npukit::Cat(call, ": out of memory")));
  }
}

}  // namespace

extern "C" {

npk_status npk_report_create(const char* verb, const char* title, const char* under,
                             npk_report** out) {
  return Guarded(__func__, [&]() -> Status {
    if (verb == nullptr || title == nullptr || out == nullptr)
      return InvalidArgument("npk_report_create: an argument is NULL");
    *out = new npk_report{verb, title, Text(under), {}};
    return OkStatus();
  });
}

void npk_report_release(npk_report* report) { delete report; }

npk_status npk_report_section(npk_report* report, const char* title, const char* note) {
  return Guarded(__func__, [&]() -> Status {
    if (report == nullptr || title == nullptr)
      return InvalidArgument("npk_report_section: an argument is NULL");
    return Append(report, "npk_report_section", Section{title, Text(note)});
  });
}

npk_status npk_report_figures(npk_report* report, const npk_report_field* fields, size_t count) {
  return Guarded(__func__, [&]() -> Status {
    if (report == nullptr) return InvalidArgument("npk_report_figures: the report is NULL");
    NPUKIT_RETURN_IF_ERROR(CheckFields("npk_report_figures", fields, count));
    std::vector<html::Tile> tiles;
    for (std::size_t i = 0; i < count; ++i) {
      tiles.push_back(
          {fields[i].name, ValueText(fields[i]), Text(fields[i].unit), KindOf(fields[i].kind), ""});
    }
    return Append(report, "npk_report_figures", std::move(tiles));
  });
}

npk_status npk_report_row(npk_report* report, const char* table, const npk_report_field* fields,
                          size_t count) {
  return Guarded(__func__, [&] { return AddRow(report, table, fields, count); });
}

npk_status npk_report_picture(npk_report* report, const char* title, const void* bytes, size_t size,
                              double width, double height, uint32_t* id) {
  return Guarded(__func__,
                 [&] { return AddPicture(report, title, bytes, size, width, height, id); });
}

npk_status npk_report_box(npk_report* report, uint32_t picture, const double corners[8],
                          const char* text, const char* note) {
  return Guarded(__func__, [&] { return AddBox(report, picture, corners, text, note); });
}

npk_status npk_report_timeline(npk_report* report, const char* title, int32_t kind, uint32_t* id) {
  return Guarded(__func__, [&] { return AddTimeline(report, title, kind, id); });
}

npk_status npk_report_span(npk_report* report, uint32_t timeline, const char* track,
                           const char* name, double start_ms, double duration_ms, uint32_t task) {
  return Guarded(__func__, [&] {
    return AddSpan(report, timeline, track, name, start_ms, duration_ms, task);
  });
}

npk_status npk_report_write(npk_report* report, const char* path) {
  return Guarded(__func__, [&] { return Write(report, path); });
}

}  // extern "C"
