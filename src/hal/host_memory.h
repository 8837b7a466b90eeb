// Buffers for devices that share the host's memory, and the checks every device makes of a Work's
// bindings. A device is free to have buffers of its own; these keep the simple ones alike.
#pragma once

#include <string_view>

#include "hal/device.h"

namespace npukit::hal {

// 64-byte aligned at least; freed with the last reference. kInvalidArgument: alignment no power of
// two. kOutOfMemory.
Result<BufferPtr> AllocateHost(const BufferSpec& spec);
// The caller's memory, neither copied nor freed. kInvalidArgument: null with a size.
Result<BufferPtr> ImportHost(const ExternalMemory& memory);

// Does the binding hold a dense tensor of `type`, inside its buffer and aligned to its elements?
// `what` and `index` name it in the message: "input", 2.
Status CheckBinding(const Binding& binding, const tensor::Type& type, std::string_view what,
                    std::size_t index);
// At least `bytes`, 64-byte aligned; no buffer is fine when bytes is 0.
Status CheckScratch(const Binding& binding, std::uint64_t bytes);

// Where a bound stretch lies; null without a buffer.
std::byte* HostAddress(const Binding& binding);

}  // namespace npukit::hal
