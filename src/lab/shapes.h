// --shape and --input, parsed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "lab/open.h"

namespace npukit::lab {

// "x=1x3x48x320", repeated: the k-th shape of every input belongs to program k; an input given once
// has that shape in all.
Result<std::vector<ShapeSet>> ParseShapes(const std::vector<std::string>& words);

// "name=file.npy", each name once.
Result<std::map<std::string, std::string>> ParseInputs(const std::vector<std::string>& words);

}  // namespace npukit::lab
