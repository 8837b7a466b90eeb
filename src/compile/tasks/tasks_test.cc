#include "compile/tasks/tasks.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "ir/builder.h"

namespace npukit::compile {
namespace {

using ir::AttrsOf;
using ir::Builder;
using ir::ValueId;
using ops::Ints;
using tensor::DType;

// A made-up chip and stack; expected values below are worked out by hand from these figures.
target::Profile Chip() {
  target::Profile p;
  p.name = "chip";
  const auto set = [&](const char* key, target::FactValue v) {
    p.facts[key] = {std::move(v), target::Source::kAssumed, "test", "2026-11-30"};
  };
  set("npu.model", std::string("chip"));
  set("npu.stack.name", std::string("stack"));
  set("npu.cores", 2.0);
  set("npu.clock_ghz", 0.5);
  set("npu.dram_gbytes_per_s", 10.0);
  set("npu.vector.bytes_per_cycle", 100.0);
  for (const char* key : {"npu.cube.m_fp16", "npu.cube.k_fp16", "npu.cube.n_fp16"}) set(key, 16.0);
  set("npu.stack.channel_block", 16.0);
  set("npu.stack.merges_groups", 1.0);
  set("npu.stack.fuses.conv2d", std::vector<std::string>{"batch_normalization", "relu", "add"});
  set("npu.stack.tasks.swish", 2.0);
  set("npu.stack.tasks.reshape", 0.0);
  return p;
}

std::vector<StackTask> TasksOf(const ir::Graph& g, const target::Profile& p = Chip()) {
  auto tasks = StackTasks(g, p);
  EXPECT_TRUE(tasks.ok()) << tasks.status().message();
  return tasks.ok() ? *tasks : std::vector<StackTask>();
}

std::string OpsOf(const std::vector<StackTask>& tasks) {
  std::vector<std::string> names;
  for (const StackTask& t : tasks) names.push_back(t.op);
  return Join(names, " ");
}

struct Net {
  Builder b;
  ValueId x = b.Input("x", DType::kF32, {1, 32, 14, 14});

  // 3x3, padded, same size.
  ValueId Conv(ValueId in, std::int64_t from, std::int64_t to, std::int64_t group = 1) {
    const std::int64_t per_group = from / group;
    const auto count = static_cast<std::size_t>(to * per_group * 9);
    const ValueId w = b.Floats("w", {to, per_group, 3, 3}, std::vector<float>(count, 0.5f));
    return b.Op(op::conv2d, {in, w}, AttrsOf({{"pads", Ints{1, 1, 1, 1}}, {"group", group}}));
  }
  ValueId Norm(ValueId in, std::int64_t channels) {
    std::vector<ValueId> inputs = {in};
    for (const char* name : {"scale", "shift", "mean", "variance"}) {
      inputs.push_back(
          b.Floats(name, {channels}, std::vector<float>(static_cast<std::size_t>(channels), 1)));
    }
    return b.Op(op::batch_normalization, inputs);
  }
};

TEST(StackTasks, CountsAConvolutionInBlocksOfTheCube) {
  Net n;
  const auto tasks = TasksOf(n.b.Finish({n.Conv(n.x, 32, 64)}));
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].macs, 14.0 * 14 * 9 * 32 * 64);
  // 196 pixels are 13 rows of blocks, 9 taps of 32 channels 18 deep, 64 channels 4 columns; of the
  // two cores each takes 2 of the columns: 13 * 18 * 2.
  EXPECT_EQ(tasks[0].cube_cycles, 468);
  EXPECT_EQ(tasks[0].read_bytes, 2.0 * 32 * 196);
  EXPECT_EQ(tasks[0].weight_bytes, 2.0 * 9 * 32 * 64);
  EXPECT_EQ(tasks[0].written_bytes, 2.0 * 64 * 196);
  const auto rates = ReadStackRates(Chip());
  ASSERT_TRUE(rates.ok());
  const StackTime t = TimeOf(tasks[0], *rates);
  EXPECT_DOUBLE_EQ(t.cube_ns, 936);                             // 468 cycles at 0.5 GHz
  EXPECT_DOUBLE_EQ(t.dram_ns, (12544 + 36864 + 25088) / 10.0);  // 7449.6
  EXPECT_DOUBLE_EQ(t.ns(), t.dram_ns);
}

