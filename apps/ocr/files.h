#pragma once
// Files of the program: bytes in, bytes out, and NumPy's .npy for tensors. A file is written beside
// its name and renamed, so that a full disk leaves nothing half-written.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "network.h"
#include "result.h"

namespace ocr {

// Refuses more than `limit_bytes`, folders and unreadable files.
Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t limit_bytes);
MaybeError WriteFile(const std::filesystem::path& path, std::string_view bytes);
// Whether WriteFile could begin: leaves nothing behind.
MaybeError TryFile(const std::filesystem::path& path);
MaybeError MakeFolder(const std::filesystem::path& path);

// Format 1.0, '<f4', C order. Reading takes any header version whose dtype and order are these; at
// most 1 GiB.
Result<Array> ReadNpy(const std::filesystem::path& path);
MaybeError WriteNpy(const std::filesystem::path& path, const Array& array);

}  // namespace ocr
