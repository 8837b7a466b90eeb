// Columns of text, each as wide as its widest cell; numbers to the right. For terminals.
#pragma once

#include <string>
#include <vector>

namespace npukit::report {

class Table {
 public:
  // A heading that starts with '>' marks a column aligned to the right.
  explicit Table(std::vector<std::string> headings);
  void Add(std::vector<std::string> cells);  // missing cells are empty
  bool empty() const { return rows_.size() == 1; }
  std::string ToText(const std::string& indent = "") const;  // ends with a newline

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // [0] is the headings
};

}  // namespace npukit::report
