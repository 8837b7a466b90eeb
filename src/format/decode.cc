#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/hash.h"
#include "base/text.h"
#include "format/layout.h"
#include "format/package_generated.h"

namespace npukit::format {
namespace {

template <class T>
using Tables = flatbuffers::Vector<flatbuffers::Offset<T>>;
using Texts = Tables<flatbuffers::String>;

// Copies the verified FlatBuffer into plain structs. Several offsets of a FlatBuffer may name the
// same bytes, so a small file could unfold into a huge head; ours never share, so everything
// unfolded together must fit the head's own length.
class Decoder {
 public:
  explicit Decoder(std::uint64_t head_bytes) : left_(head_bytes) {}

  Result<Head> Run(const fb::Head* f) {
    Head h;
    h.model_name = Str(f->model_name());
    h.model_sha256 = Str(f->model_sha256());
    h.tool_version = Str(f->tool_version());
    h.profile = ProfileOf(f->profile());
    h.inputs = List<ValueSpec>(f->inputs(), [&](const fb::ValueSpec* v) { return Spec(v); });
    h.outputs = List<ValueSpec>(f->outputs(), [&](const fb::ValueSpec* v) { return Spec(v); });
    h.states = List<StateInfo>(f->states(), [&](const fb::State* s) {
      return StateInfo{Str(s->name()), s->input(), s->output()};
    });
    h.metadata = List<std::pair<std::string, std::string>>(
        f->metadata(),
        [&](const fb::Metadata* m) { return std::pair(Str(m->key()), Str(m->value())); });
    h.segments = List<SegmentInfo>(f->segments(), [&](const fb::Segment* s) {
      return SegmentInfo{s->offset(), s->length(), Enum<SegmentKind>(s->kind(), 2, "segment kind"),
                         s->checksum()};
    });
    h.weights = List<WeightInfo>(f->weights(), [&](const fb::Weight* w) {
      return WeightInfo{w->segment(), w->offset(), w->length(), Str(w->layout())};
    });
    h.programs = List<Program>(f->programs(), [&](const fb::Program* p) { return ProgramOf(p); });
    if (!error_.ok()) return error_;
    return h;
  }

 private:
  bool Charge(std::uint64_t bytes) {
    if (!error_.ok()) return false;
    if (bytes > left_) {
      Fail("its parts together are larger than it is");
      return false;
    }
    left_ -= bytes;
    return true;
  }

  void Fail(std::string_view why) {
    if (error_.ok()) error_ = DataCorrupt(Cat("package head: ", why));
  }

  std::string Str(const flatbuffers::String* s) {
    // Length, characters, closing zero.
    if (!Charge(std::uint64_t{5} + s->size())) return {};
    return std::string(s->c_str(), s->size());
  }

  // `least`: what an element takes at least, with its offset: 8 for an empty table.
  template <class Out, class T, class F>
  std::vector<Out> List(const Tables<T>* v, const F& f, std::uint64_t least = 8) {
    std::vector<Out> out;
    if (!Charge(4 + least * v->size())) return out;
    out.reserve(v->size());
    for (const T* x : *v) {
      if (!error_.ok()) break;
      out.push_back(f(x));
    }
    return out;
  }

  std::vector<std::string> Strs(const Texts* v) {
    return List<std::string>(v, [&](const flatbuffers::String* s) { return Str(s); }, 4);
  }

  template <class T>
  std::vector<T> Numbers(const flatbuffers::Vector<T>* v) {
    if (!Charge(4 + sizeof(T) * std::uint64_t{v->size()})) return {};
    // Not element by element: the verifier aligns the vector's length, not its 8-byte elements.
    static_assert(std::endian::native == std::endian::little);
    std::vector<T> out(v->size());
    if (!out.empty()) std::memcpy(out.data(), v->Data(), out.size() * sizeof(T));
    return out;
  }

  template <class E>
  E Enum(std::uint8_t v, std::uint8_t last, std::string_view what) {
    if (v > last) Fail(Cat("unknown ", what, " ", int{v}));
    return static_cast<E>(std::min(v, last));
  }

