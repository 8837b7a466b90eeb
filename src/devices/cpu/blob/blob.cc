#include "devices/cpu/blob/blob.h"

#include <flatbuffers/flatbuffers.h>

#include <bit>
#include <cstring>
#include <type_traits>

#include "base/text.h"
#include "devices/cpu/blob/cpu_blob_generated.h"
#include "tensor/strings.h"

namespace npukit::devices::cpu {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Vector;

// Far above any real network. These bound indices and loops; what bounds memory is Budget.
constexpr std::uint32_t kMaxTensors = 1u << 20;
constexpr std::uint32_t kMaxSteps = 1u << 20;
constexpr std::uint32_t kMaxRank = 32;
constexpr std::uint32_t kMaxList = 1u << 16;  // attributes, inputs, epilogue steps of one step
constexpr std::uint64_t kMaxScratch = std::uint64_t{1} << 40;

Offset<Vector<Offset<fb::Attr>>> WriteAttrs(FlatBufferBuilder& b, const BlobAttrs& attrs) {
  std::vector<Offset<fb::Attr>> out;
  for (const auto& [name, value] : attrs) {
    const auto n = b.CreateString(name);
    Offset<flatbuffers::String> s;
    Offset<Vector<std::int64_t>> ints;
    Offset<Vector<float>> floats;
    Offset<Vector<Offset<flatbuffers::String>>> strings;
    Offset<Vector<std::uint8_t>> data;
    std::int64_t i = 0;
    float f = 0;
    std::uint8_t dtype = 0;
    std::visit(
        [&](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::int64_t>) {
            i = v;
          } else if constexpr (std::is_same_v<T, float>) {
            f = v;
          } else if constexpr (std::is_same_v<T, std::string>) {
            s = b.CreateString(v);
          } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
            ints = b.CreateVector(v);
          } else if constexpr (std::is_same_v<T, std::vector<float>>) {
            floats = b.CreateVector(v);
          } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            strings = b.CreateVectorOfStrings(v);
          } else {
            dtype = static_cast<std::uint8_t>(v.dtype());
            ints = b.CreateVector(v.dims());
            std::vector<std::byte> encoded;
            if (v.dtype() == tensor::DType::kString) encoded = tensor::EncodeStrings(v);
            const std::span<const std::byte> bytes = v.dtype() == tensor::DType::kString
                                                         ? std::span<const std::byte>(encoded)
                                                         : v.bytes();
            data =
                b.CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
          }
        },
        value);
    fb::AttrBuilder a(b);
    a.add_name(n);
    a.add_kind(static_cast<std::uint8_t>(value.index()));
    a.add_i(i);
    a.add_f(f);
    if (!s.IsNull()) a.add_s(s);
    if (!ints.IsNull()) a.add_ints(ints);
    if (!floats.IsNull()) a.add_floats(floats);
    if (!strings.IsNull()) a.add_strings(strings);
    a.add_dtype(dtype);
    if (!data.IsNull()) a.add_data(data);
    out.push_back(a.Finish());
  }
  return b.CreateVector(out);
}

template <class V>
std::uint32_t Size(const V* v) {
  return v ? v->size() : 0;
}

// Several offsets of a FlatBuffer may name the same bytes, so a small blob could unfold into
// terabytes. Write never shares, so everything copied out of a blob must fit the blob's own length.
class Budget {
 public:
  explicit Budget(std::uint64_t blob_bytes) : left_(blob_bytes) {}

  Status Charge(std::string_view field, std::uint64_t bytes) {
    if (bytes > left_) {
      return DataCorrupt(Cat(field,
                             ": expected parts that fit the blob's length together, found more; "
                             "get the package again"));
    }
    left_ -= bytes;
    return OkStatus();
  }

  // A vector's length and elements; kTableBytes for a table: its offset and the least a table
  // takes.
  template <class V>
  Status ChargeVector(std::string_view field, const V* v, std::uint64_t element_bytes) {
    return v ? Charge(field, 4 + element_bytes * v->size()) : OkStatus();
  }

  Result<std::string> Text(std::string_view field, const flatbuffers::String* s) {
    if (!s) return std::string();
    NPUKIT_RETURN_IF_ERROR(
        Charge(field, std::uint64_t{5} + s->size()));  // length, characters, closing zero
    return s->str();
  }

