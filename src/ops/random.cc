#include "ops/random.h"

#include <cmath>
#include <numbers>

#include "base/text.h"

namespace npukit::ops {

using tensor::DType;

namespace {

// The finaliser of SplitMix64: every bit of the input moves half of the output's.
std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

std::uint64_t BitsAt(std::int64_t seed, std::uint64_t k) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
  const std::uint64_t key = Mix(static_cast<std::uint64_t>(seed) + kGolden);
  return Mix(Mix(k * kGolden + key) ^ key);
}

}  // namespace

double UniformAt(std::int64_t seed, std::uint64_t k) {
  return static_cast<double>(BitsAt(seed, k) >> 11) * 0x1p-53;
}

double NormalAt(std::int64_t seed, std::uint64_t k) {  // Box and Muller
  const double radius = std::sqrt(-2 * std::log(1 - UniformAt(seed, 2 * k)));
  return radius * std::cos(2 * std::numbers::pi * UniformAt(seed, 2 * k + 1));
}

DType TypeAttr(const Attrs& attrs) {
  const std::int64_t t = attrs.Int("dtype", 0);
  return t > 0 && t < tensor::kDTypeCount ? static_cast<DType>(t) : DType::kUndefined;
}

Status InferFilled(InferContext& c) {
  const DType t = c.attrs.Find("dtype") == nullptr ? DType::kF32 : TypeAttr(c.attrs);
  if (!IsRealFloat(t)) {
    return InvalidArgument(
        Cat("attribute dtype is ", tensor::DTypeName(t), ", expected a floating-point type"));
  }
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 0, /*or_int32=*/false));
  c.outputs[0] = tensor::Type::Tensor(t, std::nullopt);
  if (c.constants[0] != nullptr) {
    const tensor::Dims dims = tensor::ToInt64s(*c.constants[0]);
    for (const std::int64_t d : dims) {
      if (d < 0) return InvalidArgument(Cat("the shape holds ", d));
    }
    c.outputs[0] = tensor::Type::Tensor(t, tensor::Shape::Of(dims));
  } else if (c.inputs[0].is_static()) {
    const std::int64_t rank = c.inputs[0].dims()[0];
    if (rank > 64) return InvalidArgument(Cat("a shape of ", rank, " dimensions"));
    c.outputs[0].shape = tensor::Shape(std::vector<tensor::Dim>(static_cast<std::size_t>(rank)));
  }
  return OkStatus();
}

}  // namespace npukit::ops
