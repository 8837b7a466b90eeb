// Files for tensors: "/" becomes "_"; when two tensors would share a file, the later ones get "_2",
// "_3" in order. Inputs and outputs alike.
#pragma once

#include <string>
#include <vector>

namespace npukit::lab {

// "a/b" -> "a_b". One name per tensor, without ".npy".
std::vector<std::string> FileNames(const std::vector<std::string>& tensor_names);

}  // namespace npukit::lab
