// Tilings of convolutions found once are not searched again: networks repeat their layers, and
// placement prices every node before it is lowered. A memo gives back what the search would find,
// so it changes no result. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

class TilingMemo {
 public:
  std::optional<ConvTiling> Find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto it = found_.find(key);
    return it == found_.end() ? std::nullopt : std::optional(it->second);
  }
  void Add(const std::string& key, const ConvTiling& t) {
    const std::lock_guard lock(mutex_);
    if (found_.size() < kMost) found_.emplace(key, t);
  }

 private:
  static constexpr std::size_t kMost = 65536;
  mutable std::mutex mutex_;
  std::map<std::string, ConvTiling> found_;  // guarded by mutex_
};

}  // namespace npukit::devices::npu_sim
