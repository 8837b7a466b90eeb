#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace npukit {
namespace {

TEST(ThreadPool, CoversEveryItemOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t n : {0u, 1u, 2u, 7u, 64u, 1000u, 10007u}) {
      for (const std::size_t grain : {0u, 1u, 3u, 64u, 20000u}) {
        std::vector<int> count(n, 0);
        pool.ParallelFor(n, grain, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ++count[i];
        });
        for (const int c : count)
          ASSERT_EQ(c, 1) << threads << " threads, n " << n << ", grain " << grain;
      }
    }
  }
}

TEST(ThreadPool, RangesHaveAtLeastGrainItems) {
  ThreadPool pool(4);
  std::mutex mutex;
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  pool.ParallelFor(1000, 17, [&](std::size_t begin, std::size_t end) {
    const std::lock_guard<std::mutex> lock(mutex);
    ranges.emplace_back(begin, end);
  });
  for (const auto& [begin, end] : ranges) {
    EXPECT_TRUE(end - begin >= 17 || end == 1000);
  }
  EXPECT_GT(ranges.size(), 1u);
}

TEST(ThreadPool, SmallWorkIsOneCallOnTheCaller) {
  ThreadPool pool(4);
  int calls = 0;
  const auto caller = std::this_thread::get_id();
  pool.ParallelFor(10, 10, [&](std::size_t begin, std::size_t end) {
    ++calls;
    EXPECT_EQ(begin, 0u);
    EXPECT_EQ(end, 10u);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
  EXPECT_EQ(calls, 1);
}

// Two bodies that each wait for the other finish only when two threads run them at once: the caller
// and a worker.
TEST(ThreadPool, TheCallerAndAWorkerRunTogether) {
  ThreadPool pool(2);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> here{0};
    pool.ParallelFor(2, 1, [&](std::size_t, std::size_t) {
      here.fetch_add(1);
      while (here.load() < 2) std::this_thread::yield();
    });
    EXPECT_EQ(here.load(), 2);
  }
}

TEST(ThreadPool, NestedRegionsRunOnTheThreadThatStartsThem) {
  ThreadPool pool(4);
  std::atomic<int> items{0};
  pool.ParallelFor(16, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto me = std::this_thread::get_id();
      pool.ParallelFor(100, 1, [&](std::size_t b, std::size_t e) {
        EXPECT_EQ(std::this_thread::get_id(), me);
        items.fetch_add(static_cast<int>(e - b));
      });
    }
  });
  EXPECT_EQ(items.load(), 1600);
}

TEST(ThreadPool, ManyCallersShareIt) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<long> total{0};
  for (int c = 0; c < 8; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::vector<int> x(257, 1);
        std::atomic<int> sum{0};
        pool.ParallelFor(x.size(), 5, [&](std::size_t begin, std::size_t end) {
          int s = 0;
          for (std::size_t i = begin; i < end; ++i) s += x[i];
          sum.fetch_add(s, std::memory_order_relaxed);
        });
        total.fetch_add(sum.load());
      }
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(total.load(), 8L * 200 * 257);
}

// What a body writes without atomics must be there when ParallelFor returns (the thread sanitizer
// watches, too).
TEST(ThreadPool, WritesAreSeenAfterwards) {
  ThreadPool pool(4);
  std::vector<std::size_t> x(4096);
  for (std::size_t round = 0; round < 300; ++round) {
    pool.ParallelFor(x.size(), 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) x[i] = i + round;
    });
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], i + round);
  }
}

TEST(ThreadPool, HugeCountsDoNotOverflow) {
  ThreadPool pool(2);
  const std::size_t n = std::numeric_limits<std::size_t>::max();
  std::mutex mutex;
  std::set<std::size_t> begins;
  std::size_t last = 0;
  pool.ParallelFor(n, n / 3, [&](std::size_t begin, std::size_t end) {
    const std::lock_guard<std::mutex> lock(mutex);
    begins.insert(begin);
    last = std::max(last, end);
    EXPECT_LT(begin, end);
  });
  EXPECT_EQ(last, n);
  EXPECT_GE(begins.size(), 3u);
}

TEST(ThreadPool, IdleWorkersSleep) {
  ThreadPool pool(4);
  pool.ParallelFor(100, 1, [](std::size_t, std::size_t) {});
  const auto cpu_us = [] {
    struct rusage u;
    ::getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000L + u.ru_utime.tv_usec +
           u.ru_stime.tv_usec;
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the last spins end
  const long before = cpu_us();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(cpu_us() - before, 30000);  // a tenth of one core; spinning would be three
}

TEST(ThreadPool, PoolsComeAndGo) {
  for (int i = 0; i < 100; ++i) {
    ThreadPool pool(1 + i % 5);
    std::atomic<int> sum{0};
    if (i % 2 == 0)
      pool.ParallelFor(
          50, 1, [&](std::size_t b, std::size_t e) { sum.fetch_add(static_cast<int>(e - b)); });
    EXPECT_EQ(sum.load(), i % 2 == 0 ? 50 : 0);
  }
}

TEST(ThreadPool, NonsenseCountsGiveOneThread) {
  EXPECT_EQ(ThreadPool(0).threads(), 1);
  EXPECT_EQ(ThreadPool(-3).threads(), 1);
}

}  // namespace
}  // namespace npukit
