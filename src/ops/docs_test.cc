// docs/ops.md is made from the definitions. To write it anew: NPUKIT_WRITE_DOCS=1 npukit_ops_test
// --gtest_filter='Docs.*'
#include <gtest/gtest.h>

#include <cstdlib>
#include <span>

#include "base/env.h"
#include "base/text.h"
#include "ops/op_def.h"

namespace npukit::ops {
namespace {

constexpr const char* kPath = NPUKIT_SOURCE_DIR "/docs/ops.md";

std::string_view KindName(AttrKind kind) {
  constexpr std::string_view kNames[] = {"int",    "float",   "string", "ints",
                                         "floats", "strings", "tensor"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string Page() {
  std::string s =
      "# Operators\n\n"
      "Made from `src/ops` by its test; do not edit. What an operator means in every detail is its "
      "reference there, judged by\n"
      "`tests/ops/<operator>.case`; where it differs from ONNX is in `src/ops/README.md`.\n\n"
      "| operator | what it does | inputs | attributes | ONNX | TFLite | NNRT |\n| --- | --- | --- "
      "| --- | --- | --- | --- |\n";
  for (const OpDef* def : AllOps()) {
    std::string inputs = Cat(def->min_inputs);
    if (def->max_inputs < 0) {
      inputs += " or more";
    } else if (def->max_inputs != def->min_inputs) {
      inputs += Cat(" to ", def->max_inputs);
    }
    std::vector<std::string> attrs;
    for (const AttrDef& a : def->attrs)
      attrs.push_back(Cat("`", a.name, "` ", KindName(a.kind), a.required ? " (required)" : ""));
    s += Cat("| `", def->name, "` | ", def->summary, " | ", inputs, " | ", Join(attrs, ", "), " | ",
             def->foreign.onnx, " | ", def->foreign.tflite, " | ", def->foreign.nnrt, " |\n");
  }
  return s;
}

TEST(Docs, TheTableOfOperatorsIsCurrent) {
  const std::string page = Page();
  if (std::getenv("NPUKIT_WRITE_DOCS") != nullptr) {
    ASSERT_TRUE(WriteFile(RealEnv(), kPath, std::as_bytes(std::span(page))).ok());
  }
  const auto bytes = RealEnv().ReadFile(kPath, 1 << 20);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()), page)
      << "run NPUKIT_WRITE_DOCS=1 npukit_ops_test --gtest_filter='Docs.*'";
}

}  // namespace
}  // namespace npukit::ops
