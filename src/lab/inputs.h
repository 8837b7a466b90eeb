// What a model is fed: files by name or from a folder, and seeded random values for the rest.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "format/program.h"
#include "tensor/value.h"

namespace npukit::lab {

struct InputOptions {
  std::map<std::string, std::string> files;  // --input name=file.npy
  std::string folder;                        // --inputs: NAME.npy in it
  std::uint64_t seed = 0;
};

struct InputFile {
  tensor::Value value;
  std::string path;
};

// The given ones, by input name. kInvalidArgument: a name the model does not have (lists its
// inputs).
Result<std::map<std::string, InputFile>> ReadInputs(Env& env, const std::vector<std::string>& names,
                                                    const InputOptions& options);

// Values that depend on seed, name and type only: floats uniform in [-1, 1), int32, int64 and
// bool 0 or 1, other integers in [0, 8).
Result<tensor::Value> RandomInput(const std::string& name, const tensor::Type& type,
                                  std::uint64_t seed);

}  // namespace npukit::lab
