#include "files.h"

#include <gtest/gtest.h>

namespace ocr {
namespace {

class NpyFile : public testing::Test {
 protected:
  ~NpyFile() override { std::filesystem::remove(path_); }
  std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) / "ocr_npy_test.npy";

  Result<Array> Read(const std::string& bytes) {
    EXPECT_FALSE(WriteFile(path_, bytes).has_value());
    return ReadNpy(path_);
  }
};

// What numpy 2.4's save writes for np.array([[1, 2]], "<f4"): 10 bytes, the dictionary padded to
// 128 in all, the data.
std::string NumpyFile(const std::string& descr, const std::string& order,
                      const std::string& shape) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize(117, ' ');
  header += '\n';
  std::string bytes = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header;
  bytes.append("\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
  return bytes;
}

TEST_F(NpyFile, ReadsWhatNumpyWrites) {
  const Result<Array> array = Read(NumpyFile("<f4", "False", "(1, 2)"));
  ASSERT_TRUE(array.ok()) << array.error().message;
  EXPECT_EQ(array.value().shape, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(array.value().data, (std::vector<float>{1, 2}));
}

TEST_F(NpyFile, ComesBackAsWritten) {
  const Array array{{2, 1, 3}, {1, -2, 3.5f, 0, 1e-30f, -1e30f}};
  ASSERT_FALSE(WriteNpy(path_, array).has_value());
  const Result<Array> back = ReadNpy(path_);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back.value().shape, array.shape);
  EXPECT_EQ(back.value().data, array.data);
  EXPECT_EQ((std::filesystem::file_size(path_) - 24) % 64, 0u);  // the data is aligned
}

TEST_F(NpyFile, IsRefusedInOneLineWhenItIsNotWhatItSays) {
  const std::string good = NumpyFile("<f4", "False", "(1, 2)");
  for (const std::string& bad :
       {std::string(), good.substr(0, 11), good.substr(0, 60), good.substr(0, good.size() - 1),
        good + "x", NumpyFile("<f8", "False", "(1, 2)"), NumpyFile("<f4", "True", "(1, 2)"),
        NumpyFile("<f4", "False", "(1, 3)"), NumpyFile("<f4", "False", "(-1, 2)"),
        NumpyFile("<f4", "False", "(4294967296, 4294967296, 2)"),
        NumpyFile("<f4", "False", "(1, 2"), NumpyFile("<f4", "False", "x")}) {
    const Result<Array> array = Read(bad);
    ASSERT_FALSE(array.ok());
    EXPECT_EQ(array.error().exit_code, kExitBadInput);
    EXPECT_EQ(array.error().message.find('\n'), std::string::npos);
  }
}

TEST(Files, ThatCannotBeOpenedAreBadInput) {
  const MaybeError error = WriteFile("/no/such/folder/x", "text");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->exit_code, kExitBadInput);
  EXPECT_EQ(error->message, "/no/such/folder/x: cannot be written: No such file or directory");
}

TEST(Files, AreTriedWithoutLeavingAnything) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "npukit_ocr_try";
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(MakeFolder(folder));
  EXPECT_FALSE(TryFile(folder / "a.html"));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(TryFile(folder)->exit_code, kExitBadInput);
  EXPECT_EQ(TryFile(folder / "no" / "a.html")->exit_code, kExitBadInput);
  ASSERT_FALSE(WriteFile(folder / "a.html", "kept"));
  EXPECT_FALSE(TryFile(folder / "a.html"));
  EXPECT_EQ(ReadFile(folder / "a.html", 100).value(), "kept");
  std::filesystem::remove_all(folder);
}

TEST(Files, LargerThanTheirLimitAreRefused) {
  const std::string path = testing::TempDir() + "ocr_files_test.txt";
  ASSERT_FALSE(WriteFile(path, std::string(100, 'x')).has_value());
  EXPECT_TRUE(ReadFile(path, 100).ok());
  EXPECT_FALSE(ReadFile(path, 99).ok());
  EXPECT_FALSE(ReadFile(testing::TempDir(), 99).ok());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace ocr
