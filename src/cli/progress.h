// Says on standard error what is being done and for how long, every two seconds, so that nothing
// slow looks dead. What takes less says nothing. One thread of its own; all functions may be called
// from any thread.
#pragma once

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/env.h"

namespace npukit::cli {

// Writes as far as it goes: a stream that cannot be written (closed, full) is no reason to end the
// program.
void Put(std::FILE* stream, std::string_view text);

class Progress {
 public:
  enum class Level { kSilent, kNormal, kEverything };  // kEverything: each step when it begins, too
  Progress(Env& env, Level level);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of `total` parts of `what`; total 0: not known.
  void Set(std::string_view what, int done, int total);

 private:
  void Tick();
  void Print();  // mutex_ held

  Env& env_;
  const Level level_;
  const std::int64_t start_ns_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string text_ = "starting";
  bool over_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace npukit::cli
