// What the numbers of a head mean: every index points at something, every range lies inside,
// nothing overlaps that must not.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "format/layout.h"

namespace npukit::format {
namespace {

using tensor::Type;

template <class... A>
Status Bad(const A&... what) {
  return DataCorrupt(Cat("package head: ", what...));
}

Status CheckType(const Type& t, int depth = 1) {
  if (depth > kMaxTypeDepth) return Bad("a type is nested deeper than ", kMaxTypeDepth);
  if (!t.is_tensor()) {
    if (t.element == nullptr) return Bad("a sequence or optional without an element type");
    return CheckType(*t.element, depth + 1);
  }
  if (t.element != nullptr) return Bad("a tensor type with an element type");
  if (tensor::DTypeName(t.dtype) == "undefined" &&
      (t.dtype != tensor::DType::kUndefined || t.shape))
    return Bad("a tensor of undefined type");
  if (!t.shape) return OkStatus();
  if (t.shape->rank() > kMaxRank)
    return Bad("a shape of rank ", t.shape->rank(), "; at most ", kMaxRank, " is read");
  for (const tensor::Dim& d : t.shape->dims) {
    if (d.value < -1 || (d.known() && !d.symbol.empty()))
      return Bad("a shape with the size ", d.value);
  }
  if (t.is_static() && t.dtype != tensor::DType::kString && !t.bytes())
    return Bad("a shape whose size does not fit 63 bits");
  return OkStatus();
}

Status CheckEstimate(const target::Estimate& e, std::string_view where) {
  const auto good = [](double v) { return std::isfinite(v) && v >= 0; };
  bool all = good(e.time_ns) && good(e.macs);
  for (const auto* part : {&e.energy_pj, &e.busy_ns, &e.bytes}) {
    for (const auto& [key, value] : *part) all = all && good(value);
  }
  return all ? OkStatus() : Bad(where, ": an estimate that is negative or no number");
}

Status CheckSegments(const Head& h, std::uint64_t head_offset) {
  if (h.segments.size() > kMaxSegments)
    return Bad(h.segments.size(), " segments; at most ", kMaxSegments, " are read");
  std::uint64_t end = kPreambleBytes;
  for (std::size_t i = 0; i < h.segments.size(); ++i) {
    const SegmentInfo& s = h.segments[i];
    if (s.offset % kSegmentAlignment != 0) return Bad("segment ", i, " is not aligned");
    if (s.offset < end) return Bad("segment ", i, " overlaps what is before it");
    if (s.offset > head_offset || s.length > head_offset - s.offset)
      return Bad("segment ", i, " reaches beyond its place");
    end = s.offset + s.length;
  }
  for (std::size_t i = 0; i < h.weights.size(); ++i) {
    const WeightInfo& w = h.weights[i];
    if (w.segment >= h.segments.size())
      return Bad("weight ", i, " names segment ", w.segment, " of ", h.segments.size());
    const SegmentInfo& s = h.segments[w.segment];
    if (s.kind != SegmentKind::kWeights)
      return Bad("weight ", i, " names segment ", w.segment, ", which holds no weights");
    if (w.offset % kWeightAlignment != 0) return Bad("weight ", i, " is not aligned");
    if (w.offset > s.length || w.length > s.length - w.offset)
      return Bad("weight ", i, " reaches beyond its segment");
    if (w.layout.empty()) return Bad("weight ", i, " has no layout");
  }
  return OkStatus();
}

Status CheckSpecs(const std::vector<ValueSpec>& specs, std::string_view what) {
  std::set<std::string_view> names;
  for (const ValueSpec& v : specs) {
    if (v.name.empty()) return Bad("an ", what, " without a name");
    if (!names.insert(v.name).second) return Bad("two ", what, "s named ", Printable(v.name));
    NPUKIT_RETURN_IF_ERROR(CheckType(v.type));
  }
  return OkStatus();
}

constexpr int kMaxBlockDepth = 66;  // bodies nest 64 deep at most (ir::kMaxBodyDepth)

class ProgramCheck {
 public:
  ProgramCheck(const Head& head, const Program& program, std::size_t index)
      : h_(head), p_(program), where_(Cat("program ", index)) {}

