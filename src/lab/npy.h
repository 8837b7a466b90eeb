// NumPy's .npy files, read strictly: the header is hostile, every length in it is bounded and
// checked against the file, and what we do not read is refused by name. C order, little-endian;
// bool, integers, fp16, fp32, fp64, strings (as NumPy's fixed-width Unicode).
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "tensor/value.h"

namespace npukit::lab {

// kDataCorrupt: not a .npy file, or its size and header disagree. kUnsupported: Fortran order,
// big-endian, another type.
Result<tensor::Value> ReadNpy(Env& env, const std::string& path);
// The same from bytes; `name` is for messages.
Result<tensor::Value> ParseNpy(std::span<const std::byte> bytes, const std::string& name);

// kUnsupported: a type NumPy has no name for.
Result<std::vector<std::byte>> FormatNpy(const tensor::Value& value);
Status WriteNpy(Env& env, const std::string& path, const tensor::Value& value);

}  // namespace npukit::lab
