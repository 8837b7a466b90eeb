// Attributes of an operator: a small sorted map from name to value. Order never matters; equal maps
// are equal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "tensor/value.h"

namespace npukit::ops {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;
// The order is stored in packages (index of the alternative): append only.
using AttrValue =
    std::variant<std::int64_t, float, std::string, Ints, Floats, Strings, tensor::Value>;

class Attrs {
 public:
  void Set(std::string_view name, AttrValue v);
  void Erase(std::string_view name);
  const AttrValue* Find(std::string_view name) const;
  // The value, or `otherwise` when absent. A value of another kind than asked for is our bug here:
  // definitions check kinds at import (CheckAttrs), so a reference or lowering may rely on them.
  std::int64_t Int(std::string_view name, std::int64_t otherwise = 0) const;
  float Float(std::string_view name, float otherwise = 0) const;
  std::string_view String(std::string_view name, std::string_view otherwise = {}) const;
  Ints IntList(std::string_view name, const Ints& otherwise = {}) const;
  Floats FloatList(std::string_view name, const Floats& otherwise = {}) const;
  const tensor::Value* Tensor(std::string_view name) const;
  const std::vector<std::pair<std::string, AttrValue>>& all() const { return items_; }
  bool operator==(const Attrs&) const;

 private:
  std::vector<std::pair<std::string, AttrValue>> items_;  // sorted by name
};

}  // namespace npukit::ops