  template <class T>
  Result<std::vector<T>> Numbers(std::string_view field, const Vector<T>* v) {
    NPUKIT_RETURN_IF_ERROR(ChargeVector(field, v, sizeof(T)));
    // Not element by element: the verifier aligns the vector's length, not its 8-byte elements.
    static_assert(std::endian::native == std::endian::little);
    std::vector<T> out(Size(v));
    if (!out.empty()) std::memcpy(out.data(), v->Data(), out.size() * sizeof(T));
    return out;
  }

 private:
  std::uint64_t left_;
};
constexpr std::uint64_t kTableBytes = 8;

Result<BlobAttrValue> ReadAttrValue(const fb::Attr& at, Budget& budget) {
  switch (at.kind()) {
    case 0:
      return BlobAttrValue(at.i());
    case 1:
      return BlobAttrValue(at.f());
    case 2: {
      NPUKIT_ASSIGN_OR_RETURN(std::string text, budget.Text("s", at.s()));
      return BlobAttrValue(std::move(text));
    }
    case 3: {
      NPUKIT_ASSIGN_OR_RETURN(std::vector<std::int64_t> ints, budget.Numbers("ints", at.ints()));
      return BlobAttrValue(std::move(ints));
    }
    case 4: {
      NPUKIT_ASSIGN_OR_RETURN(std::vector<float> floats, budget.Numbers("floats", at.floats()));
      return BlobAttrValue(std::move(floats));
    }
    case 5: {
      NPUKIT_RETURN_IF_ERROR(budget.ChargeVector("strings", at.strings(), 4));
      std::vector<std::string> strings;
      for (std::uint32_t i = 0; i < Size(at.strings()); ++i) {
        NPUKIT_ASSIGN_OR_RETURN(std::string text, budget.Text("strings", at.strings()->Get(i)));
        strings.push_back(std::move(text));
      }
      return BlobAttrValue(std::move(strings));
    }
    case 6: {
      if (at.dtype() >= tensor::kDTypeCount || Size(at.ints()) > kMaxRank)
        return DataCorrupt("bad tensor type");
      const auto dtype = static_cast<tensor::DType>(at.dtype());
      NPUKIT_ASSIGN_OR_RETURN(tensor::Dims dims, budget.Numbers("ints", at.ints()));
      if (dtype == tensor::DType::kString) {
        NPUKIT_RETURN_IF_ERROR(budget.ChargeVector("data", at.data(), 1));
        NPUKIT_ASSIGN_OR_RETURN(
            tensor::Value v,
            tensor::DecodeStrings(std::move(dims),
                                  std::as_bytes(std::span(at.data() ? at.data()->data() : nullptr,
                                                          Size(at.data())))));
        return BlobAttrValue(std::move(v));
      }
      const auto count = tensor::ElementCount(dims);
      const auto bytes =
          count ? tensor::StorageBytes(dtype, static_cast<std::uint64_t>(*count)) : std::nullopt;
      if (!bytes || *bytes != Size(at.data())) {
        return DataCorrupt(Cat("expected ", bytes.value_or(0), " bytes, found ", Size(at.data())));
      }
      NPUKIT_RETURN_IF_ERROR(budget.ChargeVector("data", at.data(), 1));
      NPUKIT_ASSIGN_OR_RETURN(tensor::Value v, tensor::Value::Allocate(dtype, std::move(dims)));
      if (*bytes != 0)
        std::memcpy(v.mutable_data(), at.data()->data(), static_cast<std::size_t>(*bytes));
      return BlobAttrValue(std::move(v));
    }
    default:
      return DataCorrupt(Cat("unknown kind ", static_cast<int>(at.kind())));
  }
}

Result<BlobAttrs> ReadAttrs(const Vector<Offset<fb::Attr>>* attrs, Budget& budget) {
  BlobAttrs out;
  if (Size(attrs) > kMaxList)
    return DataCorrupt(Cat("attributes: expected at most ", kMaxList, ", found ", Size(attrs)));
  NPUKIT_RETURN_IF_ERROR(budget.ChargeVector("attributes", attrs, kTableBytes));
  for (std::uint32_t a = 0; a < Size(attrs); ++a) {
    const fb::Attr& at = *attrs->Get(a);
    NPUKIT_ASSIGN_OR_RETURN(std::string name, budget.Text(Cat("name of attribute ", a), at.name()));
    auto value = ReadAttrValue(at, budget);
    if (!value.ok()) return value.status().WithContext(Cat("attribute ", Printable(name)));
    out.emplace_back(std::move(name), std::move(value).value());
  }
  return out;
}