  Status Run() const {
    if (p_.devices.empty() || p_.precision.empty())
      return Bad(where_, " names no devices or no precision");
    if (p_.input_types.size() != h_.inputs.size()) {
      return Bad(where_, " has ", p_.input_types.size(), " inputs, the model ", h_.inputs.size());
    }
    if (p_.output_types.size() != h_.outputs.size()) {
      return Bad(where_, " has ", p_.output_types.size(), " outputs, the model ",
                 h_.outputs.size());
    }
    for (const Type& t : p_.input_types) NPUKIT_RETURN_IF_ERROR(CheckType(t));
    for (const Type& t : p_.output_types) NPUKIT_RETURN_IF_ERROR(CheckType(t));
    if (p_.arena_bytes > kMaxArenaBytes)
      return Bad(where_, ": an arena of ", p_.arena_bytes, " bytes");
    NPUKIT_RETURN_IF_ERROR(CheckEstimate(p_.estimate, where_));
    for (std::size_t i = 0; i < p_.executables.size(); ++i)
      NPUKIT_RETURN_IF_ERROR(CheckExecutable(i));
    for (std::size_t i = 0; i < p_.slots.size(); ++i) NPUKIT_RETURN_IF_ERROR(CheckSlot(i));
    if (p_.blocks.empty()) return Bad(where_, " has no block to begin with");
    for (std::size_t b = 0; b < p_.blocks.size(); ++b) {
      for (std::size_t s = 0; s < p_.blocks[b].steps.size(); ++s) {
        NPUKIT_RETURN_IF_ERROR(
            CheckStep(p_.blocks[b].steps[s], b, Cat(where_, " block ", b, " step ", s)));
      }
    }
    NPUKIT_RETURN_IF_ERROR(CheckBlocks());
    for (const target::Verdict& v : p_.verdicts) {
      if (v.segment < -1 || v.segment >= static_cast<std::int64_t>(p_.segment_devices.size())) {
        return Bad(where_, ": a verdict names segment ", v.segment, " of ",
                   p_.segment_devices.size());
      }
    }
    return OkStatus();
  }

 private:
  Status CheckExecutable(std::size_t i) const {
    const ExecutableInfo& e = p_.executables[i];
    const std::string where = Cat(where_, " executable ", i);
    if (e.device.empty()) return Bad(where, " names no device");
    if (e.blob_segment >= h_.segments.size() ||
        h_.segments[e.blob_segment].kind != SegmentKind::kBlob) {
      return Bad(where, " names segment ", e.blob_segment, ", which is no blob");
    }
    for (const std::uint32_t w : e.weights) {
      if (w >= h_.weights.size()) return Bad(where, " names weight ", w, " of ", h_.weights.size());
    }
    if (e.scratch_bytes > kMaxArenaBytes)
      return Bad(where, ": ", e.scratch_bytes, " bytes of scratch");
    return CheckEstimate(e.estimate, where);
  }

  Status CheckSlot(std::size_t i) const {
    const Slot& s = p_.slots[i];
    const std::string where = Cat(where_, " slot ", i, " (", Printable(s.name), ")");
    NPUKIT_RETURN_IF_ERROR(CheckType(s.type).WithContext(where));
    switch (s.kind) {
      // The caller's buffers have the program's types: a slot of another type would reach beyond
      // them.
      case SlotKind::kInput:
        if (s.index >= p_.input_types.size())
          return Bad(where, " is input ", s.index, " of ", p_.input_types.size());
        if (s.type != p_.input_types[s.index])
          return Bad(where, " has another type than its input");
        return OkStatus();
      case SlotKind::kOutput:
        if (s.index >= p_.output_types.size())
          return Bad(where, " is output ", s.index, " of ", p_.output_types.size());
        if (s.type != p_.output_types[s.index])
          return Bad(where, " has another type than its output");
        return OkStatus();
      case SlotKind::kConstant:
        if (s.index >= h_.weights.size())
          return Bad(where, " is weight ", s.index, " of ", h_.weights.size());
        if (s.type.dtype == tensor::DType::kString && s.type.is_static())
          return OkStatus();  // what it decodes to is checked when it is
        if (!s.type.bytes() || *s.type.bytes() > h_.weights[s.index].length)
          return Bad(where, " is larger than its weight");
        return OkStatus();
      case SlotKind::kFixed: {
        const std::optional<std::uint64_t> bytes = s.type.bytes();
        if (!bytes) return Bad(where, " has a place but no size");
        if (s.offset % kWeightAlignment != 0) return Bad(where, " is not aligned");
        if (s.offset > p_.arena_bytes || *bytes > p_.arena_bytes - s.offset)
          return Bad(where, " reaches beyond the arena");
        return OkStatus();
      }
      case SlotKind::kPlanned:
      case SlotKind::kDynamic:
        return OkStatus();
    }
    return Bad(where, " is of no known kind");
  }

