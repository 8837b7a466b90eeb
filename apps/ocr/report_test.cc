#include "report.h"

#include <gtest/gtest.h>

namespace ocr {
namespace {

Account Modelled(double ms, double energy_mj) {
  return {.device = "NPU (simulated kirin9030)",
          .target = "kirin9030",
          .devices = "NPU,CPU",
          .precision = "fp16",
          .npu = 292,
          .gpu = 0,
          .cpu = 21,
          .folded = 14,
          .total = 327,
          .latency_ms = ms,
          .kind = Kind::kModelled,
          .wall_ms = 100,
          .energy_mj = energy_mj,
          .copies = 2,
          .bytes_copied = 1024};
}

PhotoReport Photo(std::vector<Run> runs) {
  PhotoReport photo;
  photo.file = "a.jpg";
  photo.reading.size = {800, 600};
  photo.reading.lines = {{{cv::Point2f(1, 2), {3, 2}, {3, 4}, {1, 4}}, "x\"y", 0.5f, true}};
  photo.reading.runs = std::move(runs);
  photo.reading.host_stages = {{"find boxes", 1.5}};
  return photo;
}

TEST(Report, AddsUpRunsOfOneNetworkAndProgram) {
  const std::vector<NetworkReport> sums = SumUp({Photo({{Role::kRecognise, {}, Modelled(1.25, 3)},
                                                        {Role::kRecognise, {}, Modelled(2, 4)},
                                                        {Role::kDetect, {}, Modelled(10, -1)}})});
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].role, Role::kDetect);
  EXPECT_EQ(sums[1].runs, 2u);
  EXPECT_DOUBLE_EQ(sums[1].account.latency_ms, 3.25);
  EXPECT_DOUBLE_EQ(sums[1].account.energy_mj, 7);
  EXPECT_EQ(sums[1].account.copies, 4u);
}

TEST(Report, NeverAddsKindsOrAnUnknownEnergy) {
  Account measured = Modelled(5, 1);
  measured.kind = Kind::kMeasured;
  const std::vector<NetworkReport> sums = SumUp({Photo({{Role::kDetect, {}, Modelled(1, 2)},
                                                        {Role::kDetect, {}, measured},
                                                        {Role::kDetect, {}, Modelled(1, -1)}})});
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_DOUBLE_EQ(sums[0].account.latency_ms, 2);
  EXPECT_LT(sums[0].account.energy_mj, 0);
  EXPECT_DOUBLE_EQ(sums[1].account.latency_ms, 5);
}

TEST(Report, SaysInTextWhereItRan) {
  const PhotoReport photo = Photo({{Role::kDetect, {}, Modelled(12.5, 3)}});
  const std::string text = PhotoText(photo) + NetworksText({photo});
  EXPECT_NE(text.find("Compute units: NPU (292), GPU (0), CPU (21), folded (14) | Total (327)\n"),
            std::string::npos);
  EXPECT_NE(text.find("12.500 ms modelled, 1 run (100.0 ms measured on this machine)\n"),
            std::string::npos);
  EXPECT_NE(text.find("1.500 ms measured\n"), std::string::npos);
  EXPECT_NE(text.find("3.000 mJ modelled"), std::string::npos);
  EXPECT_NE(text.find("x\"y  at (1,2) (3,2) (3,4) (1,4) upside down\n"), std::string::npos);
}

TEST(Report, SaysTheSameInJson) {
  const std::string json =
      JsonReport({Photo({{Role::kDetect, {}, Modelled(12.5, -1)}})}, "0.1.0", "abc");
  const auto has = [&](std::string_view part) { return json.find(part) != std::string::npos; };
  EXPECT_TRUE(json.starts_with(R"({"schema_version": 1, "tool": {"name": "npukit-ocr", )"
                               R"("version": "0.1.0", "git": "abc"})"));
  EXPECT_TRUE(has(R"("text": "x\"y", "confidence": 0.5, "upside_down": true, )"
                  R"("box": [[1, 2], [3, 2], [3, 4], [1, 4]])"));
  EXPECT_TRUE(has(R"("compute_units": {"NPU": 292, "GPU": 0, "CPU": 21, "folded": 14, )"
                  R"("total": 327})"));
  EXPECT_TRUE(has(R"("energy_mj": null)"));
  EXPECT_TRUE(has(R"("kind": "modelled", "latency_ms": 12.5, )"
                  R"("wall_ms": {"value": 100, "unit": "ms", "kind": "measured"})"));
  EXPECT_EQ(json.back(), '\n');
}

}  // namespace
}  // namespace ocr
