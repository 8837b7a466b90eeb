#include "fuzz/odd_graph.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ops/op_def.h"

namespace npukit::fuzz {
namespace {

using tensor::Dim;
using tensor::Dims;
using tensor::DType;
using tensor::Type;
using tensor::Value;

constexpr int kMaxNodes = 24;
constexpr std::int64_t kMaxConstant = 512;  // elements

constexpr std::int64_t kInts[] = {0,
                                  1,
                                  -1,
                                  2,
                                  3,
                                  4,
                                  5,
                                  -2,
                                  -3,
                                  7,
                                  8,
                                  16,
                                  31,
                                  64,
                                  100,
                                  1000,
                                  65536,
                                  1 << 20,
                                  std::int64_t{1} << 31,
                                  std::int64_t{1} << 40,
                                  std::int64_t{1} << 62,
                                  -(std::int64_t{1} << 40),
                                  std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::min()};
constexpr float kFloats[] = {0.0f,
                             1.0f,
                             -1.0f,
                             0.5f,
                             2.0f,
                             -0.0f,
                             1e-5f,
                             3e38f,
                             -3e38f,
                             std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};
constexpr std::string_view kWords[] = {"NOTSET",
                                       "SAME_UPPER",
                                       "SAME_LOWER",
                                       "VALID",
                                       "NCHW",
                                       "NHWC",
                                       "constant",
                                       "reflect",
                                       "edge",
                                       "wrap",
                                       "nearest",
                                       "linear",
                                       "cubic",
                                       "bilinear",
                                       "bicubic",
                                       "half_pixel",
                                       "asymmetric",
                                       "align_corners",
                                       "pytorch_half_pixel",
                                       "tf_crop_and_resize",
                                       "floor",
                                       "ceil",
                                       "round_prefer_floor",
                                       "none",
                                       "tanh",
                                       "add",
                                       "mul",
                                       "min",
                                       "max",
                                       "avg",
                                       "forward",
                                       "reverse",
                                       "bidirectional",
                                       "Sigmoid",
                                       "Relu",
                                       "DCR",
                                       "CRD",
                                       "zeros",
                                       "border",
                                       "reflection",
                                       "sum",
                                       "mean",
                                       "ij,jk->ik",
                                       "ii->i",
                                       "...a,...b->...ab",
                                       "a->",
                                       "LOWER",
                                       "UPPER",
                                       "output_size",
                                       ""};

class Maker {
 public:
  explicit Maker(Bytes& b) : b_(b) {}

  ir::Graph Make(int depth) {
    const std::uint64_t inputs = 1 + b_.Below(3);
    for (std::uint64_t i = 0; i < inputs; ++i) {
      const ir::ValueId v = g_.AddValue("in" + std::to_string(g_.values.size()), SomeType());
      g_.inputs.push_back(v);
    }
    const std::uint64_t nodes = 1 + b_.Below(kMaxNodes);
    readable_ = g_.inputs;
    for (std::uint64_t i = 0; i < nodes && !b_.empty(); ++i) AddNode(depth);
    // What is made last is read; a value may be given out twice.
    const std::uint64_t outputs = 1 + b_.Below(3);
    for (std::uint64_t i = 0; i < outputs; ++i) {
      g_.outputs.push_back(i == 0 ? readable_.back() : Readable());
    }
    return std::move(g_);
  }

