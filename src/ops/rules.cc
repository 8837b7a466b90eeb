#include "ops/rules.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "ops/outputs.h"

namespace npukit::ops {

using tensor::Dim;
using tensor::Dims;
using tensor::DType;
using tensor::Shape;
using tensor::Type;
using tensor::Value;

bool IsRealFloat(DType t) {
  return t == DType::kF32 || t == DType::kF16 || t == DType::kBF16 || t == DType::kF64;
}

bool IsNumber(DType t) {
  return IsRealFloat(t) || (tensor::IsInteger(t) && tensor::DTypeBits(t) >= 8);
}

namespace {

Status WantDType(const InferContext& c, std::size_t input, bool (*accepts)(DType),
                 const char* expected) {
  const DType t = c.inputs[input].dtype;
  if (t == DType::kUndefined || accepts(t)) return OkStatus();
  return InvalidArgument(
      Cat("input ", input, " is ", tensor::DTypeName(t), ", expected ", expected));
}

std::string DimText(const Dim& d) {
  return d.known() ? Cat(d.value) : d.symbol.empty() ? "?" : Printable(d.symbol);
}

}  // namespace

bool Has(const InferContext& c, std::size_t input) {
  return input < c.inputs.size() &&
         (c.inputs[input].dtype != DType::kUndefined || c.inputs[input].shape);
}

Status WantFloat(const InferContext& c, std::size_t input) {
  return WantDType(c, input, IsRealFloat, "a floating-point type");
}

Status WantNumber(const InferContext& c, std::size_t input) {
  return WantDType(c, input, IsNumber, "a number type");
}

Status WantBool(const InferContext& c, std::size_t input) {
  return WantDType(c, input, [](DType t) { return t == DType::kBool; }, "bool");
}

Status WantSameDType(const InferContext& c, std::size_t a, std::size_t b) {
  const DType ta = c.inputs[a].dtype;
  const DType tb = c.inputs[b].dtype;
  if (ta == tb || ta == DType::kUndefined || tb == DType::kUndefined) return OkStatus();
  return InvalidArgument(Cat("inputs ", a, " and ", b, " must have one type, found ",
                             tensor::DTypeName(ta), " and ", tensor::DTypeName(tb)));
}

Status WantIndexList(const InferContext& c, std::size_t input, bool or_int32) {
  const Type& t = c.inputs[input];
  const bool fits = t.dtype == DType::kUndefined || t.dtype == DType::kI64 ||
                    (or_int32 && t.dtype == DType::kI32);
  if (fits && (!t.shape || t.shape->rank() == 1)) return OkStatus();
  return InvalidArgument(Cat("input ", input, " is ", t.ToString(), ", expected a list of ",
                             or_int32 ? "int64 or int32" : "int64"));
}

Status CheckAddressable(const Type& t) {
  if (!t.is_static() || t.dtype == DType::kUndefined) return OkStatus();
  Dims dims = t.dims();
  for (std::int64_t& d : dims) d = std::max<std::int64_t>(d, 1);
  const auto count = tensor::ElementCount(dims);
  const DType stored =
      t.dtype == DType::kString ? DType::kF64 : t.dtype;  // a string takes at least a pointer
  const auto bytes =
      count ? tensor::StorageBytes(stored, static_cast<std::uint64_t>(*count)) : std::nullopt;
  if (!bytes || *bytes >= (std::uint64_t{1} << 62))
    return ResourceExhausted(Cat(t.ToString(), " is too large to address"));
  // Code has lists as long as a row or a column, which only memory for the elements bounds.
  constexpr std::int64_t kMostBesideNothing = std::int64_t{1} << 24;
  constexpr std::int64_t kMostRowsOfNothing = std::int64_t{1} << 31;  // and walks over rows
  const auto is_long = [](std::int64_t d) { return d > kMostBesideNothing; };
  if (t.bytes() == std::uint64_t{0} && std::any_of(dims.begin(), dims.end(), is_long))
    return ResourceExhausted(
        Cat(t.ToString(), " has no element, yet a dimension of more than ", kMostBesideNothing));
  if (t.bytes() == std::uint64_t{0} && *count > kMostRowsOfNothing)
    return ResourceExhausted(
        Cat(t.ToString(), " has no element, yet sizes of ", *count, " beside the 0"));
  return OkStatus();
}

Result<std::size_t> NormalAxis(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r) {
    return InvalidArgument(Cat("axis ", axis, " is outside a shape of rank ", rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

Result<std::vector<bool>> AxisMask(const Ints& axes, std::size_t rank) {
  std::vector<bool> mask(rank, false);
  for (const std::int64_t axis : axes) {
    NPUKIT_ASSIGN_OR_RETURN(const std::size_t a, NormalAxis(axis, rank));
    if (mask[a]) return InvalidArgument(Cat("axis ", axis, " is named twice"));
    mask[a] = true;
  }
  return mask;
}

Result<Dim> SameDim(const Dim& a, const Dim& b) {
  if (a.known() && b.known() && a.value != b.value) {
    return InvalidArgument(Cat(a.value, " and ", b.value, " differ"));
  }
  if (a.known()) return a;
  if (b.known()) return b;
  return a.symbol.empty() ? b : a;
}

Result<std::optional<Shape>> BroadcastShapes(const std::optional<Shape>& a,
                                             const std::optional<Shape>& b) {
  if (!a || !b) return std::optional<Shape>();
  const std::size_t rank = std::max(a->rank(), b->rank());
  Shape out(std::vector<Dim>(rank, Dim::Of(1)));
  const auto at = [rank](const Shape& s, std::size_t i) {
    const std::size_t missing = rank - s.rank();
    return i < missing ? Dim::Of(1) : s.dims[i - missing];
  };
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim da = at(*a, i);
    const Dim db = at(*b, i);
    if (da == db || db.value == 1) {
      out.dims[i] = da;
    } else if (da.value == 1) {
      out.dims[i] = db;
    } else if (da.known() && db.known()) {
      return InvalidArgument(Cat("shapes ", a->ToString(), " and ", b->ToString(),
                                 " do not broadcast: ", DimText(da), " and ", DimText(db),
                                 " differ and neither is 1"));
    } else if (da.known() || db.known()) {
      out.dims[i] = da.known() ? da : db;  // the other is 1 or the same
    } else {
      out.dims[i] = Dim{};
    }
  }
  return std::optional<Shape>(std::move(out));
}

Status InferSameAny(InferContext& c) {
  c.outputs[0] = c.inputs[0];
  return OkStatus();
}

Status InferSameNumber(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  return InferSameAny(c);
}

Status InferSameFloat(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  return InferSameAny(c);
}

namespace {

Status InferBroadcastAny(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 1));
  NPUKIT_ASSIGN_OR_RETURN(auto shape, BroadcastShapes(c.inputs[0].shape, c.inputs[1].shape));
  const DType t = c.inputs[0].dtype != DType::kUndefined ? c.inputs[0].dtype : c.inputs[1].dtype;
  c.outputs[0] = Type::Tensor(t, std::move(shape));
  return OkStatus();
}

}  // namespace

Status InferBroadcast(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 1));
  return InferBroadcastAny(c);
}