TEST(StackTasks, PadsChannelsOfImagesAndOfTheCube) {
  Net n;
  const ValueId picture = n.b.Input("picture", DType::kF32, {1, 3, 14, 14});
  const auto tasks = TasksOf(n.b.Finish({n.Conv(picture, 3, 8)}));
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].read_bytes, 2.0 * 16 * 196);
  EXPECT_EQ(tasks[0].written_bytes, 2.0 * 16 * 196);
  EXPECT_EQ(tasks[0].weight_bytes, 2.0 * 9 * 16 * 16);
  EXPECT_EQ(tasks[0].cube_cycles, 7 * 9);  // 13 rows on two cores, 9 taps of one block
  EXPECT_EQ(tasks[0].macs, 196.0 * 9 * 3 * 8);
}

TEST(StackTasks, GroupsShareBlocksWhereTheStackMergesThem) {
  Net n;
  const ir::Graph g = n.b.Finish({n.Conv(n.x, 32, 32, 32)});  // depthwise
  const auto merged = TasksOf(g);
  EXPECT_EQ(merged[0].macs, 196.0 * 9 * 32);
  EXPECT_EQ(merged[0].cube_cycles, 13 * 9);  // two products of 16 channels, one for each core
  EXPECT_EQ(merged[0].weight_bytes, 2.0 * 2 * 9 * 16 * 16);  // mostly zeros
  target::Profile p = Chip();
  ASSERT_TRUE(p.Set("npu.stack.merges_groups", "0").ok());
  const auto alone = TasksOf(g, p);
  EXPECT_EQ(alone[0].cube_cycles, 16 * 13 * 9);  // 32 products of one channel
}

TEST(StackTasks, MergesFourGroupsOfFourAndTwoOfTwentyFour) {
  Net n;
  const auto four = TasksOf(n.b.Finish({n.Conv(n.x, 32, 32, 8)}));
  EXPECT_EQ(four[0].weight_bytes, 2.0 * 2 * 9 * 16 * 16);
  Net m;
  const ValueId wide = m.b.Input("wide", DType::kF32, {1, 96, 14, 14});
  const auto two = TasksOf(m.b.Finish({m.Conv(wide, 96, 96, 4)}));
  EXPECT_EQ(two[0].weight_bytes, 2.0 * 2 * 9 * 48 * 48);
}

TEST(StackTasks, FusesWhatTheProfileSaysAndNothingElse) {
  Net n;
  ValueId y = n.Norm(n.Conv(n.x, 32, 32), 32);
  y = n.b.Op(op::relu, {n.b.Op(op::add, {y, n.x})});
  y = n.b.Op(op::sigmoid, {y});
  const ir::Graph g = n.b.Finish({y});
  auto tasks = TasksOf(g);
  EXPECT_EQ(OpsOf(tasks), "conv2d sigmoid");
  // x is the convolution's input and the residual: read once. The normalisation's four constants.
  EXPECT_EQ(tasks[0].read_bytes, 2.0 * 32 * 196);
  EXPECT_EQ(tasks[0].weight_bytes, 2.0 * 9 * 32 * 32 + 2.0 * 4 * 32);
  EXPECT_EQ(tasks[0].written_bytes, 2.0 * 32 * 196);
  target::Profile p = Chip();
  ASSERT_TRUE(p.Set("npu.stack.fuses.conv2d", "batch_normalization").ok());
  EXPECT_EQ(OpsOf(TasksOf(g, p)), "conv2d add relu sigmoid");
  ASSERT_TRUE(p.Set("npu.stack.fuses.conv2d", "").ok());
  EXPECT_EQ(OpsOf(TasksOf(g, p)), "conv2d batch_normalization add relu sigmoid");
}

TEST(StackTasks, TheLaterOfTwoProducersTakesTheSum) {
  Net n;
  const ValueId left = n.Conv(n.x, 32, 32), right = n.Conv(n.x, 32, 32);
  const auto tasks = TasksOf(n.b.Finish({n.b.Op(op::add, {left, right})}));
  ASSERT_EQ(OpsOf(tasks), "conv2d conv2d");
  EXPECT_EQ(tasks[0].read_bytes, 2.0 * 32 * 196);
  EXPECT_EQ(tasks[1].read_bytes, 2 * 2.0 * 32 * 196);  // x and what the first one made
}

