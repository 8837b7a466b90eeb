// Fork-join on a fixed set of threads. The caller takes part; workers spin shortly, then park.
// Shared by sessions: several callers may run regions at once, and a region started from inside a
// region runs on the calling thread alone, so nesting never deadlocks. Owns its threads; the
// destructor joins them.
//
//   ThreadPool pool(4);                                   // the caller and three workers
//   pool.ParallelFor(rows, 8, [&](std::size_t begin, std::size_t end) { ... });
#pragma once

#include <cstddef>
#include <memory>

namespace npukit {

class ThreadPool {
 public:
  // threads >= 1 counts the caller. core ids to pin to may be given later by runtime/cores.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  // Calls f(begin, end) over disjoint ranges that cover [0, n), each of at least `grain` items (the
  // last may be smaller); returns when all have returned. f must not throw. With one thread or n <=
  // grain: one call on the caller.
  template <class F>
  void ParallelFor(std::size_t n, std::size_t grain, const F& f) {
    Run(
        n, grain,
        [](void* ctx, std::size_t b, std::size_t e) { (*static_cast<const F*>(ctx))(b, e); },
        const_cast<F*>(&f));
  }

 private:
  using Body = void (*)(void* ctx, std::size_t begin, std::size_t end);
  void Run(std::size_t n, std::size_t grain, Body body, void* ctx);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace npukit
