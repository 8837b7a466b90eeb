// Profiles as JSON files, read strictly: a profile decides what a compiler does, so a misspelt key
// must not be ignored.
//
//   {"name": "chip", "facts": {"npu.cores": {"value": 2, "source": "assumed", "ref": "no source",
//   "date": "2026-11-30"}}}
//
// Errors are one line each and name file and key. kInvalidArgument: the text is not such a profile
// (malformed, too large or deep, unknown or repeated key, wrong kind, out of range, source, ref or
// date missing, unknown operator, name other than the file's). kNotFound: no such profile; the
// message lists those there are. All functions may be called from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "target/profile.h"

namespace npukit::profile_io {

inline constexpr std::uint64_t kMaxFileBytes = 1 << 20;

// `file`: how messages call it.
Result<target::Profile> ProfileFromJson(std::string_view text, std::string_view file);
// Do the names inside a fact exist: the operator and the limit of "npu.op.conv2d.max_kernel", the
// operators of npu.stack.*? Other facts name nothing.
Status CheckNames(std::string_view key, const target::FactValue& value);
// One line per fact, keys sorted. Reading it gives the same facts; facts of --set have no date and
// are refused when read.
std::string ProfileToJson(const target::Profile& profile);

// "kirin9030" is looked for as kirin9030.json in `folders`, in order; what holds a '/' or ends in
// ".json" is a path. A file whose facts contradict one another or are not all there
// (target/consistent.h) is refused.
Result<target::Profile> LoadProfile(Env& env, const std::string& name_or_path,
                                    const std::vector<std::string>& folders);

struct ProfileFile {
  std::string name;
  std::string path;
};
// By name; a name found in two folders is the first folder's. Folders that are not there are
// skipped.
std::vector<ProfileFile> ListProfiles(Env& env, const std::vector<std::string>& folders);

}  // namespace npukit::profile_io