Result<BlobTensor> ReadTensor(const fb::Tensor& t, const Blob& blob, std::uint32_t inputs,
                              std::uint32_t outputs, Budget& budget) {
  BlobTensor out;
  const bool typed = !blob.flow || t.place() == static_cast<std::uint8_t>(Place::kWeight);
  if ((t.dtype() == 0 && typed) || t.dtype() >= tensor::kDTypeCount)
    return DataCorrupt(Cat("unknown dtype ", static_cast<int>(t.dtype())));
  if (Size(t.dims()) > kMaxRank)
    return DataCorrupt(Cat("rank ", Size(t.dims()), " is above ", kMaxRank));
  if (t.place() > (blob.flow ? 4 : 3))
    return DataCorrupt(Cat("unknown place ", static_cast<int>(t.place())));
  if (t.layout() >= kLayoutCount)
    return DataCorrupt(Cat("unknown layout ", static_cast<int>(t.layout())));
  out.dtype = static_cast<tensor::DType>(t.dtype());
  NPUKIT_ASSIGN_OR_RETURN(out.dims, budget.Numbers("dims", t.dims()));
  out.place = static_cast<Place>(t.place());
  out.index = t.index();
  out.offset = t.offset();
  out.layout = static_cast<Layout>(t.layout());
  out.groups = t.groups();
  if (out.layout != Layout::kRaw && out.place != Place::kWeight)
    return DataCorrupt("a packed layout outside the weights");
  std::uint64_t bytes = 0;
  const bool strings = blob.flow && out.dtype == tensor::DType::kString;
  if (typed && !strings) {
    NPUKIT_ASSIGN_OR_RETURN(bytes, PlacedBytes(out));
  }
  switch (out.place) {
    case Place::kInput:
    case Place::kOutput:
    case Place::kWeight: {
      const std::uint32_t limit = out.place == Place::kInput    ? inputs
                                  : out.place == Place::kOutput ? outputs
                                                                : blob.weights;
      if (out.index >= limit) return DataCorrupt(Cat("index ", out.index, " is not below ", limit));
      if (out.offset != 0)
        return DataCorrupt(Cat("offset ", out.offset, " outside the scratch arena"));
      break;
    }
    case Place::kValue:
      break;
    case Place::kScratch:
      if (blob.flow) return DataCorrupt("a flow has no scratch arena");
      if (out.offset % kScratchAlignment != 0)
        return DataCorrupt(Cat("offset ", out.offset, " is not a multiple of 64"));
      if (out.offset > blob.scratch_bytes || bytes > blob.scratch_bytes - out.offset) {
        return DataCorrupt(Cat("bytes ", out.offset, " to ", out.offset, " + ", bytes,
                               " lie outside the scratch arena of ", blob.scratch_bytes));
      }
      break;
  }
  return out;
}

Result<BlobStep> ReadStep(const fb::Step& s, std::size_t tensors, Budget& budget) {
  BlobStep out;
  NPUKIT_ASSIGN_OR_RETURN(out.op, budget.Text("op", s.op()));
  NPUKIT_ASSIGN_OR_RETURN(out.name, budget.Text("name", s.name()));
  NPUKIT_ASSIGN_OR_RETURN(out.attrs, ReadAttrs(s.attrs(), budget));
  if (Size(s.epilogue()) > kMaxList || Size(s.inputs()) > kMaxList ||
      Size(s.outputs()) > kMaxList) {
    return DataCorrupt(Cat("more than ", kMaxList, " inputs, outputs or epilogue steps"));
  }
  NPUKIT_ASSIGN_OR_RETURN(out.inputs, budget.Numbers("inputs", s.inputs()));
  NPUKIT_ASSIGN_OR_RETURN(out.outputs, budget.Numbers("outputs", s.outputs()));
  for (const std::int32_t i : out.inputs) {
    if (i < -1 || i >= static_cast<std::int64_t>(tensors))
      return DataCorrupt(Cat("input tensor ", i, " of ", tensors));
  }
  for (const std::uint32_t i : out.outputs) {
    if (i >= tensors) return DataCorrupt(Cat("output tensor ", i, " of ", tensors));
  }
  NPUKIT_RETURN_IF_ERROR(budget.ChargeVector("epilogue", s.epilogue(), kTableBytes));
  for (std::uint32_t i = 0; i < Size(s.epilogue()); ++i) {
    const fb::EpilogueStep& e = *s.epilogue()->Get(i);
    BlobEpilogueStep step;
    NPUKIT_ASSIGN_OR_RETURN(step.op, budget.Text("epilogue op", e.op()));
    auto attrs = ReadAttrs(e.attrs(), budget);
    if (!attrs.ok()) return attrs.status().WithContext(Cat("epilogue ", i));
    step.attrs = std::move(attrs).value();
    step.operand = e.operand();
    step.swapped = e.swapped();
    if (step.operand < -1 || step.operand >= static_cast<std::int64_t>(out.inputs.size())) {
      return DataCorrupt(
          Cat("epilogue operand ", step.operand, " of ", out.inputs.size(), " inputs"));
    }
    out.epilogue.push_back(std::move(step));
  }
  return out;
}

}  // namespace