  Status CheckStep(const Step& s, std::size_t block, const std::string& where) const {
    for (const auto* list : {&s.inputs, &s.outputs, &s.params, &s.results, &s.limits}) {
      for (const std::uint32_t slot : *list) {
        if (slot == kNoSlot && list == &s.limits) continue;
        if (slot >= p_.slots.size())
          return Bad(where, " names slot ", slot, " of ", p_.slots.size());
      }
    }
    for (const auto* list : {&s.outputs, &s.params}) {
      for (const std::uint32_t slot : *list) {
        const SlotKind kind = p_.slots[slot].kind;
        // The caller's input and the mapped file are not ours to write.
        if (kind == SlotKind::kInput || kind == SlotKind::kConstant)
          return Bad(where, " writes slot ", slot, ", which is read-only");
      }
    }
    // Only later blocks: so there is no way round in a circle.
    for (const std::uint32_t b : s.blocks) {
      if (b <= block || b >= p_.blocks.size()) return Bad(where, " names block ", b);
    }
    const bool control = s.kind == StepKind::kIf || s.kind == StepKind::kLoop;
    if (control == s.blocks.empty())
      return Bad(where, control ? " has no block" : " has blocks it does not use");
    NPUKIT_RETURN_IF_ERROR(CheckControl(s, where));
    if (s.kind == StepKind::kCall && s.executable >= p_.executables.size()) {
      return Bad(where, " calls executable ", s.executable, " of ", p_.executables.size());
    }
    if (s.kind == StepKind::kCopy) {
      if (s.inputs.size() != 1 || s.outputs.size() != 1)
        return Bad(where, " copies not one slot to one slot");
      const auto from = BytesOf(s.inputs[0]), to = BytesOf(s.outputs[0]);
      if (from && to && *from != *to) return Bad(where, " copies between slots of different sizes");
    }
    return OkStatus();
  }

  // Every block but the entry is named by one step, and they nest no deeper than graphs do: so a
  // run visits each once at most for each visit of the block around it, and needs little stack.
  Status CheckBlocks() const {
    std::vector<int> depth(p_.blocks.size(), -1);
    depth[0] = 0;
    for (std::size_t b = 0; b < p_.blocks.size(); ++b) {  // named by earlier blocks only
      if (depth[b] < 0) return Bad(where_, " block ", b, " is named by no step");
      if (depth[b] > kMaxBlockDepth)
        return Bad(where_, " block ", b, " is nested deeper than ", kMaxBlockDepth);
      for (const Step& s : p_.blocks[b].steps) {
        for (const std::uint32_t inner : s.blocks) {
          if (depth[inner] >= 0) return Bad(where_, " block ", inner, " is named twice");
          depth[inner] = depth[b] + 1;
        }
      }
    }
    return OkStatus();
  }

  std::optional<std::uint64_t> BytesOf(std::uint32_t slot) const {
    const Type& t = p_.slots[slot].type;
    return t.is_static() ? t.bytes() : std::nullopt;
  }

  static Status CheckControl(const Step& s, const std::string& where) {
    if (s.kind == StepKind::kIf) {
      if (s.inputs.size() != 1 || s.blocks.size() != 2)
        return Bad(where, " is a branch without one condition and two blocks");
    } else if (s.kind == StepKind::kLoop) {
      const std::size_t carried = s.inputs.size();
      if (s.blocks.size() != 1 || s.limits.size() != 2 || s.params.size() != carried + 2 ||
          s.results.size() < carried + 1 || s.outputs.size() + 1 != s.results.size())
        return Bad(where, " is a loop whose lists do not fit each other");
      return OkStatus();
    }
    if (!s.params.empty() || !s.results.empty() || !s.limits.empty())
      return Bad(where, " has the lists of a loop and is none");
    return OkStatus();
  }

  const Head& h_;
  const Program& p_;
  std::string where_;
};

}  // namespace

Status VerifyHead(const Head& h, std::uint64_t head_offset) {
  NPUKIT_RETURN_IF_ERROR(CheckSegments(h, head_offset));
  NPUKIT_RETURN_IF_ERROR(CheckSpecs(h.inputs, "input"));
  NPUKIT_RETURN_IF_ERROR(CheckSpecs(h.outputs, "output"));
  for (const StateInfo& s : h.states) {
    if (s.input >= h.inputs.size() || s.output >= h.outputs.size()) {
      return Bad("state ", Printable(s.name), " names an input or output that is not there");
    }
  }
  // The simulator computes with these figures. A key of another version is kept, since nobody here
  // reads it.
  for (const auto& [key, fact] : h.profile.facts) {
    if (target::FindFactDef(key) == nullptr) continue;
    const Status s = target::ValidateFact(key, fact.value);
    if (!s.ok()) return Bad("profile: ", s.message());
  }
  if (h.programs.size() > kMaxPrograms)
    return Bad(h.programs.size(), " programs; at most ", kMaxPrograms, " are read");
  for (std::size_t i = 0; i < h.programs.size(); ++i) {
    NPUKIT_RETURN_IF_ERROR(ProgramCheck(h, h.programs[i], i).Run());
    const Program& p = h.programs[i];
    const bool twice =
        std::any_of(h.programs.begin(), h.programs.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const Program& q) {
                      return q.devices == p.devices && q.precision == p.precision &&
                             q.input_types == p.input_types;
                    });
    if (twice)
      return Bad("two programs for ", Printable(p.devices), " ", Printable(p.precision),
                 " and the same shapes");
  }
  return OkStatus();
}

}  // namespace npukit::format
