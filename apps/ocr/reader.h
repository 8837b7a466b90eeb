#pragma once
// A photo becomes lines of text: detector, angle classifier, recogniser, and the steps between
// them, each timed.
#include <array>
#include <chrono>
#include <functional>
#include <opencv2/core.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect.h"
#include "lines.h"
#include "network.h"
#include "result.h"

namespace ocr {

enum class Role { kDetect, kAngle, kRecognise };
inline constexpr std::array<Role, 3> kRoles = {Role::kDetect, Role::kAngle, Role::kRecognise};
std::string_view RoleName(Role role);  // "det", "cls", "rec": as the models call themselves

struct Line {
  Quad box;
  std::string text;
  float confidence = 0;
  bool turned = false;  // was upside down
};

// One run of a network.
struct Run {
  Role role;
  std::vector<std::int64_t> input_shape;
  Account account;
  std::size_t line = 0;  // counted from 1 in reading order, dropped ones too; 0: the whole photo
};

// Work of the reader's own between the networks; measured on this machine.
struct HostStage {
  std::string_view name;
  double ms = 0;
};

// One stretch of work on this machine, from the start of the photo: for a timeline.
struct Event {
  std::string_view track;  // "reader", or the network's name
  std::string name;
  double start_ms = 0, ms = 0;
  std::size_t line = 0;  // counted from 1; 0: the whole photo
};

struct PhotoReading {
  cv::Size size;
  std::vector<Line> lines;
  int dropped = 0;  // boxes whose reading was less sure than ReadOptions::drop_score
  std::vector<Run> runs;
  std::vector<HostStage> host_stages;
  std::vector<Event> events;
  std::chrono::steady_clock::time_point started;
};

struct ReadOptions {
  DetectOptions detect;
  float turn_score = 0.9f;  // a strip is turned round when "180 degrees" is surer than this
  float drop_score = 0.5f;
};

// Told after each step: which network, how many of its inputs are done, out of how many.
using Progress = std::function<void(Role role, std::size_t done, std::size_t total)>;

class Reader {
 public:
  // The networks must outlive the reader. Fails if their shapes are not those of such networks.
  static Result<Reader> Make(Network* det, Network* cls, Network* rec, Alphabet alphabet,
                             const ReadOptions& options);

  // An Error with `pending` says that outputs to replay are missing; every input that could be
  // reached has been run.
  Result<PhotoReading> Read(const cv::Mat& photo, const Progress& progress);

 private:
  struct Strip {
    Quad box;
    cv::Mat pixels;
    bool turned = false;
  };

  Reader(Network* det, Network* cls, Network* rec, Alphabet alphabet, const ReadOptions& options)
      : det_(det), cls_(cls), rec_(rec), alphabet_(std::move(alphabet)), options_(options) {}

  Result<std::vector<Quad>> FindText(const cv::Mat& photo, const Progress& progress,
                                     PhotoReading* reading);
  MaybeError TurnUpright(std::span<Strip> strips, const Progress& progress, PhotoReading* reading);
  MaybeError Recognise(std::span<const Strip> strips, const Progress& progress,
                       PhotoReading* reading);

  Network* det_;
  Network* cls_;
  Network* rec_;
  Alphabet alphabet_;
  ReadOptions options_;
  std::vector<cv::Size> det_shapes_;
  cv::Size cls_shape_;
  std::vector<int> rec_widths_;
  int rec_height_ = 0;
};

}  // namespace ocr
