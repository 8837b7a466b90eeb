// A small good program, what hostile bytes made from it may do (nothing), and the life of a work:
// waits, failure, cancelling, time, many at once. The program is max(x, 0), or the empty one for a
// device that runs no operator.
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "base/text.h"
#include "hal/signal_fence.h"
#include "harness.h"
#include "ir/builder.h"

namespace npukit::conformance {
namespace {

using tensor::DType;
using tensor::Value;

constexpr unsigned kSeed = 20260101;
const tensor::Dims kDims = {1, 16, 4, 4};

ir::Graph ReluGraph() {
  ir::Builder b;
  const ir::ValueId x = b.Input("x", DType::kF32, kDims);
  return b.Finish({b.Op(op::relu, {x})});
}

// Quarters: exact in fp16 as in fp32.
Value Quarters() {
  std::vector<float> v(256);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = (static_cast<float>(i % 64) - 32) * 0.25f;
  return Value::FromVector(DType::kF32, kDims, v);
}

Result<std::unique_ptr<Program>> LoadSmall(const Subject& s, bool virtual_clock = true) {
  const ir::Graph relu = ReluGraph();
  if (s.lowering->Supports(relu, relu.nodes[0], s.profile).supported)
    return LoadGraph(s, relu, virtual_clock);
  return LoadGraph(s, ir::Graph(), virtual_clock);
}

std::vector<Value> SmallInputs(const Program& p) {
  return p.inputs.empty() ? std::vector<Value>() : std::vector{Quarters()};
}

Status CheckAnswer(const Run& run) {
  if (run.work.outputs.empty()) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const Value y, run.Output(0));
  const Value x = Quarters();
  for (std::size_t i = 0; i < 256; ++i) {
    const float expected = x.as<float>()[i] > 0 ? x.as<float>()[i] : 0;
    if (y.as<float>()[i] != expected)
      return Internal(Cat("element ", i, ": expected ", expected, ", found ", y.as<float>()[i]));
  }
  return OkStatus();
}

Outcome RunsAGoodProgram(const Subject& s) {
  for (const bool virtual_clock : {true, false}) {
    auto program = LoadSmall(s, virtual_clock);
    CONFORM_OK(program.status());
    Run run;
    CONFORM_OK(run.Fill(**program, SmallInputs(**program)));
    for (int i = 0; i < 3; ++i) CONFORM_OK(Execute(**program, run.work));
    CONFORM_OK(CheckAnswer(run));
  }
  return Outcome::Pass();
}

Outcome RefusesTruncatedBlobs(const Subject& s) {
  auto program = LoadSmall(s);
  CONFORM_OK(program.status());
  const std::vector<std::byte>& blob = (*program)->lowered.blob;
  for (std::size_t n = 0; n < blob.size(); n += n < 64 || n + 64 > blob.size() ? 1 : 37) {
    // A copy of its own, so that sanitizers see a read past the end.
    const std::vector<std::byte> cut(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(n));
    auto loaded = (*program)->device->Load(cut, (*program)->weights);
    if (loaded.ok())
      return Outcome::Fail(Cat("the first ", n, " of ", blob.size(), " bytes were loaded"));
  }
  return Outcome::Pass();
}

// A flipped bit may leave a valid program of other values. It must not crash, hang or write outside
// its bindings.
Outcome SurvivesFlippedBlobs(const Subject& s) {
  auto program = LoadSmall(s);
  CONFORM_OK(program.status());
  Program& p = **program;
  std::mt19937 random(kSeed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (int i = 0; i < 400 && std::chrono::steady_clock::now() < end; ++i) {
    std::vector<std::byte> blob = p.lowered.blob;
    const std::size_t flips = i % 4 == 3 ? 8 : 1;
    for (std::size_t k = 0; k < flips; ++k)
      blob[random() % blob.size()] ^= static_cast<std::byte>(1u << random() % 8);
    auto loaded = p.device->Load(blob, p.weights);
    if (!loaded.ok()) continue;
    auto outputs = (*loaded)->Prepare(p.inputs);
    if (!outputs.ok() || !(*outputs == p.outputs) || (*loaded)->scratch_bytes() > (1u << 26))
      continue;
    Program flipped = p;
    flipped.executable = *loaded;
    Run run;
    CONFORM_OK(run.Fill(flipped, SmallInputs(p)));
    // Another count of tiles may be a valid program of hours: cancelling ends it.
    std::atomic<bool> cancel{false};
    run.work.cancel = &cancel;
    auto fence = flipped.device->Submit(run.work);
    if (!fence.ok()) continue;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (!(*fence)->done() && std::chrono::steady_clock::now() < patience)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    cancel = true;
    const Status status = (*fence)->Wait();
    CONFORM(status.ok() || !status.message().empty());
  }
  return Outcome::Pass();
}

Outcome RefusesMissingWeights(const Subject& s) {
  ir::Builder b;
  const ir::ValueId x = b.Input("x", DType::kF32, {1, 16, 4, 4});
  const std::vector<float> w(16 * 16, 0.25f);
  const ir::Graph graph = b.Finish({b.Op(op::conv2d, {x, b.Floats("w", {16, 16, 1, 1}, w)})});
  if (!s.lowering->Supports(graph, graph.nodes[0], s.profile).supported)
    return Outcome::Pass();  // nothing with weights
  auto program = LoadGraph(s, graph, true);
  CONFORM_OK(program.status());
  CONFORM(!(*program)->weights.empty());
  CONFORM(!(*program)->device->Load((*program)->lowered.blob, {}).ok());
  std::vector<hal::WeightView> shorter = (*program)->weights;
  shorter[0].bytes = shorter[0].bytes.first(shorter[0].bytes.size() / 2);
  CONFORM(!(*program)->device->Load((*program)->lowered.blob, shorter).ok());
  return Outcome::Pass();
}

Outcome PrepareRefusesOtherTypes(const Subject& s) {
  auto program = LoadSmall(s);
  CONFORM_OK(program.status());
  hal::Executable& e = *(*program)->executable;
  const auto type = [](DType t, tensor::Dims d) { return tensor::Type::Tensor(t, std::move(d)); };
  const std::vector<std::vector<tensor::Type>> wrong = {
      {type(DType::kF32, {3}), type(DType::kF32, {3})},
      {type(DType::kString, kDims)},
      {tensor::Type()}};
  for (const auto& types : wrong) CONFORM(!e.Prepare(types).ok());
  return Outcome::Pass();
}

Outcome RefusesWrongBindings(const Subject& s) {
  auto program = LoadSmall(s);
  CONFORM_OK(program.status());
  Program& p = **program;
  Run good;
  CONFORM_OK(good.Fill(p, SmallInputs(p)));
  const auto refused = [&](const hal::Work& work) { return !Execute(p, work).ok(); };
  hal::Work extra = good.work;
  auto spare = p.device->Allocate({.size_bytes = 64});
  CONFORM_OK(spare.status());
  extra.inputs.push_back({*spare, 0, tensor::Type::Tensor(DType::kF32, tensor::Dims{16})});
  CONFORM(refused(extra));
  if (p.inputs.empty()) return Outcome::Pass();
  hal::Work missing = good.work;
  missing.outputs.clear();
  CONFORM(refused(missing));
  for (const bool input : {true, false}) {
    const auto spoil = [&](const std::function<void(hal::Binding&)>& f) {
      hal::Work work = good.work;
      f(input ? work.inputs[0] : work.outputs[0]);
      return refused(work);
    };
    CONFORM(spoil([](hal::Binding& b) { b.buffer = nullptr; }));
    CONFORM(spoil([&](hal::Binding& b) { b.buffer = *spare; }));            // too small
    CONFORM(spoil([](hal::Binding& b) { b.offset = 4; }));                  // its end is outside
    CONFORM(spoil([](hal::Binding& b) { b.offset = ~std::uint64_t{3}; }));  // wraps around
    CONFORM(spoil([](hal::Binding& b) { b.type = tensor::Type::Tensor(DType::kF16, kDims); }));
    CONFORM(spoil(
        [](hal::Binding& b) { b.type = tensor::Type::Tensor(DType::kF32, tensor::Dims{16}); }));
  }
  if (p.executable->scratch_bytes() > 0) {
    hal::Work work = good.work;
    work.scratch = {};
    CONFORM(refused(work));
  }
  CONFORM_OK(Execute(p, good.work));
  return Outcome::Pass();
}

Outcome SubmitReturnsBeforeItsWaitsAreDone(const Subject& s) {
  auto program = LoadSmall(s);
  CONFORM_OK(program.status());
  Run run;
  CONFORM_OK(run.Fill(**program, SmallInputs(**program)));
  auto gate = std::make_shared<hal::SignalFence>();
  run.work.waits = {gate};
  auto fence = (*program)->device->Submit(run.work);  // would hang here if it blocked
  CONFORM_OK(fence.status());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CONFORM(!(*fence)->done());
  gate->Signal(OkStatus(), {.start_ns = 0, .end_ns = 5'000'000, .kind = target::Kind::kModelled});
  CONFORM_OK((*fence)->Wait());
  CONFORM((*fence)->done());
  CONFORM_OK(CheckAnswer(run));
  const hal::Timing t = (*fence)->timing();
  CONFORM(t.kind == target::Kind::kModelled);
  CONFORM(t.start_ns >=
          5'000'000);  // on the virtual clock it starts when what it waited for was over
  CONFORM(t.end_ns >= t.start_ns);
  return Outcome::Pass();
}

Outcome AFailedWaitFailsTheWork(const Subject& s) {
  auto program = LoadSmall(s);
  CONFORM_OK(program.status());
  Run run;
  CONFORM_OK(run.Fill(**program, SmallInputs(**program)));
  run.work.waits = {hal::DoneFence(OkStatus(), {}),
                    hal::DoneFence(Status(Code::kDeviceLost, "gone"), {})};
  const Status status = Execute(**program, run.work);
  CONFORM(status.code() == Code::kDeviceLost);
  run.work.waits.clear();
  CONFORM_OK(Execute(**program, run.work));
  CONFORM_OK(CheckAnswer(run));
  return Outcome::Pass();
}

Outcome CancelBeforeTheStartStopsIt(const Subject& s) {
  auto program = LoadSmall(s);
  CONFORM_OK(program.status());
  if ((*program)->inputs.empty())
    return Outcome::Pass();  // an empty program has no step to stop before
  Run run;
  CONFORM_OK(run.Fill(**program, SmallInputs(**program)));
  std::atomic<bool> cancel{false};
  auto gate = std::make_shared<hal::SignalFence>();
  run.work.waits = {gate};
  run.work.cancel = &cancel;
  auto fence = (*program)->device->Submit(run.work);
  CONFORM_OK(fence.status());
  cancel = true;
  gate->Signal(OkStatus(), {});
  CONFORM((*fence)->Wait().code() == Code::kCancelled);
  cancel = false;
  run.work.waits.clear();
  CONFORM_OK(Execute(**program, run.work));
  return Outcome::Pass();
}

Outcome TheVirtualClockRepeatsAndTheRealOneMoves(const Subject& s) {
  std::int64_t lengths[2] = {0, 0};
  for (std::int64_t& length : lengths) {
    auto program = LoadSmall(s, true);
    CONFORM_OK(program.status());
    Run run;
    CONFORM_OK(run.Fill(**program, SmallInputs(**program)));
    auto fence = (*program)->device->Submit(run.work);
    CONFORM_OK(fence.status());
    CONFORM_OK((*fence)->Wait());
    length = (*fence)->timing().end_ns - (*fence)->timing().start_ns;
    CONFORM((*fence)->timing().kind == target::Kind::kModelled);
    CONFORM((*program)->inputs.empty() || length > 0);
  }
  CONFORM(lengths[0] == lengths[1]);  // the same on every machine, so twice on this one
  auto program = LoadSmall(s, false);
  CONFORM_OK(program.status());
  const bool simulated = (*program)->device->info().simulated;
  Run run;
  CONFORM_OK(run.Fill(**program, SmallInputs(**program)));
  auto fence = (*program)->device->Submit(run.work);
  CONFORM_OK(fence.status());
  CONFORM_OK((*fence)->Wait());
  const hal::Timing t = (*fence)->timing();
  CONFORM(simulated ||
          t.kind ==
              target::Kind::kMeasured);  // a simulated device has no other clock than its model
  CONFORM(t.end_ns >= t.start_ns);
  return Outcome::Pass();
}

Outcome ManyAtOnceGiveTheSameAnswer(const Subject& s) {
  auto program = LoadSmall(s);
  CONFORM_OK(program.status());
  Program& p = **program;
  std::vector<Status> results(4);
  std::vector<std::thread> threads;
  for (Status& result : results) {
    threads.emplace_back([&p, &result] {
      Run run;
      result = run.Fill(p, SmallInputs(p));
      for (int i = 0; i < 25 && result.ok(); ++i) {
        for (hal::Binding& b : run.work.outputs)
          std::memset(b.buffer->host(), 0xCD, b.buffer->size_bytes());
        result = Execute(p, run.work);
        if (result.ok()) result = CheckAnswer(run);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const Status& r : results) CONFORM_OK(r);
  CONFORM(p.device->Sample().works >= 100);
  return Outcome::Pass();
}

Outcome ClosingTheDeviceFinishesItsWork(const Subject& s) {
  auto program = LoadSmall(s);
  CONFORM_OK(program.status());
  Run run;
  CONFORM_OK(run.Fill(**program, SmallInputs(**program)));
  std::vector<hal::FencePtr> fences;
  for (int i = 0; i < 10; ++i) {
    auto fence = (*program)->device->Submit(run.work);
    CONFORM_OK(fence.status());
    fences.push_back(*fence);
  }
  (*program)->device = nullptr;
  for (const hal::FencePtr& f : fences) CONFORM_OK(f->Wait());
  CONFORM_OK(CheckAnswer(run));
  return Outcome::Pass();
}

}  // namespace

std::vector<Check> ProgramChecks() {
  return {{"LoadTest.RefusesTruncatedBlobs", RefusesTruncatedBlobs},
          {"LoadTest.SurvivesFlippedBlobs", SurvivesFlippedBlobs},
          {"LoadTest.RefusesMissingWeights", RefusesMissingWeights},
          {"LoadTest.PrepareRefusesOtherTypes", PrepareRefusesOtherTypes},
          {"WorkTest.RunsAGoodProgram", RunsAGoodProgram},
          {"WorkTest.RefusesWrongBindings", RefusesWrongBindings},
          {"WorkTest.SubmitReturnsBeforeItsWaitsAreDone", SubmitReturnsBeforeItsWaitsAreDone},
          {"WorkTest.AFailedWaitFailsTheWork", AFailedWaitFailsTheWork},
          {"WorkTest.CancelBeforeTheStartStopsIt", CancelBeforeTheStartStopsIt},
          {"WorkTest.TheVirtualClockRepeatsAndTheRealOneMoves",
           TheVirtualClockRepeatsAndTheRealOneMoves},
          {"WorkTest.ManyAtOnceGiveTheSameAnswer", ManyAtOnceGiveTheSameAnswer},
          {"WorkTest.ClosingTheDeviceFinishesItsWork", ClosingTheDeviceFinishesItsWork}};
}

}  // namespace npukit::conformance
