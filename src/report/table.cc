#include "report/table.h"

#include <algorithm>

namespace npukit::report {
namespace {

std::size_t Width(const std::string& s) {  // characters, not bytes
  return static_cast<std::size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

Table::Table(std::vector<std::string> headings) {
  for (std::string& h : headings) {
    right_.push_back(!h.empty() && h[0] == '>');
    if (right_.back()) h.erase(0, 1);
  }
  rows_.push_back(std::move(headings));
}

void Table::Add(std::vector<std::string> cells) {
  cells.resize(right_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::ToText(const std::string& indent) const {
  std::vector<std::size_t> width(right_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], Width(row[c]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line = indent;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string pad(width[c] - Width(row[c]), ' ');
      line += right_[c] ? pad + row[c] : row[c] + pad;
      if (c + 1 < row.size()) line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace npukit::report