  tensor::Type TypeOf(const fb::Type* f, int depth = 1) {
    tensor::Type t;
    if (!Charge(4)) return t;
    if (depth > kMaxTypeDepth) {
      Fail(Cat("a type is nested deeper than ", kMaxTypeDepth));
      return t;
    }
    t.kind = Enum<tensor::Type::Kind>(f->kind(), 2, "kind of type");
    t.dtype = Enum<tensor::DType>(f->dtype(), tensor::kDTypeCount - 1, "dtype");
    const std::vector<std::int64_t> dims = Numbers(f->dims());
    std::vector<std::string> symbols = Strs(f->symbols());
    if (!f->has_shape() && !dims.empty()) Fail("a type of unknown rank has sizes");
    if (!symbols.empty() && symbols.size() != dims.size())
      Fail("a shape has names for some of its sizes only");
    if (!error_.ok()) return t;
    if (f->has_shape()) {
      t.shape.emplace();
      for (std::size_t i = 0; i < dims.size(); ++i) {
        t.shape->dims.push_back({dims[i], symbols.empty() ? std::string() : std::move(symbols[i])});
      }
    }
    if (f->element() != nullptr)
      t.element = std::make_shared<const tensor::Type>(TypeOf(f->element(), depth + 1));
    return t;
  }

  ValueSpec Spec(const fb::ValueSpec* f) { return {Str(f->name()), TypeOf(f->type())}; }

  target::Profile ProfileOf(const fb::Profile* f) {
    target::Profile p;
    p.name = Str(f->name());
    p.overrides = Strs(f->overrides());
    for (auto& [key, fact] : List<std::pair<std::string, target::Fact>>(
             f->facts(), [&](const fb::Fact* x) { return std::pair(Str(x->key()), FactOf(x)); })) {
      if (!p.facts.empty() && p.facts.rbegin()->first >= key)
        Fail("the profile's facts are not in order");
      p.facts.emplace_hint(p.facts.end(), std::move(key), std::move(fact));
    }
    return p;
  }

  target::Fact FactOf(const fb::Fact* f) {
    target::Fact fact;
    std::string text = Str(f->text());
    std::vector<double> numbers = Numbers(f->numbers());
    std::vector<std::string> texts = Strs(f->texts());
    switch (Enum<target::FactKind>(f->kind(), 3, "kind of fact")) {
      case target::FactKind::kNumber:
        fact.value = f->number();
        break;
      case target::FactKind::kText:
        fact.value = std::move(text);
        break;
      case target::FactKind::kNumbers:
        fact.value = std::move(numbers);
        break;
      case target::FactKind::kTexts:
        fact.value = std::move(texts);
        break;
    }
    fact.source = Enum<target::Source>(f->source(), 3, "source of a fact");
    fact.ref = Str(f->ref());
    fact.date = Str(f->date());
    return fact;
  }

  std::map<std::string, double> Entries(const Tables<fb::Entry>* v) {
    std::map<std::string, double> out;
    for (auto& [key, value] : List<std::pair<std::string, double>>(
             v, [&](const fb::Entry* e) { return std::pair(Str(e->key()), e->value()); })) {
      if (!out.empty() && out.rbegin()->first >= key)
        Fail("the parts of an estimate are not in order");
      out.emplace_hint(out.end(), std::move(key), value);
    }
    return out;
  }

  target::Estimate EstimateOf(const fb::Estimate* f) {
    target::Estimate e;
    e.time_ns = f->time_ns();
    e.kind = Enum<target::Kind>(f->kind(), 2, "kind of figure");
    e.macs = f->macs();
    e.energy_pj = Entries(f->energy_pj());
    e.busy_ns = Entries(f->busy_ns());
    e.bytes = Entries(f->bytes());
    return e;
  }

  target::Verdict VerdictOf(const fb::Verdict* f) {
    target::Verdict v;
    v.from = Strs(f->from());
    v.op = Str(f->op());
    v.foreign_op = Str(f->foreign_op());
    v.device = Str(f->device());
    v.supported = f->supported();
    v.code = Str(f->code());
    v.fact = Str(f->fact());
    v.limit = Str(f->limit());
    v.found = Str(f->found());
    v.reason = Str(f->reason());
    v.remedy = Str(f->remedy());
    v.rewrite = Str(f->rewrite());
    v.rewrite_result = Str(f->rewrite_result());
    v.route = Str(f->route());
    v.segment = f->segment();
    v.placed_on = Str(f->placed_on());
    return v;
  }

