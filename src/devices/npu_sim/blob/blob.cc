// A program to bytes and back.
#include "devices/npu_sim/blob/blob.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/text.h"
#include "devices/npu_sim/blob/npu_blob_generated.h"

namespace npukit::npu {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr std::uint32_t kMaxTables = 1u << 20;  // tasks and tensors, shared ones counted each time
constexpr std::size_t kMaxGroups = std::size_t{1} << 20;
constexpr std::uint32_t kMaxDepth = 8;
constexpr std::size_t kMaxName = 4096;
constexpr std::size_t kMaxRank = 16;

using TensorOffset = flatbuffers::Offset<fb::Tensor>;

std::vector<TensorOffset> PackTensors(flatbuffers::FlatBufferBuilder& b,
                                      const std::vector<tensor::Type>& types) {
  std::vector<TensorOffset> out;
  for (const tensor::Type& t : types) {
    out.push_back(
        fb::CreateTensor(b, static_cast<std::uint8_t>(t.dtype), b.CreateVector(t.dims())));
  }
  return out;
}

// Several offsets of a FlatBuffer may name the same bytes, so a small blob could unfold into
// gigabytes. Pack never shares, so everything copied out of a blob must fit the blob's own length.
class Budget {
 public:
  explicit Budget(std::uint64_t blob_bytes) : left_(blob_bytes) {}

  Status Charge(std::string_view field, std::uint64_t bytes) {
    if (bytes > left_) {
      return DataCorrupt(Cat("npu_sim blob: ", field,
                             ": expected parts that fit the blob's length together, found more; "
                             "get the package again"));
    }
    left_ -= bytes;
    return OkStatus();
  }

  // A vector's length and elements.
  template <class V>
  Status ChargeVector(std::string_view field, const V* v, std::uint64_t element_bytes) {
    return v ? Charge(field, 4 + element_bytes * v->size()) : OkStatus();
  }

  // The verifier does not check that 8-byte elements lie on 8-byte addresses, so they are copied
  // as bytes.
  template <class T>
  Result<std::vector<T>> Numbers(std::string_view field, const flatbuffers::Vector<T>* v) {
    NPUKIT_RETURN_IF_ERROR(ChargeVector(field, v, sizeof(T)));
    std::vector<T> out(v ? v->size() : 0);
    if (!out.empty()) std::memcpy(out.data(), v->Data(), out.size() * sizeof(T));
    return out;
  }

 private:
  std::uint64_t left_;
};
constexpr std::uint64_t kTableBytes = 8;  // its offset in a vector, and the least a table takes

Status UnpackTensors(const flatbuffers::Vector<TensorOffset>* from, std::string_view what,
                     Budget& budget, std::vector<tensor::Type>* to) {
  if (!from) return OkStatus();
  NPUKIT_RETURN_IF_ERROR(budget.ChargeVector(Cat(what, "s"), from, kTableBytes));
  for (const fb::Tensor* t : *from) {
    const bool short_enough = !t->dims() || t->dims()->size() <= kMaxRank;
    tensor::Dims dims;
    if (short_enough) {
      NPUKIT_ASSIGN_OR_RETURN(dims, budget.Numbers(Cat(what, " ", to->size(), " dims"), t->dims()));
    }
    const auto dtype = static_cast<tensor::DType>(t->dtype());
    const auto count = tensor::ElementCount(dims);
    if (!short_enough || !count || t->dtype() >= tensor::kDTypeCount ||
        !tensor::StorageBytes(dtype, static_cast<std::uint64_t>(*count))) {
      return DataCorrupt(Cat("npu_sim blob: ", what, " ", to->size(),
                             ": expected a static tensor of a sized type, found dtype ",
                             static_cast<int>(t->dtype()), " and ", dims.size(), " dimensions"));
    }
    to->push_back(tensor::Type::Tensor(dtype, dims));
  }
  return OkStatus();
}

Code UnpackCode(const fb::Code& c) { return {c.begin(), c.count()}; }

}  // namespace

std::uint64_t Program::macs() const {
  std::uint64_t sum = 0;
  for (const Task& t : tasks) sum += t.macs;
  return sum;
}

std::string_view OpcodeName(Opcode op) {
  constexpr std::string_view kNames[kOpcodeCount] = {"?",      "copy",   "fill",      "load3d",
                                                     "load2d", "mmad",   "l0c_to_ub", "unary",
                                                     "binary", "window", "reduce",    "move"};
  const auto i = static_cast<std::size_t>(op);
  return i < std::size(kNames) ? kNames[i] : kNames[0];
}

std::vector<std::byte> Pack(const Program& p) {
  flatbuffers::FlatBufferBuilder b(p.code.size() * 4 + 4096);
  const auto inputs = PackTensors(b, p.inputs);
  const auto outputs = PackTensors(b, p.outputs);
  std::vector<flatbuffers::Offset<fb::Task>> tasks;
  for (const Task& t : p.tasks) {
    std::vector<fb::Group> groups;
    for (const Group& g : t.groups) {
      groups.emplace_back(g.tiles0, g.tiles1, fb::Code(g.prologue.begin, g.prologue.count),
                          fb::Code(g.body.begin, g.body.count));
    }
    std::vector<fb::Code> layout;
    for (const Code& c : t.layout) layout.emplace_back(c.begin, c.count);
    tasks.push_back(fb::CreateTask(b, b.CreateString(t.name.substr(0, kMaxName)),
                                   b.CreateVectorOfStructs(groups), t.macs, t.compulsory_bytes));
  }
  const auto blob = fb::CreateBlob(
      b, kBlobVersion, p.accumulator_fp16_bits, p.buffers.l1_bytes, p.buffers.l0a_bytes,
      p.buffers.l0b_bytes, p.buffers.l0c_bytes, p.buffers.ub_bytes, p.workspace_bytes,
      b.CreateVector(p.weight_bytes), b.CreateVector(inputs), b.CreateVector(outputs),
      b.CreateVector(tasks), b.CreateVector(p.code));
  b.Finish(blob, fb::BlobIdentifier());
  const auto* first = reinterpret_cast<const std::byte*>(b.GetBufferPointer());
  return {first, first + b.GetSize()};
}

