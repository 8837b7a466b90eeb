// Random numbers for tests: the same on every machine, from a seed that a failing test prints and
// NPUKIT_SEED sets.
//
//   Random random;                                    // in the test's body: its seed is part of
//   every failure std::vector<float> x = random.Floats(100, -1, 1);
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace npukit::testing {

class Random {
 public:
  explicit Random(std::uint64_t seed = 1)
      : seed_(std::getenv("NPUKIT_SEED") != nullptr
                  ? std::strtoull(std::getenv("NPUKIT_SEED"), nullptr, 10)
                  : seed),
        engine_(seed_),
        trace_(__FILE__, __LINE__, "random seed: NPUKIT_SEED=" + std::to_string(seed_)) {}

  std::uint64_t seed() const { return seed_; }
  std::uint64_t Bits() { return engine_(); }
  // [0, n). The modulo's bias does not matter to a test.
  std::uint64_t Below(std::uint64_t n) { return engine_() % n; }
  std::int64_t Between(std::int64_t low, std::int64_t high) {  // both included
    return low + static_cast<std::int64_t>(Below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool OneIn(std::uint64_t n) { return Below(n) == 0; }
  double Real(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  double Normal() {  // mean 0, deviation 1
    return std::sqrt(-2 * std::log(1 - Real(0, 1))) * std::cos(2 * std::numbers::pi * Real(0, 1));
  }
  std::vector<float> Floats(std::size_t n, double low, double high) {
    std::vector<float> v(n);
    for (float& x : v) x = static_cast<float>(Real(low, high));
    return v;
  }
  std::vector<std::byte> Bytes(std::size_t n) {
    std::vector<std::byte> v(n);
    for (std::byte& b : v) b = static_cast<std::byte>(engine_());
    return v;
  }

 private:
  std::uint64_t seed_;
  std::mt19937_64 engine_;
  ::testing::ScopedTrace trace_;
};

}  // namespace npukit::testing
