#include "lab/alternate.h"

#include <cstring>

namespace npukit::lab {
namespace {

constexpr std::int64_t kFewValues = 16;

bool MayVary(const tensor::Value& v) {
  if (!v.is_tensor() || v.dtype() == tensor::DType::kString || v.count() < kFewValues) return false;
  return tensor::IsFloat(v.dtype()) || v.dims().size() >= 2;
}

// Bytes of whole elements: a type of less than a byte is rotated by bytes, which is as good.
Result<tensor::Value> Rotated(const tensor::Value& v) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value out, tensor::Value::Allocate(v.dtype(), v.dims()));
  const auto bytes = static_cast<std::size_t>(v.byte_size());
  const auto count = static_cast<std::size_t>(v.count());
  if (count == 0) return out;
  const std::size_t first =
      bytes >= count ? count / 2 * (bytes / count) : bytes / 2;  // bytes that go to the end
  const auto* from = static_cast<const std::byte*>(v.data());
  auto* to = static_cast<std::byte*>(out.mutable_data());
  std::memcpy(to, from + first, bytes - first);
  std::memcpy(to + bytes - first, from, first);
  return out;
}

}  // namespace

Result<std::vector<BoundInput>> OtherInputs(std::vector<BoundInput> inputs, std::uint64_t seed) {
  for (BoundInput& i : inputs) {
    if (!MayVary(i.value)) continue;
    auto value = i.path.empty() ? RandomInput(i.name, i.value.type(), seed + 1) : Rotated(i.value);
    if (!value.ok()) return value.status();
    i.value = std::move(*value);
  }
  return inputs;
}

Status BindInputs(const std::vector<BoundInput>& inputs, runtime::Request& request) {
  for (const BoundInput& i : inputs) NPUKIT_RETURN_IF_ERROR(request.BindInput(i.name, i.value));
  return OkStatus();
}

Status OutputMemory::Bind(const Prepared& prepared, runtime::Request& request) {
  const format::Program& program = prepared.chosen();
  if (program.by_step) return OkStatus();  // its values are handed over as they are
  for (std::size_t i = 0; i < program.output_types.size(); ++i) {
    const tensor::Type& type = program.output_types[i];
    if (!type.is_static() || !type.bytes()) continue;
    NPUKIT_ASSIGN_OR_RETURN(tensor::Value value, tensor::Value::Allocate(type.dtype, type.dims()));
    NPUKIT_RETURN_IF_ERROR(request.BindOutput(prepared.session->head().outputs[i].name,
                                              value.mutable_data(), value.byte_size()));
    values_.push_back(std::move(value));
  }
  return OkStatus();
}

}  // namespace npukit::lab
