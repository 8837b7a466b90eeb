#include "lab/targets.h"

#include <unistd.h>

#include <array>
#include <set>

#include "base/text.h"
#include "format/reader.h"
#include "lab/describe.h"
#include "lab/open.h"
#include "profile_io/profile_io.h"
#include "target/consistent.h"

namespace npukit::lab {
namespace {

std::string ProgramFolder() {
  std::array<char, 4096> path;
  const ssize_t n = ::readlink("/proc/self/exe", path.data(), path.size());
  if (n <= 0 || static_cast<std::size_t>(n) == path.size()) return "";
  const std::string program(path.data(), static_cast<std::size_t>(n));
  return program.substr(0, program.rfind('/'));
}

}  // namespace

std::vector<std::string> ProfileFolders() {
  std::vector<std::string> folders;
  if (const std::string here = ProgramFolder(); !here.empty()) {
    for (const char* relative : {"/../profiles", "/../../profiles", "/../share/npukit/profiles"}) {
      folders.push_back(here + relative);
    }
  }
  folders.emplace_back(NPUKIT_PROFILE_FOLDER);
  return folders;
}

namespace {

// --set fact=value, in order.
Status Change(target::Profile& profile, const std::vector<std::string>& set) {
  std::set<std::string> seen;
  for (const std::string& change : set) {
    const std::size_t at = change.find('=');
    if (at == std::string::npos)
      return InvalidArgument(Cat("--set ", Printable(change), ": expected fact=value"));
    const std::string key = change.substr(0, at);
    if (!seen.insert(key).second)
      return InvalidArgument(Cat("--set: ", Printable(key), " is given twice"));
    NPUKIT_RETURN_IF_ERROR(profile.Set(key, change.substr(at + 1)).WithContext("--set"));
    NPUKIT_RETURN_IF_ERROR(profile_io::CheckNames(key, profile.Find(key)->value)
                               .WithContext(Cat("--set: fact ", Printable(key))));
  }
  return set.empty() ? OkStatus() : target::CheckConsistent(profile).WithContext("--set");
}

}  // namespace

Result<target::Profile> DefaultTarget(Env& env, const std::string& path,
                                      const std::vector<std::string>& set) {
  NPUKIT_ASSIGN_OR_RETURN(const bool package, IsPackage(env, path));
  if (!package) return LoadTarget(env, "host", set);
  NPUKIT_ASSIGN_OR_RETURN(const auto opened, format::Package::Open(env, path));
  target::Profile profile = opened->head().profile;
  NPUKIT_RETURN_IF_ERROR(Change(profile, set));
  return profile;
}

Result<target::Profile> LoadTarget(Env& env, const std::string& name_or_file,
                                   const std::vector<std::string>& set) {
  if (std::int64_t number = 0; ParseInt64(name_or_file, &number)) {
    return InvalidArgument(
        Cat("-t ", number, ": a target is a chip's name or a FILE.json; did you mean --threads?"));
  }
  NPUKIT_ASSIGN_OR_RETURN(target::Profile profile,
                          profile_io::LoadProfile(env, name_or_file, ProfileFolders()));
  NPUKIT_RETURN_IF_ERROR(Change(profile, set));
  // --set npu.model=... would make an NPU of nothing.
  if (!set.empty()) NPUKIT_RETURN_IF_ERROR(target::CheckComplete(profile).WithContext("--set"));
  return profile;
}

Result<report::Targets> ListTargets(Env& env) {
  report::Targets r;
  for (const profile_io::ProfileFile& file : profile_io::ListProfiles(env, ProfileFolders())) {
    NPUKIT_ASSIGN_OR_RETURN(const target::Profile p, profile_io::LoadProfile(env, file.path, {}));
    report::TargetLine line;
    line.name = p.name;
    if (p.has_npu()) {
      NPUKIT_ASSIGN_OR_RETURN(line.npu, p.Text("npu.model"));
    }
    line.facts = p.facts.size();
    for (const auto& [key, fact] : p.facts) line.assumed += fact.source == target::Source::kAssumed;
    line.file = file.path;
    r.targets.push_back(std::move(line));
  }
  return r;
}

report::TargetShow ShowTarget(const target::Profile& profile) {
  report::TargetShow r;
  r.target = TargetOf(profile);
  return r;
}

}  // namespace npukit::lab
