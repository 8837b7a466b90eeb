// Models and files that are not what they say: one clear line each, nothing crashes.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/text.h"
#include "importers/onnx/model_builder_test.h"

namespace npukit::importers::onnx {
namespace {

using T = pb::TensorProto;
using namespace std::string_literals;

ModelBuilder Good() {
  ModelBuilder b;
  b.Input("x", "1,2,4,4")
      .Floats("w", {3, 2, 1, 1}, {1, 2, 3, 4, 5, 6})
      .Node("Conv", {"x", "w"}, {"c"});
  b.Node("Relu", {"c"}, {"y"}).Output("y");
  return b;
}

TEST(NotAModel, SaysWhatWasFound) {
  const std::pair<std::string, const char*> files[] = {
      {"", "not a model: the file is empty"},
      {"hello, I am text\n", "found text"},
      {"{\"json\": 1}", "found text"},
      {"\x89PNG\r\n\x1A\n\0\0\0\rIHDR"s, "found a PNG image"},
      {"\xFF\xD8\xFF\xE0"s, "found a JPEG image"},
      {"PK\x03\x04zip"s, "found a zip archive"},
      {"NPK1\0\0\0\0\0"s, "found an npukit package"},
      {"\0\0\0\0TFL3\0\0"s, "found a TFLite model"},
      {"version https://git-lfs.github.com/spec/v1\n", "found a Git LFS pointer"},
      {"\x80\x02}q\0"s, "found a Python pickle"},
      {std::string(1000, '\0'), "not an ONNX model"},
      {std::string(1000, '\xFF'), "not an ONNX model"},
      {"\x08\x08"s, "it holds no graph"},
  };
  for (const auto& [bytes, expected] : files) {
    const auto r = ModelBuilder::ImportText(bytes);
    ASSERT_FALSE(r.ok()) << expected;
    EXPECT_EQ(r.status().code(), Code::kDataCorrupt) << r.status().message();
    EXPECT_NE(r.status().message().find(expected), std::string::npos) << r.status().message();
    EXPECT_TRUE(r.status().message().starts_with("model.onnx: ")) << r.status().message();
    EXPECT_EQ(r.status().message().find('\n'), std::string::npos);
  }
}

TEST(NotAModel, MissingFilesAndFolders) {
  EXPECT_EQ(ImportFile(RealEnv(), "/no/such/model.onnx", {}).status().code(), Code::kNotFound);
  EXPECT_EQ(ImportFile(RealEnv(), "/", {}).status().code(), Code::kInvalidArgument);
  const auto big = Good().Import({.shapes = {}, .limits = {.max_file_bytes = 10}});
  EXPECT_EQ(big.status().code(), Code::kResourceExhausted);
}

TEST(BadModel, EveryTruncationAndEveryFlippedBitIsAnswered) {
  const std::string good = Good().model.SerializeAsString();
  ASSERT_TRUE(ModelBuilder::ImportText(good).ok());
  for (std::size_t n = 0; n < good.size(); ++n) {
    const auto r = ModelBuilder::ImportText(good.substr(0, n));
    if (!r.ok()) {
      EXPECT_FALSE(r.status().message().empty());
    }
  }
  int refused = 0;
  for (std::size_t i = 0; i < good.size() * 8; ++i) {
    std::string bytes = good;
    bytes[i / 8] = static_cast<char>(bytes[i / 8] ^ (1 << i % 8));
    const auto r =
        ModelBuilder::ImportText(bytes);  // many flips change a number or a name and are fine
    refused += !r.ok();
    if (r.ok()) {
      EXPECT_TRUE(ir::Verify(r->graph).ok());
    }
  }
  EXPECT_GT(refused, 0);
}

struct Bad {
  const char* what;
  std::function<void(ModelBuilder&)> spoil;
  const char* message;
};

TEST(BadModel, NamesThePlaceExpectedAndFound) {
  const auto tensor = [](ModelBuilder& b) { return b.graph().mutable_initializer(0); };
  const auto conv = [](ModelBuilder& b) { return b.graph().mutable_node(0); };
  const std::vector<Bad> bads{
      {"channels",
       [&](auto& b) {
         b.graph()
             .mutable_input(0)
             ->mutable_type()
             ->mutable_tensor_type()
             ->mutable_shape()
             ->mutable_dim(1)
             ->set_dim_value(3);
       },
       "node Conv_0 (Conv): expected 2 x group 1 channels in x, as w says, found 3"},
      {"dangling input", [&](auto& b) { conv(b)->set_input(0, "nothing"); },
       "node Conv_0 (Conv): reads nothing, which nothing in the model makes"},
      {"order", [&](auto& b) { b.graph().mutable_node()->SwapElements(0, 1); },
       "node Relu_0 (Relu): reads c, which node Conv_1 makes only later"},
      {"cycle", [&](auto& b) { conv(b)->set_input(0, "y"); },
       "which node Relu_1 makes only later: nodes must be in order, without a cycle"},
      {"itself", [&](auto& b) { conv(b)->set_input(0, "c"); },
       "reads c, which node Conv_0 makes only later"},
      {"two makers", [&](auto& b) { b.graph().mutable_node(1)->set_output(0, "c"); },
       "node Relu_1 (Relu): the name c is given twice"},
      {"input made again", [&](auto& b) { conv(b)->set_output(0, "x"); },
       "the name x is given twice"},
      {"two initializers", [&](auto& b) { *b.graph().add_initializer() = *tensor(b); },
       "initializer w: the name w is given twice"},
      {"two inputs", [&](auto& b) { *b.graph().add_input() = b.graph().input(0); },
       "input: the name x is given twice"},
      {"no such output", [&](auto& b) { b.graph().mutable_output(0)->set_name("z"); },
       "graph output z is made by no node"},
      {"output twice", [&](auto& b) { b.Output("y"); }, "graph output y is listed twice"},
      {"output without name", [&](auto& b) { b.Output(""); }, "a graph output has no name"},
      {"input without type", [&](auto& b) { b.graph().mutable_input(0)->clear_type(); },
       "input x has no type"},
      {"input without name", [&](auto& b) { b.Input("", "1"); }, "a graph input has no name"},
      {"unknown input type", [&](auto& b) { b.Input("q", "1", 99); },
       "input q: element type 99 is not known"},
      {"map input",
       [&](auto& b) { b.graph().mutable_input(0)->mutable_type()->mutable_map_type(); },
       "maps, sparse tensors and opaque types"},
      {"tensor short", [&](auto& b) { tensor(b)->mutable_float_data()->RemoveLast(); },
       "initializer w: expected 6 numbers in float_data, found 5"},
      {"tensor empty", [&](auto& b) { tensor(b)->clear_float_data(); },
       "initializer w: [3, 2, 1, 1] needs 6 elements, found data for 0"},
      {"tensor huge", [&](auto& b) { tensor(b)->set_dims(0, std::int64_t{1} << 40); },
       "elements, found data for 6"},
      {"tensor overflow",
       [&](auto& b) {
         tensor(b)->set_dims(0, std::int64_t{1} << 62);
         tensor(b)->set_dims(1, 8);
       },
       "is too large"},
      {"tensor negative", [&](auto& b) { tensor(b)->set_dims(0, -3); },
       "initializer w: a size is -3"},
      {"tensor rank",
       [&](auto& b) {
         for (int i = 0; i < 40; ++i) tensor(b)->add_dims(1);
       },
       "rank 44, the limit is 32"},
      {"tensor type", [&](auto& b) { tensor(b)->set_data_type(77); },
       "initializer w: element type 77 is not known"},
      {"tensor in two forms", [&](auto& b) { tensor(b)->set_raw_data("12"); },
       "initializer w: both raw_data and typed data"},
      {"tensor raw short",
       [&](auto& b) {
         tensor(b)->clear_float_data();
         tensor(b)->set_raw_data("123");
       },
       "expected 24 bytes in raw_data, found 3"},
      {"tensor segment", [&](auto& b) { tensor(b)->mutable_segment()->set_begin(0); },
       "a tensor in segments"},
      {"tensor name", [&](auto& b) { tensor(b)->clear_name(); }, "an initializer has no name"},
      {"raw strings",
       [&](auto& b) {
         tensor(b)->clear_float_data();
         tensor(b)->set_data_type(T::STRING);
         tensor(b)->set_raw_data("x");
       },
       "strings cannot be raw data"},
      {"sparse",
       [&](auto& b) { b.graph().add_sparse_initializer()->mutable_values()->set_name("sp"); },
       "initializer sp: element type 0 is not known"},
      {"no opset", [&](auto& b) { b.model.clear_opset_import(); }, "the model names no opset"},
      {"opset 0", [&](auto& b) { b.model.mutable_opset_import(0)->set_version(0); },
       "opset 0 of domain"},
      {"no operator", [&](auto& b) { conv(b)->clear_op_type(); }, "no operator is named"},
      {"no output",
       [&](auto& b) {
         b.graph().mutable_node(1)->clear_output();
         b.graph().clear_output();
       },
       "it has no output"},
      {"attribute kind",
       [&](auto& b) {
         auto* a = conv(b)->add_attribute();
         a->set_name("strides");
         a->set_type(pb::AttributeProto::STRING);
         a->set_s("2");
       },
       "node Conv_0 (Conv): attribute strides holds a value of another kind"},
      {"attribute twice",
       [&](auto& b) {
         for (int i = 0; i < 2; ++i) {
           auto* a = conv(b)->add_attribute();
           a->set_name("group");
           a->set_type(pb::AttributeProto::INT);
           a->set_i(1);
         }
       },
       "attribute group is given twice"},
      {"attribute without name", [&](auto& b) { conv(b)->add_attribute()->set_i(1); },
       "an attribute has no name"},
      {"function attribute",
       [&](auto& b) {
         auto* a = conv(b)->add_attribute();
         a->set_name("group");
         a->set_ref_attr_name("g");
       },
       "refers to an attribute of a function"},
      {"too many strides",
       [&](auto& b) {
         auto* a = conv(b)->add_attribute();
         a->set_name("strides");
         a->set_type(pb::AttributeProto::INTS);
         for (int i = 0; i < 3; ++i) a->add_ints(1);
       },
       "strides has 3 numbers, expected 2"},
      {"kernel shape",
       [&](auto& b) {
         auto* a = conv(b)->add_attribute();
         a->set_name("kernel_shape");
         a->set_type(pb::AttributeProto::INTS);
         a->add_ints(3);
         a->add_ints(3);
       },
       "node Conv_0: kernel_shape is [3, 3], w is fp32[3, 2, 1, 1]"},
      {"missing input", [&](auto& b) { conv(b)->mutable_input()->RemoveLast(); },
       "input 1 is required and absent; expected 2 inputs at least, found 1"},
      {"absent input", [&](auto& b) { conv(b)->set_input(0, ""); },
       "input 0 is required and absent"},
      {"element type",
       [&](auto& b) {
         b.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(T::INT32);
       },
       "expected a floating-point type"},
      {"hostile name", [&](auto& b) { conv(b)->set_input(0, "a\nb\x1B[31m"); }, "reads a"},
  };
  for (const Bad& bad : bads) {
    SCOPED_TRACE(bad.what);
    ModelBuilder b = Good();
    bad.spoil(b);
    const auto r = b.Import();
    ASSERT_FALSE(r.ok());
    const std::string& m = r.status().message();
    EXPECT_NE(m.find(bad.message), std::string::npos) << m;
    EXPECT_TRUE(m.starts_with("model.onnx: ")) << m;
    EXPECT_EQ(m.find_first_of("\n\x1B"), std::string::npos) << "not one line: " << m;
  }
}

TEST(BadModel, DeepNestingIsRefused) {
  for (const int depth :
       {20, 80, 500}) {  // deeper, and writing the model overflows a sanitizer's stack
    ModelBuilder b;
    pb::GraphProto* g = &b.graph();
    for (int i = 0; i < depth; ++i) {
      auto* n = g->add_node();
      n->set_op_type("If");
      n->add_output(Cat("o", i));
      auto* a = n->add_attribute();
      a->set_name("then_branch");
      a->set_type(pb::AttributeProto::GRAPH);
      g = a->mutable_g();
    }
    const auto r = ModelBuilder::ImportText(b.model.SerializeAsString());
    ASSERT_FALSE(r.ok());
    // Not too deep: then what it really lacks is named.
    EXPECT_EQ(r.status().message().find("else_branch is missing") != std::string::npos, depth == 20)
        << depth << " " << r.status().message();
  }
  ModelBuilder types;
  auto* v = types.graph().add_input();
  v->set_name("s");
  pb::TypeProto* t = v->mutable_type();
  for (int i = 0; i < 100; ++i) t = t->mutable_sequence_type()->mutable_elem_type();
  ModelBuilder::SetType(t, T::FLOAT, "1");
  EXPECT_FALSE(types.Import().ok());
}

TEST(BadModel, TooManyNodesAreRefused) {
  ModelBuilder b = Good();
  const auto r = b.Import({.shapes = {}, .limits = {.max_nodes = 1}});
  EXPECT_EQ(r.status().code(), Code::kResourceExhausted);
  EXPECT_NE(r.status().message().find("more than 1 nodes"), std::string::npos);
}

// --- External data
// ---------------------------------------------------------------------------------------------------

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ =
        std::filesystem::temp_directory_path() / ("npukit_external_" + std::to_string(::getpid()));
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ / "model" / "sub");
    std::vector<float> v(4096);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i);
    for (const char* name : {"model/w.bin", "model/sub/w.bin", "outside.bin"}) {
      std::ofstream(root_ / name, std::ios::binary)
          .write(reinterpret_cast<const char*>(v.data()), 4096 * 4);
    }
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  Result<Imported> Import(const std::string& location, const std::string& offset = "",
                          const std::string& length = "", std::int64_t count = 2048) {
    ModelBuilder b;
    auto* t = b.graph().add_initializer();
    t->set_name("w");
    t->set_data_type(T::FLOAT);
    t->add_dims(count);
    t->set_data_location(T::EXTERNAL);
    for (const auto& [key, value] : {std::pair("location"s, location), std::pair("offset"s, offset),
                                     std::pair("length"s, length)}) {
      if (value.empty()) continue;
      auto* e = t->add_external_data();
      e->set_key(key);
      e->set_value(value);
    }
    b.Output("w");
    const std::string path = root_ / "model" / "m.onnx";
    std::ofstream(path, std::ios::binary) << b.model.SerializeAsString();
    return ImportFile(RealEnv(), path, {});
  }
  void Refused(const Result<Imported>& r, const char* message) {
    ASSERT_FALSE(r.ok());
    EXPECT_NE(r.status().message().find(message), std::string::npos) << r.status().message();
    EXPECT_NE(r.status().message().find("initializer w"), std::string::npos)
        << r.status().message();
  }

  std::filesystem::path root_;
};