TEST(StackTasks, DoesNotFuseWhatSomebodyElseReads) {
  Net n;
  const ValueId y = n.Conv(n.x, 32, 32);
  const auto tasks = TasksOf(n.b.Finish({n.b.Op(op::relu, {y}), n.b.Op(op::sigmoid, {y})}));
  EXPECT_EQ(OpsOf(tasks), "conv2d relu sigmoid");
  Net m;
  const ValueId z = m.Conv(m.x, 32, 32);
  EXPECT_EQ(OpsOf(TasksOf(m.b.Finish({z, m.b.Op(op::relu, {z})}))), "conv2d relu");
}

TEST(StackTasks, OneOperatorMayBeSeveralTasksOrNone) {
  Net n;
  ValueId y = n.b.Op(op::swish, {n.x});
  y = n.b.Op(op::reshape, {y, n.b.Ints("shape", {1, 32, 196})});
  y = n.b.Op(op::sigmoid, {y});
  const auto tasks = TasksOf(n.b.Finish({y}));
  ASSERT_EQ(OpsOf(tasks), "swish swish sigmoid");
  const double image = 2.0 * 32 * 196;
  EXPECT_EQ(tasks[0].read_bytes, image);
  EXPECT_EQ(tasks[0].written_bytes, image);
  EXPECT_EQ(tasks[1].read_bytes, 2 * image);  // the sigmoid and x again
  EXPECT_EQ(tasks[1].written_bytes, image);
  EXPECT_EQ(tasks[2].read_bytes, image);  // through the reshape
}

TEST(StackTasks, SlicesThatDivideAValueAreOneSplit) {
  const auto cut = [](const std::vector<std::int64_t>& borders) {
    Net n;
    std::vector<ValueId> pieces;
    for (std::size_t i = 0; i < borders.size(); i += 2) {
      pieces.push_back(
          n.b.Op(op::slice, {n.x, n.b.Ints("starts", {borders[i]}),
                             n.b.Ints("ends", {borders[i + 1]}), n.b.Ints("axes", {1})}));
    }
    return TasksOf(n.b.Finish(pieces));
  };
  const auto halves = cut({0, 16, 16, 1000});
  ASSERT_EQ(OpsOf(halves), "slice");
  EXPECT_EQ(halves[0].read_bytes, 2.0 * 32 * 196);
  EXPECT_EQ(halves[0].written_bytes, 2.0 * 32 * 196);
  EXPECT_EQ(OpsOf(cut({0, 8, 8, 16, 16, 32})), "slice");
  EXPECT_EQ(OpsOf(cut({0, 16, 15, 32})), "slice slice");  // overlap
  EXPECT_EQ(OpsOf(cut({4, 16, 16, 32})), "slice slice");  // not from the start
}

TEST(StackTasks, AConcatOfOneIsNoTask) {
  Net n;
  const ValueId y = n.b.Op(op::concat, {n.x}, AttrsOf({{"axis", std::int64_t{1}}}));
  EXPECT_EQ(OpsOf(TasksOf(n.b.Finish({n.b.Op(op::relu, {y})}))), "relu");
}

TEST(StackTasks, OneOperatorOfTheFileIsOneTask) {
  Net n;
  const ValueId y = n.b.Op(op::sigmoid, {n.x});
  ir::Graph g = n.b.Finish({n.b.Op(op::mul, {y, n.x})});
  EXPECT_EQ(OpsOf(TasksOf(g)), "sigmoid mul");
  g.nodes[1].from = g.nodes[0].from;  // one operator, imported as two
  const auto tasks = TasksOf(g);
  ASSERT_EQ(OpsOf(tasks), "sigmoid");
  EXPECT_EQ(tasks[0].read_bytes, 2.0 * 32 * 196);
  EXPECT_EQ(tasks[0].written_bytes, 2.0 * 32 * 196);
}

