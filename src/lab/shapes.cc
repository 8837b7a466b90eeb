#include "lab/shapes.h"

#include <algorithm>

#include "base/text.h"

namespace npukit::lab {
namespace {

constexpr std::size_t kMaxRank = 16;
constexpr std::size_t kMaxPrograms = 64;

}  // namespace

Result<std::vector<ShapeSet>> ParseShapes(const std::vector<std::string>& words) {
  std::map<std::string, std::vector<tensor::Dims>> given;
  std::size_t programs = 0;
  for (const std::string& word : words) {
    const auto bad = [&](std::string_view why) {
      return InvalidArgument(
          Cat("--shape ", Printable(word), ": ", why, "; expected NAME=1x3x224x224"));
    };
    const std::size_t at = word.rfind('=');
    if (at == std::string::npos || at == 0) return bad("no input name");
    tensor::Dims dims;
    for (const std::string& part : Split(std::string_view(word).substr(at + 1), 'x')) {
      std::int64_t d = 0;
      if (!ParseInt64(part, &d) || d < 1) return bad("a dimension is no positive number");
      if (dims.size() == kMaxRank) return bad("too many dimensions");
      dims.push_back(d);
    }
    if (!tensor::ElementCount(dims)) return bad("too large");
    std::vector<tensor::Dims>& of_input = given[word.substr(0, at)];
    of_input.push_back(std::move(dims));
    programs = std::max(programs, of_input.size());
  }
  if (programs > kMaxPrograms)
    return InvalidArgument(Cat("--shape: more than ", kMaxPrograms, " programs"));
  std::vector<ShapeSet> sets(programs);
  for (const auto& [name, shapes] : given) {
    if (shapes.size() != 1 && shapes.size() != programs) {
      return InvalidArgument(Cat("--shape: input ", Printable(name), " has ", shapes.size(),
                                 " shapes and another has ", programs,
                                 "; give each input one, or one per program"));
    }
    for (std::size_t k = 0; k < programs; ++k)
      sets[k][name] = shapes.size() == 1 ? shapes[0] : shapes[k];
  }
  return sets;
}

Result<std::map<std::string, std::string>> ParseInputs(const std::vector<std::string>& words) {
  std::map<std::string, std::string> files;
  for (const std::string& word : words) {
    const std::size_t at = word.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == word.size()) {
      return InvalidArgument(Cat("--input ", Printable(word, 400), ": expected NAME=FILE.npy"));
    }
    if (!files.emplace(word.substr(0, at), word.substr(at + 1)).second) {
      return InvalidArgument(Cat("--input: ", Printable(word.substr(0, at)), " is given twice"));
    }
  }
  return files;
}

}  // namespace npukit::lab