Status InferLogical(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantBool(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantBool(c, 1));
  NPUKIT_RETURN_IF_ERROR(InferBroadcastAny(c));
  c.outputs[0].dtype = DType::kBool;
  return OkStatus();
}

Status InferCompare(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(InferBroadcast(c));
  c.outputs[0].dtype = DType::kBool;
  return OkStatus();
}

Status InferEqual(InferContext& c) {
  const auto either = [&](DType t) { return c.inputs[0].dtype == t || c.inputs[1].dtype == t; };
  if (either(DType::kString)) {
    NPUKIT_RETURN_IF_ERROR(InferBroadcastAny(c));
    c.outputs[0].dtype = DType::kBool;
    return OkStatus();
  }
  return either(DType::kBool) ? InferLogical(c) : InferCompare(c);
}

double CountOf(const Type& t) {
  if (!t.is_static()) return 0;
  double n = 1;
  for (const std::int64_t d : t.dims()) n *= static_cast<double>(d);
  return n;
}

double BytesOf(const Type& t) { return CountOf(t) * tensor::DTypeBits(t.dtype) / 8; }

double AllBytes(const CostContext& c) {
  double n = 0;
  for (const Type& t : c.inputs) n += BytesOf(t);
  for (const Type& t : c.outputs) n += BytesOf(t);
  return n;
}

