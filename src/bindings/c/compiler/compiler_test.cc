#include "npukit/compiler.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>

#include "base/env.h"

namespace {

// A field of protobuf's wire format: a number, or bytes.
std::string Number(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string Bytes(int field, const std::string& value) {
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(value.size())} + value;
}

// y[n, 4] = relu(x[n, 4]) as ONNX, by the field numbers of onnx.proto.
std::string Model() {
  const std::string dims = Bytes(1, Bytes(2, "n")) + Bytes(1, Number(1, 4));
  const std::string type = Bytes(1, Number(1, 1) + Bytes(2, dims));
  const std::string node = Bytes(1, "x") + Bytes(2, "y") + Bytes(3, "act") + Bytes(4, "Relu");
  const std::string graph = Bytes(1, node) + Bytes(2, "g") +
                            Bytes(11, Bytes(1, "x") + Bytes(2, type)) +
                            Bytes(12, Bytes(1, "y") + Bytes(2, type));
  return Number(1, 8) + Bytes(7, graph) + Bytes(8, Bytes(1, "") + Number(2, 13));
}

class CompileFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string model = Model();
    ASSERT_TRUE(npukit::WriteFile(npukit::RealEnv(), model_, std::as_bytes(std::span(model))).ok());
    std::remove(package_.c_str());
  }
  bool Written() const { return npukit::RealEnv().FileSize(package_).ok(); }

  const std::string model_ = ::testing::TempDir() + "npk_compile_file.onnx";
  const std::string package_ = ::testing::TempDir() + "npk_compile_file.npk";
};

TEST_F(CompileFile, WritesAPackageThatTheRuntimeOpens) {
  const char* shapes[] = {"x=1x4", "x=2x4"};
  npk_compile_options o = {sizeof o, "kirin9030", shapes, 2, 0};
  ASSERT_EQ(npk_compile_file(model_.c_str(), package_.c_str(), &o), NPK_OK) << npk_last_error();
  npk_session_options open = {sizeof open, "CPU", nullptr, 1};
  npk_session* session = nullptr;
  ASSERT_EQ(npk_session_open(package_.c_str(), &open, &session), NPK_OK) << npk_last_error();
  EXPECT_STREQ(npk_session_target(session), "kirin9030");
  EXPECT_EQ(npk_session_program_count(session), 2u);
  npk_session_release(session);
}

TEST_F(CompileFile, SaysWhatIsWrongAndWritesNothing) {
  const auto refused = [&](const char* model, const char* target, const char* shape,
                           npk_status status, const char* said) {
    npk_compile_options o = {sizeof o, target, &shape, 1, 0};
    EXPECT_EQ(npk_compile_file(model, package_.c_str(), &o), status);
    EXPECT_NE(std::string(npk_last_error()).find(said), std::string::npos) << npk_last_error();
  };
  refused("/no/such/model.onnx", nullptr, "x=1x4", NPK_NOT_FOUND, "model.onnx");
  refused(model_.c_str(), "nochip", "x=1x4", NPK_NOT_FOUND, "nochip");
  refused(model_.c_str(), nullptr, "x=1x5", NPK_INVALID_ARGUMENT, "--shape");
  refused(model_.c_str(), nullptr, nullptr, NPK_INVALID_ARGUMENT, "NULL");
  refused(nullptr, nullptr, "x=1x4", NPK_INVALID_ARGUMENT, "NULL");
  EXPECT_EQ(npk_compile_file(model_.c_str(), package_.c_str(), nullptr),
            NPK_INVALID_ARGUMENT);  // the shape is open
  npk_compile_options unset = {};
  EXPECT_EQ(npk_compile_file(model_.c_str(), package_.c_str(), &unset), NPK_INVALID_ARGUMENT);
  EXPECT_FALSE(Written());
}

TEST_F(CompileFile, FieldsTheCallerDidNotKnowAreNotRead) {
  const char* shapes[] = {"x=1x4"};
  npk_compile_options o = {sizeof o, nullptr, shapes, 1, 1};
  o.struct_size = offsetof(npk_compile_options, no_cpu);
  EXPECT_EQ(npk_compile_file(model_.c_str(), package_.c_str(), &o), NPK_OK) << npk_last_error();
  EXPECT_TRUE(Written());
}

}  // namespace
