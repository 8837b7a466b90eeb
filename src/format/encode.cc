#include <flatbuffers/flatbuffers.h>

#include <cstring>

#include "base/hash.h"
#include "format/layout.h"
#include "format/package_generated.h"

namespace npukit::format {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <class T>
using VectorOf = Offset<flatbuffers::Vector<T>>;
using Text = Offset<flatbuffers::String>;

class Encoder {
  // First, because its type must be known where it is used.
  template <class T, class F>
  auto List(const std::vector<T>& v, const F& f) {
    std::vector<decltype(f(v[0]))> offsets;
    offsets.reserve(v.size());
    for (const T& x : v) offsets.push_back(f(x));
    return b_.CreateVector(offsets);
  }

 public:
  std::vector<std::byte> Run(const Head& h) {
    const auto inputs = List(h.inputs, [&](const ValueSpec& v) { return Spec(v); });
    const auto outputs = List(h.outputs, [&](const ValueSpec& v) { return Spec(v); });
    const auto states = List(h.states, [&](const StateInfo& s) {
      return fb::CreateState(b_, Str(s.name), s.input, s.output);
    });
    const auto metadata = List(h.metadata, [&](const std::pair<std::string, std::string>& m) {
      const Text key = Str(m.first);
      return fb::CreateMetadata(b_, key, Str(m.second));
    });
    const auto segments = List(h.segments, [&](const SegmentInfo& s) {
      return fb::CreateSegment(b_, s.offset, s.length, static_cast<std::uint8_t>(s.kind),
                               s.checksum);
    });
    const auto weights = List(h.weights, [&](const WeightInfo& w) {
      return fb::CreateWeight(b_, w.segment, w.offset, w.length, Str(w.layout));
    });
    const auto programs = List(h.programs, [&](const Program& p) { return ProgramOf(p); });
    const auto profile = ProfileOf(h.profile);
    const Text name = Str(h.model_name);
    const Text sha = Str(h.model_sha256);
    const Text tool = Str(h.tool_version);
    fb::FinishHeadBuffer(b_, fb::CreateHead(b_, name, sha, tool, profile, inputs, outputs, states,
                                            metadata, segments, weights, programs));
    std::vector<std::byte> out(b_.GetSize());
    std::memcpy(out.data(), b_.GetBufferPointer(), out.size());
    return out;
  }

 private:
  Text Str(const std::string& s) { return b_.CreateString(s); }

  VectorOf<Text> Strs(const std::vector<std::string>& v) {
    return List(v, [&](const std::string& s) { return Str(s); });
  }

  Offset<fb::Type> TypeOf(const tensor::Type& t) {
    Offset<fb::Type> element;
    if (t.element) element = TypeOf(*t.element);
    std::vector<std::int64_t> dims;
    std::vector<std::string> symbols;
    if (t.shape) {
      for (const tensor::Dim& d : t.shape->dims) {
        dims.push_back(d.value);
        symbols.push_back(d.symbol);
      }
      if (t.shape->is_static()) symbols.clear();
    }
    const auto dims_at = b_.CreateVector(dims);
    const auto symbols_at = Strs(symbols);
    return fb::CreateType(b_, static_cast<std::uint8_t>(t.kind), static_cast<std::uint8_t>(t.dtype),
                          t.shape.has_value(), dims_at, symbols_at, element);
  }

  Offset<fb::ValueSpec> Spec(const ValueSpec& v) {
    const Text name = Str(v.name);
    return fb::CreateValueSpec(b_, name, TypeOf(v.type));
  }

  Offset<fb::Profile> ProfileOf(const target::Profile& p) {
    std::vector<Offset<fb::Fact>> facts;
    for (const auto& [key, fact] : p.facts) {
      const auto* number = std::get_if<double>(&fact.value);
      const auto* text = std::get_if<std::string>(&fact.value);
      const auto* numbers = std::get_if<std::vector<double>>(&fact.value);
      const auto* texts = std::get_if<std::vector<std::string>>(&fact.value);
      const Text key_at = Str(key);
      const Text text_at = Str(text ? *text : std::string());
      const auto numbers_at = b_.CreateVector(numbers ? *numbers : std::vector<double>());
      const auto texts_at = Strs(texts ? *texts : std::vector<std::string>());
      const Text ref = Str(fact.ref);
      const Text date = Str(fact.date);
      facts.push_back(fb::CreateFact(b_, key_at, static_cast<std::uint8_t>(fact.value.index()),
                                     number ? *number : 0, text_at, numbers_at, texts_at,
                                     static_cast<std::uint8_t>(fact.source), ref, date));
    }
    const auto facts_at = b_.CreateVector(facts);
    const Text name = Str(p.name);
    return fb::CreateProfile(b_, name, facts_at, Strs(p.overrides));
  }

