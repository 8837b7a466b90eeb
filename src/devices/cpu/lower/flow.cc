#include "devices/cpu/lower/flow.h"

#include <map>
#include <tuple>

#include "base/text.h"
#include "devices/cpu/lower/weights.h"

namespace npukit::devices::cpu {
namespace {

class FlowBuilder {
 public:
  explicit FlowBuilder(const ir::Graph& g) : g_(g) { blob_.flow = true; }

  Status Build(compile::Lowered* out) {
    for (std::size_t i = 0; i < g_.inputs.size(); ++i) {
      BlobTensor t;
      t.place = Place::kInput;
      t.index = static_cast<std::uint32_t>(i);
      blob_.inputs.push_back(Add(g_.inputs[i], {}, std::move(t)));
    }
    for (const ir::Node& n : g_.nodes) {
      if (n.is_foreign() || n.op->control) {
        return Unsupported(Cat("cpu: node ", Printable(n.name), ": no operator ",
                               n.is_foreign() ? Printable(n.foreign_op) : std::string(n.op->name)));
      }
      BlobStep s = NameStep(n);
      for (std::size_t i = 0; i < n.inputs.size(); ++i) {
        if (n.inputs[i] == ir::kNoValue) {
          s.inputs.push_back(-1);
          continue;
        }
        NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t t, TensorOf(n.inputs[i], FormOf(g_, n, i)));
        s.inputs.push_back(static_cast<std::int32_t>(t));
      }
      for (const ir::ValueId v : n.outputs) {
        BlobTensor t;
        t.place = Place::kValue;
        s.outputs.push_back(Add(v, {}, std::move(t)));
      }
      blob_.steps.push_back(std::move(s));
    }
    for (const ir::ValueId v : g_.outputs) {
      NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t t, TensorOf(v, {}));
      blob_.outputs.push_back(t);
    }
    blob_.weights = weights_.count();
    out->blob = Write(blob_);
    out->weights = weights_.Take();
    return OkStatus();
  }

 private:
  std::uint32_t Add(ir::ValueId v, const Form& form, BlobTensor t) {
    const auto id = static_cast<std::uint32_t>(blob_.tensors.size());
    blob_.tensors.push_back(std::move(t));
    ids_.insert_or_assign({v, form.layout, form.groups}, id);
    return id;
  }

  Result<std::uint32_t> TensorOf(ir::ValueId v, const Form& form) {
    const auto at = ids_.find({v, form.layout, form.groups});
    if (at != ids_.end()) return at->second;
    const tensor::Value* c = g_.constant(v);
    if (c == nullptr || !c->is_tensor()) {
      return Unsupported(Cat("cpu: value ", Printable(g_.value(v).name), " (",
                             g_.value(v).type.ToString(), ") is made by nothing"));
    }
    BlobTensor t;
    t.place = Place::kWeight;
    t.dtype = c->dtype();
    t.dims = c->dims();
    t.layout = form.layout;
    t.groups = form.groups;
    NPUKIT_ASSIGN_OR_RETURN(t.index, weights_.Add(*c, form.layout, form.groups));
    return Add(v, form, std::move(t));
  }

  const ir::Graph& g_;
  Blob blob_;
  WeightTable weights_;
  std::map<std::tuple<ir::ValueId, Layout, std::uint32_t>, std::uint32_t> ids_;
};

}  // namespace

Status BuildFlow(const ir::Graph& g, compile::Lowered* out) { return FlowBuilder(g).Build(out); }

}  // namespace npukit::devices::cpu
