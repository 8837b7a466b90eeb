// Times every step of the CPU program in a package: which kernel runs it, how long it takes, how
// close to peak it is.
//
//   npukit compile det.onnx --shape x=1x3x640x640 -t host -o det.npk
//   npukit_bench_cpu_steps det.npk 1 20
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "devices/cpu/run/executable.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "format/reader.h"

namespace {

using namespace npukit;
using Clock = std::chrono::steady_clock;

double Us(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

// The best, not the middle: what else the machine does only ever adds.
double Best(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }

int Fail(const Status& s) {
  std::fprintf(stderr, "%s\n", s.message().c_str());
  return 1;
}

int Run(const std::string& path, int threads, int rounds) {
  auto package = format::Package::Open(RealEnv(), path);
  if (!package.ok()) return Fail(package.status());
  const format::Head& head = (*package)->head();
  const format::ExecutableInfo* info = nullptr;
  for (const format::Program& p : head.programs) {
    if (p.devices == "CPU" && p.executables.size() == 1) info = &p.executables[0];
  }
  if (info == nullptr) return Fail(NotFound(path + ": no CPU-only program of one executable"));
  auto blob = (*package)->Blob(info->blob_segment);
  if (!blob.ok()) return Fail(blob.status());
  std::vector<hal::WeightView> weights;
  for (const std::uint32_t w : info->weights) weights.push_back({w, (*package)->Weight(w)});
  auto kernels = devices::cpu::ChosenKernels();
  if (!kernels.ok()) return Fail(kernels.status());
  ThreadPool pool(threads);
  auto exe = devices::cpu::CpuExecutable::Load(*blob, weights, **kernels, threads, head.profile);
  if (!exe.ok()) return Fail(exe.status());

  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::vector<std::unique_ptr<void, Free>> memory;
  const auto allocate = [&](std::uint64_t bytes) {
    memory.emplace_back(std::aligned_alloc(64, (bytes + 64) / 64 * 64));
    auto* f = static_cast<float*>(memory.back().get());
    for (std::uint64_t i = 0; i < bytes / 4; ++i) f[i] = std::sin(static_cast<float>(i % 1000));
    return reinterpret_cast<std::uintptr_t>(f);
  };
  std::vector<std::uintptr_t> bases = {0, allocate((*exe)->scratch_bytes())};
  for (const tensor::Type& t : (*exe)->input_types()) bases.push_back(allocate(*t.bytes()));
  for (const tensor::Type& t : (*exe)->output_types()) bases.push_back(allocate(*t.bytes()));
  const devices::cpu::Frame frame{bases.data(), &pool};

  const auto steps = (*exe)->steps();
  std::vector<std::vector<double>> times(steps.size());
  std::vector<double> totals;
  for (int r = -2; r < rounds; ++r) {
    if (Status s = (*exe)->Run(frame, nullptr, nullptr); !s.ok()) return Fail(s);
    const auto begin = Clock::now();
    if (Status s = (*exe)->Run(frame, nullptr, nullptr); !s.ok()) return Fail(s);
    if (r >= 0) totals.push_back(Us(Clock::now() - begin));
    auto last = Clock::now();
    const std::function<void(std::size_t)> after = [&](std::size_t i) {
      const auto now = Clock::now();
      if (r >= 0) times[i].push_back(Us(now - last));
      last = now;
    };
    if (Status s = (*exe)->Run(frame, nullptr, &after); !s.ok()) return Fail(s);
  }
  std::map<std::string, std::pair<double, double>> by_kernel;
  double sum = 0;
  std::printf("%8s %8s %7s  %-18s %-28s %s\n", "us", "MMAC", "GFLOP/s", "kernel", "result",
              "operator, node");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double us = Best(times[i]);
    sum += us;
    by_kernel[steps[i].kernel].first += us;
    by_kernel[steps[i].kernel].second += steps[i].macs;
    std::printf("%8.1f %8.2f %7.1f  %-18s %-28s %s, %s\n", us, steps[i].macs / 1e6,
                2 * steps[i].macs / us / 1e3, steps[i].kernel, steps[i].shape.c_str(),
                steps[i].op.c_str(), steps[i].name.c_str());
  }
  std::printf("\n%s, %d threads: %.3f ms a run (best of %d), %.3f ms as a sum of steps\n",
              devices::cpu::TargetName((*kernels)->target), threads, Best(totals) / 1e3, rounds,
              sum / 1e3);
  for (const auto& [kernel, t] : by_kernel) {
    std::printf("%10.1f us %5.1f %%  %6.1f GFLOP/s  %s\n", t.first, 100 * t.first / sum,
                2 * t.second / t.first / 1e3, kernel.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: %s <file.npk> [threads] [rounds]\n", argv[0]);
    return 2;
  }
  return Run(argv[1], argc > 2 ? std::atoi(argv[2]) : 1, argc > 3 ? std::atoi(argv[3]) : 20);
}
