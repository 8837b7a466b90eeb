#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/env.h"

namespace npukit {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> BytesOf(std::string_view s) { return std::as_bytes(std::span(s)); }
std::string TextOf(std::span<const std::byte> b) {
  return std::string(reinterpret_cast<const char*>(b.data()), b.size());
}

class EnvTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("npukit_env_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  void Put(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  std::string Get(const std::string& name) const {
    std::ifstream in(Path(name));
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  std::size_t Count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
  Env& env_ = RealEnv();
};

TEST_F(EnvTest, ReadsAndMapsWhatIsThere) {
  Put("f", "hello");
  EXPECT_EQ(TextOf(*env_.ReadFile(Path("f"), 100)), "hello");
  EXPECT_EQ(TextOf(*env_.ReadFile(Path("f"), 5)), "hello");
  EXPECT_EQ(TextOf((*env_.MapFile(Path("f")))->bytes()), "hello");
  EXPECT_EQ(*env_.FileSize(Path("f")), 5u);
}

TEST_F(EnvTest, EmptyFilesAreEmpty) {
  Put("f", "");
  EXPECT_TRUE(env_.ReadFile(Path("f"), 100)->empty());
  EXPECT_TRUE((*env_.MapFile(Path("f")))->bytes().empty());
}

TEST_F(EnvTest, TooLongIsRefused) {
  Put("f", "hello");
  EXPECT_EQ(env_.ReadFile(Path("f"), 4).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(TextOf(*env_.ReadFile(Path("f"), ~std::uint64_t{0})), "hello");
  EXPECT_EQ(env_.ReadFile("/dev/zero", 1 << 20).status().code(), Code::kResourceExhausted);
}

TEST_F(EnvTest, MissingFilesAndFoldersAreNamed) {
  for (const Status& s :
       {env_.ReadFile(Path("no"), 9).status(), env_.MapFile(Path("no")).status(),
        env_.FileSize(Path("no")).status(), env_.ReadFile(Path("f/no"), 9).status()}) {
    EXPECT_EQ(s.code(), Code::kNotFound);
    EXPECT_NE(s.message().find("no"), std::string::npos);
  }
  for (const Status& s : {env_.ReadFile(Path(""), 9).status(), env_.MapFile(Path("")).status(),
                          env_.FileSize(Path("")).status()}) {
    EXPECT_EQ(s.code(), Code::kInvalidArgument) << s.message();
  }
}

TEST_F(EnvTest, PipesAreReadButNotMapped) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(env_.MapFile(Path("pipe")).status().code(),
            Code::kInvalidArgument);  // and does not wait for a writer
  EXPECT_EQ(env_.MapFile("/dev/zero").status().code(), Code::kInvalidArgument);
  const std::string text(300000, 'x');
  std::thread writer([&] { std::ofstream(Path("pipe")) << text; });
  EXPECT_EQ(TextOf(*env_.ReadFile(Path("pipe"), 1 << 20)), text);
  writer.join();
}

TEST_F(EnvTest, FilesWithoutASizeAreReadToTheirEnd) {
  const auto r = env_.ReadFile("/proc/self/status", 1 << 20);
  ASSERT_TRUE(r.ok());
  EXPECT_NE(TextOf(*r).find("Pid:"), std::string::npos);
}

TEST_F(EnvTest, AFileAppearsOnlyAtCommit) {
  Put("f", "old");
  auto file = env_.CreateFile(Path("f"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Write(BytesOf("new")).ok());
  EXPECT_EQ(Get("f"), "old");
  ASSERT_TRUE((*file)->Commit().ok());
  EXPECT_EQ(Get("f"), "new");
  EXPECT_FALSE((*file)->Write(BytesOf("x")).ok());
  EXPECT_FALSE((*file)->Commit().ok());
  EXPECT_EQ(Count(), 1u);
}

TEST_F(EnvTest, WithoutCommitNothingStays) {
  {
    auto file = env_.CreateFile(Path("f"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Write(BytesOf("new")).ok());
    EXPECT_EQ(Count(), 1u);  // the temporary
  }
  EXPECT_EQ(Count(), 0u);
}

TEST_F(EnvTest, KeepsModeAndFollowsLinks) {
  Put("f", "old");
  ASSERT_EQ(::chmod(Path("f").c_str(), 0640), 0);
  fs::create_symlink("f", Path("link"));
  ASSERT_TRUE(WriteFile(env_, Path("link"), BytesOf("new")).ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Get("f"), "new");
  struct stat info;
  ASSERT_EQ(::stat(Path("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0640u);
}

TEST_F(EnvTest, PlacesThatCannotBeOpenedAreUnwritable) {
  fs::create_symlink("nowhere", Path("dangling"));
  for (const std::string& path : {Path("no/such/folder"), Path(""), std::string(), Path("dangling"),
                                  std::string("/proc/npukit")}) {
    const Status s = WriteFile(env_, path, BytesOf("x"));
    EXPECT_EQ(s.code(), Code::kUnwritable) << path << ": " << s.message();
    EXPECT_NE(s.message().find(path), std::string::npos) << s.message();
  }
}

TEST_F(EnvTest, ProtectedFilesStay) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  Put("f", "old");
  ASSERT_EQ(::chmod(Path("f").c_str(), 0400), 0);
  EXPECT_EQ(WriteFile(env_, Path("f"), BytesOf("new")).code(), Code::kUnwritable);
  EXPECT_EQ(Get("f"), "old");
}

TEST_F(EnvTest, AFullDiskIsAnIoErrorThatNamesThePath) {
  const Status s = WriteFile(env_, "/dev/full", BytesOf("x"));
  EXPECT_EQ(s.code(), Code::kIo);
  EXPECT_NE(s.message().find("/dev/full"), std::string::npos);
  EXPECT_TRUE(fs::exists("/dev/full"));
  EXPECT_TRUE(WriteFile(env_, "/dev/null", BytesOf("x")).ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(EnvTest, CreatesFoldersWithParents) {
  ASSERT_TRUE(env_.CreateFolder(Path("a/b/c")).ok());
  EXPECT_TRUE(fs::is_directory(Path("a/b/c")));
  EXPECT_TRUE(env_.CreateFolder(Path("a/b/c/")).ok());
  EXPECT_TRUE(env_.CreateFolder("/").ok());
  Put("f", "x");
  EXPECT_EQ(env_.CreateFolder(Path("f")).code(), Code::kUnwritable);
  EXPECT_EQ(env_.CreateFolder(Path("f/g")).code(), Code::kUnwritable);
  EXPECT_EQ(env_.CreateFolder("").code(), Code::kUnwritable);
}

TEST_F(EnvTest, ListsRegularFilesSorted) {
  Put("b", "");
  Put("a", "");
  Put(".hidden", "");
  fs::create_directory(Path("folder"));
  EXPECT_EQ(*env_.ListFolder(folder_.string()), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(env_.ListFolder(Path("no")).status().code(), Code::kNotFound);
}

TEST_F(EnvTest, ManyWritersOfOneFileLeaveOneWhole) {
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'e'; ++c) {
    writers.emplace_back([&, c] {
      for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(WriteFile(env_, Path("f"), BytesOf(std::string(10000, c))).ok());
    });
  }
  for (std::thread& t : writers) t.join();
  const std::string text = Get("f");
  EXPECT_EQ(text, std::string(10000, text[0]));
  EXPECT_EQ(Count(), 1u);
}

TEST_F(EnvTest, TheClockDoesNotGoBack) {
  const std::int64_t a = env_.NowNs();
  EXPECT_GE(env_.NowNs(), a);
}

}  // namespace
}  // namespace npukit