Result<std::uint64_t> PlacedBytes(const BlobTensor& t) {
  if (t.layout != Layout::kRaw) {
    const auto spec = SpecFor(t.layout, t.dims, t.groups);
    if (!spec || t.dtype != tensor::DType::kF32)
      return DataCorrupt(Cat("dims do not suit layout ", LayoutName(t.layout)));
    return static_cast<std::uint64_t>(spec->floats()) * sizeof(float);
  }
  const auto count = tensor::ElementCount(t.dims);
  const auto bytes =
      count ? tensor::StorageBytes(t.dtype, static_cast<std::uint64_t>(*count)) : std::nullopt;
  if (!bytes) return DataCorrupt(Cat("no size for ", tensor::DTypeName(t.dtype), " of these dims"));
  return *bytes;
}

std::vector<std::byte> Write(const Blob& blob) {
  FlatBufferBuilder b(4096);
  std::vector<Offset<fb::Tensor>> tensors;
  for (const BlobTensor& t : blob.tensors) {
    tensors.push_back(fb::CreateTensor(b, static_cast<std::uint8_t>(t.dtype),
                                       b.CreateVector(t.dims), static_cast<std::uint8_t>(t.place),
                                       t.index, t.offset, static_cast<std::uint8_t>(t.layout),
                                       t.groups));
  }
  std::vector<Offset<fb::Step>> steps;
  for (const BlobStep& s : blob.steps) {
    std::vector<Offset<fb::EpilogueStep>> epilogue;
    for (const BlobEpilogueStep& e : s.epilogue) {
      const auto op = b.CreateString(e.op);
      epilogue.push_back(
          fb::CreateEpilogueStep(b, op, WriteAttrs(b, e.attrs), e.operand, e.swapped));
    }
    const auto op = b.CreateString(s.op);
    const auto name = b.CreateString(s.name);
    const auto attrs = WriteAttrs(b, s.attrs);
    steps.push_back(fb::CreateStep(b, op, name, attrs, b.CreateVector(epilogue),
                                   b.CreateVector(s.inputs), b.CreateVector(s.outputs)));
  }
  const auto tensor_vector = b.CreateVector(tensors);
  const auto step_vector = b.CreateVector(steps);
  const auto inputs = b.CreateVector(blob.inputs);
  const auto outputs = b.CreateVector(blob.outputs);
  b.Finish(fb::CreateBlob(b, kBlobVersion, tensor_vector, step_vector, inputs, outputs,
                          blob.weights, blob.scratch_bytes, blob.flow),
           fb::BlobIdentifier());
  const auto* p = reinterpret_cast<const std::byte*>(b.GetBufferPointer());
  return std::vector<std::byte>(p, p + b.GetSize());
}

