#pragma once
// What was read, as one HTML file: photos with boxes, times, where each network ran; through
// npukit/compiler.h.
#include <filesystem>
#include <vector>

#include "report.h"
#include "result.h"

namespace ocr {

inline constexpr char kHtmlName[] = "ocr.html";

// Reads the photos again, to put them in.
MaybeError WriteHtml(const std::vector<PhotoReport>& photos, const std::filesystem::path& path);

}  // namespace ocr
