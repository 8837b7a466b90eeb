#include "devices/npu_sim/blob/blob.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "devices/npu_sim/blob/npu_blob_generated.h"

namespace npukit::npu {
namespace {

using tensor::DType;
using tensor::Type;

// A legal program with one instruction of every kind.
Program Legal() {
  Program p;
  p.buffers = {.l1_bytes = 65536,
               .l0a_bytes = 32768,
               .l0b_bytes = 32768,
               .l0c_bytes = 65536,
               .ub_bytes = 65536};
  p.workspace_bytes = 4096;
  p.weight_bytes = {1024};
  p.inputs = {Type::Tensor(DType::kF32, tensor::Dims{4, 100})};
  p.outputs = {Type::Tensor(DType::kF16, tensor::Dims{1000})};
  Copy in;
  in.src = {.mem = kInput, .step = {400, 0}};
  in.dst = {.mem = kUb};
  in.bytes = 400;
  Copy weights;
  weights.src = {.mem = kWeight};
  weights.dst = {.mem = kL1};
  weights.bytes = 1024;
  p.Emit(weights);
  const Code prologue = p.CodeSince(0);
  const std::size_t body = p.code.size();
  p.Emit(in);
  p.Emit(Fill{.mem = kL1, .len = 100});
  p.Emit(Load3d{.dst_m1_stride = 512,
                .src_c1_stride = 512,
                .height = 4,
                .width = 4,
                .out_w = 4,
                .m_count = 16,
                .k_count = 1});
  p.Emit(Load2d{});
  p.Emit(Mmad{.m = 16, .k1 = 1, .n1 = 1, .init = kBias, .bias_addr = 64});
  p.Emit(L0cToUb{.rows = 16, .n1 = 1});
  p.Emit(Unary{.len = 16});
  p.Emit(Binary{.len = 16});
  p.Emit(Window{.count = {1, 2, 2}});
  p.Emit(Reduce{.len = 16});
  p.Emit(Move{});
  Copy out;
  out.src = {.mem = kUb};
  out.dst = {.mem = kOutput, .step = {500, 0}};
  out.bytes = 500;
  p.Emit(out);
  p.tasks.push_back({"conv", {{4, 1, prologue, p.CodeSince(body)}}, 12345});
  return p;
}

// Words of the n-th instruction of the body.
std::int32_t* Words(Program& p, int n) {
  std::int32_t* w = p.code.data() + p.tasks[0].groups[0].body.begin;
  for (; n > 0; --n) w += 1 + OperandWordsOf(*w);
  return w;
}

TEST(Blob, PackAndUnpackKeepEverything) {
  const Program p = Legal();
  ASSERT_TRUE(Check(p).ok()) << Check(p).message();
  const std::vector<std::byte> bytes = Pack(p);
  for (const std::size_t shift : {0u, 1u}) {  // a blob may lie at any address
    std::vector<std::byte> at(bytes.size() + 1);
    for (std::size_t i = 0; i < bytes.size(); ++i) at[i + shift] = bytes[i];
    const auto q = Unpack(std::span(at).subspan(shift, bytes.size()));
    ASSERT_TRUE(q.ok()) << q.status().message();
    EXPECT_EQ(ToText(*q), ToText(p));
    EXPECT_EQ(q->code, p.code);
    EXPECT_EQ(q->weight_bytes, p.weight_bytes);
    EXPECT_EQ(q->workspace_bytes, p.workspace_bytes);
    EXPECT_EQ(q->inputs, p.inputs);
    EXPECT_EQ(q->outputs, p.outputs);
    EXPECT_EQ(q->macs(), 12345u);
    EXPECT_EQ(q->buffers.ub_bytes, p.buffers.ub_bytes);
    EXPECT_EQ(q->accumulator_fp16_bits, 32u);
  }
}

TEST(Blob, EveryTruncationIsRefused) {
  const std::vector<std::byte> bytes = Pack(Legal());
  for (std::size_t n = 0; n < bytes.size(); n += 7) {
    const auto q = Unpack(std::span(bytes).first(n));
    EXPECT_FALSE(q.ok() && Check(*q).ok() && q->code == Legal().code) << n;
  }
}

// Small blobs that name one part from many places.
TEST(Blob, SharedPartsDoNotUnfoldWithoutEnd) {
  using flatbuffers::FlatBufferBuilder;
  using flatbuffers::Offset;
  constexpr std::size_t kTimes = 5000;
  struct Parts {
    std::vector<Offset<fb::Tensor>> inputs, outputs;
    std::vector<Offset<fb::Task>> tasks;
  };
  const auto tensors = [](FlatBufferBuilder& b, std::size_t times) {
    const auto dims = b.CreateVector(std::vector<std::int64_t>(16, 1));
    return std::vector(times, fb::CreateTensor(b, static_cast<std::uint8_t>(DType::kF32), dims));
  };
  const struct {
    std::string field;  // what the message must name
    std::function<void(FlatBufferBuilder&, Parts&)> fill;
  } cases[] = {
      {"tasks", [&](FlatBufferBuilder& b, Parts& p) { p.tasks.assign(kTimes, fb::CreateTask(b)); }},
      {"task 0 name",
       [&](FlatBufferBuilder& b, Parts& p) {
         p.tasks.assign(kTimes, fb::CreateTask(b, b.CreateString(std::string(40000, 'x'))));
       }},
      {"task 0 groups",
       [&](FlatBufferBuilder& b, Parts& p) {
         const std::vector<fb::Group> groups(2000);
         p.tasks.assign(kTimes, fb::CreateTask(b, 0, b.CreateVectorOfStructs(groups)));
       }},
      {"inputs", [&](FlatBufferBuilder& b, Parts& p) { p.inputs = tensors(b, kTimes); }},
      {"outputs", [&](FlatBufferBuilder& b, Parts& p) { p.outputs = tensors(b, kTimes); }},
      {"dims", [&](FlatBufferBuilder& b, Parts& p) { p.inputs = tensors(b, 40); }},
  };
  for (const auto& c : cases) {
    FlatBufferBuilder b;
    Parts p;
    c.fill(b, p);
    const auto inputs = b.CreateVector(p.inputs), outputs = b.CreateVector(p.outputs);
    const auto tasks = b.CreateVector(p.tasks);
    fb::FinishBlobBuffer(
        b, fb::CreateBlob(b, kBlobVersion, 32, 0, 0, 0, 0, 0, 0, 0, inputs, outputs, tasks, 0));
    const auto q = Unpack(std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize())));
    ASSERT_FALSE(q.ok()) << c.field;
    EXPECT_EQ(q.status().code(), npukit::Code::kDataCorrupt);
    EXPECT_NE(q.status().message().find(c.field + ": expected parts that fit"), std::string::npos)
        << c.field << ": " << q.status().message();
  }
}

