#pragma once
// What was read, where it ran and how long it took, as text for people and as JSON for programs.
#include <string>
#include <vector>

#include "reader.h"

namespace ocr {

struct PhotoReport {
  std::string file;
  PhotoReading reading;
};

// All runs of one network under one program: figures of one kind, so they may be added up.
struct NetworkReport {
  Role role;
  Account account;  // of one of the runs; its figures are this network's sums
  std::size_t runs = 0;
};

// A network has several lines when runs differed in program or kind.
std::vector<NetworkReport> SumUp(const std::vector<PhotoReport>& photos);

// One photo: its lines with confidence and box, and its steps with latency and kind.
std::string PhotoText(const PhotoReport& photo);
// All photos: where each network ran, for how long, with which energy.
std::string NetworksText(const std::vector<PhotoReport>& photos);
std::string JsonReport(const std::vector<PhotoReport>& photos, const std::string& version,
                       const std::string& git);

}  // namespace ocr
