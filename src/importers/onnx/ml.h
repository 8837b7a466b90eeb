// What the composites of ai.onnx.ml share. Inside importers/onnx only.
#pragma once

#include <span>

#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

// The node has these attributes alone, each of its kind. Errors name the attribute.
Status CheckMlAttrs(const Emitter& e, std::span<const ops::AttrDef> known);

// `id` as this type.
Result<ir::ValueId> CastTo(Emitter& e, ir::ValueId id, tensor::DType t);
// Floats as a constant of this type, [n].
ir::ValueId Constants(Emitter& e, const ops::Floats& list, tensor::DType t);
ir::ValueId ConstantInts(Emitter& e, const ops::Ints& list, tensor::Dims dims);
// Input 0 as fp32 rows [N,F]: one row when it has one dimension; kNoValue when its rank is not
// known.
Result<ir::ValueId> FloatRows(Emitter& e);
// classlabels_strings, or the integers under `ints`, picked by an index for each row.
Status EmitLabels(Emitter& e, std::string_view ints, ir::ValueId index);
// For scores [N,1] of the second of two classes: both columns (the first is 1 - s or -s; or,
// through the logistic function, of -s and s), and whether each is above a threshold, as int64 [N].
Result<ir::ValueId> TwoColumns(Emitter& e, ir::ValueId score, bool logistic, bool probability);
Result<ir::ValueId> Above(Emitter& e, ir::ValueId score, float threshold);
// The place of the largest of each row, [N].
Result<ir::ValueId> Largest(Emitter& e, ir::ValueId scores);
std::size_t LabelCount(const Emitter& e, std::string_view ints);

}  // namespace npukit::importers::onnx
