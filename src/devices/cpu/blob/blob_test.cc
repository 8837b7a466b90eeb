#include "devices/cpu/blob/blob.h"

#include <flatbuffers/flatbuffers.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "devices/cpu/blob/cpu_blob_generated.h"

namespace npukit::devices::cpu {
namespace {

using tensor::Dims;
using tensor::DType;

TEST(PackedWeights, LieInPanelsOfSixteenChannels) {
  // O = 17, I = 2, 1x3 kernel: panel 1 holds channel 16 alone. Element (o, c, tap) is worth 100 o +
  // 10 c + tap.
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
  EXPECT_EQ(packed[(2 * 2 + 1) * 16 + 5], 512);        // tap 2, c 1, channel 5
  EXPECT_EQ(packed[6 * 16 + (1 * 2 + 0) * 16], 1601);  // panel 1: tap 1, c 0, channel 16
  EXPECT_EQ(packed[6 * 16 + 1], 0);                    // padding
}

TEST(PackedWeights, UnpackToWhatTheyWere) {
  const struct {
    Layout layout;
    Dims dims;
    std::int64_t groups;
  } cases[] = {{Layout::kConv, {6, 5, 3, 2}, 1},        {Layout::kConv, {34, 3, 1, 1}, 2},
               {Layout::kDeconv, {4, 19, 2, 2}, 1},     {Layout::kDeconv, {6, 5, 3, 1}, 3},
               {Layout::kDepthwise, {21, 1, 3, 3}, 21}, {Layout::kMatmul, {7, 33}, 1},
               {Layout::kMatmul, {2, 3, 5, 16}, 1},     {Layout::kPad16, {18}, 1},
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
    EXPECT_DOUBLE_EQ(std::accumulate(packed.begin(), packed.end(), 0.0),
                     std::accumulate(w.begin(), w.end(), 0.0));
  }
}

// A filter of its middle tap alone, worked out by hand: along one side F(2) gives 0, 1/2, -1/2, 0
// and F(4) 0, p / (2 p^2 (p^2 - q^2)) for p = 3/4, q = 3/2 and the other way round.
TEST(PackedWeights, HoldAMatrixForEachPointOfWinogradsFilters) {
  const double sides[2][6] = {{0, 0.5, -0.5, 0},
                              {0, -32.0 / 81, 32.0 / 81, 16.0 / 81, -16.0 / 81, 0}};
  const Dims dims = {18, 2, 3, 3};
  std::vector<float> w(18 * 2 * 9, 0);
  w[(17 * 2 + 1) * 9 + 4] = 3;
  for (const int m : {2, 4}) {
    const auto spec = SpecFor(m == 2 ? Layout::kWinograd2 : Layout::kWinograd4, dims, 1);
    ASSERT_TRUE(spec.has_value());
    const int side = m + 2;
    ASSERT_EQ(spec->floats(), side * side * 2 * 2 * 16);
    std::vector<float> packed(static_cast<std::size_t>(spec->floats()), -1);
    PackPanels(*spec, w.data(), packed.data());
    const double* u = sides[m == 2 ? 0 : 1];
    for (int p = 0; p < side * side; ++p) {
      // Panel 1, point p, c 1, lane 1; its neighbours are padding and another filter.
      const float* at = packed.data() + ((side * side + p) * 2 + 1) * 16 + 1;
      EXPECT_FLOAT_EQ(*at, static_cast<float>(3 * u[p / side] * u[p % side])) << m << " " << p;
      EXPECT_EQ(at[1], 0);
      EXPECT_EQ(at[-1], 0);
    }
  }
}

TEST(PackedWeights, UnpackFromWinogradsPointsWithinRounding) {
  const Dims dims = {19, 3, 3, 3};
  std::vector<float> w(19 * 3 * 9);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i * 37 % 101) / 50.0f - 1;
  for (const Layout layout : {Layout::kWinograd2, Layout::kWinograd4}) {
    const auto spec = SpecFor(layout, dims, 1);
    ASSERT_TRUE(spec.has_value());
    std::vector<float> packed(static_cast<std::size_t>(spec->floats())), back(w.size(), -9);
    PackPanels(*spec, w.data(), packed.data());
    UnpackPanels(*spec, packed.data(), back.data());
    for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(back[i], w[i], 5e-7) << i;
  }
}

TEST(PackedWeights, RefuseDimsThatDoNotSuit) {
  EXPECT_FALSE(SpecFor(Layout::kWinograd4, {6, 5, 3, 2}, 1));
  EXPECT_FALSE(SpecFor(Layout::kWinograd2, {6, 5, 3, 3}, 2));
  EXPECT_FALSE(SpecFor(Layout::kWinograd2, {6, 5, 9}, 1));
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
               {.dtype = DType::kF32,
                .dims = {8, 3, 1, 1},
                .place = Place::kWeight,
                .index = 1,
                .layout = Layout::kConv},
               {.dtype = DType::kF32, .dims = {1, 4, 4, 8}, .place = Place::kOutput}};
  const auto t = tensor::Value::FromVector<float>(DType::kF32, {2}, {1.5f, -2});
  b.steps = {{.op = "conv2d",
              .name = "Conv_0",
              .attrs = {{"a", std::int64_t{7}},
                        {"b", 0.5f},
                        {"c", std::string("NHWC")},
                        {"d", std::vector<std::int64_t>{1, -2}},
                        {"e", std::vector<float>{3}},
                        {"f", std::vector<std::string>{"x", ""}},
                        {"g", t}},
              .epilogue = {{.op = "add", .attrs = {{"z", 1.0f}}, .operand = 1, .swapped = true}},
              .inputs = {0, 1, -1},
              .outputs = {2}}};
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
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(s.attrs[3].second),
            (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(std::get<tensor::Value>(s.attrs[6].second).as<float>()[1], -2);
  ASSERT_EQ(s.epilogue.size(), 1u);
  EXPECT_EQ(s.epilogue[0].op, "add");
  EXPECT_EQ(s.epilogue[0].operand, 1);
  EXPECT_TRUE(s.epilogue[0].swapped);
}

// 2000 references to one 100 kB part: a blob of about 110 kB that would unfold to 200 MB. A name
// per field that can share.
TEST(CpuBlob, SharedPartsDoNotUnfoldWithoutEnd) {
  using flatbuffers::FlatBufferBuilder;
  using flatbuffers::Offset;
  constexpr std::size_t kTimes = 2000, kBytes = 100000;
  struct Parts {
    std::vector<Offset<fb::Tensor>> tensors;
    std::vector<Offset<fb::Step>> steps;
  };
  const auto text = [](FlatBufferBuilder& b) { return b.CreateString(std::string(kBytes, 'x')); };
  const auto repeat = [](auto offset) { return std::vector<decltype(offset)>(kTimes, offset); };
  const auto attrs_step = [](FlatBufferBuilder& b, const std::vector<Offset<fb::Attr>>& attrs) {
    const auto op = b.CreateString("add");
    return fb::CreateStep(b, op, 0, b.CreateVector(attrs));
  };
  const struct {
    const char* field;  // what the message must name
    std::function<void(FlatBufferBuilder&, Parts&)> fill;
  } cases[] = {
      {"tensors",
       [&](FlatBufferBuilder& b, Parts& p) { p.tensors = repeat(fb::CreateTensor(b, 1, 0, 2)); }},
      {"steps", [&](FlatBufferBuilder& b,
                    Parts& p) { p.steps = repeat(fb::CreateStep(b, b.CreateString("add"))); }},
      {"op", [&](FlatBufferBuilder& b, Parts& p) { p.steps = repeat(fb::CreateStep(b, text(b))); }},
      {"name",
       [&](FlatBufferBuilder& b, Parts& p) {
         const auto op = b.CreateString("add");
         p.steps = repeat(fb::CreateStep(b, op, text(b)));
       }},
      {"inputs",
       [&](FlatBufferBuilder& b, Parts& p) {
         const auto op = b.CreateString("add");
         p.steps = repeat(fb::CreateStep(
             b, op, 0, 0, 0, b.CreateVector(std::vector<std::int32_t>(kBytes / 4, -1))));
       }},
      {"outputs",
       [&](FlatBufferBuilder& b, Parts& p) {
         p.tensors = {fb::CreateTensor(b, 1, 0, 2)};
         const auto op = b.CreateString("add");
         p.steps = repeat(fb::CreateStep(
             b, op, 0, 0, 0, 0, b.CreateVector(std::vector<std::uint32_t>(kBytes / 4, 0))));
       }},
      {"attributes",
       [&](FlatBufferBuilder& b, Parts& p) {
         const auto step = attrs_step(b, repeat(fb::CreateAttr(b, b.CreateString("a"))));
         p.steps = repeat(step);
       }},
      {"name of attribute 0",
       [&](FlatBufferBuilder& b, Parts& p) {
         p.steps = {attrs_step(b, repeat(fb::CreateAttr(b, text(b))))};
       }},
      {"attribute a: s",
       [&](FlatBufferBuilder& b, Parts& p) {
         const auto name = b.CreateString("a");
         p.steps = {attrs_step(b, repeat(fb::CreateAttr(b, name, 2, 0, 0, text(b))))};
       }},
      {"attribute a: ints",
       [&](FlatBufferBuilder& b, Parts& p) {
         const auto name = b.CreateString("a");
         const auto ints = b.CreateVector(std::vector<std::int64_t>(kBytes / 8, 1));
         p.steps = {attrs_step(b, repeat(fb::CreateAttr(b, name, 3, 0, 0, 0, ints)))};
       }},
      {"attribute a: floats",
       [&](FlatBufferBuilder& b, Parts& p) {
         const auto name = b.CreateString("a");
         const auto floats = b.CreateVector(std::vector<float>(kBytes / 4, 1));
         p.steps = {attrs_step(b, repeat(fb::CreateAttr(b, name, 4, 0, 0, 0, 0, floats)))};
       }},
      {"attribute a: strings",
       [&](FlatBufferBuilder& b, Parts& p) {
         const auto name = b.CreateString("a");
         const auto strings = b.CreateVector(repeat(text(b)));
         p.steps = {attrs_step(b, {fb::CreateAttr(b, name, 5, 0, 0, 0, 0, 0, strings)})};
       }},
      {"attribute a: data",
       [&](FlatBufferBuilder& b, Parts& p) {
         const auto name = b.CreateString("a");
         const auto dims =
             b.CreateVector(std::vector<std::int64_t>{static_cast<std::int64_t>(kBytes)});
         const auto data = b.CreateVector(std::vector<std::uint8_t>(kBytes));
         p.steps = {
             attrs_step(b, repeat(fb::CreateAttr(b, name, 6, 0, 0, 0, dims, 0, 0,
                                                 static_cast<std::uint8_t>(DType::kU8), data)))};
       }},
      {"epilogue",
       [&](FlatBufferBuilder& b, Parts& p) {
         const auto op = b.CreateString("add");
         const auto epilogue = b.CreateVector(repeat(fb::CreateEpilogueStep(b, op)));
         p.steps = repeat(fb::CreateStep(b, op, 0, 0, epilogue));
       }},
      {"epilogue op",
       [&](FlatBufferBuilder& b, Parts& p) {
         const auto op = b.CreateString("add");
         const auto epilogue = b.CreateVector(repeat(fb::CreateEpilogueStep(b, text(b))));
         p.steps = {fb::CreateStep(b, op, 0, 0, epilogue)};
       }},
      {"dims",
       [&](FlatBufferBuilder& b, Parts& p) {
         p.tensors.assign(
             40, fb::CreateTensor(b, 1, b.CreateVector(std::vector<std::int64_t>(32, 1)), 2));
       }},
  };
  for (const auto& c : cases) {
    FlatBufferBuilder b;
    Parts parts;
    c.fill(b, parts);
    const auto tensors = b.CreateVector(parts.tensors);
    const auto steps = b.CreateVector(parts.steps);
    fb::FinishBlobBuffer(b, fb::CreateBlob(b, kBlobVersion, tensors, steps, 0, 0, 0, 1024));
    const auto r = Read(std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize())));
    ASSERT_FALSE(r.ok()) << c.field;
    EXPECT_EQ(r.status().code(), Code::kDataCorrupt);
    EXPECT_NE(r.status().message().find(std::string(c.field) + ": expected parts that fit"),
              std::string::npos)
        << c.field << ": " << r.status().message();
  }
}

// What Write makes is never charged more than it takes, not even the smallest tensors and steps
// there are.
TEST(CpuBlob, SmallestPartsFitTheirBlob) {
  Blob many;
  for (std::size_t i = 0; i < 300; ++i) {
    many.tensors.push_back({.dtype = DType::kU8, .dims = {}, .place = Place::kScratch});
    many.steps.push_back(
        {.op = "", .name = "", .attrs = {}, .epilogue = {}, .inputs = {}, .outputs = {}});
  }
  many.scratch_bytes = 64;
  const auto r = Read(Write(many));
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(r->steps.size(), 300u);
}

}  // namespace
}  // namespace npukit::devices::cpu
