#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ops/op_def.h"
#include "ops/rules.h"
#include "testing/cases.h"

namespace npukit::ops {
namespace {

using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::Type;
using tensor::Value;

Attrs With(std::vector<std::pair<std::string, AttrValue>> items) {
  Attrs a;
  for (auto& [name, value] : items) a.Set(name, std::move(value));
  return a;
}

Result<Type> InferType(const OpDef& def, const Attrs& attrs, const std::vector<Type>& inputs,
                       std::vector<const Value*> constants = {}) {
  constants.resize(inputs.size(), nullptr);
  Type out;
  NPUKIT_RETURN_IF_ERROR(Infer(def, attrs, {}, inputs, constants, {&out, 1}));
  return out;
}

std::string Inferred(const OpDef& def, const Attrs& attrs, const std::vector<Type>& inputs,
                     std::vector<const Value*> constants = {}) {
  const auto t = InferType(def, attrs, inputs, std::move(constants));
  return t.ok() ? t->ToString() : t.status().message();
}

Type F32(std::vector<Dim> dims) { return Type::Tensor(DType::kF32, Shape(std::move(dims))); }
const Dim N = Dim::Symbol("N"), H = Dim::Symbol("H"), W = Dim::Symbol("W");
Dim D(std::int64_t v) { return Dim::Of(v); }

TEST(Registry, IsSortedAndEveryDefinitionIsComplete) {
  const auto all = AllOps();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const OpDef* a, const OpDef* b) { return a->name < b->name; }));
  std::set<std::string_view> onnx;
  for (const OpDef* def : all) {
    EXPECT_EQ(FindOp(def->name), def);
    EXPECT_FALSE(def->summary.empty()) << def->name;
    EXPECT_EQ(def->infer && def->reference && def->cost, !def->control) << def->name;
    EXPECT_TRUE(def->outputs >= 1 || def->outputs == -1) << def->name;
    if (def->foreign.onnx.empty()) continue;
    EXPECT_TRUE(onnx.insert(def->foreign.onnx).second) << def->foreign.onnx << " is claimed twice";
    EXPECT_EQ(FindOnnxOp(def->foreign.onnx), def);
  }
}

TEST(Registry, FindsNothingForUnknownNames) {
  EXPECT_EQ(FindOp(""), nullptr);
  EXPECT_EQ(FindOp("zzz"), nullptr);
  EXPECT_EQ(FindOp("conv"), nullptr);
  EXPECT_EQ(FindOnnxOp(""), nullptr);
  EXPECT_EQ(FindOnnxOp("conv2d"), nullptr);
}

TEST(Attrs, OrderOfSettingDoesNotMatter) {
  Attrs a = With({{"b", std::int64_t{1}}, {"a", Ints{1, 2}}});
  const Attrs b = With({{"a", Ints{1, 2}}, {"b", std::int64_t{1}}});
  EXPECT_EQ(a, b);
  a.Set("b", std::int64_t{2});
  EXPECT_FALSE(a == b);
  a.Erase("b");
  a.Erase("never there");
  EXPECT_EQ(a.all().size(), 1u);
  EXPECT_EQ(a.Int("b", 7), 7);
  EXPECT_EQ(a.IntList("a"), (Ints{1, 2}));
}

TEST(Attrs, TensorsAreComparedByContent) {
  const auto t = [](float x) {
    return AttrValue(Value::FromVector(DType::kF32, {1}, std::vector<float>{x}));
  };
  EXPECT_EQ(With({{"v", t(1)}}), With({{"v", t(1)}}));
  EXPECT_FALSE(With({{"v", t(1)}}) == With({{"v", t(2)}}));
  EXPECT_FALSE(With({{"v", t(1)}}) == With({{"v", 1.0f}}));
}

