// An Env in memory that fails on demand: FailAt(n, code) makes the n-th operation (0 is the next
// one) fail with that code. Operations are counted in the order they are called: ReadFile, MapFile,
// CreateFile, Write, Commit, FileSize, CreateFolder, ListFolder. As with the real one, a file
// appears under its name only at Commit. Any thread may call it.
//
//   for (int n = 0;; ++n) {
//     FakeEnv env;
//     env.FailAt(n, Code::kIo);
//     const Status s = Save(env, "f");
//     if (s.ok()) break;                       // fewer than n operations: all places were tried
//     EXPECT_TRUE(env.files().empty());        // nothing half-written
//   }
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/text.h"

namespace npukit::testing {

class FakeEnv final : public Env {
 public:
  using Bytes = std::vector<std::byte>;

  void FailAt(int operation, Code code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    fail_in_ = operation;
    code_ = code;
  }
  void Put(const std::string& path, Bytes bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    files_[path] = std::make_shared<const Bytes>(std::move(bytes));
  }
  // What is committed.
  std::map<std::string, Bytes> files() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::map<std::string, Bytes> out;
    for (const auto& [path, bytes] : files_) out[path] = *bytes;
    return out;
  }
  int operations() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return operations_;
  }
  void Advance(std::int64_t ns) {
    const std::lock_guard<std::mutex> lock(mutex_);
    now_ns_ += ns;
  }

  Result<Bytes> ReadFile(const std::string& path, std::uint64_t max_bytes) override {
    NPUKIT_ASSIGN_OR_RETURN(const auto bytes, Find("ReadFile", path));
    if (bytes->size() > max_bytes)
      return ResourceExhausted(Cat(path, " is longer than ", max_bytes, " bytes"));
    return *bytes;
  }
  Result<std::shared_ptr<MappedFile>> MapFile(const std::string& path) override {
    NPUKIT_ASSIGN_OR_RETURN(auto bytes, Find("MapFile", path));
    return std::shared_ptr<MappedFile>(std::make_shared<Mapped>(std::move(bytes)));
  }
  Result<std::unique_ptr<OutputFile>> CreateFile(const std::string& path) override {
    NPUKIT_RETURN_IF_ERROR(Count("CreateFile", path));
    return std::unique_ptr<OutputFile>(std::make_unique<Output>(*this, path));
  }
  Result<std::uint64_t> FileSize(const std::string& path) override {
    NPUKIT_ASSIGN_OR_RETURN(const auto bytes, Find("FileSize", path));
    return std::uint64_t{bytes->size()};
  }
  Status CreateFolder(const std::string& path) override { return Count("CreateFolder", path); }
  Result<std::vector<std::string>> ListFolder(const std::string& path) override {
    NPUKIT_RETURN_IF_ERROR(Count("ListFolder", path));
    std::vector<std::string> names;
    for (const auto& [file, bytes] : files()) {
      const std::size_t slash = file.rfind('/');
      if (slash != std::string::npos && file.substr(0, slash) == path)
        names.push_back(file.substr(slash + 1));
    }
    if (names.empty()) return NotFound(Cat("no such folder: ", path));
    return names;
  }
  std::int64_t NowNs() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return now_ns_;
  }

 private:
  class Mapped final : public MappedFile {
   public:
    // Starts at a page as a real map does, so that alignment holds here too.
    explicit Mapped(std::shared_ptr<const Bytes> bytes)
        : size_(bytes->size()),
          copy_(static_cast<std::byte*>(::operator new(size_ + 1, std::align_val_t{4096}))) {
      std::copy(bytes->begin(), bytes->end(), copy_);
    }
    ~Mapped() override { ::operator delete(copy_, std::align_val_t{4096}); }
    std::span<const std::byte> bytes() const override { return {copy_, size_}; }

   private:
    std::size_t size_;
    std::byte* copy_;
  };

  class Output final : public OutputFile {
   public:
    Output(FakeEnv& env, std::string path) : env_(env), path_(std::move(path)) {}
    Status Write(std::span<const std::byte> bytes) override {
      NPUKIT_RETURN_IF_ERROR(env_.Count("Write", path_));
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
      return OkStatus();
    }
    Status Commit() override {
      NPUKIT_RETURN_IF_ERROR(env_.Count("Commit", path_));
      env_.Put(path_, std::move(bytes_));
      return OkStatus();
    }

   private:
    FakeEnv& env_;
    std::string path_;
    Bytes bytes_;
  };

  Status Count(std::string_view what, const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++operations_;
    if (fail_in_ < 0 || fail_in_-- != 0) return OkStatus();
    return Status(code_, Cat(what, " of ", path, " was made to fail"));
  }
  Result<std::shared_ptr<const Bytes>> Find(std::string_view what, const std::string& path) {
    NPUKIT_RETURN_IF_ERROR(Count(what, path));
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = files_.find(path);
    if (it == files_.end()) return NotFound(Cat("no such file: ", path));
    return it->second;
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Bytes>>
      files_;  // this and the rest guarded by mutex_
  int operations_ = 0;
  int fail_in_ = -1;
  Code code_ = Code::kIo;
  std::int64_t now_ns_ = 0;
};

}  // namespace npukit::testing
