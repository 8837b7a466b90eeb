#include "lab/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/text.h"

extern char** environ;

namespace npukit::lab {
namespace {

using Clock = std::chrono::steady_clock;

class Pipe {
 public:
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }
  bool Open() { return ::pipe2(ends_, O_CLOEXEC) == 0; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void CloseRead() { Close(ends_[0]); }
  void CloseWrite() { Close(ends_[1]); }

 private:
  static void Close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  int ends_[2] = {-1, -1};
};

Status SystemError(const char* what, int error) {
  return IoError(Cat("cannot ", what, ": ", std::strerror(error)));
}

std::int64_t MsLeft(Clock::time_point end) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
}

// Both ends read until they close or the time is over.
void ReadBoth(Pipe& out, Pipe& err, Clock::time_point end, ChildEnd* result) {
  Pipe* pipes[] = {&out, &err};
  std::string* texts[] = {&result->out, &result->err};
  while (out.read_end() >= 0 || err.read_end() >= 0) {
    pollfd fds[] = {{out.read_end(), POLLIN, 0}, {err.read_end(), POLLIN, 0}};
    const std::int64_t left = MsLeft(end);
    if (left <= 0) return;
    const int ready = ::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return;
    for (int i = 0; i < 2 && ready > 0; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t n = ::read(fds[i].fd, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        pipes[i]->CloseRead();
        continue;
      }
      const std::size_t room = kMaxChildOutput - std::min(kMaxChildOutput, texts[i]->size());
      texts[i]->append(buffer, std::min(room, static_cast<std::size_t>(n)));
    }
  }
}

void WaitFor(pid_t pid, Clock::time_point end, ChildEnd* result) {
  int status = 0;
  pid_t done = 0;
  while ((done = ::waitpid(pid, &status, WNOHANG)) == 0 && MsLeft(end) > 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  if (done == 0) {
    result->timed_out = true;
    ::kill(pid, SIGKILL);
    do {
      done = ::waitpid(pid, &status, 0);
    } while (done < 0 && errno == EINTR);
  }
  if (done != pid) return;
  if (WIFEXITED(status)) result->exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result->signal = WTERMSIG(status);
}

}  // namespace

Result<ChildEnd> RunSelf(const std::vector<std::string>& words, std::int64_t timeout_ms) {
  Pipe out, err;
  if (!out.Open() || !err.Open()) return SystemError("make a pipe", errno);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write_end(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write_end(), STDERR_FILENO);
  std::vector<std::string> copies = {"npukit"};
  copies.insert(copies.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& w : copies) argv.push_back(w.data());
  argv.push_back(nullptr);
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return SystemError("start a process", error);
  out.CloseWrite();
  err.CloseWrite();
  ChildEnd result;
  ReadBoth(out, err, end, &result);
  WaitFor(pid, end, &result);
  return result;
}

void LimitMemory([[maybe_unused]] std::uint64_t bytes) {
  const rlimit no_core = {0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit = {bytes, bytes};
  (void)::setrlimit(RLIMIT_AS, &limit);
#endif
}

}  // namespace npukit::lab
