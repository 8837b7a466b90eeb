#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

using tensor::DType;
using tensor::Value;

Result<Outcome> ImportConstant(Emitter& e) {
  const ops::Attrs& a = e.op.attrs;
  const auto one = [](std::size_t n) { return tensor::Dims{static_cast<std::int64_t>(n)}; };
  if (a.all().size() != 1) {
    return DataCorrupt(
        Cat("node ", Printable(e.op.name), ": a Constant has one value, found ", a.all().size()));
  }
  if (a.Find("value")) {
    e.SetConstant(*a.Tensor("value"));
  } else if (a.Find("sparse_value")) {  // dense by now
    e.SetConstant(*a.Tensor("sparse_value"));
  } else if (a.Find("value_float")) {
    e.SetConstant(Value::Scalar(a.Float("value_float")));
  } else if (a.Find("value_int")) {
    e.SetConstant(Value::ScalarI64(a.Int("value_int")));
  } else if (a.Find("value_floats")) {
    const ops::Floats v = a.FloatList("value_floats");
    e.SetConstant(Value::FromVector(DType::kF32, one(v.size()), v));
  } else if (a.Find("value_ints")) {
    const ops::Ints v = a.IntList("value_ints");
    e.SetConstant(Value::FromVector(DType::kI64, one(v.size()), v));
  } else if (a.Find("value_string")) {
    e.SetConstant(Value::Strings({}, {std::string(a.String("value_string"))}));
  } else if (const auto* list = a.Find("value_strings")) {
    const auto& v = std::get<ops::Strings>(*list);
    e.SetConstant(Value::Strings(one(v.size()), v));
  } else {
    return DataCorrupt(Cat("node ", Printable(e.op.name),
                           ": a Constant without a value that is known, found ",
                           Printable(a.all()[0].first)));
  }
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
