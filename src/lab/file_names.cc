#include "lab/file_names.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace npukit::lab {

std::vector<std::string> FileNames(const std::vector<std::string>& tensor_names) {
  std::set<std::string> taken;
  std::vector<std::string> files;
  for (const std::string& name : tensor_names) {
    std::string base = name;
    std::replace(base.begin(), base.end(), '/', '_');
    std::replace(base.begin(), base.end(), '\0', '_');
    std::string file = base;
    for (int n = 2; !taken.insert(file).second; ++n) file = Cat(base, "_", n);
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace npukit::lab
