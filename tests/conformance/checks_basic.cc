// Memory, and blobs that are none: what every device answers without a program.
#include <cstring>
#include <random>

#include "base/text.h"
#include "harness.h"

namespace npukit::conformance {
namespace {

Outcome NamesAgree(const Subject& s) {
  auto device = s.Open(true);
  CONFORM_OK(device.status());
  CONFORM(s.driver->name == s.name);
  CONFORM((*device)->info().name == s.name);
  CONFORM((*device)->info().device_class == s.driver->device_class);
  CONFORM(!(*device)->info().description.empty());
#ifndef NPUKIT_PHONE_ONLY
  CONFORM(s.lowering->device() == s.name);
  CONFORM(s.lowering->device_class() == s.driver->device_class);
#endif
  return Outcome::Pass();
}

Outcome AllocateGivesAlignedWritableMemory(const Subject& s) {
  auto device = s.Open(true);
  CONFORM_OK(device.status());
  for (const std::uint64_t size :
       {std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{4096}, std::uint64_t{1} << 20}) {
    for (const std::uint64_t alignment : {std::uint64_t{64}, std::uint64_t{4096}}) {
      auto buffer = (*device)->Allocate({.size_bytes = size, .alignment = alignment});
      CONFORM_OK(buffer.status());
      CONFORM((*buffer)->size_bytes() == size);
      CONFORM((*buffer)->host() != nullptr);
      CONFORM(reinterpret_cast<std::uintptr_t>((*buffer)->host()) % alignment == 0);
      std::memset((*buffer)->host(), 0xA5, size);
      CONFORM((*buffer)->host()[size - 1] == std::byte{0xA5});
    }
  }
  return Outcome::Pass();
}

Outcome BuffersOutliveTheirDevice(const Subject& s) {
  auto device = s.Open(true);
  CONFORM_OK(device.status());
  auto buffer = (*device)->Allocate({.size_bytes = 256});
  CONFORM_OK(buffer.status());
  hal::BufferPtr kept = *buffer;
  buffer = InvalidArgument("let go");
  device = InvalidArgument("let go");
  std::memset(kept->host(), 1, 256);  // sanitizers would see freed memory
  return Outcome::Pass();
}

Outcome AllocateRefusesWhatNoMachineHas(const Subject& s) {
  auto device = s.Open(true);
  CONFORM_OK(device.status());
  for (const std::uint64_t size : {~std::uint64_t{0}, std::uint64_t{1} << 62}) {
    auto buffer = (*device)->Allocate({.size_bytes = size});
    CONFORM(!buffer.ok());
    CONFORM(buffer.status().code() == Code::kOutOfMemory ||
            buffer.status().code() == Code::kResourceExhausted);
    CONFORM(!buffer.status().message().empty());
  }
  return Outcome::Pass();
}

Outcome ImportIsTheSameMemory(const Subject& s) {
  auto device = s.Open(true);
  CONFORM_OK(device.status());
  std::vector<std::byte> memory(1000);
  auto buffer = (*device)->Import({.host = memory.data() + 4, .size_bytes = 996});
  CONFORM_OK(buffer.status());
  CONFORM((*buffer)->host() == memory.data() + 4);
  CONFORM((*buffer)->size_bytes() == 996);
  return Outcome::Pass();
}

Outcome ImportRefusesNull(const Subject& s) {
  auto device = s.Open(true);
  CONFORM_OK(device.status());
  CONFORM(!(*device)->Import({.host = nullptr, .size_bytes = 4}).ok());
  return Outcome::Pass();
}

Outcome RefusesGarbage(const Subject& s) {
  auto device = s.Open(true);
  CONFORM_OK(device.status());
  std::mt19937 random(20260101);
  for (const std::size_t size : {0, 1, 4, 8, 63, 64, 4096, 100000}) {
    for (int kind = 0; kind < 6; ++kind) {  // zeros, ones, then noise
      std::vector<std::byte> blob(size, kind == 1 ? std::byte{0xFF} : std::byte{0});
      for (std::byte& b : blob) {
        if (kind > 1) b = static_cast<std::byte>(random());
      }
      auto loaded = (*device)->Load(blob, {});
      if (loaded.ok()) return Outcome::Fail(Cat("garbage of ", size, " bytes was loaded"));
      const Code code = loaded.status().code();
      if (code != Code::kDataCorrupt && code != Code::kUnsupported) {
        return Outcome::Fail(
            Cat("expected data corrupt, found ", CodeName(code), ": ", loaded.status().message()));
      }
      CONFORM(loaded.status().message().find('\n') == std::string::npos);
    }
  }
  return Outcome::Pass();
}

Outcome WorkWithoutAnExecutableIsRefused(const Subject& s) {
  auto device = s.Open(true);
  CONFORM_OK(device.status());
  CONFORM(!(*device)->Submit(hal::Work()).ok());
  return Outcome::Pass();
}

}  // namespace

std::vector<Check> BufferChecks() {
  return {{"DeviceTest.NamesAgree", NamesAgree},
          {"BufferTest.AllocateGivesAlignedWritableMemory", AllocateGivesAlignedWritableMemory},
          {"BufferTest.AllocateRefusesWhatNoMachineHas", AllocateRefusesWhatNoMachineHas},
          {"BufferTest.BuffersOutliveTheirDevice", BuffersOutliveTheirDevice},
          {"BufferTest.ImportIsTheSameMemory", ImportIsTheSameMemory},
          {"BufferTest.ImportRefusesNull", ImportRefusesNull}};
}

std::vector<Check> LoadChecks() {
  return {{"LoadTest.RefusesGarbage", RefusesGarbage},
          {"WorkTest.WorkWithoutAnExecutableIsRefused", WorkWithoutAnExecutableIsRefused}};
}

}  // namespace npukit::conformance