  Program ProgramOf(const fb::Program* f) {
    Program p;
    const auto type = [&](const fb::Type* t) { return TypeOf(t); };
    p.devices = Str(f->devices());
    p.precision = Str(f->precision());
    p.input_types = List<tensor::Type>(f->input_types(), type);
    p.output_types = List<tensor::Type>(f->output_types(), type);
    p.executables = List<ExecutableInfo>(f->executables(), [&](const fb::Executable* e) {
      return ExecutableInfo{Str(e->device()), e->blob_segment(), Numbers(e->weights()),
                            e->scratch_bytes(), EstimateOf(e->estimate())};
    });
    p.slots = List<Slot>(f->slots(), [&](const fb::Slot* s) {
      return Slot{Str(s->name()), TypeOf(s->type()), Enum<SlotKind>(s->kind(), 5, "slot kind"),
                  s->offset(), s->index()};
    });
    p.blocks = List<Block>(f->blocks(), [&](const fb::Block* b) {
      return Block{List<Step>(b->steps(), [&](const fb::Step* s) {
        return Step{Enum<StepKind>(s->kind(), 4, "step kind"),
                    s->executable(),
                    Numbers(s->inputs()),
                    Numbers(s->outputs()),
                    Numbers(s->blocks()),
                    Numbers(s->params()),
                    Numbers(s->results()),
                    Numbers(s->limits())};
      })};
    });
    p.by_step = f->by_step();
    p.arena_bytes = f->arena_bytes();
    p.estimate = EstimateOf(f->estimate());
    p.compute_units = {f->units_npu(), f->units_gpu(), f->units_cpu(), f->units_folded(),
                       f->units_total()};
    p.segment_devices = Strs(f->segment_devices());
    p.verdicts =
        List<target::Verdict>(f->verdicts(), [&](const fb::Verdict* v) { return VerdictOf(v); });
    return p;
  }

  std::uint64_t left_;
  Status error_;
};

}  // namespace

Result<Preamble> DecodePreamble(std::span<const std::byte> bytes) {
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "NPK1", 4) != 0) {
    return DataCorrupt("not an npukit package: it does not begin with \"NPK1\"");
  }
  if (bytes.size() < kPreambleBytes) {
    return DataCorrupt(Cat("package cut short: expected at least ", kPreambleBytes,
                           " bytes, found ", bytes.size()));
  }
  const auto get = [&](std::size_t at, std::size_t n) {
    std::uint64_t v = 0;
    for (std::size_t i = 0; i < n; ++i) v |= static_cast<std::uint64_t>(bytes[at + i]) << (8 * i);
    return v;
  };
  if (get(56, 8) != Hash64(bytes.first(56)))
    return DataCorrupt("package damaged: its first 64 bytes do not agree with their hash");
  Preamble p;
  p.version = static_cast<std::uint32_t>(get(4, 4));
  p.head_offset = get(8, 8);
  p.head_length = get(16, 8);
  p.file_length = get(24, 8);
  p.head_hash = get(32, 8);
  if (p.version != kSchemaVersion) {
    return Unsupported(Cat("package of schema version ", p.version, "; this npukit reads version ",
                           kSchemaVersion, " only: compile the model again"));
  }
  if (get(40, 8) != 0 || get(48, 8) != 0)
    return DataCorrupt("package damaged: bytes 40 to 55 are not zero");
  return p;
}

Result<Head> DecodeHead(std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxHeadBytes) {
    return ResourceExhausted(
        Cat("package head of ", bytes.size(), " bytes; at most ", kMaxHeadBytes, " are read"));
  }
  // A table takes at least 8 bytes, so an honest head has no more tables than that; depth: Head,
  // Program, Slot, Type x 8.
  const auto max_tables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 8);
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
                                 32, max_tables);
  if (!fb::VerifyHeadBuffer(verifier)) return DataCorrupt("package head: its structure is broken");
  return Decoder(bytes.size()).Run(fb::GetHead(bytes.data()));
}

}  // namespace npukit::format