 private:
  std::int64_t Int() {
    const std::uint64_t n = b_.Below(2 * std::size(kInts));
    if (n >= std::size(kInts)) return static_cast<std::int64_t>(n % 6);  // small ones are common
    return kInts[n];
  }
  DType SomeDType() {
    const std::uint8_t n = b_.Byte();
    if (n < 110) return DType::kF32;
    if (n < 150) return DType::kI64;
    return static_cast<DType>(1 + n % (tensor::kDTypeCount - 1));
  }
  Dim SomeDim() {
    const std::uint8_t n = b_.Byte();
    if (n < 160) return Dim::Of(n % 9);
    if (n < 200) return Dim::Symbol(n % 2 ? "N" : "M");
    if (n < 230) return Dim{};
    return Dim::Of(std::max<std::int64_t>(0, Int()));
  }
  Type SomeType() {
    const std::uint8_t n = b_.Byte();
    if (n > 250) return Type::Sequence(Type::Tensor(SomeDType(), std::nullopt));
    if (n > 246) return Type::Optional(Type::Tensor(SomeDType(), std::nullopt));
    const DType t = SomeDType();
    if (n > 238) return Type::Tensor(t, std::nullopt);
    tensor::Shape shape;
    const std::uint64_t rank = n > 234 ? n % 33 : n % 6;
    for (std::uint64_t i = 0; i < rank; ++i) shape.dims.push_back(SomeDim());
    return Type::Tensor(t, std::move(shape));
  }
  Value SomeConstant() {
    const DType t = SomeDType();
    Dims dims;
    std::int64_t count = 1;
    for (std::uint64_t rank = b_.Below(5); rank > 0; --rank) {
      std::int64_t d = static_cast<std::int64_t>(b_.Below(9));
      if (count * d > kMaxConstant) d = 1;
      count *= d;
      dims.push_back(d);
    }
    if (t == DType::kString) {
      std::vector<std::string> words;
      for (std::int64_t i = 0; i < count; ++i)
        words.emplace_back(kWords[b_.Below(std::size(kWords))]);
      return Value::Strings(dims, std::move(words));
    }
    auto v = Value::Allocate(t, dims);
    Must(v.ok(), "a small constant can be allocated");
    auto* bytes = static_cast<std::uint8_t*>(v->mutable_data());
    std::fill(bytes, bytes + v->byte_size(), std::uint8_t{0});
    for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 16); ++i) {
      if (t == DType::kI64) {
        const std::int64_t x = Int();
        __builtin_memcpy(bytes + 8 * i, &x, 8);
      } else if (t == DType::kF32) {
        const float x = kFloats[b_.Below(std::size(kFloats))];
        __builtin_memcpy(bytes + 4 * i, &x, 4);
      } else if (t == DType::kBool) {
        bytes[i] = b_.Byte() % 2;
      } else if (static_cast<std::uint64_t>(i) < v->byte_size()) {
        bytes[i] = b_.Byte();
      }
    }
    return std::move(v).value();
  }
  // A value that is there already, the newest ones most often.
  ir::ValueId Readable() {
    const std::uint64_t back = b_.Below(std::min<std::uint64_t>(readable_.size(), 6));
    return readable_[readable_.size() - 1 - back];
  }
  ir::ValueId SomeInput(bool optional) {
    const std::uint8_t n = b_.Byte();
    if (optional && n < 40) return ir::kNoValue;
    if (n < 130) return g_.AddConstant("c" + std::to_string(g_.values.size()), SomeConstant());
    if (n < 140 && !g_.inputs.empty()) return g_.inputs[b_.Below(g_.inputs.size())];
    return Readable();
  }
  std::string Word() { return std::string(kWords[b_.Below(std::size(kWords))]); }
  ops::AttrValue SomeAttr(ops::AttrKind kind) {
    const std::uint64_t n = b_.Below(6);
    switch (kind) {
      case ops::AttrKind::kInt:
        return Int();
      case ops::AttrKind::kFloat:
        return kFloats[b_.Below(std::size(kFloats))];
      case ops::AttrKind::kString:
        return Word();
      case ops::AttrKind::kInts: {
        ops::Ints v;
        for (std::uint64_t i = 0; i < n; ++i) v.push_back(Int());
        return v;
      }
      case ops::AttrKind::kFloats: {
        ops::Floats v;
        for (std::uint64_t i = 0; i < n; ++i) v.push_back(kFloats[b_.Below(std::size(kFloats))]);
        return v;
      }
      case ops::AttrKind::kStrings: {
        ops::Strings v;
        for (std::uint64_t i = 0; i < n; ++i) v.push_back(Word());
        return v;
      }
      case ops::AttrKind::kTensor:
        return SomeConstant();
    }
    return Int();
  }

  void AddNode(int depth) {
    const auto all = ops::AllOps();
    const ops::OpDef& def = *all[b_.Below(all.size())];
    ir::Node n;
    n.op = &def;
    n.name = "n" + std::to_string(g_.nodes.size());
    const int most = def.max_inputs < 0 ? def.min_inputs + 3 : std::min(def.max_inputs, 12);
    const int count =
        def.min_inputs +
        static_cast<int>(b_.Below(static_cast<std::uint64_t>(most - def.min_inputs) + 1));
    for (int i = 0; i < count; ++i) n.inputs.push_back(SomeInput(i >= def.min_inputs));
    while (!n.inputs.empty() && n.inputs.back() == ir::kNoValue &&
           n.inputs.size() > static_cast<std::size_t>(def.min_inputs))
      n.inputs.pop_back();
    for (const ops::AttrDef& a : def.attrs) {
      if (a.required || b_.Byte() % 3 != 0) n.attrs.Set(a.name, SomeAttr(a.kind));
    }
    if (def.control) {
      if (depth >= 2) return;
      const bool branches = def.min_inputs == 1 && def.max_inputs <= 1;
      for (const char* body : branches ? std::vector<const char*>{"then_branch", "else_branch"}
                                       : std::vector<const char*>{"body"}) {
        n.bodies.emplace_back(body, std::make_shared<ir::Graph>(Maker(b_).Make(depth + 1)));
      }
    }
    const int outputs = def.outputs >= 0 ? def.outputs : 1 + static_cast<int>(b_.Below(3));
    for (int i = 0; i < outputs; ++i)
      n.outputs.push_back(g_.AddValue("v" + std::to_string(g_.values.size()), {}));
    const std::vector<ir::ValueId> made = n.outputs;
    const auto added = g_.AddNode(std::move(n));
    if (!added.ok()) {
      MustBeGoodMessage(added.status());
      return;
    }
    readable_.insert(readable_.end(), made.begin(), made.end());
  }

  Bytes& b_;
  ir::Graph g_;
  std::vector<ir::ValueId> readable_;
};

}  // namespace

ir::Graph OddGraph(Bytes& bytes) { return Maker(bytes).Make(0); }

}  // namespace npukit::fuzz
