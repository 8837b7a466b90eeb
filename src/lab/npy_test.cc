#include "lab/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace npukit::lab {
namespace {

std::vector<std::byte> Bytes(const std::string& s) {
  const auto* p = reinterpret_cast<const std::byte*>(s.data());
  return {p, p + s.size()};
}

// What numpy 2.4.6 writes for np.save(f, np.array([[1, -2.5, 3]], np.float32)).
const std::string kHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }");
std::string Npy(std::string header, const std::string& data) {
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + data;
}
const std::string kData("\x00\x00\x80\x3f\x00\x00\x20\xc0\x00\x00\x40\x40", 12);

TEST(Npy, ReadsAndWritesWhatNumpyWrites) {
  const std::vector<std::byte> file = Bytes(Npy(kHeader, kData));
  const auto v = ParseNpy(file, "a.npy");
  ASSERT_TRUE(v.ok()) << v.status().message();
  EXPECT_EQ(v->dtype(), tensor::DType::kF32);
  EXPECT_EQ(v->dims(), (tensor::Dims{1, 3}));
  EXPECT_EQ(v->as<float>()[1], -2.5f);
  const auto written = FormatNpy(*v);
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(*written, file);
}

TEST(Npy, EveryTypeComesBack) {
  for (const tensor::DType t :
       {tensor::DType::kF32, tensor::DType::kF16, tensor::DType::kF64, tensor::DType::kI8,
        tensor::DType::kI16, tensor::DType::kI32, tensor::DType::kI64, tensor::DType::kU8,
        tensor::DType::kU16, tensor::DType::kU32, tensor::DType::kU64, tensor::DType::kBool}) {
    for (const tensor::Dims& dims :
         {tensor::Dims{}, tensor::Dims{1}, tensor::Dims{2, 3}, tensor::Dims{0, 4}}) {
      auto v = tensor::Value::Allocate(t, dims);
      ASSERT_TRUE(v.ok());
      for (std::int64_t i = 0; i < v->count(); ++i)
        tensor::StoreDouble(*v, i, static_cast<double>(i % 2));
      const auto file = FormatNpy(*v);
      ASSERT_TRUE(file.ok());
      const auto back = ParseNpy(*file, "a.npy");
      ASSERT_TRUE(back.ok()) << back.status().message();
      EXPECT_EQ(back->dtype(), t);
      EXPECT_EQ(back->dims(), dims);
      EXPECT_TRUE(std::ranges::equal(back->bytes(), v->bytes()));
    }
  }
}

TEST(Npy, RefusesWhatItDoesNotRead) {
  const auto message = [](const std::string& file) {
    return ParseNpy(Bytes(file), "a.npy").status().message();
  };
  const auto has = [&](const std::string& file, const char* words) {
    EXPECT_NE(message(file).find(words), std::string::npos) << message(file);
  };
  has("", "not a .npy file");
  has("PK\x03\x04 a zip file, not numpy", "not a .npy file");
  has(Npy(kHeader, kData).substr(0, 60), "cut off");
  has(Npy(kHeader, kData.substr(1)), "11 bytes of data");
  has(Npy(kHeader, kData + "x"), "13 bytes of data");
  has(Npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1, 3), }", kData), "little-endian");
  has(Npy("{'descr': '|O', 'fortran_order': False, 'shape': (1, 3), }", kData), "not read");
  has(Npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 3), }", kData), "Fortran order");
  has(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", kData),
      "the header says");
  has(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 3), }", kData), "numpy.save");
  has(Npy("{'descr': '<f4', 'fortran_order': False}", kData), "numpy.save");
  has(Npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }", kData),
      "numpy.save");
  has(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12) + kData, "at most");
  has(std::string("\x93NUMPY\x09\x00\x00\x00", 10), "version 9");
}

// Any flip of one bit is either refused or read as some other tensor of the same bytes: no crash,
// no wild length.
TEST(Npy, SurvivesEveryBitFlip) {
  const std::vector<std::byte> file = Bytes(Npy(kHeader, kData));
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::vector<std::byte> bad = file;
    bad[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    const auto v = ParseNpy(bad, "a.npy");
    EXPECT_TRUE(!v.ok() || v->byte_size() <= file.size()) << "bit " << bit;
  }
}

}  // namespace
}  // namespace npukit::lab