TEST(StackTasks, MatrixProducts) {
  Builder b;
  const ValueId x = b.Input("x", DType::kF32, {1, 100});
  const ValueId w = b.Floats("w", {100, 40}, std::vector<float>(4000, 1));
  const auto tasks = TasksOf(b.Finish({b.Op(op::matmul, {x, w})}));
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].macs, 4000);
  EXPECT_EQ(tasks[0].cube_cycles, 7 * 2);  // 7 deep, 3 columns on two cores
  EXPECT_EQ(tasks[0].weight_bytes, 2.0 * 112 * 48);
  EXPECT_EQ(tasks[0].read_bytes, 200);

  Builder c;  // four products of 20 x 16 by 16 x 16, nothing constant
  const ValueId l = c.Input("l", DType::kF32, {4, 20, 16}),
                r = c.Input("r", DType::kF32, {4, 16, 16});
  const auto batch = TasksOf(c.Finish({c.Op(op::matmul, {l, r})}));
  EXPECT_EQ(batch[0].macs, 4.0 * 20 * 16 * 16);
  EXPECT_EQ(batch[0].cube_cycles, 2 * 2);  // two products a core, two rows each
  EXPECT_EQ(batch[0].weight_bytes, 0);
  EXPECT_EQ(batch[0].read_bytes, 2.0 * (4 * 20 * 16 + 4 * 16 * 16));
}

// x (12544 bytes) -> sigmoid -> y -> sigmoid -> z; then x and y again.
std::vector<StackTask> Reread(double cache) {
  Net n;
  const ValueId y = n.b.Op(op::sigmoid, {n.x}), z = n.b.Op(op::sigmoid, {y});
  const ValueId sum = n.b.Op(op::add, {n.b.Op(op::add, {z, n.x}), y});
  target::Profile p = Chip();
  for (const auto& [key, value] :
       {std::pair{"npu.l2_bytes", cache}, {"npu.bw.l2_read", 8.0}, {"npu.bw.l2_write", 4.0}}) {
    p.facts[key] = {value, target::Source::kAssumed, "test", "2026-11-30"};
  }
  return TasksOf(n.b.Finish({sum}), p);
}

TEST(StackTasks, ACacheHoldsWhatWasTouchedLast) {
  const double t = 2.0 * 32 * 196;
  // Room for three tensors: of the first sum, z was touched last and x three tensors ago (x, y, z
  // have passed since); of the second, its sum was touched last, y long ago.
  const auto tasks = Reread(3 * t);
  ASSERT_EQ(OpsOf(tasks), "sigmoid sigmoid add add");
  EXPECT_EQ(tasks[0].read_bytes, t);  // a graph's input is in DRAM
  EXPECT_EQ(tasks[1].read_bytes, 0);  // y is there
  EXPECT_EQ(tasks[2].read_bytes, t);  // x, y, y, z: four tensors ago
  EXPECT_EQ(tasks[3].read_bytes, t);  // y, written when it was made
  EXPECT_EQ(tasks[0].written_bytes, t);
  EXPECT_EQ(tasks[1].written_bytes, 0);  // z is only ever read from the cache
  EXPECT_EQ(tasks[2].written_bytes, 0);
  EXPECT_EQ(tasks[3].written_bytes, t);  // the graph's output
  for (const StackTask& task : tasks) EXPECT_EQ(task.cache_written_bytes, t);
  EXPECT_EQ(tasks[2].cache_read_bytes, 2 * t);

  const auto roomy = Reread(100 * t);
  EXPECT_EQ(roomy[2].read_bytes + roomy[3].read_bytes, 0);
  EXPECT_EQ(roomy[0].written_bytes, 0);
  const auto none = Reread(0);
  EXPECT_EQ(none[2].read_bytes, 2 * t);
  EXPECT_EQ(none[1].written_bytes, t);
}

TEST(StackTasks, TheCachesRatesAreOfAllCores) {
  target::Profile p = Chip();
  for (const auto& [key, value] :
       {std::pair{"npu.l2_bytes", 1e6}, {"npu.bw.l2_read", 8.0}, {"npu.bw.l2_write", 4.0}}) {
    p.facts[key] = {value, target::Source::kAssumed, "test", "2026-11-30"};
  }
  const auto rates = ReadStackRates(p);
  ASSERT_TRUE(rates.ok());
  StackTask task;
  task.cache_read_bytes = 800;
  task.cache_written_bytes = 800;
  EXPECT_DOUBLE_EQ(TimeOf(task, *rates).ns(), 200);  // 4 B/cycle, 2 cores, 0.5 GHz
  task.cache_written_bytes = 8;
  EXPECT_DOUBLE_EQ(TimeOf(task, *rates).ns(), 100);
  p.facts.erase("npu.bw.l2_read");
  EXPECT_EQ(ReadStackRates(p).status().code(), Code::kNotFound);
}

