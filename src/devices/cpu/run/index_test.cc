#include <gtest/gtest.h>

#include "devices/cpu/run/step_test.h"

namespace npukit::devices::cpu {
namespace {

using tensor::Dims;
using tensor::DType;
using tensor::Value;

Value Int64s(Dims dims, std::vector<std::int64_t> v) {
  return Value::FromVector(DType::kI64, std::move(dims), v);
}

// Bytes of any type with numbers that differ.
Value Numbers(DType t, Dims dims) {
  Value v = Value::Allocate(t, std::move(dims)).value();
  for (std::int64_t i = 0; i < v.count(); ++i)
    tensor::StoreDouble(v, i, t == DType::kBool ? i % 3 == 0 : static_cast<double>(i % 100));
  return v;
}

TEST(GatherKernel, PicksRowsOfEveryType) {
  for (const DType t : {DType::kF32, DType::kF16, DType::kI64, DType::kU8}) {
    for (const std::int64_t axis : {0, 1, -1}) {
      SCOPED_TRACE(Cat(tensor::DTypeName(t), " axis ", axis));
      TestStep s{.op = &op::gather, .attrs = {}, .epilogue = {}, .inputs = {}};
      s.inputs.push_back({.value = Numbers(t, {5, 4, 3}), .constant = true});
      s.inputs.push_back({.value = Int64s({2, 2}, {0, 2, -1, -3})});
      s.attrs.Set("axis", axis);
      ExpectLikeReference(s, "gather");
      s.inputs[1].value = Value::FromVector<std::int32_t>(DType::kI32, {}, {-2});
      ExpectLikeReference(s, "gather");
    }
  }
}

TEST(GatherKernel, RefusesIndicesOutside) {
  ThreadPool pool(1);
  for (const std::int64_t bad : {std::int64_t{5}, std::int64_t{-6}, INT64_MIN, INT64_MAX}) {
    TestStep s{.op = &op::gather, .attrs = {}, .epilogue = {}, .inputs = {}};
    s.inputs.push_back({.value = Numbers(DType::kF32, {5, 2})});
    s.inputs.push_back({.value = Int64s({2}, {0, bad})});
    const auto run = RunOnDevice(s, SupportedTargets().front(), pool, true);
    ASSERT_FALSE(run.ok());
    EXPECT_EQ(run.status().code(), Code::kInvalidArgument);
    EXPECT_NE(run.status().message().find(Cat("index ", bad, " is outside axis 0 of 5")),
              std::string::npos)
        << run.status().message();
  }
}

TEST(PadKernel, AgreesWithTheReferenceInEveryMode) {
  for (const char* mode : {"constant", "edge", "reflect", "wrap"}) {
    for (const std::vector<std::int64_t>& pads : {std::vector<std::int64_t>{0, 1, 2, 0, 0, 2, 3, 0},
                                                  {0, 0, 0, 0, 0, 0, 0, 0},
                                                  {1, 2, 3, 4, 4, 3, 2, 1},
                                                  {0, -1, 2, 0, 0, 0, -3, 0},
                                                  {0, 0, -2, 5, 0, 0, 4, -1},
                                                  {0, 0, 0, 3, 0, 0, 0, 0}}) {
      for (const DType t : {DType::kF32, DType::kI64, DType::kU8}) {
        SCOPED_TRACE(Cat(mode, " ", JoinInts(pads, ","), " ", tensor::DTypeName(t)));
        TestStep s{.op = &op::pad, .attrs = {}, .epilogue = {}, .inputs = {}};
        s.inputs.push_back({.value = Numbers(t, {1, 5, 4, 3})});
        s.inputs.push_back({.value = Int64s({8}, pads), .constant = true});
        s.attrs.Set("mode", std::string(mode));
        ExpectLikeReference(s, "pad");
        s.inputs.push_back({.value = Numbers(t, {1})});
        tensor::StoreDouble(s.inputs[2].value, 0, 7);
        ExpectLikeReference(s, "pad");
      }
    }
  }
}

TEST(WhereKernel, AgreesWithTheReferenceOnEveryBroadcast) {
  const struct {
    Dims c, a, b;
  } shapes[] = {{{2, 3, 5}, {2, 3, 5}, {2, 3, 5}}, {{1, 1, 5}, {}, {2, 3, 5}},
                {{3, 1}, {5}, {1, 3, 5}},          {{}, {2, 1}, {3}},
                {{4, 1, 1, 7}, {1, 3, 1, 1}, {}},  {{1}, {1}, {1}}};
  for (const auto& shape : shapes) {
    for (const DType t : {DType::kF32, DType::kI64, DType::kBool, DType::kF16}) {
      SCOPED_TRACE(Cat(JoinInts(shape.c, ","), " ", JoinInts(shape.a, ","), " ",
                       JoinInts(shape.b, ","), " ", tensor::DTypeName(t)));
      TestStep s{.op = &op::where, .attrs = {}, .epilogue = {}, .inputs = {}};
      s.inputs.push_back({.value = Numbers(DType::kBool, shape.c)});
      s.inputs.push_back({.value = Numbers(t, shape.a)});
      s.inputs.push_back({.value = Numbers(t, shape.b), .constant = true});
      ExpectLikeReference(s, "where");
    }
  }
}

TEST(RepeatKernels, AgreeWithTheReference) {
  const struct {
    Dims x;
    std::vector<std::int64_t> shape;
  } expands[] = {{{3, 1}, {3, 40}}, {{1, 1, 1, 9}, {2, 3, 4, 9}}, {{7}, {2, 7}}, {{}, {3, 2}}};
  for (const auto& c : expands) {
    TestStep s{.op = &op::expand, .attrs = {}, .epilogue = {}, .inputs = {}};
    s.inputs.push_back({.value = Numbers(DType::kF32, c.x)});
    s.inputs.push_back(
        {.value = Int64s({static_cast<std::int64_t>(c.shape.size())}, c.shape), .constant = true});
    ExpectLikeReference(s, "expand");
  }
  for (const std::vector<std::int64_t>& repeats :
       {std::vector<std::int64_t>{2, 3, 1}, {1, 1, 4}, {3, 1, 2}}) {
    TestStep s{.op = &op::tile, .attrs = {}, .epilogue = {}, .inputs = {}};
    s.inputs.push_back({.value = Numbers(DType::kI64, {2, 3, 5})});
    s.inputs.push_back({.value = Int64s({3}, repeats), .constant = true});
    ExpectLikeReference(s, "tile");
  }
}

}  // namespace
}  // namespace npukit::devices::cpu
