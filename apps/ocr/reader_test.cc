// The steps around the networks, with networks that answer what the test says.
#include "reader.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "files.h"
#include "replay_network.h"

namespace ocr {
namespace {

class FakeNetwork : public Network {
 public:
  using Answerer = std::function<Array(const Array&)>;
  explicit FakeNetwork(Answerer answer) : answer_(std::move(answer)) {}
  FakeNetwork(Answerer answer, std::vector<std::vector<std::int64_t>> shapes)
      : answer_(std::move(answer)), shapes_(std::move(shapes)) {}

  std::vector<std::vector<std::int64_t>> Shapes() const override { return shapes_; }
  Result<Answer> Run(const Array& input) override {
    inputs.push_back(input);
    return Answer{answer_(input), {}};
  }
  std::vector<Array> inputs;

 private:
  Answerer answer_;
  std::vector<std::vector<std::int64_t>> shapes_;
};

void Ignore(Role, std::size_t, std::size_t) {}

// Finds one line: columns 100..499, rows 200..239 of the map.
Array OneLine(const Array& input) {
  const std::int64_t height = input.shape[2], width = input.shape[3];
  Array map{{1, 1, height, width},
            std::vector<float>(static_cast<std::size_t>(height * width), 0.0f)};
  for (std::int64_t y = 200; y < 240; ++y) {
    for (std::int64_t x = 100; x < 500; ++x)
      map.data[static_cast<std::size_t>(y * width + x)] = 0.9f;
  }
  return map;
}

// Reads "ab" with probabilities `first` and 1.
FakeNetwork::Answerer ReadsAb(float first) {
  return [first](const Array&) { return Array{{1, 2, 4}, {0, first, 0, 0, 0, 0, 1, 0}}; };
}

FakeNetwork::Answerer Angle(float turned) {
  return [turned](const Array&) { return Array{{1, 2}, {1 - turned, turned}}; };
}

// White above, black below.
cv::Mat Photo() {
  cv::Mat photo(736, 736, CV_8UC3, cv::Scalar::all(0));
  photo(cv::Rect(0, 0, 736, 220)) = cv::Scalar::all(255);
  return photo;
}

class ReaderTest : public testing::Test {
 protected:
  Result<PhotoReading> Read(Network* det, Network* cls, Network* rec) {
    Result<Reader> reader = Reader::Make(det, cls, rec, Alphabet({"a", "b"}), {});
    if (!reader.ok()) return reader.error();
    return reader.value().Read(Photo(), Ignore);
  }
};

TEST_F(ReaderTest, TakesALineThroughAllThreeNetworks) {
  FakeNetwork det(OneLine), cls(Angle(0.2f)), rec(ReadsAb(0.5f));
  const Result<PhotoReading> reading = Read(&det, &cls, &rec);
  ASSERT_TRUE(reading.ok()) << reading.error().message;
  ASSERT_EQ(reading.value().lines.size(), 1u);
  EXPECT_EQ(reading.value().lines[0].text, "ab");
  EXPECT_FLOAT_EQ(reading.value().lines[0].confidence, 0.75f);
  EXPECT_FALSE(reading.value().lines[0].turned);
  ASSERT_EQ(det.inputs.size(), 1u);
  EXPECT_EQ(det.inputs[0].shape, (std::vector<std::int64_t>{1, 3, 736, 736}));
  EXPECT_EQ(cls.inputs.at(0).shape, (std::vector<std::int64_t>{1, 3, 48, 192}));
  // Core 400 x 40, grown by 400 * 40 * 1.6 / 880 = 29.1 to 458 x 98: at height 48 it is 225 wide.
  EXPECT_EQ(rec.inputs.at(0).shape, (std::vector<std::int64_t>{1, 3, 48, 320}));
  EXPECT_EQ(reading.value().runs.size(), 3u);
}

TEST_F(ReaderTest, TurnsAnUpsideDownLineBeforeReadingIt) {
  FakeNetwork det(OneLine), upright(Angle(0.9f)), turned(Angle(0.95f)), rec(ReadsAb(1));
  ASSERT_FALSE(Read(&det, &upright, &rec).value().lines.at(0).turned);  // 0.9 is not more than 0.9
  ASSERT_TRUE(Read(&det, &turned, &rec).value().lines.at(0).turned);
  // White is above in the photo, so below in the turned strip.
  EXPECT_FLOAT_EQ(rec.inputs.at(0).data[0], 1.0f);
  EXPECT_FLOAT_EQ(rec.inputs.at(1).data[0], -1.0f);
  EXPECT_FLOAT_EQ(rec.inputs.at(1).data[47 * 320], 1.0f);
}

TEST_F(ReaderTest, DropsWhatItCannotReadSurely) {
  FakeNetwork det(OneLine), cls(Angle(0)),
      rec([](const Array&) { return Array{{1, 1, 4}, {0, 0.49f, 0, 0}}; });
  const Result<PhotoReading> reading = Read(&det, &cls, &rec);
  EXPECT_TRUE(reading.value().lines.empty());
  EXPECT_EQ(reading.value().dropped, 1);
}

TEST_F(ReaderTest, UsesTheShapesThePackagesWereCompiledFor) {
  FakeNetwork det(OneLine, {{1, 3, 640, 640}}), cls(Angle(0), {{1, 3, 48, 96}}),
      rec(ReadsAb(1), {{1, 3, 32, 400}});
  ASSERT_TRUE(Read(&det, &cls, &rec).ok());
  EXPECT_EQ(det.inputs.at(0).shape, (std::vector<std::int64_t>{1, 3, 640, 640}));
  EXPECT_EQ(cls.inputs.at(0).shape, (std::vector<std::int64_t>{1, 3, 48, 96}));
  EXPECT_EQ(rec.inputs.at(0).shape, (std::vector<std::int64_t>{1, 3, 32, 400}));
}

TEST_F(ReaderTest, RefusesAnotherNetworkByName) {
  FakeNetwork det(OneLine), cls(Angle(0)), rec(ReadsAb(1));
  FakeNetwork wrong([](const Array&) { return Array{{1, 7}, std::vector<float>(7, 0.0f)}; });
  FakeNetwork voice(Angle(0), {{1, 576}});
  EXPECT_EQ(Read(&wrong, &cls, &rec).error().message,
            "det: its output is 1x7, expected 1x1x736x736; is this the right network?");
  EXPECT_EQ(Read(&det, &wrong, &rec).error().message,
            "cls: its output is 1x7, expected 1x2; is this the right network?");
  EXPECT_EQ(Read(&det, &cls, &wrong).error().message,
            "rec: its output is 1x7, expected 1xTx4 (the alphabet's characters and 2); is this the "
            "right network?");
  EXPECT_EQ(Read(&voice, &cls, &rec).error().message,
            "det: its package takes 1x576, expected 1x3xHxW; compile it with --shape x=1x3xHxW");
}

TEST_F(ReaderTest, ReplaysOutputsAndDumpsInputs) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "ocr_reader_test";
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(MakeFolder(folder / "in" / kOutputs).has_value());
  ASSERT_FALSE(MakeFolder(folder / "out").has_value());
  auto make = [&](const char* name) {
    return DumpNetwork(name, folder / "in", std::make_unique<ReplayNetwork>(name, folder / "out"));
  };
  {
    DumpNetwork det = make("det"), cls = make("cls"), rec = make("rec");
    EXPECT_TRUE(Read(&det, &cls, &rec).error().pending);
  }
  const Result<Array> dumped = ReadNpy(folder / "in" / "det_0000.npy");
  ASSERT_TRUE(dumped.ok()) << dumped.error().message;
  ASSERT_FALSE(WriteNpy(folder / "out" / "det_0000.npy", OneLine(dumped.value())).has_value());
  ASSERT_FALSE(WriteNpy(folder / "out" / "cls_0000.npy", {{1, 2}, {1, 0}}).has_value());
  ASSERT_FALSE(WriteNpy(folder / "out" / "rec_0000.npy", {{1, 1, 4}, {0, 1, 0, 0}}).has_value());
  DumpNetwork det = make("det"), cls = make("cls"), rec = make("rec");
  const Result<PhotoReading> reading = Read(&det, &cls, &rec);
  ASSERT_TRUE(reading.ok()) << reading.error().message;
  EXPECT_EQ(reading.value().lines.at(0).text, "a");
  EXPECT_TRUE(std::filesystem::exists(folder / "in" / "rec_0000.npy"));
  const Result<Array> kept = ReadNpy(folder / "in" / kOutputs / "rec_0000.npy");
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(kept.value().data, (std::vector<float>{0, 1, 0, 0}));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ocr