std::vector<StackTask> Blocked(const ir::Graph& g) {
  target::Profile p = Chip();
  EXPECT_TRUE(p.Set("npu.stack.blocked", "conv2d,concat,slice,reduce_mean").ok());
  return TasksOf(g, p);
}

TEST(StackTasks, ConvertsImagesWhereBlocksBeginAndEnd) {
  Net n;
  const ValueId a = n.Conv(n.x, 32, 32), b = n.Conv(n.x, 32, 32);
  const ValueId y = n.b.Op(op::sigmoid, {n.b.Op(op::mul, {a, b})});  // elementwise: as its operands
  const auto tasks = Blocked(n.b.Finish({y}));
  EXPECT_EQ(OpsOf(tasks), "layout conv2d conv2d mul sigmoid layout");
  EXPECT_EQ(tasks[0].read_bytes, 2.0 * 32 * 196);
  Net m;
  const ValueId t =
      m.b.Op(op::transpose, {m.Conv(m.x, 32, 32)}, AttrsOf({{"perm", Ints{0, 1, 3, 2}}}));
  EXPECT_EQ(OpsOf(Blocked(m.b.Finish({m.Conv(t, 32, 32)}))),
            "layout conv2d layout transpose layout conv2d layout");
}

TEST(StackTasks, BlocksAreCutAndJoinedAtTheirBorders) {
  const auto join = [](std::int64_t channels) {
    Net n;
    const ValueId y = n.b.Op(op::concat, {n.Conv(n.x, 32, channels), n.Conv(n.x, 32, channels)},
                             AttrsOf({{"axis", std::int64_t{1}}}));
    return OpsOf(Blocked(n.b.Finish({n.Conv(y, 2 * channels, 32)})));
  };
  EXPECT_EQ(join(32), "layout conv2d conv2d concat conv2d layout");
  EXPECT_EQ(join(24), "layout conv2d conv2d layout layout concat layout conv2d layout");
}

TEST(StackTasks, APixelOfWholeBlocksIsTheSameEitherWay) {
  Net n;
  ValueId y = n.b.Op(op::reduce_mean, {n.Conv(n.x, 32, 32)},
                     AttrsOf({{"axes", Ints{2, 3}}, {"keepdims", std::int64_t{1}}}));
  y = n.b.Op(op::reshape, {y, n.b.Ints("shape", {1, 32})});
  y = n.b.Op(op::matmul, {y, n.b.Floats("w", {32, 10}, std::vector<float>(320, 1))});
  EXPECT_EQ(OpsOf(Blocked(n.b.Finish({y}))), "layout conv2d reduce_mean matmul");
  Net m;  // flattened with its pixels: converted
  y = m.b.Op(op::reshape, {m.Conv(m.x, 32, 32), m.b.Ints("shape", {1, 32 * 196})});
  y = m.b.Op(op::softmax, {y});
  EXPECT_EQ(OpsOf(Blocked(m.b.Finish({y}))), "layout conv2d layout softmax");
}

TEST(StackTasks, RefusesWhatItCannotCount) {
  Net n;
  ir::Graph g = n.b.Finish({n.Conv(n.x, 32, 32)});
  target::Profile p = Chip();
  p.facts.erase("npu.stack.name");
  EXPECT_EQ(StackTasks(g, p).status().code(), Code::kNotFound);
  p = Chip();
  p.facts.erase("npu.cube.k_fp16");
  EXPECT_EQ(StackTasks(g, p).status().code(), Code::kNotFound);
  ir::Graph foreign = g;
  foreign.nodes[0].op = nullptr;
  foreign.nodes[0].foreign_op = "Frobnicate";
  const Status s = StackTasks(foreign, Chip()).status();
  EXPECT_EQ(s.code(), Code::kUnsupported);
  EXPECT_NE(s.message().find("Frobnicate"), std::string::npos) << s.message();
  ir::Graph open = g;
  open.value(open.inputs[0]).type.shape->dims[0] = tensor::Dim::Symbol("batch");
  EXPECT_EQ(StackTasks(open, Chip()).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace npukit::compile