TEST(CheckAttrs, NamesTheAttributeExpectedAndFound) {
  EXPECT_EQ(CheckAttrs(op::softmax, With({{"axis", 1.0f}})).message(),
            "softmax: attribute axis: expected int, found float");
  EXPECT_EQ(CheckAttrs(op::softmax, With({{"axes", std::int64_t{1}}})).message(),
            "softmax: unknown attribute axes");
  EXPECT_EQ(CheckAttrs(op::concat, {}).message(), "concat: attribute axis is missing");
  EXPECT_TRUE(CheckAttrs(op::concat, With({{"axis", std::int64_t{1}}})).ok());
}

TEST(Infer, SymbolsPassThroughWhereTheSizeStays) {
  const Type x = F32({N, D(3), H, W});
  EXPECT_EQ(Inferred(op::relu, {}, {x}), "fp32[N, 3, H, W]");
  EXPECT_EQ(Inferred(op::add, {}, {x, F32({D(1), D(3), D(1), D(1)})}), "fp32[N, 3, H, W]");
  EXPECT_EQ(Inferred(op::add, {}, {x, F32({D(1), D(1), D(8), W})}), "fp32[N, 3, 8, W]");
  EXPECT_EQ(Inferred(op::add, {}, {F32({N}), F32({H})}), "fp32[?]");
  const Type w = F32({D(8), D(3), D(3), D(3)});
  EXPECT_EQ(Inferred(op::conv2d, With({{"pads", Ints{1, 1, 1, 1}}}), {x, w}), "fp32[N, 8, H, W]");
  EXPECT_EQ(
      Inferred(op::conv2d, With({{"strides", Ints{1, 2}}, {"auto_pad", "SAME_UPPER"}}), {x, w}),
      "fp32[N, 8, H, ?]");
  EXPECT_EQ(Inferred(op::conv2d, {}, {x, w}), "fp32[N, 8, ?, ?]");
  EXPECT_EQ(Inferred(op::reduce_mean, With({{"axes", Ints{2, 3}}}), {x}), "fp32[N, 3, 1, 1]");
  EXPECT_EQ(Inferred(op::transpose, With({{"perm", Ints{0, 2, 3, 1}}}), {x}), "fp32[N, H, W, 3]");
  EXPECT_EQ(Inferred(op::matmul, {}, {F32({N, H, D(4)}), F32({D(4), W})}), "fp32[N, H, W]");
  EXPECT_EQ(Inferred(op::concat, With({{"axis", std::int64_t{1}}}), {x, F32({N, D(5), H, W})}),
            "fp32[N, 8, H, W]");
  EXPECT_EQ(Inferred(op::shape, {}, {x}), "int64[4]");
}

TEST(Infer, ReshapeWorksOutWhatFollowsFromCopiedSizes) {
  const Value shape = Value::FromVector(DType::kI64, {2}, std::vector<std::int64_t>{0, -1});
  EXPECT_EQ(Inferred(op::reshape, {}, {F32({N, D(3), D(4)}), shape.type()}, {nullptr, &shape}),
            "fp32[N, 12]");
  EXPECT_EQ(Inferred(op::reshape, {}, {F32({N, D(3), W}), shape.type()}, {nullptr, &shape}),
            "fp32[N, ?]");
  EXPECT_EQ(Inferred(op::reshape, {}, {F32({N, D(3)}), Type::Tensor(DType::kI64, {3})}),
            "fp32[?, ?, ?]");
}

TEST(Infer, UnknownTypesAreNoError) {
  EXPECT_EQ(Inferred(op::relu, {}, {Type{}}), Type{}.ToString());
  EXPECT_EQ(InferType(op::conv2d, {}, {Type{}, Type{}, Type{}})->shape, std::nullopt);
  EXPECT_EQ(InferType(op::resize, {}, {Type{}, Type{}, Type{}})->shape, std::nullopt);
}

