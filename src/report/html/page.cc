#include "report/html/page.h"

#include <fmt/format.h>

#include <span>

#include "base/text.h"
#include "report/html/escape.h"
#include "report/html_files.h"  // made by cmake/embed.cmake
#include "report/print.h"

namespace npukit::report::html {
namespace {

constexpr std::size_t kStemBytes = 80;

std::string SectionId(std::size_t index) { return fmt::format("section{}", index + 1); }

std::string Head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src '{}' '{}'; script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{}</title>\n<style>{}</style>\n"
      "<style id=\"dark\" media=\"screen and (prefers-color-scheme: dark)\">{}</style>\n"
      "<script>{}</script>\n</head>\n",
      kPageCssHash, kDarkCssHash, kPageJsHash, Escaped(title), kPageCss, kDarkCss, kPageJs);
}

std::string Foot() {
  std::string out = "<footer>\n<dl>\n";
  const auto add = [&](Kind kind, const char* text) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", KindMark(kind), text);
  };
  add(Kind::kMeasured, "taken with a clock or a counter on this machine");
  add(Kind::kModelled, "computed by the model of the chip, from its profile");
  add(Kind::kAssumed, "nobody published it: a guess, or a figure that rests on one");
  return out + fmt::format(
                   "</dl>\n<p>Counts of nodes, bytes and copies are exact and carry no mark.</p>\n"
                   "<p>{}. This file is whole: it loads nothing.</p>\n</footer>\n",
                   Escaped(ToolText()));
}

}  // namespace

Page::Page(std::string verb, std::string title, std::string under)
    : verb_(std::move(verb)), title_(std::move(title)), under_(std::move(under)) {}

void Page::Section(std::string title, const std::string& note) {
  const std::string id = SectionId(sections_.size());
  if (sections_.empty()) lead_bytes_ = body_.size();
  body_ += fmt::format("{}<section aria-labelledby=\"{}\">\n<h2 id=\"{}\">{}</h2>\n",
                       sections_.empty() ? "" : "</section>\n", id, id, Escaped(title));
  if (!note.empty()) body_ += fmt::format("<p class=\"note\">{}</p>\n", Escaped(note));
  sections_.push_back(std::move(title));
}

std::string Page::ToHtml() const {
  std::string out = Head(fmt::format("{}: npukit {}", Printable(title_), verb_));
  out += fmt::format(
      "<body>\n<header class=\"top\"><span class=\"brand\">npukit<span class=\"verb\">{}</span>"
      "</span><button id=\"colours\" class=\"tool\" type=\"button\" hidden>Dark</button></header>\n"
      "<main>\n<h1>{}</h1>\n<p class=\"under\">{}</p>\n",
      Escaped(verb_), Isolated(title_), Isolated(under_));
  // What is above the first section is its answer; the list of sections follows it.
  std::string nav;
  if (sections_.size() > 1) {
    nav = "<nav aria-label=\"Sections\">\n";
    for (std::size_t i = 0; i < sections_.size(); ++i)
      nav += fmt::format("<a href=\"#{}\">{}</a>\n", SectionId(i), Escaped(sections_[i]));
    nav += "</nav>\n";
  }
  const std::size_t lead = sections_.empty() ? body_.size() : lead_bytes_;
  out.append(body_, 0, lead);
  out += nav;
  out.append(body_, lead);
  if (!sections_.empty()) out += "</section>\n";
  return out + "</main>\n" + Foot() + "</body>\n</html>\n";
}

std::string ReportPath(const std::string& folder, std::string_view verb, std::string_view model) {
  std::string_view stem = model.substr(model.find_last_of('/') + 1);
  const std::size_t dot = stem.find_last_of('.');
  if (dot != std::string_view::npos && dot > 0) stem = stem.substr(0, dot);
  std::string name = fmt::format("{}_{}", verb, stem.substr(0, kStemBytes));
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_';
    if (!plain) c = '_';
  }
  return fmt::format("{}{}{}.html", folder, folder.ends_with('/') ? "" : "/", name);
}

Status TryReportPath(Env& env, const std::string& folder, const std::string& path) {
  NPUKIT_RETURN_IF_ERROR(env.CreateFolder(folder));
  return env.CreateFile(path).status();  // its temporary goes with it
}

Status WritePage(Env& env, const std::string& path, const Page& page) {
  const std::string html = page.ToHtml();
  return WriteFile(env, path, std::as_bytes(std::span(html)));
}

}  // namespace npukit::report::html
