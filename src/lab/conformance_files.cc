#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/text.h"
#include "lab/conformance.h"

namespace npukit::lab {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 16;
constexpr std::string_view kSet = "test_data_set_";

bool IsOnnx(const fs::path& p) { return p.extension() == ".onnx"; }

std::vector<std::string> DataSets(const fs::path& folder) {
  std::vector<std::pair<std::int64_t, std::string>> numbered;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    std::int64_t n = 0;
    if (!name.starts_with(kSet) || !ParseInt64(std::string_view(name).substr(kSet.size()), &n))
      continue;
    if (entry.is_directory(error)) numbered.emplace_back(n, entry.path().string());
  }
  std::sort(numbered.begin(), numbered.end());
  std::vector<std::string> sets;
  for (auto& [n, path] : numbered) sets.push_back(std::move(path));
  return sets;
}

void Collect(const fs::path& folder, int depth, std::vector<fs::path>* models) {
  if (depth > kMaxDepth) return;
  std::error_code error;
  std::vector<fs::path> here, folders;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) {
      if (!entry.is_symlink(error)) folders.push_back(entry.path());
    } else if (IsOnnx(entry.path())) {
      here.push_back(entry.path());
    }
  }
  // With several models it is not said whose the data are, unless one has the usual name.
  const bool sets = !DataSets(folder).empty();
  for (const fs::path& p : here) {
    const bool own = sets && (here.size() == 1 || p.filename() == "model.onnx");
    if (own || fs::exists(p.parent_path() / (p.stem().string() + "_output_0.pb"), error))
      models->push_back(p);
  }
  for (const fs::path& f : folders) Collect(f, depth + 1, models);
}

}  // namespace

CaseFiles CaseOfModel(const std::string& model) {
  CaseFiles files;
  files.model = model;
  const fs::path path(model);
  const std::vector<std::string> sets =
      DataSets(path.has_parent_path() ? path.parent_path() : fs::path("."));
  for (const std::string& set : sets) {
    files.inputs.push_back(set + "/input_");
    files.outputs.push_back(set + "/output_");
  }
  if (sets.empty())
    files.outputs.push_back((path.parent_path() / (path.stem().string() + "_output_")).string());
  return files;
}

Result<std::vector<CaseFiles>> FindCases(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return NotFound(Cat(Printable(folder, 400), ": no such folder"));
  std::vector<fs::path> models;
  Collect(folder, 0, &models);
  std::vector<CaseFiles> cases;
  for (const fs::path& m : models) {
    CaseFiles files = CaseOfModel(m.string());
    const fs::path name = files.inputs.empty() ? m.parent_path() / m.stem() : m.parent_path();
    files.name = name.lexically_relative(folder).generic_string();
    if (files.name == ".") files.name = fs::path(folder).lexically_normal().filename().string();
    cases.push_back(std::move(files));
  }
  if (cases.empty()) {
    return NotFound(Cat(Printable(folder, 400),
                        ": no case in it; expected folders with model.onnx and test_data_set_0, or "
                        "NAME.onnx beside NAME_output_0.pb"));
  }
  std::sort(cases.begin(), cases.end(),
            [](const CaseFiles& a, const CaseFiles& b) { return a.name < b.name; });
  return cases;
}

}  // namespace npukit::lab