Result<Blob> Read(std::span<const std::byte> bytes) {
  // FlatBuffers reads 8-byte fields in place: a blob that is not aligned is copied first.
  std::vector<std::uint64_t> aligned;
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (bytes.size() < 16 || bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    return DataCorrupt(Cat("CPU blob: expected 16 to ", FLATBUFFERS_MAX_BUFFER_SIZE,
                           " bytes, found ", bytes.size()));
  }
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(std::uint64_t) != 0) {
    aligned.resize(bytes.size() / 8 + 1);
    std::memcpy(aligned.data(), data, bytes.size());
    data = reinterpret_cast<const std::uint8_t*>(aligned.data());
  }
  if (!fb::BlobBufferHasIdentifier(data))
    return DataCorrupt("CPU blob: the identifier is not NPC0");
  flatbuffers::Verifier verifier(data, bytes.size(), /*max_depth=*/16, /*max_tables=*/1u << 24);
  if (!fb::VerifyBlobBuffer(verifier))
    return DataCorrupt("CPU blob: the FlatBuffers structure is damaged");
  const fb::Blob& in = *fb::GetBlob(data);
  if (in.version() != kBlobVersion) {
    return DataCorrupt(Cat("CPU blob: expected version ", kBlobVersion, ", found ", in.version(),
                           "; compile the model again"));
  }
  Blob out;
  out.flow = in.flow();
  out.weights = in.weights();
  out.scratch_bytes = in.scratch_bytes();
  Budget budget(bytes.size());
  NPUKIT_ASSIGN_OR_RETURN(out.inputs, budget.Numbers("CPU blob: inputs", in.inputs()));
  NPUKIT_ASSIGN_OR_RETURN(out.outputs, budget.Numbers("CPU blob: outputs", in.outputs()));
  if (out.scratch_bytes > kMaxScratch || out.scratch_bytes % kScratchAlignment != 0) {
    return DataCorrupt(Cat("CPU blob: scratch of ", out.scratch_bytes,
                           " bytes, expected a multiple of 64 up to ", kMaxScratch));
  }
  if (Size(in.tensors()) > kMaxTensors || Size(in.steps()) > kMaxSteps) {
    return DataCorrupt(Cat("CPU blob: ", Size(in.tensors()), " tensors, ", Size(in.steps()),
                           " steps are too many"));
  }
  NPUKIT_RETURN_IF_ERROR(budget.ChargeVector("CPU blob: tensors", in.tensors(), kTableBytes));
  NPUKIT_RETURN_IF_ERROR(budget.ChargeVector("CPU blob: steps", in.steps(), kTableBytes));
  for (std::uint32_t i = 0; i < Size(in.tensors()); ++i) {
    auto t = ReadTensor(*in.tensors()->Get(i), out, Size(in.inputs()), Size(in.outputs()), budget);
    if (!t.ok()) return t.status().WithContext(Cat("CPU blob: tensor ", i));
    out.tensors.push_back(std::move(t).value());
  }
  const auto check_boundary = [&](const std::vector<std::uint32_t>& list, Place place,
                                  const char* what) -> Status {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] >= out.tensors.size())
        return DataCorrupt(Cat("CPU blob: ", what, " ", i, ": tensor ", list[i]));
      const BlobTensor& t = out.tensors[list[i]];
      if (t.place != place || t.index != i)
        return DataCorrupt(Cat("CPU blob: ", what, " ", i, ": its tensor lies elsewhere"));
    }
    return OkStatus();
  };
  NPUKIT_RETURN_IF_ERROR(check_boundary(out.inputs, Place::kInput, "input"));
  if (!out.flow) {
    NPUKIT_RETURN_IF_ERROR(check_boundary(out.outputs, Place::kOutput, "output"));
  }
  for (const std::uint32_t o : out.outputs) {
    if (o >= out.tensors.size()) return DataCorrupt(Cat("CPU blob: output tensor ", o));
  }
  // A view of a boundary buffer must not reach past what the boundary's type promises.
  for (std::size_t i = 0; i < out.tensors.size(); ++i) {
    const BlobTensor& t = out.tensors[i];
    if (out.flow || (t.place != Place::kInput && t.place != Place::kOutput)) continue;
    const BlobTensor& b =
        out.tensors[t.place == Place::kInput ? out.inputs[t.index] : out.outputs[t.index]];
    NPUKIT_ASSIGN_OR_RETURN(const std::uint64_t have, PlacedBytes(b));
    NPUKIT_ASSIGN_OR_RETURN(const std::uint64_t want, PlacedBytes(t));
    if (want > have)
      return DataCorrupt(Cat("CPU blob: tensor ", i, ": ", want, " bytes in a boundary of ", have));
  }
  for (std::uint32_t i = 0; i < Size(in.steps()); ++i) {
    auto s = ReadStep(*in.steps()->Get(i), out.tensors.size(), budget);
    if (!s.ok()) return s.status().WithContext(Cat("CPU blob: step ", i));
    for (const std::uint32_t o : s->outputs) {
      const Place place = out.tensors[o].place;
      if (out.flow ? place != Place::kValue : place != Place::kOutput && place != Place::kScratch) {
        return DataCorrupt(Cat("CPU blob: step ", i, ": writes to an input or a weight"));
      }
    }
    out.steps.push_back(std::move(s).value());
  }
  return out;
}

}  // namespace npukit::devices::cpu
