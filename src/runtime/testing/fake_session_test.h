// What the tests of sessions and requests share: devices to hold or ask, a program with a known
// answer, short words.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/session.h"
#include "runtime/testing/fake_device.h"

namespace npukit::runtime::testing {

// Opens a fake NPU and a fake CPU, and keeps them for the test to hold or ask.
struct Opener {
  FakeDevice::Options npu{.name = "fake_npu", .device_class = "NPU"};
  FakeDevice::Options cpu{.name = "fake_cpu", .device_class = "CPU"};
  std::string absent;  // a device that is not on this machine
  std::shared_ptr<FakeDevice> last_npu;
  int opened = 0;

  DeviceOpener Function() {
    return
        [this](const std::string& name, const hal::OpenOptions& options) -> Result<hal::DevicePtr> {
          if (name == absent) return Unsupported(Cat(name, " is not on this machine"));
          if (name != npu.name && name != cpu.name) return NotFound(Cat("no device ", name));
          ++opened;
          auto device =
              std::make_shared<FakeDevice>(name == npu.name ? npu : cpu, options.virtual_clock);
          if (name == npu.name) last_npu = device;
          return hal::DevicePtr(device);
        };
  }
};

// 3 * x + 1 on the NPU, then 2 * that - 4 on the CPU: y = 6 * x - 2, by hand.
inline std::vector<FakePackage::Call> MixedChain() {
  return {{"fake_npu", {.scale = 3, .shift = 1, .cost_ns = 700, .scratch = 256}, {}},
          {"fake_cpu", {.scale = 2, .shift = -4, .cost_ns = 300, .scratch = 64}, {}}};
}

inline std::shared_ptr<Session> OpenSession(const FakePackage& package, Opener& opener,
                                            const std::string& device = "AUTO") {
  auto built = package.Build();
  EXPECT_TRUE(built.ok()) << built.status().message();
  if (!built.ok()) return nullptr;
  SessionOptions options;
  options.threads = 1;
  options.device = *DeviceSpec::Parse(device);
  auto session = Session::Open(*built, options, opener.Function());
  EXPECT_TRUE(session.ok()) << session.status().message();
  return session.ok() ? *session : nullptr;
}

inline Status OpenStatus(const FakePackage& package, Opener& opener,
                         const std::string& device = "AUTO") {
  auto built = package.Build();
  if (!built.ok()) return built.status();
  SessionOptions options;
  options.threads = 1;
  options.device = *DeviceSpec::Parse(device);
  return Session::Open(*built, options, opener.Function()).status();
}

inline std::vector<float> Ramp(std::size_t n) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(i) * 0.5f - 3;
  return v;
}

inline std::vector<float> Affine(const std::vector<float>& x, float scale, float shift) {
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = scale * x[i] + shift;
  return y;
}

inline Status Bind(Request& r, const std::vector<float>& x) {
  return r.BindInput("x", tensor::DType::kF32, {static_cast<std::int64_t>(x.size())}, x.data(),
                     x.size() * sizeof(float));
}

#define ASSERT_OK(expr)                   \
  do {                                    \
    const ::npukit::Status s_ = (expr);   \
    ASSERT_TRUE(s_.ok()) << s_.message(); \
  } while (false)

}  // namespace npukit::runtime::testing
