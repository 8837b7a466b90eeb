// Published times of networks on a chip: what `validate` compares with. A table.json beside the
// models, read as strictly as a profile:
//
//   {"table": "ascend310", "title": "18 networks ...", "source": "...", "date": "2026-11-30",
//    "networks": [{"name": "AlexNet", "file": "alexnet.onnx", "published_ms": 3.64, "model":
//    "..."}]}
//
// Errors are one line each and name file and network. kInvalidArgument: no such table (malformed,
// unknown or repeated member, two networks of one name, a file in another folder, a time that is
// not positive). May be called from any thread.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"

namespace npukit::profile_io {

struct PublishedNetwork {
  std::string name;
  std::string file;  // beside the table
  double published_ms = 0;
  std::string model;  // where the graph is from
};

struct PublishedTable {
  std::string table;  // the profile it is about
  std::string title;
  std::string source;  // of the times
  std::string date;    // on which the source was read
  std::vector<PublishedNetwork> networks;
};

inline constexpr std::size_t kMaxPublishedNetworks = 1000;

Result<PublishedTable> PublishedTableFromJson(std::string_view text, std::string_view file);
Result<PublishedTable> LoadPublishedTable(Env& env, const std::string& path);

}  // namespace npukit::profile_io