// An input of which nothing is known may be given: no rule may take it for absent and refuse, or
// fix a size that it decides.
TEST(Infer, WhatIsNotKnownIsNotAbsent) {
  const Type x = Type::Tensor(DType::kF32, {2, 1, 4});
  EXPECT_EQ(InferType(op::squeeze, {}, {x, Type{}})->shape, std::nullopt);
  EXPECT_EQ(InferType(op::unsqueeze, {}, {x, Type{}})->shape, std::nullopt);
  EXPECT_EQ(
      InferType(op::quantize_linear, {}, {x, Type::Tensor(DType::kF32, tensor::Dims{}), Type{}})
          ->dtype,
      DType::kUndefined);
  EXPECT_EQ(InferType(op::dft, {}, {Type::Tensor(DType::kF32, {1, 8, 1}), Type{}})
                ->shape->dims[1]
                .known(),
            false);
  const Type table = Type::Tensor(DType::kF32, {8, 2});
  EXPECT_TRUE(InferType(op::rotary_embedding, {},
                        {Type::Tensor(DType::kF32, {1, 2, 3, 4}), table, table, Type{}})
                  .ok());
}

TEST(Infer, RefusesResultsTooLargeToAddress) {
  const std::int64_t big = std::int64_t{1} << 40;
  const Status s =
      InferType(op::add, {},
                {Type::Tensor(DType::kF32, {big, 1}), Type::Tensor(DType::kF32, {1, big})})
          .status();
  EXPECT_EQ(s.code(), Code::kResourceExhausted) << s.message();
  EXPECT_EQ(InferType(op::relu, {}, {Type::Tensor(DType::kF32, {0, big, big})}).status().code(),
            Code::kResourceExhausted);
}

TEST(Infer, RefusesSequencesWhereTensorsAreMeant) {
  const Type seq = Type::Sequence(Type::Tensor(DType::kF32, {1}));
  EXPECT_EQ(Inferred(op::relu, {}, {seq}),
            "relu: input 0 is " + seq.ToString() + ", expected a tensor");
  EXPECT_EQ(Inferred(op::identity, {}, {seq}), seq.ToString());
}

TEST(Evaluate, RefusesSizesWhoseProductOverflowsEvenWithoutElements) {
  const std::int64_t big = std::int64_t{1} << 40;
  const Value x = Value::Borrow(DType::kF32, {0, big, big, big}, nullptr);
  const Value w = Value::Borrow(DType::kF32, {1, big, 1, 1}, nullptr);
  for (const std::vector<Value>& inputs : {std::vector<Value>{x, w}, std::vector<Value>{w, x}}) {
    testing::Results results;
    EXPECT_EQ(Evaluate(op::conv2d, {}, {}, inputs, results).code(), Code::kResourceExhausted);
  }
}

TEST(Evaluate, HandsSequencesThrough) {
  const Type element = Type::Tensor(DType::kF32, std::optional<Shape>());
  const Value seq = Value::Sequence(element, {Value::Scalar(1), Value::Scalar(2)});
  testing::Results results;
  ASSERT_TRUE(Evaluate(op::identity, {}, {}, {&seq, 1}, results).ok());
  ASSERT_EQ(results.values.size(), 1u);
  ASSERT_TRUE(results.values[0].is_sequence());
  EXPECT_EQ(results.values[0].items().size(), 2u);
}

TEST(Evaluate, PassesOnTheCallersFailureToGiveMemory) {
  class NoMemory final : public EvalContext {
    Result<Value> Output(int, DType, const tensor::Dims&) override {
      return Status(Code::kOutOfMemory, "none left");
    }
    Status SetOutput(int, Value) override { return Internal("not asked"); }
  };
  const Value x = Value::Scalar(1);
  NoMemory none;
  EXPECT_EQ(Evaluate(op::relu, {}, {}, {&x, 1}, none).code(), Code::kOutOfMemory);
}