  VectorOf<Offset<fb::Entry>> Entries(const std::map<std::string, double>& m) {
    std::vector<Offset<fb::Entry>> out;
    for (const auto& [key, value] : m) out.push_back(fb::CreateEntry(b_, Str(key), value));
    return b_.CreateVector(out);
  }

  Offset<fb::Estimate> EstimateOf(const target::Estimate& e) {
    const auto energy = Entries(e.energy_pj);
    const auto busy = Entries(e.busy_ns);
    const auto bytes = Entries(e.bytes);
    return fb::CreateEstimate(b_, e.time_ns, static_cast<std::uint8_t>(e.kind), e.macs, energy,
                              busy, bytes);
  }

  Offset<fb::Verdict> VerdictOf(const target::Verdict& v) {
    const auto from = Strs(v.from);
    const Text op = Str(v.op), foreign_op = Str(v.foreign_op), device = Str(v.device),
               code = Str(v.code), fact = Str(v.fact), limit = Str(v.limit), found = Str(v.found),
               reason = Str(v.reason), remedy = Str(v.remedy), rewrite = Str(v.rewrite),
               rewrite_result = Str(v.rewrite_result), route = Str(v.route),
               placed_on = Str(v.placed_on);
    return fb::CreateVerdict(b_, from, op, foreign_op, device, v.supported, code, fact, limit,
                             found, reason, remedy, rewrite, rewrite_result, route, v.segment,
                             placed_on);
  }

  Offset<fb::Executable> ExecutableOf(const ExecutableInfo& e) {
    const Text device = Str(e.device);
    const auto weights = b_.CreateVector(e.weights);
    return fb::CreateExecutable(b_, device, e.blob_segment, weights, e.scratch_bytes,
                                EstimateOf(e.estimate));
  }

  Offset<fb::Slot> SlotOf(const Slot& s) {
    const Text name = Str(s.name);
    return fb::CreateSlot(b_, name, TypeOf(s.type), static_cast<std::uint8_t>(s.kind), s.offset,
                          s.index);
  }

  Offset<fb::Block> BlockOf(const Block& block) {
    return fb::CreateBlock(b_, List(block.steps, [&](const Step& s) {
                             const auto inputs = b_.CreateVector(s.inputs);
                             const auto outputs = b_.CreateVector(s.outputs);
                             const auto blocks = b_.CreateVector(s.blocks);
                             const auto params = b_.CreateVector(s.params);
                             const auto results = b_.CreateVector(s.results);
                             const auto limits = b_.CreateVector(s.limits);
                             return fb::CreateStep(b_, static_cast<std::uint8_t>(s.kind),
                                                   s.executable, inputs, outputs, blocks, params,
                                                   results, limits);
                           }));
  }

  Offset<fb::Program> ProgramOf(const Program& p) {
    const auto type = [&](const tensor::Type& t) { return TypeOf(t); };
    const Text devices = Str(p.devices);
    const Text precision = Str(p.precision);
    const auto inputs = List(p.input_types, type);
    const auto outputs = List(p.output_types, type);
    const auto executables =
        List(p.executables, [&](const ExecutableInfo& e) { return ExecutableOf(e); });
    const auto slots = List(p.slots, [&](const Slot& s) { return SlotOf(s); });
    const auto blocks = List(p.blocks, [&](const Block& block) { return BlockOf(block); });
    const auto estimate = EstimateOf(p.estimate);
    const auto segments = Strs(p.segment_devices);
    const auto verdicts = List(p.verdicts, [&](const target::Verdict& v) { return VerdictOf(v); });
    const ComputeUnits& u = p.compute_units;
    return fb::CreateProgram(b_, devices, precision, inputs, outputs, executables, slots, blocks,
                             p.arena_bytes, estimate, u.npu, u.gpu, u.cpu, u.folded, u.total,
                             segments, verdicts, p.by_step);
  }

  FlatBufferBuilder b_{1 << 16};
};

}  // namespace

std::vector<std::byte> EncodeHead(const Head& head) { return Encoder().Run(head); }

std::vector<std::byte> EncodePreamble(const Preamble& p) {
  std::vector<std::byte> out(kPreambleBytes, std::byte{0});
  const auto put = [&](std::size_t at, std::uint64_t v, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) out[at + i] = static_cast<std::byte>(v >> (8 * i));
  };
  std::memcpy(out.data(), "NPK1", 4);
  put(4, p.version, 4);
  put(8, p.head_offset, 8);
  put(16, p.head_length, 8);
  put(24, p.file_length, 8);
  put(32, p.head_hash, 8);
  put(56, Hash64(std::span(out).first(56)), 8);
  return out;
}

}  // namespace npukit::format