TEST(Check, NamesTaskInstructionAndOperand) {
  Program p = Legal();
  Words(p, 6)[4] = 1 << 20;  // unary dst_addr
  const Status s = Check(p);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.code(), npukit::Code::kDataCorrupt);
  EXPECT_EQ(s.message(),
            "npu_sim blob: task 0 (conv) group 0 instruction 6 unary: dst: expected at most 65536 "
            "bytes, found 1048608");
}

// One operand at a time set to a value that would leave a buffer or has no meaning.
TEST(Check, RefusesEveryWayOutOfABuffer) {
  struct Case {
    const char* what;
    int instruction;
    int word;  // 1 is the first operand
    std::int32_t value;
  };
  const Case cases[] = {
      {"copy dst memory", 0, 1, 9},
      {"copy dst is an input", 0, 1, 0},
      {"copy dst is a weight", 0, 1, 2},
      {"copy dst past the end", 0, 3, 65137},
      {"copy dst negative", 0, 3, -1},
      {"copy step on chip", 0, 4, 4},
      {"copy src index", 0, 7, 1},
      {"copy src negative index", 0, 7, -1},
      {"copy src last tile", 0, 8, 4},
      {"copy src step", 0, 9, 401},
      {"copy negative step", 0, 9, -400},
      {"copy count 0", 0, 11, 0},
      {"copy count negative", 0, 12, -1},
      {"copy bytes 0", 0, 20, 0},
      {"copy bytes negative", 0, 20, -5},
      {"copy src output", 0, 6, 1},
      {"fill memory", 1, 1, 6},
      {"fill end", 1, 2, 65400},
      {"fill odd", 1, 2, 1},
      {"fill type", 1, 8, 4},
      {"fill len", 1, 7, 1 << 30},
      {"load3d dst", 2, 1, 32768},
      {"load3d dst align", 2, 1, 256},
      {"load3d src", 2, 3, 65536 - 256},
      {"load3d src align", 2, 3, 16},
      {"load3d height", 2, 5, 0},
      {"load3d width", 2, 6, 2000},
      {"load3d pad", 2, 7, 256},
      {"load3d kernel", 2, 9, 0},
      {"load3d stride", 2, 11, 64},
      {"load3d dilation", 2, 13, 256},
      {"load3d out_w", 2, 15, 0},
      {"load3d m_start", 2, 16, -1},
      {"load3d m_count", 2, 17, 100000},
      {"load3d k_start", 2, 18, 200},
      {"load3d k_count", 2, 19, 65},
      {"load2d dst memory", 3, 1, 8},
      {"load2d dst", 3, 2, 32768},
      {"load2d src", 3, 3, 65536},
      {"load2d count", 3, 5, 65},
      {"load2d transpose", 3, 10, 2},
      {"mmad type", 4, 1, 1},
      {"mmad a", 4, 2, 32768},
      {"mmad m", 4, 8, 4096},
      {"mmad m stride", 4, 8, 17},
      {"mmad k1", 4, 9, 65},
      {"mmad n1", 4, 10, 2},
      {"mmad init", 4, 11, 3},
      {"mmad bias", 4, 12, 65533},
      {"l0c_to_ub rows", 5, 5, 2049},
      {"l0c_to_ub n1", 5, 6, 0},
      {"l0c_to_ub type", 5, 8, 2},
      {"l0c_to_ub scale", 5, 10, 65536},
      {"unary op", 6, 1, 13},
      {"unary type", 6, 2, 4},
      {"unary src", 6, 5, -2},
      {"unary len", 6, 18, 0},
      {"binary op", 7, 1, 6},
      {"binary src1", 7, 7, 65536},
      {"binary scalar", 7, 25, 2},
      {"window op", 8, 1, 3},
      {"window src", 8, 4, 65536},
      {"window weight", 8, 5, 65510},
      {"window kernel", 8, 8, 0},
      {"window bias", 8, 7, 65500},
      {"window count", 8, 14, 4000},
      {"reduce op", 9, 1, 4},
      {"reduce rows", 9, 15, 0},
      {"reduce len", 9, 17, 40000},
      {"move type", 10, 1, 2},
      {"move dst", 10, 3, 65536},
      {"header", 6, 0, 99},
      {"header flags", 6, 0, HeaderWord<Unary>() | (1 << 16)},
  };
  for (const Case& c : cases) {
    Program p = Legal();
    Words(p, c.instruction)[c.word] = c.value;
    EXPECT_FALSE(Check(p).ok()) << c.what;
  }
}

