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

class Reporting : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(npk_report_create("ocr", "title </h1>", nullptr, &report_), NPK_OK);
    std::remove(path_.c_str());
  }
  void TearDown() override { npk_report_release(report_); }
  static npk_report_field Text(const char* name, const char* text) {
    return {sizeof(npk_report_field), name, text, nullptr, 0, 0, -1};
  }
  static npk_report_field Figure(const char* name, double value, std::int32_t kind) {
    return {sizeof(npk_report_field), name, nullptr, "ms", value, 2, kind};
  }
  std::string Written() {
    EXPECT_EQ(npk_report_write(report_, path_.c_str()), NPK_OK) << npk_last_error();
    const auto bytes = npukit::RealEnv().ReadFile(path_, 1 << 24);
    if (!bytes.ok()) return "";
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }
  void Refused(npk_status status, npk_status expected, const char* said) {
    EXPECT_EQ(status, expected);
    EXPECT_NE(std::string(npk_last_error()).find(said), std::string::npos) << npk_last_error();
  }

  npk_report* report_ = nullptr;
  const std::string path_ = ::testing::TempDir() + "npk_report.html";
};

TEST_F(Reporting, WritesWhatItWasGivenEscaped) {
  std::uint32_t picture = 0, timeline = 0;
  const double corners[8] = {1, 2, 30, 2, 30, 9, 1, 9};
  EXPECT_EQ(npk_report_section(report_, "Part <1>", nullptr), NPK_OK);
  EXPECT_EQ(npk_report_picture(report_, "photo", "\xff\xd8\xff\xe0", 4, 40, 20, &picture), NPK_OK);
  EXPECT_EQ(npk_report_box(report_, picture, corners, "</bdi><b>", "0.99"), NPK_OK);
  EXPECT_EQ(npk_report_timeline(report_, "run", NPK_MODELLED, &timeline), NPK_OK);
  EXPECT_EQ(npk_report_span(report_, timeline, "NPU", "</script>", 0.5, 1.5, 7), NPK_OK);
  for (const char* name : {"first <", "second"}) {
    const npk_report_field row[] = {Text("name", name), Figure("time", 1.234, NPK_MEASURED)};
    EXPECT_EQ(npk_report_row(report_, "rows", row, 2), NPK_OK) << npk_last_error();
  }
  const npk_report_field figure = Figure("total", 2, NPK_ASSUMED);
  EXPECT_EQ(npk_report_figures(report_, &figure, 1), NPK_OK);
  const std::string html = Written();
  for (const char* part : {"title &lt;/h1&gt;", "Part &lt;1&gt;",
                           "data:image/jpeg;base64,/9j/4A==", "1.0,2.0 30.0,2.0 30.0,9.0 1.0,9.0",
                           "&lt;/bdi&gt;&lt;b&gt;", "[500000.0,1500000.0,0,7,1]", "\\u003c/script>",
                           "first &lt;", "time, ms", "1.23", "kind assumed"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
}

TEST_F(Reporting, RefusesWhatMakesNoSense) {
  std::uint32_t id = 0;
  const double corners[8] = {};
  Refused(npk_report_create(nullptr, "t", nullptr, &report_), NPK_INVALID_ARGUMENT, "NULL");
  Refused(npk_report_picture(report_, "p", "GIF89a..", 8, 1, 1, &id), NPK_INVALID_ARGUMENT, "PNG");
  Refused(npk_report_picture(report_, "p", "\xff\xd8\xff", 3, 0, 1, &id), NPK_INVALID_ARGUMENT,
          "0 x 1");
  Refused(npk_report_box(report_, 99, corners, "t", nullptr), NPK_INVALID_ARGUMENT,
          "no picture 99");
  Refused(npk_report_span(report_, 0, "t", "n", 0, 1, 0), NPK_INVALID_ARGUMENT, "no timeline 0");
  Refused(npk_report_timeline(report_, "t", 9, &id), NPK_INVALID_ARGUMENT, "kind 9");
  ASSERT_EQ(npk_report_timeline(report_, "t", NPK_MEASURED, &id), NPK_OK);
  Refused(npk_report_span(report_, id, "t", "n", -1, 1, 0), NPK_INVALID_ARGUMENT, "-1");
  npk_report_field row[] = {Text("name", "a"), Figure("time", 1, 9)};
  Refused(npk_report_row(report_, "rows", row, 2), NPK_INVALID_ARGUMENT, "kind of field 1 is 9");
  row[1].kind = NPK_MODELLED;
  ASSERT_EQ(npk_report_row(report_, "rows", row, 2), NPK_OK);
  Refused(npk_report_row(report_, "rows", row, 1), NPK_INVALID_ARGUMENT, "has 2 fields, found 1");
  row[1].name = "other";
  Refused(npk_report_row(report_, "rows", row, 2), NPK_INVALID_ARGUMENT, "\"other, ms\"");
  row[0].struct_size = 8;
  Refused(npk_report_row(report_, "rows", row, 2), NPK_INVALID_ARGUMENT, "struct_size");
  Refused(npk_report_figures(report_, nullptr, 1), NPK_INVALID_ARGUMENT, "no fields");
}

TEST_F(Reporting, LeavesNothingWhereItCannotWrite) {
  Refused(npk_report_write(report_, "/no/such/folder/r.html"), NPK_UNWRITABLE, "/no/such/folder");
  Refused(npk_report_write(report_, ::testing::TempDir().c_str()), NPK_UNWRITABLE, "folder");
  EXPECT_FALSE(npukit::RealEnv().FileSize(path_).ok());
}

}  // namespace
