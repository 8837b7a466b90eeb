// One report: a page that needs nothing from anywhere. Its Content-Security-Policy lets the browser
// run our one script (by its hash) and load nothing.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "report/html/components.h"

namespace npukit::report::html {

class Page {
 public:
  // "bench", "ppocrv4_rec.onnx", "on NPU (simulated kirin9030)".
  Page(std::string verb, std::string title, std::string under);
  // What follows is under this heading, which the page's list of sections names.
  void Section(std::string title, const std::string& note = "");
  template <class Component>
  void Add(const Component& component) {
    body_ += Render(component);
  }
  // In a frame of its own.
  template <class Component>
  void AddCard(const Component& component) {
    body_ += "<div class=\"card\">" + Render(component) + "</div>\n";
  }
  std::string ToHtml() const;

 private:
  std::string verb_, title_, under_;
  std::vector<std::string> sections_;
  std::string body_;
  std::size_t lead_bytes_ = 0;  // of body_: what stands above the first section
};

// The file of a report: "FOLDER/check_ppocrv4_rec.html" of verb and model.
std::string ReportPath(const std::string& folder, std::string_view verb, std::string_view model);
// Makes the folder and tries the file, so that a place that cannot be written is known before hours
// of work. kUnwritable.
Status TryReportPath(Env& env, const std::string& folder, const std::string& path);
Status WritePage(Env& env, const std::string& path, const Page& page);

}  // namespace npukit::report::html
