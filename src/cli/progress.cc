#include "cli/progress.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <system_error>

namespace npukit::cli {

void Put(std::FILE* stream, std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stream);
}

Progress::Progress(Env& env, Level level) : env_(env), level_(level), start_ns_(env.NowNs()) {
  if (level_ == Level::kSilent) return;
  try {
    thread_ = std::thread([this] { Tick(); });
  } catch (const std::system_error&) {  // no thread to be had: no progress lines, all else works
  }
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::Set(std::string_view what, int done, int total) {
  if (level_ == Level::kSilent) return;
  const std::lock_guard lock(mutex_);
  text_ = total > 0 ? fmt::format("{} {}/{}", what, done, total) : std::string(what);
  if (level_ == Level::kEverything) Print();
}

void Progress::Tick() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::seconds(2), [this] { return over_; })) Print();
}

void Progress::Print() {
  const double seconds = static_cast<double>(env_.NowNs() - start_ns_) / 1e9;
  Put(stderr, fmt::format("{:7.1f} s  {}\n", seconds, text_));
}

}  // namespace npukit::cli
