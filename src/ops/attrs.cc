#include "ops/attrs.h"

#include <algorithm>
#include <cstring>

namespace npukit::ops {
namespace {

auto Place(auto& items, std::string_view name) {
  return std::lower_bound(items.begin(), items.end(), name,
                          [](const auto& item, std::string_view n) { return item.first < n; });
}

// The alternative asked for, or null when absent. Another alternative is our bug: CheckAttrs ran
// first.
template <class T>
const T* As(const AttrValue* v) {
  if (v == nullptr) return nullptr;
  const T* p = std::get_if<T>(v);
  NPUKIT_CHECK(p != nullptr);
  return p;
}

bool SameTensor(const tensor::Value& a, const tensor::Value& b) {
  if (!a.is_tensor() || !b.is_tensor()) return a.present() == b.present() && !a.present();
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.dtype() == tensor::DType::kString) return a.strings() == b.strings();
  return a.byte_size() == b.byte_size() &&
         (a.byte_size() == 0 || std::memcmp(a.data(), b.data(), a.byte_size()) == 0);
}

bool SameValue(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* t = std::get_if<tensor::Value>(&a))
    return SameTensor(*t, std::get<tensor::Value>(b));
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, tensor::Value>) {
          return false;  // handled above
        } else {
          return x == std::get<T>(b);
        }
      },
      a);
}

}  // namespace

void Attrs::Set(std::string_view name, AttrValue v) {
  auto at = Place(items_, name);
  if (at != items_.end() && at->first == name) {
    at->second = std::move(v);
  } else {
    items_.emplace(at, std::string(name), std::move(v));
  }
}

void Attrs::Erase(std::string_view name) {
  auto at = Place(items_, name);
  if (at != items_.end() && at->first == name) items_.erase(at);
}

const AttrValue* Attrs::Find(std::string_view name) const {
  auto at = Place(items_, name);
  return at != items_.end() && at->first == name ? &at->second : nullptr;
}

std::int64_t Attrs::Int(std::string_view name, std::int64_t otherwise) const {
  const auto* p = As<std::int64_t>(Find(name));
  return p ? *p : otherwise;
}

float Attrs::Float(std::string_view name, float otherwise) const {
  const auto* p = As<float>(Find(name));
  return p ? *p : otherwise;
}

std::string_view Attrs::String(std::string_view name, std::string_view otherwise) const {
  const auto* p = As<std::string>(Find(name));
  return p ? std::string_view(*p) : otherwise;
}

Ints Attrs::IntList(std::string_view name, const Ints& otherwise) const {
  const auto* p = As<Ints>(Find(name));
  return p ? *p : otherwise;
}

Floats Attrs::FloatList(std::string_view name, const Floats& otherwise) const {
  const auto* p = As<Floats>(Find(name));
  return p ? *p : otherwise;
}

const tensor::Value* Attrs::Tensor(std::string_view name) const {
  return As<tensor::Value>(Find(name));
}

bool Attrs::operator==(const Attrs& o) const {
  return std::equal(items_.begin(), items_.end(), o.items_.begin(), o.items_.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first && SameValue(a.second, b.second);
                    });
}

}  // namespace npukit::ops