TEST(Cost, CountsWorkAndBytes) {
  const std::vector<Type> in{Type::Tensor(DType::kF32, {1, 3, 8, 8}),
                             Type::Tensor(DType::kF32, {4, 3, 3, 3}), Type{},
                             Type::Tensor(DType::kF32, {4, 1, 1})};
  const std::vector<Type> out{Type::Tensor(DType::kF32, {1, 4, 6, 6})};
  const std::vector<EpilogueStep> steps{{&op::add, {}, 3, false}, {&op::relu, {}, -1, false}};
  const OpCost c = Cost(op::conv2d, {}, steps, in, out);
  EXPECT_EQ(c.macs, 4 * 6 * 6 * 27);
  EXPECT_EQ(c.vector_ops, 2 * 4 * 6 * 6);
  EXPECT_EQ(c.bytes, 4 * (3 * 64 + 4 * 27 + 4 * 36 + 4));
  const std::vector<Type> mm{Type::Tensor(DType::kF16, {2, 5, 7}),
                             Type::Tensor(DType::kF16, {7, 3})};
  const std::vector<Type> mm_out{Type::Tensor(DType::kF16, {2, 5, 3})};
  EXPECT_EQ(Cost(op::matmul, {}, {}, mm, mm_out).macs, 2 * 5 * 7 * 3);
  EXPECT_EQ(Cost(op::matmul, {}, {}, mm, mm_out).bytes, 2 * (70 + 21 + 30));
  // Transposed convolution: every input element meets every weight of its channel.
  const std::vector<Type> ct{Type::Tensor(DType::kF32, {1, 2, 4, 4}),
                             Type::Tensor(DType::kF32, {2, 3, 2, 2})};
  const std::vector<Type> ct_out{Type::Tensor(DType::kF32, {1, 3, 8, 8})};
  EXPECT_EQ(Cost(op::conv_transpose2d, With({{"strides", Ints{2, 2}}}), {}, ct, ct_out).macs,
            2 * 16 * 3 * 4);
}

TEST(Elements, IntegersKeepTheirBitsWhateverTheWidth) {
  for (const DType t :
       {DType::kI4, DType::kU4, DType::kI2, DType::kU2, DType::kI8, DType::kU8, DType::kI16,
        DType::kU16, DType::kI32, DType::kU32, DType::kI64, DType::kU64}) {
    auto v = Value::Allocate(t, {5});
    ASSERT_TRUE(v.ok());
    std::fill_n(static_cast<std::uint8_t*>(v->mutable_data()), v->byte_size(), 0xA5);
    for (std::int64_t i = 0; i < 5; ++i) StoreBits(*v, i, static_cast<std::uint64_t>(-i));
    for (std::int64_t i = 0; i < 5; ++i) {
      const int bits = tensor::DTypeBits(t);
      const auto mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
      EXPECT_EQ(LoadBits(*v, i) & mask, static_cast<std::uint64_t>(-i) & mask)
          << tensor::DTypeName(t) << " " << i;
      // Sign extension agrees with the tensor layer's own reading of the element.
      EXPECT_EQ(
          static_cast<double>(tensor::IsSigned(t)
                                  ? static_cast<double>(static_cast<std::int64_t>(LoadBits(*v, i)))
                                  : static_cast<double>(LoadBits(*v, i))),
          tensor::ElementAsDouble(*v, i))
          << tensor::DTypeName(t) << " " << i;
    }
  }
}

TEST(Elements, PackedTypesMoveElementByElement) {
  auto x = Value::Allocate(DType::kI4, {2, 3});
  ASSERT_TRUE(x.ok());
  for (std::int64_t i = 0; i < 6; ++i) StoreBits(*x, i, static_cast<std::uint64_t>(i - 3));
  testing::Results results;
  ASSERT_TRUE(Evaluate(op::transpose, {}, {}, {&*x, 1}, results).ok());
  EXPECT_EQ(tensor::ToInt64s(results.values[0]), (std::vector<std::int64_t>{-3, 0, -2, 1, -1, 2}));
}

}  // namespace
}  // namespace npukit::ops
