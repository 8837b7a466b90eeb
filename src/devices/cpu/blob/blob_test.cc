#include "devices/cpu/blob/blob.h"

#include <gtest/gtest.h>

#include <numeric>

namespace npukit::devices::cpu {
namespace {

using tensor::Dims;
using tensor::DType;

TEST(PackedWeights, LieInPanelsOfSixteenChannels) {
  // O = 17, I = 2, 1x3 kernel: panel 1 holds channel 16 alone. Element (o, c, tap) is worth 100 o + 10 c + tap.
  const Dims dims = {17, 2, 1, 3};
  std::vector<float> w;
  for (int o = 0; o < 17; ++o)
    for (int c = 0; c < 2; ++c)
      for (int t = 0; t < 3; ++t) w.push_back(static_cast<float>(100 * o + 10 * c + t));
  const auto spec = SpecFor(Layout::kConv, dims, 1);
  ASSERT_TRUE(spec.has_value());
  ASSERT_EQ(spec->floats(), 2 * 6 * 16);
  std::vector<float> packed(static_cast<std::size_t>(spec->floats()), -1);
  PackPanels(*spec, w.data(), packed.data());
  EXPECT_EQ(packed[(2 * 2 + 1) * 16 + 5], 512);      // tap 2, c 1, channel 5
  EXPECT_EQ(packed[6 * 16 + (1 * 2 + 0) * 16], 1601);  // panel 1: tap 1, c 0, channel 16
  EXPECT_EQ(packed[6 * 16 + 1], 0);                  // padding
}

TEST(PackedWeights, UnpackToWhatTheyWere) {
  const struct {
    Layout layout;
    Dims dims;
    std::int64_t groups;
  } cases[] = {{Layout::kConv, {6, 5, 3, 2}, 1},    {Layout::kConv, {34, 3, 1, 1}, 2},  {Layout::kDeconv, {4, 19, 2, 2}, 1},
               {Layout::kDeconv, {6, 5, 3, 1}, 3},  {Layout::kDepthwise, {21, 1, 3, 3}, 21},
               {Layout::kMatmul, {7, 33}, 1},       {Layout::kMatmul, {2, 3, 5, 16}, 1}, {Layout::kPad16, {18}, 1},
               {Layout::kDeconvRow, {5, 7, 2, 3}, 1}};
  for (const auto& c : cases) {
    const auto spec = SpecFor(c.layout, c.dims, c.groups);
    ASSERT_TRUE(spec.has_value()) << LayoutName(c.layout);
    std::vector<float> w(static_cast<std::size_t>(*tensor::ElementCount(c.dims)));
    std::iota(w.begin(), w.end(), 1.0f);
    std::vector<float> packed(static_cast<std::size_t>(spec->floats())), back(w.size(), -1);
    PackPanels(*spec, w.data(), packed.data());
    UnpackPanels(*spec, packed.data(), back.data());
    EXPECT_EQ(back, w) << LayoutName(c.layout);
    EXPECT_DOUBLE_EQ(std::accumulate(packed.begin(), packed.end(), 0.0), std::accumulate(w.begin(), w.end(), 0.0));
  }
}

TEST(PackedWeights, RefuseDimsThatDoNotSuit) {
  EXPECT_FALSE(SpecFor(Layout::kConv, {6, 5, 3}, 1));
  EXPECT_FALSE(SpecFor(Layout::kConv, {6, 5, 3, 3}, 4));
  EXPECT_FALSE(SpecFor(Layout::kConv, {0, 5, 3, 3}, 1));
  EXPECT_FALSE(SpecFor(Layout::kConv, {6, 5, 3, 3}, 0));
  EXPECT_FALSE(SpecFor(Layout::kDepthwise, {6, 2, 3, 3}, 6));
  EXPECT_FALSE(SpecFor(Layout::kMatmul, {6}, 1));
  EXPECT_FALSE(SpecFor(Layout::kConv, {INT64_MAX, INT64_MAX, 3, 3}, 1));
}

TEST(CpuBlob, ReadsBackWhatWasWritten) {
  Blob b;
  b.tensors = {{.dtype = DType::kF32, .dims = {1, 4, 4, 3}, .place = Place::kInput},
               {.dtype = DType::kF32, .dims = {8, 3, 1, 1}, .place = Place::kWeight, .index = 1, .layout = Layout::kConv},
               {.dtype = DType::kF32, .dims = {1, 4, 4, 8}, .place = Place::kOutput}};
  const auto t = tensor::Value::FromVector<float>(DType::kF32, {2}, {1.5f, -2});
  b.steps = {{.op = "conv2d", .name = "Conv_0",
              .attrs = {{"a", std::int64_t{7}}, {"b", 0.5f}, {"c", std::string("NHWC")}, {"d", std::vector<std::int64_t>{1, -2}},
                        {"e", std::vector<float>{3}}, {"f", std::vector<std::string>{"x", ""}}, {"g", t}},
              .epilogue = {{.op = "add", .attrs = {{"z", 1.0f}}, .operand = 1, .swapped = true}},
              .inputs = {0, 1, -1}, .outputs = {2}}};
  b.inputs = {0};
  b.outputs = {2};
  b.weights = 2;
  b.scratch_bytes = 640;
  const auto r = Read(Write(b));
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(r->weights, 2u);
  EXPECT_EQ(r->scratch_bytes, 640u);
  ASSERT_EQ(r->tensors.size(), 3u);
  EXPECT_EQ(r->tensors[1].layout, Layout::kConv);
  EXPECT_EQ(r->tensors[1].index, 1u);
  EXPECT_EQ(r->tensors[2].dims, (Dims{1, 4, 4, 8}));
  ASSERT_EQ(r->steps.size(), 1u);
  const BlobStep& s = r->steps[0];
  EXPECT_EQ(s.name, "Conv_0");
  EXPECT_EQ(s.inputs, (std::vector<std::int32_t>{0, 1, -1}));
  ASSERT_EQ(s.attrs.size(), 7u);
  EXPECT_EQ(std::get<std::int64_t>(s.attrs[0].second), 7);
  EXPECT_EQ(std::get<std::string>(s.attrs[2].second), "NHWC");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(s.attrs[3].second), (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(std::get<tensor::Value>(s.attrs[6].second).as<float>()[1], -2);
  ASSERT_EQ(s.epilogue.size(), 1u);
  EXPECT_EQ(s.epilogue[0].op, "add");
  EXPECT_EQ(s.epilogue[0].operand, 1);
  EXPECT_TRUE(s.epilogue[0].swapped);
}

}  // namespace
}  // namespace npukit::devices::cpu