OpCost CostPerElement(const CostContext& c) {
  return {.vector_ops = CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}
OpCost CostPerElement10(const CostContext& c) {
  return {.vector_ops = 10 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}
OpCost CostMove(const CostContext& c) { return {.bytes = AllBytes(c)}; }
OpCost CostShape(const CostContext&) { return {}; }

std::uint64_t LoadBits(const Value& v, std::int64_t i) {
  const auto get = [&]<class T>(T) {
    T x;
    std::memcpy(&x,
                static_cast<const std::byte*>(v.data()) + static_cast<std::size_t>(i) * sizeof(T),
                sizeof(T));
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  };
  const auto packed = [&](int bits) {  // element i of a byte array, low half (or quarter) first
    const int per_byte = 8 / bits;
    const auto byte = static_cast<const std::uint8_t*>(v.data())[i / per_byte];
    return static_cast<std::uint64_t>(byte >> (i % per_byte * bits)) & ((1u << bits) - 1u);
  };
  const auto extend = [](std::uint64_t x, int bits) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x << (64 - bits)) >> (64 - bits));
  };
  switch (v.dtype()) {
    case DType::kI8:
      return get(std::int8_t{});
    case DType::kI16:
      return get(std::int16_t{});
    case DType::kI32:
      return get(std::int32_t{});
    case DType::kI64:
      return get(std::int64_t{});
    case DType::kU8:
      return get(std::uint8_t{});
    case DType::kBool:
      return get(std::uint8_t{}) != 0;
    case DType::kU16:
      return get(std::uint16_t{});
    case DType::kU32:
      return get(std::uint32_t{});
    case DType::kU64:
      return get(std::uint64_t{});
    case DType::kI4:
      return extend(packed(4), 4);
    case DType::kU4:
      return packed(4);
    case DType::kI2:
      return extend(packed(2), 2);
    case DType::kU2:
      return packed(2);
    default:
      break;
  }
  NPUKIT_CHECK(false && "not an integer");
  return 0;
}

namespace {

void StorePacked(Value& v, std::int64_t i, std::uint64_t x, int bits) {
  const int per_byte = 8 / bits;
  auto& byte = static_cast<std::uint8_t*>(v.mutable_data())[i / per_byte];
  const int shift = static_cast<int>(i % per_byte) * bits;
  const unsigned mask = ((1u << bits) - 1u) << shift;
  byte = static_cast<std::uint8_t>((byte & ~mask) | ((static_cast<unsigned>(x) << shift) & mask));
}

}  // namespace

void StoreBits(Value& v, std::int64_t i, std::uint64_t bits) {
  switch (tensor::DTypeBits(v.dtype())) {
    case 2:
      return StorePacked(v, i, bits, 2);
    case 4:
      return StorePacked(v, i, bits, 4);
    case 8:
      if (v.dtype() == DType::kBool) bits = bits != 0;
      static_cast<std::uint8_t*>(v.mutable_data())[i] = static_cast<std::uint8_t>(bits);
      return;
    case 16:
    case 32:
    case 64: {
      const auto size = static_cast<std::size_t>(tensor::DTypeBits(v.dtype()) / 8);
      std::memcpy(static_cast<std::byte*>(v.mutable_data()) + static_cast<std::size_t>(i) * size,
                  &bits, size);
      return;
    }
    default:
      break;
  }
  NPUKIT_CHECK(false && "not an integer");
}

void CopyElement(Value& dst, std::int64_t i, const Value& src, std::int64_t j) {
  if (src.dtype() == DType::kString) {
    dst.mutable_strings()[static_cast<std::size_t>(i)] = src.strings()[static_cast<std::size_t>(j)];
    return;
  }
  const int bits = tensor::DTypeBits(src.dtype());
  if (bits < 8) {
    const int per_byte = 8 / bits;
    const auto byte = static_cast<const std::uint8_t*>(src.data())[j / per_byte];
    StorePacked(dst, i, static_cast<std::uint64_t>(byte >> (j % per_byte * bits)), bits);
    return;
  }
  const auto size = static_cast<std::size_t>(bits / 8);
  std::memcpy(static_cast<std::byte*>(dst.mutable_data()) + static_cast<std::size_t>(i) * size,
              static_cast<const std::byte*>(src.data()) + static_cast<std::size_t>(j) * size, size);
}

void CopyAll(Value& dst, const Value& src) {
  NPUKIT_CHECK(dst.count() == src.count() && dst.dtype() == src.dtype());
  if (src.dtype() == DType::kString) {
    dst.mutable_strings() = src.strings();
  } else if (src.byte_size() != 0) {
    std::memcpy(dst.mutable_data(), src.data(), src.byte_size());
  }
}

KnownInputs::KnownInputs(std::span<const Value> inputs) {
  for (const Value& v : inputs) {
    types.push_back(v.present() ? v.type() : Type{});
    constants.push_back(v.present() ? &v : nullptr);
  }
}

Result<Value> MakeOutput(EvalContext& c, InferFn infer) {
  NPUKIT_ASSIGN_OR_RETURN(std::vector<Value> values, MakeOutputs(c, infer, 1));
  return std::move(values[0]);
}

