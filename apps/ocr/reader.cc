#include "reader.h"

#include <algorithm>
#include <chrono>
#include <opencv2/imgproc.hpp>

#include "pixels.h"

namespace ocr {
namespace {

// What packages are compiled for unless they say otherwise (and what a replay assumes). cv::Size is
// width, height.
const std::array<cv::Size, 3> kDetectShapes = {cv::Size(736, 736), cv::Size(1024, 736),
                                               cv::Size(736, 1024)};
const cv::Size kAngleShape(192, 48);
const std::array<cv::Size, 3> kRecogniseShapes = {cv::Size(320, 48), cv::Size(640, 48),
                                                  cv::Size(960, 48)};

constexpr std::int64_t kLargestSide = 8192;

using Clock = std::chrono::steady_clock;

double Ms(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

// Adds the time of its life to a stage, and notes when it was.
class Stopwatch {
 public:
  Stopwatch(HostStage* stage, std::size_t line, PhotoReading* reading)
      : stage_(stage), line_(line), reading_(reading), start_(Clock::now()) {}
  ~Stopwatch() {
    const double ms = Ms(Clock::now() - start_);
    stage_->ms += ms;
    reading_->events.push_back(
        {"reader", std::string(stage_->name), Ms(start_ - reading_->started), ms, line_});
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  HostStage* stage_;
  std::size_t line_;
  PhotoReading* reading_;
  Clock::time_point start_;
};

// The network's shapes as sizes; `usual` where it takes any.
Result<std::vector<cv::Size>> Sizes(Role role, const Network& network,
                                    std::span<const cv::Size> usual) {
  std::vector<cv::Size> sizes;
  for (const std::vector<std::int64_t>& s : network.Shapes()) {
    const bool image = s.size() == 4 && s[0] == 1 && s[1] == 3;
    if (!image || s[2] < 1 || s[3] < 1 || s[2] > kLargestSide || s[3] > kLargestSide) {
      return BadInput(std::string(RoleName(role)) + ": its package takes " + ShapeText(s) +
                      ", expected 1x3xHxW; compile it with --shape x=1x3xHxW");
    }
    sizes.emplace_back(static_cast<int>(s[3]), static_cast<int>(s[2]));
  }
  if (sizes.empty()) sizes.assign(usual.begin(), usual.end());
  return sizes;
}

Error WrongOutput(Role role, const Array& output, const std::string& expected) {
  return BadInput(std::string(RoleName(role)) + ": its output is " + ShapeText(output.shape) +
                  ", expected " + expected + "; is this the right network?");
}

// Runs `network` and keeps the account.
Result<Array> RunOne(Role role, Network* network, const Array& input, std::size_t line,
                     PhotoReading* reading) {
  const Clock::time_point start = Clock::now();
  Result<Answer> answer = network->Run(input);
  reading->events.push_back({RoleName(role), ShapeText(input.shape), Ms(start - reading->started),
                             Ms(Clock::now() - start), line});
  if (!answer.ok()) {
    Error error = answer.error();
    error.message = std::string(RoleName(role)) + ": " + error.message;
    return error;
  }
  reading->runs.push_back({role, input.shape, std::move(answer.value().account), line});
  return std::move(answer.value().output);
}

}  // namespace

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kDetect:
      return "det";
    case Role::kAngle:
      return "cls";
    case Role::kRecognise:
      break;
  }
  return "rec";
}

Result<Reader> Reader::Make(Network* det, Network* cls, Network* rec, Alphabet alphabet,
                            const ReadOptions& options) {
  Reader reader(det, cls, rec, std::move(alphabet), options);
  Result<std::vector<cv::Size>> det_sizes = Sizes(Role::kDetect, *det, kDetectShapes);
  if (!det_sizes.ok()) return det_sizes.error();
  Result<std::vector<cv::Size>> cls_sizes = Sizes(Role::kAngle, *cls, {&kAngleShape, 1});
  if (!cls_sizes.ok()) return cls_sizes.error();
  Result<std::vector<cv::Size>> rec_sizes = Sizes(Role::kRecognise, *rec, kRecogniseShapes);
  if (!rec_sizes.ok()) return rec_sizes.error();

  reader.det_shapes_ = std::move(det_sizes.value());
  reader.cls_shape_ = cls_sizes.value().front();
  reader.rec_height_ = rec_sizes.value().front().height;
  for (cv::Size size : rec_sizes.value()) {
    if (size.height != reader.rec_height_) {
      return BadInput("rec: its package takes heights " + std::to_string(reader.rec_height_) +
                      " and " + std::to_string(size.height) +
                      ", expected one height and several widths");
    }
    reader.rec_widths_.push_back(size.width);
  }
  return reader;
}

Result<std::vector<Quad>> Reader::FindText(const cv::Mat& photo, const Progress& progress,
                                           PhotoReading* reading) {
  progress(Role::kDetect, 0, 1);
  HostStage prepare{"prepare the photo"};
  HostStage find{"find boxes"};
  DetectInput input;
  {
    Stopwatch watch(&prepare, 0, reading);
    input = PrepareDetect(photo, NearestAspect(photo.size(), det_shapes_));
  }
  const std::vector<std::int64_t> expected = {1, 1, input.tensor.shape[2], input.tensor.shape[3]};
  Result<Array> map = RunOne(Role::kDetect, det_, input.tensor, 0, reading);
  if (!map.ok()) return map.error();
  if (map.value().shape != expected)
    return WrongOutput(Role::kDetect, map.value(), ShapeText(expected));
  std::vector<Quad> boxes;
  {
    Stopwatch watch(&find, 0, reading);
    const cv::Mat whole(static_cast<int>(expected[2]), static_cast<int>(expected[3]), CV_32F,
                        map.value().data.data());
    boxes = FindBoxes(whole(cv::Rect(cv::Point(0, 0), input.used)), photo.size(), options_.detect);
  }
  reading->host_stages.insert(reading->host_stages.end(), {prepare, find});
  progress(Role::kDetect, 1, 1);
  return boxes;
}

MaybeError Reader::TurnUpright(std::span<Strip> strips, const Progress& progress,
                               PhotoReading* reading) {
  HostStage prepare{"turn lines upright"};
  MaybeError pending;
  for (std::size_t i = 0; i < strips.size(); ++i) {
    progress(Role::kAngle, i, strips.size());
    Array tensor;
    {
      Stopwatch watch(&prepare, i + 1, reading);
      tensor = StripTensor(strips[i].pixels, cls_shape_);
    }
    Result<Array> scores = RunOne(Role::kAngle, cls_, tensor, i + 1, reading);
    if (!scores.ok()) {
      pending = scores.error();
      if (!pending->pending) return pending;
      continue;
    }
    if (scores.value().shape != std::vector<std::int64_t>{1, 2})
      return WrongOutput(Role::kAngle, scores.value(), "1x2");
    Stopwatch watch(&prepare, i + 1, reading);
    strips[i].turned = scores.value().data[1] > options_.turn_score;
    if (strips[i].turned) cv::rotate(strips[i].pixels, strips[i].pixels, cv::ROTATE_180);
  }
  reading->host_stages.push_back(prepare);
  return pending;
}

MaybeError Reader::Recognise(std::span<const Strip> strips, const Progress& progress,
                             PhotoReading* reading) {
  HostStage prepare{"prepare lines"};
  HostStage decode{"decode text"};
  const std::string expected =
      "1xTx" + std::to_string(alphabet_.classes()) + " (the alphabet's characters and 2)";
  MaybeError pending;
  for (std::size_t i = 0; i < strips.size(); ++i) {
    progress(Role::kRecognise, i, strips.size());
    Array tensor;
    {
      Stopwatch watch(&prepare, i + 1, reading);
      const int width = StripWidth(strips[i].pixels, rec_height_, rec_widths_);
      tensor = StripTensor(strips[i].pixels, cv::Size(width, rec_height_));
    }
    Result<Array> steps = RunOne(Role::kRecognise, rec_, tensor, i + 1, reading);
    if (!steps.ok()) {
      pending = steps.error();
      if (!pending->pending) return pending;
      continue;
    }
    const std::vector<std::int64_t>& shape = steps.value().shape;
    if (shape.size() != 3 || shape[0] != 1 ||
        shape[2] != static_cast<std::int64_t>(alphabet_.classes())) {
      return WrongOutput(Role::kRecognise, steps.value(), expected);
    }
    Stopwatch watch(&decode, i + 1, reading);
    Reading text = DecodeCtc(steps.value().data, alphabet_);
    if (text.confidence < options_.drop_score) {
      ++reading->dropped;
    } else {
      reading->lines.push_back(
          {strips[i].box, std::move(text.text), text.confidence, strips[i].turned});
    }
  }
  reading->host_stages.insert(reading->host_stages.end(), {prepare, decode});
  return pending;
}

Result<PhotoReading> Reader::Read(const cv::Mat& photo, const Progress& progress) {
  PhotoReading reading;
  reading.size = photo.size();
  reading.started = Clock::now();
  Result<std::vector<Quad>> boxes = FindText(photo, progress, &reading);
  if (!boxes.ok()) return boxes.error();

  HostStage cut{"cut out lines"};
  std::vector<Strip> strips;
  {
    Stopwatch watch(&cut, 0, &reading);
    for (const Quad& box : boxes.value())
      strips.push_back({box, CutOut(photo, box, rec_height_), false});
  }
  reading.host_stages.push_back(cut);
  if (MaybeError error = TurnUpright(strips, progress, &reading)) return *error;
  if (MaybeError error = Recognise(strips, progress, &reading)) return *error;
  return reading;
}

}  // namespace ocr