Result<Program> Unpack(std::span<const std::byte> bytes) {
  if (bytes.size() < 16 || bytes.size() > kMaxBytes) {
    return DataCorrupt(
        Cat("npu_sim blob: expected 16 to ", kMaxBytes, " bytes, found ", bytes.size()));
  }
  // FlatBuffers reads words in place: a blob at an odd address is copied first.
  std::vector<std::byte> aligned;
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0) {
    aligned.assign(bytes.begin(), bytes.end());
    bytes = aligned;
  }
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (!fb::BlobBufferHasIdentifier(data)) {
    return DataCorrupt("npu_sim blob: expected identifier NPUS; compile the model again");
  }
  flatbuffers::Verifier verifier(data, bytes.size(), kMaxDepth, kMaxTables);
  if (!fb::VerifyBlobBuffer(verifier)) {
    return DataCorrupt("npu_sim blob: its structure does not verify; get the package again");
  }
  const fb::Blob* blob = fb::GetBlob(data);
  if (blob->version() != kBlobVersion) {
    return DataCorrupt(Cat("npu_sim blob: expected version ", kBlobVersion, ", found ",
                           blob->version(), "; compile the model again"));
  }
  Program p;
  p.accumulator_fp16_bits = blob->accumulator_fp16_bits();
  p.buffers = {blob->l1_bytes(), blob->l0a_bytes(), blob->l0b_bytes(), blob->l0c_bytes(),
               blob->ub_bytes()};
  p.workspace_bytes = blob->workspace_bytes();
  Budget budget(bytes.size());
  NPUKIT_ASSIGN_OR_RETURN(p.weight_bytes, budget.Numbers("weight_bytes", blob->weight_bytes()));
  NPUKIT_ASSIGN_OR_RETURN(p.code, budget.Numbers("code", blob->code()));
  NPUKIT_RETURN_IF_ERROR(UnpackTensors(blob->inputs(), "input", budget, &p.inputs));
  NPUKIT_RETURN_IF_ERROR(UnpackTensors(blob->outputs(), "output", budget, &p.outputs));
  if (const auto* tasks = blob->tasks()) {
    NPUKIT_RETURN_IF_ERROR(budget.ChargeVector("tasks", tasks, kTableBytes));
    std::size_t groups_left = kMaxGroups;
    for (const fb::Task* t : *tasks) {
      Task task;
      const std::string where = Cat("task ", p.tasks.size());
      if (t->name()) {
        NPUKIT_RETURN_IF_ERROR(
            budget.Charge(Cat(where, " name"), std::uint64_t{5} + t->name()->size()));
        task.name = t->name()->string_view().substr(0, kMaxName);
      }
      task.macs = t->macs();
      task.compulsory_bytes = t->compulsory_bytes();
      if (const auto* layout = t->layout()) {
        NPUKIT_RETURN_IF_ERROR(
            budget.ChargeVector(Cat(where, " layout"), layout, sizeof(fb::Code)));
        for (const fb::Code* c : *layout) task.layout.push_back(UnpackCode(*c));
      }
      if (const auto* groups = t->groups()) {
        NPUKIT_RETURN_IF_ERROR(
            budget.ChargeVector(Cat(where, " groups"), groups, sizeof(fb::Group)));
        if (groups->size() > groups_left) {
          return DataCorrupt(
              Cat("npu_sim blob: ", where, " groups: expected at most ", kMaxGroups, " in all"));
        }
        groups_left -= groups->size();
        for (const fb::Group* g : *groups) {
          task.groups.push_back(
              {g->tiles0(), g->tiles1(), UnpackCode(g->prologue()), UnpackCode(g->body())});
        }
      }
      p.tasks.push_back(std::move(task));
    }
  }
  return p;
}

std::string ToText(const Program& p) {
  std::string text =
      Cat("npu_sim program: accumulators ", p.accumulator_fp16_bits, " bit, workspace ",
          p.workspace_bytes, " bytes, ", p.weight_bytes.size(), " weights\n");
  const auto append = [&](std::string_view title, Code c) {
    text += Cat("    ", title, "\n");
    for (std::uint32_t i = c.begin; i < c.begin + c.count;) {
      const std::int32_t n = OperandWordsOf(p.code[i]);
      std::vector<std::int64_t> words(p.code.begin() + i + 1, p.code.begin() + i + 1 + n);
      text += Cat("      ", OpcodeName(OpcodeOf(p.code[i])), " ", JoinInts(words, " "), "\n");
      i += 1 + static_cast<std::uint32_t>(n);
    }
  };
  for (std::size_t t = 0; t < p.tasks.size(); ++t) {
    text += Cat("task ", t, " ", p.tasks[t].name, ", ", p.tasks[t].macs, " macs\n");
    for (const Group& g : p.tasks[t].groups) {
      text += Cat("  tiles ", g.tiles0, " x ", g.tiles1, "\n");
      if (g.prologue.count) append("prologue", g.prologue);
      append("body", g.body);
    }
  }
  return text;
}

}  // namespace npukit::npu
