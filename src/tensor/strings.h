// Strings as bytes: what a package and a blob keep of a string tensor. Each string is its length
// (32 bits, little-endian) and its bytes. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/value.h"

namespace npukit::tensor {

// `v` is a string tensor, each of its strings below 4 GiB (our bug otherwise).
std::vector<std::byte> EncodeStrings(const Value& v);
// kDataCorrupt: the bytes do not hold exactly as many strings as `dims` say.
Result<Value> DecodeStrings(Dims dims, std::span<const std::byte> bytes);

}  // namespace npukit::tensor
