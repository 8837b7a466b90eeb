#include "tensor/accepts.h"

namespace npukit::tensor {

bool Accepts(const Type& declared, const Type& found, Symbols& symbols) {
  if (declared.is_tensor() && declared.dtype == DType::kUndefined) return true;
  if (declared.kind != found.kind) return false;
  if (!declared.is_tensor()) {
    Symbols of_elements;  // elements of one sequence may differ in size
    return declared.element == nullptr || found.element == nullptr ||
           Accepts(*declared.element, *found.element, of_elements);
  }
  if (found.dtype == DType::kUndefined) return true;  // the element of an empty sequence
  if (declared.dtype != found.dtype) return false;
  if (!declared.shape || !found.shape) return true;
  if (declared.shape->rank() != found.shape->rank()) return false;
  for (std::size_t i = 0; i < declared.shape->rank(); ++i) {
    const Dim& want = declared.shape->dims[i];
    const Dim& have = found.shape->dims[i];
    if (!have.known()) continue;
    if (want.known()) {
      if (want.value != have.value) return false;
    } else if (!want.symbol.empty()) {
      if (symbols.try_emplace(want.symbol, have.value).first->second != have.value) return false;
    }
  }
  return true;
}

}  // namespace npukit::tensor
