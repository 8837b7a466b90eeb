#include "base/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace npukit {
namespace {

// How long an idle thread looks for work before it sleeps. About the gap between two operators of
// one request: waking a sleeper costs more than that, and a pool nobody uses costs nothing soon
// after.
constexpr std::chrono::microseconds kSpin{40};
constexpr int kMaxThreads = 256;
constexpr std::size_t kChunksPerThread = 4;  // so that a slow core does not keep the others waiting

// True on a thread that is inside a region, of whichever pool: a region it starts runs on it alone.
constinit thread_local bool in_region = false;

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::
                   : "memory");  // `yield` does nothing on most cores; isb waits about as long as
                                 // x86's pause
#endif
}

// Calls `done` until it is true or kSpin has passed; its last answer.
template <class F>
bool SpinUntil(const F& done) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

}  // namespace

// One mutex guards the list of open regions. A worker joins a region (helpers + 1) only under the
// mutex and only while the region is listed; its caller unlists it when no chunk is left and then
// waits until helpers is 0. So a region, which lives on its caller's stack, is never touched after
// its caller returned.
struct ThreadPool::Impl {
  struct Region {
    Body body;
    void* ctx;
    std::size_t n;
    std::size_t chunk;  // items
    std::size_t chunks;
    std::atomic<std::size_t> next{0};  // chunk
    std::atomic<std::uint32_t> helpers{0};

    void Work() {
      for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
        const std::size_t begin = i * chunk;
        body(ctx, begin, begin + std::min(chunk, n - begin));
      }
    }
    bool HasWork() const { return next.load(std::memory_order_relaxed) < chunks; }
  };

  std::mutex mutex;
  std::condition_variable work_cv;     // a region was listed, or stop
  std::condition_variable done_cv;     // some region's last helper left
  std::vector<Region*> regions;        // guarded by mutex
  int sleeping = 0;                    // workers in work_cv.wait; guarded by mutex
  bool stop = false;                   // guarded by mutex
  std::atomic<std::uint32_t> news{0};  // counts listings and stop: what a spinning worker looks at
  std::vector<pthread_t> workers;

  // The listed region with work and the fewest helpers; null when there is none. Call with the
  // mutex held.
  Region* Pick() const {
    Region* best = nullptr;
    for (Region* r : regions) {
      if (!r->HasWork()) continue;
      if (best == nullptr || r->helpers.load(std::memory_order_relaxed) <
                                 best->helpers.load(std::memory_order_relaxed)) {
        best = r;
      }
    }
    return best;
  }

  void WorkerLoop() {
    in_region = true;  // a body runs on this thread: what it starts is nested
    std::unique_lock<std::mutex> lock(mutex);
    while (!stop) {
      if (Region* r = Pick()) {
        r->helpers.fetch_add(1, std::memory_order_relaxed);
        lock.unlock();
        r->Work();
        // Release: what the body wrote happens before the caller's return. After this the region
        // may be gone.
        const bool last = r->helpers.fetch_sub(1, std::memory_order_acq_rel) == 1;
        lock.lock();
        if (last) done_cv.notify_all();
        continue;
      }
      const std::uint32_t seen =
          news.load(std::memory_order_relaxed);  // changes only under the mutex
      lock.unlock();
      const bool changed = SpinUntil([&] { return news.load(std::memory_order_relaxed) != seen; });
      lock.lock();
      if (changed) continue;
      ++sleeping;
      work_cv.wait(lock, [&] { return stop || news.load(std::memory_order_relaxed) != seen; });
      --sleeping;
    }
  }

  void Run(Region& region) {
    int wake = 0;
    {
      std::lock_guard<std::mutex> lock(mutex);
      regions.push_back(&region);
      news.fetch_add(1, std::memory_order_relaxed);
      wake = static_cast<int>(
          std::min<std::size_t>(static_cast<std::size_t>(sleeping), region.chunks - 1));
    }
    for (; wake > 0; --wake) work_cv.notify_one();

    in_region = true;
    region.Work();
    in_region = false;

    {
      std::lock_guard<std::mutex> lock(mutex);
      regions.erase(std::find(regions.begin(), regions.end(), &region));
    }
    const auto done = [&] { return region.helpers.load(std::memory_order_acquire) == 0; };
    if (SpinUntil(done)) return;
    std::unique_lock<std::mutex> lock(mutex);
    done_cv.wait(lock, done);
  }
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) {
  const int workers = std::clamp(threads, 1, kMaxThreads) - 1;
  impl_->workers.reserve(static_cast<std::size_t>(workers));
  for (int i = 0; i < workers; ++i) {
    pthread_t id;
    const auto loop = [](void* impl) -> void* {
      static_cast<Impl*>(impl)->WorkerLoop();
      return nullptr;
    };
    // A system that refuses threads gives a smaller pool, not a dead process.
    if (pthread_create(&id, nullptr, loop, impl_.get()) != 0) break;
    impl_->workers.push_back(id);
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->stop = true;
    impl_->news.fetch_add(1, std::memory_order_relaxed);
  }
  impl_->work_cv.notify_all();
  for (const pthread_t id : impl_->workers) pthread_join(id, nullptr);
}

int ThreadPool::threads() const { return static_cast<int>(impl_->workers.size()) + 1; }

void ThreadPool::Run(std::size_t n, std::size_t grain, Body body, void* ctx) {
  if (n == 0) return;
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t threads_now = impl_->workers.size() + 1;
  if (threads_now == 1 || n <= grain || in_region) {
    body(ctx, 0, n);
    return;
  }
  const std::size_t wanted = threads_now * kChunksPerThread;
  const std::size_t chunk = std::max(grain, n / wanted + (n % wanted != 0));
  const std::size_t chunks = n / chunk + (n % chunk != 0);
  Impl::Region region{body, ctx, n, chunk, chunks};
  impl_->Run(region);
}

}  // namespace npukit