void WalkIndices(const Dims& dims, std::span<const Dims> strides, IndexFn f, void* ctx) {
  const auto count = tensor::ElementCount(dims);
  NPUKIT_CHECK(count.has_value());
  Dims index(dims.size(), 0);
  Dims at(strides.size(), 0);
  for (std::int64_t i = 0; i < *count; ++i) {
    f(ctx, i, at.data());
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) {
        for (std::size_t k = 0; k < at.size(); ++k) at[k] += strides[k][d];
        break;
      }
      index[d] = 0;
      for (std::size_t k = 0; k < at.size(); ++k) at[k] -= strides[k][d] * (dims[d] - 1);
    }
  }
}

Dims BroadcastStrides(const Dims& from, const Dims& to) {
  const Dims dense = tensor::DenseStrides(from);
  Dims strides(to.size(), 0);
  const std::size_t missing = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) strides[missing + i] = from[i] == 1 ? 0 : dense[i];
  return strides;
}

Status EvaluateUnary(EvalContext& c, InferFn infer, UnaryFn f) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, infer));
  const Value& x = c.inputs[0];
  for (std::int64_t i = 0; i < x.count(); ++i) Store(y, i, f(Load(x, i), *c.attrs));
  return OkStatus();
}

Status EvaluateUnaryNumber(EvalContext& c, UnaryFn f, UnaryIntFn integers) {
  if (IsRealFloat(c.inputs[0].dtype())) return EvaluateUnary(c, InferSameNumber, f);
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, InferSameNumber));
  const Value& x = c.inputs[0];
  const bool is_signed = tensor::IsSigned(x.dtype());
  for (std::int64_t i = 0; i < x.count(); ++i) {
    StoreBits(y, i, integers(LoadBits(x, i), is_signed));
  }
  return OkStatus();
}

Status EvaluateBinary(EvalContext& c, BinaryFn f, BinaryIntFn integers, InferFn infer) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, infer));
  const Value& a = c.inputs[0];
  const Value& b = c.inputs[1];
  const std::array<Dims, 2> strides{BroadcastStrides(a.dims(), y.dims()),
                                    BroadcastStrides(b.dims(), y.dims())};
  if (IsRealFloat(a.dtype())) {
    ForEachIndex<2>(y.dims(), strides, [&](std::int64_t i, const auto* at) {
      Store(y, i, f(Load(a, at[0]), Load(b, at[1])));
    });
    return OkStatus();
  }
  const bool is_signed = tensor::IsSigned(a.dtype());
  bool defined = true;
  ForEachIndex<2>(y.dims(), strides, [&](std::int64_t i, const auto* at) {
    std::uint64_t bits = 0;
    defined = integers(LoadBits(a, at[0]), LoadBits(b, at[1]), is_signed, &bits) && defined;
    StoreBits(y, i, bits);
  });
  return defined ? OkStatus() : InvalidArgument("an integer is divided by zero");
}

namespace {

template <class T>
Order OrderOf(const T& a, const T& b) {
  return a < b    ? Order::kLess
         : a == b ? Order::kEqual
         : a > b  ? Order::kGreater
                  : Order::kUnordered;
}

}  // namespace

Status EvaluateCompare(EvalContext& c, InferFn infer, bool (*holds)(Order order)) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, infer));
  const Value& a = c.inputs[0];
  const Value& b = c.inputs[1];
  const std::array<Dims, 2> strides{BroadcastStrides(a.dims(), y.dims()),
                                    BroadcastStrides(b.dims(), y.dims())};
  const bool floats = IsRealFloat(a.dtype());
  const bool is_signed = tensor::IsSigned(a.dtype());
  ForEachIndex<2>(y.dims(), strides, [&](std::int64_t i, const auto* at) {
    Order order = Order::kEqual;
    if (a.dtype() == DType::kString) {
      order = OrderOf(a.strings()[static_cast<std::size_t>(at[0])],
                      b.strings()[static_cast<std::size_t>(at[1])]);
    } else if (floats) {
      order = OrderOf(Load(a, at[0]), Load(b, at[1]));
    } else {
      const std::uint64_t x = LoadBits(a, at[0]);
      const std::uint64_t z = LoadBits(b, at[1]);
      order = is_signed ? OrderOf(static_cast<std::int64_t>(x), static_cast<std::int64_t>(z))
                        : OrderOf(x, z);
    }
    StoreBits(y, i, holds(order));
  });
  return OkStatus();
}

}  // namespace npukit::ops
