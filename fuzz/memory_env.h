// One file in memory, read without a copy. Everything else is not there.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/env.h"

namespace npukit::fuzz {

class MemoryEnv final : public Env {
 public:
  explicit MemoryEnv(std::span<const std::byte> bytes) : bytes_(bytes) {}
  Result<std::vector<std::byte>> ReadFile(const std::string&, std::uint64_t) override {
    return NotFound("no such file");
  }
  Result<std::shared_ptr<MappedFile>> MapFile(const std::string& path) override {
    if (path != "model.onnx") return NotFound("no such file");
    return std::shared_ptr<MappedFile>(std::make_shared<Mapped>(bytes_));
  }
  Result<std::unique_ptr<OutputFile>> CreateFile(const std::string&) override {
    return Internal("a reader writes nothing");
  }
  Result<std::uint64_t> FileSize(const std::string&) override { return NotFound("no such file"); }
  Status CreateFolder(const std::string&) override { return Internal("a reader writes nothing"); }
  Result<std::vector<std::string>> ListFolder(const std::string&) override {
    return NotFound("no such folder");
  }
  std::int64_t NowNs() override { return 0; }

 private:
  class Mapped final : public MappedFile {
   public:
    explicit Mapped(std::span<const std::byte> bytes) : bytes_(bytes) {}
    std::span<const std::byte> bytes() const override { return bytes_; }

   private:
    std::span<const std::byte> bytes_;
  };
  std::span<const std::byte> bytes_;
};

}  // namespace npukit::fuzz
