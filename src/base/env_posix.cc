#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/env.h"
#include "base/kept_bytes.h"
#include "base/text.h"

namespace npukit {
namespace {

constexpr std::size_t kMaxTransfer =
    std::size_t{1} << 30;  // one read or write; Linux cuts longer ones at 2 GiB anyway

std::string ErrorText(int error) {
  char buffer[128];
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
  return strerror_r(error, buffer, sizeof(buffer));
#else
  return strerror_r(error, buffer, sizeof(buffer)) == 0 ? buffer : "unknown error";
#endif
}

std::string Name(const std::string& path) { return Printable(path, 300); }

// `verb`: what we were doing, as in "cannot read".
Status ReadError(std::string_view verb, const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) return NotFound(Cat("no such file: ", Name(path)));
  if (error == EISDIR) return InvalidArgument(Cat(Name(path), " is a folder; expected a file"));
  return IoError(Cat("cannot ", verb, " ", Name(path), ": ", ErrorText(error)));
}

Status Unwritable(const std::string& path, std::string_view why) {
  return Status(Code::kUnwritable, Cat("cannot write ", Name(path), ": ", why));
}

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(Fd&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Fd& operator=(Fd&&) = delete;
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

int OpenRetry(const std::string& path, int flags, mode_t mode = 0) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

// Opens for reading and says what it is; never a folder.
Result<Fd> OpenForRead(const std::string& path, int extra_flags, struct stat* info) {
  Fd fd(OpenRetry(path, O_RDONLY | extra_flags));
  if (fd.get() < 0) return ReadError("open", path, errno);
  if (::fstat(fd.get(), info) != 0) return ReadError("open", path, errno);
  if (S_ISDIR(info->st_mode)) return ReadError("open", path, EISDIR);
  return fd;
}

class PosixMappedFile final : public MappedFile {
 public:
  explicit PosixMappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {
    if (!bytes_.empty()) NoteMapping(bytes_);
  }
  ~PosixMappedFile() override {
    if (bytes_.empty()) return;
    ForgetMapping(bytes_);
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  std::span<const std::byte> bytes() const override { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

class PosixOutputFile final : public OutputFile {
 public:
  // `temporary` empty: written directly.
  PosixOutputFile(int fd, std::string path, std::string target, std::string temporary)
      : fd_(fd),
        path_(std::move(path)),
        target_(std::move(target)),
        temporary_(std::move(temporary)) {}
  ~PosixOutputFile() override {
    if (fd_ >= 0) ::close(fd_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  Status Write(std::span<const std::byte> bytes) override {
    if (fd_ < 0) return Internal(Cat("write to ", Name(path_), " after its end"));
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxTransfer));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return WriteError(errno);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return OkStatus();
  }

  Status Commit() override {
    if (fd_ < 0) return Internal(Cat("second commit of ", Name(path_)));
    // Pipes and devices know no fsync.
    if (::fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
      return WriteError(errno);
    if (::close(std::exchange(fd_, -1)) != 0) return WriteError(errno);
    if (temporary_.empty()) return OkStatus();
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return WriteError(errno);
    temporary_.clear();
    // The rename itself must survive a power cut; a folder that cannot be synced is no reason to
    // fail.
    const std::size_t slash = target_.rfind('/');
    const Fd folder(OpenRetry(slash == std::string::npos ? "." : target_.substr(0, slash + 1),
                              O_RDONLY | O_DIRECTORY));
    if (folder.get() >= 0) (void)::fsync(folder.get());
    return OkStatus();
  }

 private:
  Status WriteError(int error) const {
    return IoError(Cat("writing ", Name(path_), " failed: ", ErrorText(error),
                       error == ENOSPC ? "; free some space or choose another place" : ""));
  }

  int fd_;
  std::string path_;       // as the caller said it
  std::string target_;     // links resolved
  std::string temporary_;  // "": none
};

// Beside the target, so that rename stays within one file system; unique in this process and among
// processes.
Result<std::unique_ptr<OutputFile>> CreateTemporary(const std::string& path,
                                                    const std::string& target,
                                                    const struct stat* old) {
  static constinit std::atomic<unsigned> serial{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string temporary =
        Cat(target, ".", static_cast<long>(::getpid()), "-", serial.fetch_add(1), ".tmp");
    const int fd = OpenRetry(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0 && errno == EEXIST) continue;  // left over by a process that was killed
    if (fd < 0) return Unwritable(path, ErrorText(errno));
    if (old != nullptr) (void)::fchmod(fd, old->st_mode & 0777);
    return std::unique_ptr<OutputFile>(
        std::make_unique<PosixOutputFile>(fd, path, target, std::move(temporary)));
  }
  return Unwritable(path, "too many left-over temporary files beside it");
}

class PosixEnv final : public Env {
 public:
  Result<std::vector<std::byte>> ReadFile(const std::string& path,
                                          std::uint64_t max_bytes) override {
    struct stat info;
    max_bytes = std::min<std::uint64_t>(max_bytes, PTRDIFF_MAX);  // so that max_bytes + 1 exists
    NPUKIT_ASSIGN_OR_RETURN(const Fd fd, OpenForRead(path, 0, &info));
    const auto too_long = [&] {
      return ResourceExhausted(
          Cat(Name(path), " is longer than the ", max_bytes, " bytes allowed here"));
    };
    if (S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) > max_bytes)
      return too_long();
    // A file may grow or say 0 (/proc), and a pipe has no size: read to the end, whatever was said.
    std::vector<std::byte> bytes;
    std::size_t size = 0;
    std::uint64_t step =
        S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) + 1 : 1 << 16;
    while (true) {
      if (size == bytes.size()) {
        const std::uint64_t want =
            size +
            std::min<std::uint64_t>(std::max<std::uint64_t>(step, size / 2), max_bytes - size + 1);
        // vector cannot report that there is no memory: ask first.
        void* probe = ::operator new(want, std::nothrow);
        if (probe == nullptr)
          return Status(Code::kOutOfMemory, Cat("no memory for ", want, " bytes of ", Name(path)));
        ::operator delete(probe);
        bytes.resize(want);
        step = 1 << 16;
      }
      const ssize_t n =
          ::read(fd.get(), bytes.data() + size, std::min(bytes.size() - size, kMaxTransfer));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ReadError("read", path, errno);
      if (n == 0) break;
      size += static_cast<std::size_t>(n);
      if (size > max_bytes) return too_long();
    }
    bytes.resize(size);
    return bytes;
  }

  Result<std::shared_ptr<MappedFile>> MapFile(const std::string& path) override {
    struct stat info;
    // O_NONBLOCK: opening a pipe nobody writes to would wait for ever.
    NPUKIT_ASSIGN_OR_RETURN(const Fd fd, OpenForRead(path, O_NONBLOCK, &info));
    if (!S_ISREG(info.st_mode)) {
      return InvalidArgument(Cat(Name(path), " is a ", S_ISFIFO(info.st_mode) ? "pipe" : "device",
                                 "; expected a regular file, which can be mapped"));
    }
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (size == 0)
      return std::shared_ptr<MappedFile>(
          std::make_shared<PosixMappedFile>(std::span<const std::byte>{}));
    if (size > PTRDIFF_MAX)
      return ResourceExhausted(Cat(Name(path), " is too large to map: ", size, " bytes"));
    void* p = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (p == MAP_FAILED) return ReadError("map", path, errno);
    return std::shared_ptr<MappedFile>(std::make_shared<PosixMappedFile>(
        std::span(static_cast<const std::byte*>(p), static_cast<std::size_t>(size))));
  }

  Result<std::unique_ptr<OutputFile>> CreateFile(const std::string& path) override {
    if (path.empty()) return Unwritable(path, "the name is empty");
    struct stat info;
    const bool exists = ::stat(path.c_str(), &info) == 0;
    if (!exists && errno != ENOENT) return Unwritable(path, ErrorText(errno));
    if (exists && S_ISDIR(info.st_mode)) return Unwritable(path, "it is a folder");
    if (exists && !S_ISREG(info.st_mode)) {
      const int fd = OpenRetry(path, O_WRONLY);
      if (fd < 0) return Unwritable(path, ErrorText(errno));
      return std::unique_ptr<OutputFile>(std::make_unique<PosixOutputFile>(fd, path, path, ""));
    }
    if (!exists) {
      if (::lstat(path.c_str(), &info) == 0) return Unwritable(path, "it is a link to nothing");
      return CreateTemporary(path, path, nullptr);
    }
    // A rename would replace a file its owner protected, and a link instead of what it points to.
    if (::access(path.c_str(), W_OK) != 0) return Unwritable(path, ErrorText(errno));
    char* real = ::realpath(path.c_str(), nullptr);
    if (real == nullptr) return Unwritable(path, ErrorText(errno));
    const std::string target(real);
    std::free(real);
    return CreateTemporary(path, target, &info);
  }

  Result<std::uint64_t> FileSize(const std::string& path) override {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) return ReadError("look at", path, errno);
    if (S_ISDIR(info.st_mode)) return ReadError("look at", path, EISDIR);
    if (!S_ISREG(info.st_mode))
      return InvalidArgument(Cat(Name(path), " is no regular file and has no size"));
    return static_cast<std::uint64_t>(info.st_size);
  }

  Status CreateFolder(const std::string& path) override {
    if (path.empty()) return Unwritable(path, "the name is empty");
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      const std::string part = path.substr(0, end);
      if (::mkdir(part.c_str(), 0777) != 0) {
        const int error =
            errno;  // EEXIST, or EROFS and the like for a parent that is there already
        struct stat info;
        if (::stat(part.c_str(), &info) != 0) return Unwritable(part, ErrorText(error));
        if (!S_ISDIR(info.st_mode)) return Unwritable(path, Cat(Name(part), " is no folder"));
      }
      if (end == std::string::npos || end + 1 == path.size()) return OkStatus();
    }
  }

  Result<std::vector<std::string>> ListFolder(const std::string& path) override {
    DIR* folder = ::opendir(path.c_str());
    if (folder == nullptr) {
      if (errno == ENOENT || errno == ENOTDIR) return NotFound(Cat("no such folder: ", Name(path)));
      return ReadError("list", path, errno);
    }
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(folder)) {
      if (entry->d_name[0] == '.') continue;
      struct stat info;
      if (::fstatat(::dirfd(folder), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode))
        names.emplace_back(entry->d_name);
    }
    ::closedir(folder);
    std::sort(names.begin(), names.end());
    return names;
  }

  std::int64_t NowNs() override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }
};

}  // namespace

Env& RealEnv() {
  static PosixEnv& env = *new PosixEnv;  // leaked on purpose: usable until the very end
  return env;
}

Status WriteFile(Env& env, const std::string& path, std::span<const std::byte> bytes) {
  NPUKIT_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, env.CreateFile(path));
  NPUKIT_RETURN_IF_ERROR(file->Write(bytes));
  return file->Commit();
}

}  // namespace npukit