TEST(Check, RefusesBadStretchesAndHugeWork) {
  const auto refused = [](const std::function<void(Program&)>& spoil) {
    Program p = Legal();
    spoil(p);
    return !Check(p).ok();
  };
  EXPECT_TRUE(refused([](Program& p) { p.tasks[0].groups[0].body.count -= 1; }));
  EXPECT_TRUE(refused([](Program& p) { p.tasks[0].groups[0].body.begin += 1; }));
  EXPECT_TRUE(refused([](Program& p) { p.tasks[0].groups[0].body.begin = 4000000000u; }));
  EXPECT_TRUE(refused([](Program& p) { p.tasks[0].groups[0].tiles0 = 0; }));
  EXPECT_TRUE(refused([](Program& p) { p.tasks[0].groups[0].tiles1 = 4000000000u; }));
  EXPECT_TRUE(
      refused([](Program& p) { p.tasks[0].groups[0].prologue = p.tasks[0].groups[0].body; }));
  EXPECT_TRUE(refused([](Program& p) { p.accumulator_fp16_bits = 24; }));
  EXPECT_TRUE(refused([](Program& p) { p.buffers.ub_bytes = 100; }));
  EXPECT_TRUE(refused([](Program& p) { p.weight_bytes.clear(); }));
  EXPECT_TRUE(refused([](Program& p) { p.inputs.clear(); }));
  EXPECT_TRUE(refused([](Program& p) {
    Words(p, 6)[6] = Words(p, 6)[7] =
        1 << 30;  // counts with strides 0: no byte too far, but no end either
  }));
}

Group Tiles(std::uint32_t tiles0, std::uint32_t tiles1) {
  Group g;
  g.tiles0 = tiles0;
  g.tiles1 = tiles1;
  return g;
}