TEST_F(ExternalData, IsReadFromBesideTheModel) {
  for (const char* location : {"w.bin", "./w.bin", "sub/w.bin"}) {
    const auto r = Import(location, "4096", "8192");
    ASSERT_TRUE(r.ok()) << r.status().message();
    const tensor::Value& v = *r->graph.constant(r->graph.outputs[0]);
    EXPECT_EQ(tensor::ElementAsDouble(v, 0), 1024);
    EXPECT_EQ(tensor::ElementAsDouble(v, 2047), 3071);
    // Mapped, not copied: the address keeps the offset within a page.
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % 4096, 0u);
  }
}

TEST_F(ExternalData, OutsideTheFolderIsRefused) {
  Refused(Import((root_ / "outside.bin").string()), "not an absolute path");
  Refused(Import("../outside.bin"), "leaves the model's folder");
  Refused(Import("sub/../../outside.bin"), "leaves the model's folder");
  std::filesystem::create_symlink(root_ / "outside.bin", root_ / "model" / "link.bin");
  Refused(Import("link.bin"), "by a link");
  std::filesystem::create_directory_symlink(root_, root_ / "model" / "up");
  Refused(Import("up/outside.bin"), "by a link");
  Refused(Import(""), "without a file name");
}

TEST_F(ExternalData, WhatIsNoFileOrTooShortIsRefused) {
  Refused(Import("gone.bin"), "is missing in");
  Refused(Import("sub"), "is no regular file");
  ASSERT_EQ(::mkfifo((root_ / "model" / "pipe").c_str(), 0600), 0);
  Refused(Import("pipe"), "is no regular file");
  Refused(Import("w.bin", "", "", 4097), "has 16384 bytes, expected 16388 from 0");
  Refused(Import("w.bin", "16384"), "expected 8192 from 16384");
  Refused(Import("w.bin", "9223372036854775807"), "expected 8192 from 9223372036854775807");
  Refused(Import("w.bin", "-1"), "offset is -1");
  Refused(Import("w.bin", "x"), "offset is x");
  Refused(Import("w.bin", "", "12"), "expected 8192 bytes in external data, found 12");
}

}  // namespace
}  // namespace npukit::importers::onnx