// One body of 64 elements for all groups, and a prologue that fills `prologue_bytes`.
using Groups = std::vector<Group>;
Program Tiled(std::vector<Groups> tasks, std::int32_t prologue_bytes = 0) {
  Program p;
  p.buffers = {.l1_bytes = 1 << 20, .ub_bytes = 65536};
  if (prologue_bytes > 0) p.Emit(Fill{.mem = kL1, .len = prologue_bytes, .type = kI8});
  const Code prologue = p.CodeSince(0);
  const std::size_t begin = p.code.size();
  p.Emit(Unary{.len = 64});
  const Code body = p.CodeSince(begin);
  for (Groups& groups : tasks) {
    for (Group& g : groups) {
      g.prologue = prologue;
      g.body = body;
    }
    p.tasks.push_back({"t", groups, 0});
  }
  return p;
}

std::string Refusal(const Program& p) {
  const Status s = Check(p);
  EXPECT_TRUE(s.ok() || s.code() == npukit::Code::kDataCorrupt);
  return std::string(s.message());
}

TEST(Check, RefusesEmptyBodies) {
  for (const std::uint32_t tiles : {1u, 4u, UINT32_MAX}) {
    Program p = Tiled({Groups{Tiles(tiles, tiles)}}, 1000);
    p.tasks[0].groups[0].body.count = 0;
    EXPECT_EQ(Refusal(p),
              "npu_sim blob: task 0 (t) group 0: body: expected at least one "
              "instruction");
  }
}

// A body of 64 elements costs 64 + 64 (the instruction) + 64 (the tile): 2^42 of it are 2^42 / 192
// = 2.29e10 tiles.
TEST(Check, CountsTilesWhateverTheyDo) {
  EXPECT_EQ(Refusal(Tiled({Groups{Tiles(1 << 20, 21000)}})), "");  // 2.20e10
  EXPECT_NE(Refusal(Tiled({Groups{Tiles(1 << 20, 22000)}})), "");  // 2.31e10
  EXPECT_NE(Refusal(Tiled({Groups{Tiles(UINT32_MAX, UINT32_MAX)}})), "");
}

TEST(Check, SumsWorkOverGroupsAndTasks) {
  const Group most = Tiles(1 << 20, 12000);  // 1.26e10 tiles: more than half
  EXPECT_EQ(Refusal(Tiled({Groups{most}})), "");
  EXPECT_NE(Refusal(Tiled({Groups{most, most}})).find("task 0 (t) group 1"), std::string::npos);
  EXPECT_NE(Refusal(Tiled({Groups{most}, Groups{most}})).find("task 1 (t) group 0"),
            std::string::npos);
  // 4 * 2^62 tiles are 0 in 64 bits.
  const Group half = Tiles(1u << 31, 1u << 31);
  EXPECT_NE(Refusal(Tiled({Groups{half, half, half, half}})), "");
}

// 2^19 bytes in each of 2^23 tiles are 2^42, and the body comes on top.
TEST(Check, CountsThePrologueForEveryTile) {
  EXPECT_EQ(Refusal(Tiled({Groups{Tiles(1 << 22, 1)}}, 1 << 19)), "");
  EXPECT_NE(Refusal(Tiled({Groups{Tiles(1 << 22, 2)}}, 1 << 19)), "");
  EXPECT_EQ(Refusal(Tiled({Groups{Tiles(1 << 22, 2)}})), "");
}

TEST(Isa, WordCountsAreThoseOfThePage) {
  // docs/npu_semantics.md, section 4.
  EXPECT_EQ(kOperandWords<Copy>, 20);
  EXPECT_EQ(kOperandWords<Fill>, 9);
  EXPECT_EQ(kOperandWords<Load3d>, 19);
  EXPECT_EQ(kOperandWords<Load2d>, 10);
  EXPECT_EQ(kOperandWords<Mmad>, 12);
  EXPECT_EQ(kOperandWords<L0cToUb>, 10);
  EXPECT_EQ(kOperandWords<Unary>, 19);
  EXPECT_EQ(kOperandWords<Binary>, 25);
  EXPECT_EQ(kOperandWords<Window>, 20);
  EXPECT_EQ(kOperandWords<Reduce>, 17);
  EXPECT_EQ(kOperandWords<Move>, 19);
}

}  // namespace
}  // namespace npukit::npu
