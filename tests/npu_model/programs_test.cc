// Runs the programs of make_programs.py on the simulated NPU and compares every output with what
// the NumPy model computed: the same bits, where NaN equals NaN. The format of the file is in the
// head of make_programs.py.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "devices/npu_sim/blob/blob.h"
#include "devices/npu_sim/run/driver.h"
#include "profile_io/profile_io.h"
#include "tensor/half.h"

namespace npukit {
namespace {

using tensor::DType;
using tensor::Type;

struct Expected {
  Type type;
  std::vector<std::byte> bytes;
};

struct Sample {
  std::string name;
  npu::Program program;
  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::vector<std::byte>> weights;
  std::vector<Expected> outputs;
};

std::vector<std::byte> FromHex(const std::string& s) {
  std::vector<std::byte> bytes;
  if (s == "-") return bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < s.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(digit(s[i]) * 16 + digit(s[i + 1])));
  return bytes;
}

Type ReadType(std::ifstream& in) {
  std::string dtype;
  std::size_t rank = 0;
  in >> dtype >> rank;
  tensor::Dims dims(rank);
  for (std::int64_t& d : dims) in >> d;
  return Type::Tensor(*tensor::DTypeFromName(dtype), dims);
}

npu::Code ReadCode(std::ifstream& in, npu::Program& p) {
  std::size_t count = 0;
  in >> count;
  const std::size_t begin = p.code.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t word = 0;
    in >> word;
    p.code.push_back(word);
  }
  return p.CodeSince(begin);
}

// One program; false at the end of the file.
bool ReadSample(std::ifstream& in, Sample* s) {
  std::string word;
  if (!(in >> word)) return false;
  EXPECT_EQ(word, "program");
  npu::Program& p = s->program;
  in >> s->name >> p.accumulator_fp16_bits >> p.buffers.l1_bytes >> p.buffers.l0a_bytes >>
      p.buffers.l0b_bytes >> p.buffers.l0c_bytes >> p.buffers.ub_bytes >> p.workspace_bytes;
  while (in >> word && word != "end") {
    std::string hex;
    if (word == "input") {
      p.inputs.push_back(ReadType(in));
      in >> hex;
      s->inputs.push_back(FromHex(hex));
    } else if (word == "output") {
      p.outputs.push_back(ReadType(in));
      in >> hex;
      s->outputs.push_back({p.outputs.back(), FromHex(hex)});
    } else if (word == "weight") {
      in >> hex;
      s->weights.push_back(FromHex(hex));
      p.weight_bytes.push_back(s->weights.back().size());
    } else if (word == "task") {
      p.tasks.push_back({.name = Cat("task ", p.tasks.size()), .groups = {}});
    } else if (word == "group") {
      npu::Group g;
      in >> g.tiles0 >> g.tiles1;
      g.prologue = ReadCode(in, p);
      g.body = ReadCode(in, p);
      p.tasks.back().groups.push_back(g);
    } else {
      ADD_FAILURE() << "unexpected word " << word;
      return false;
    }
  }
  EXPECT_EQ(word, "end") << s->name;
  return word == "end";
}

// Element i as a number, for NaN; its bits, for all else.
bool SameElement(DType t, const std::byte* a, const std::byte* b, std::size_t size) {
  if (std::memcmp(a, b, size) == 0) return true;
  if (t == DType::kF32) {
    float x = 0, y = 0;
    std::memcpy(&x, a, 4);
    std::memcpy(&y, b, 4);
    return std::isnan(x) && std::isnan(y);
  }
  if (t == DType::kF16) {
    std::uint16_t x = 0, y = 0;
    std::memcpy(&x, a, 2);
    std::memcpy(&y, b, 2);
    return std::isnan(tensor::HalfToFloat(x)) && std::isnan(tensor::HalfToFloat(y));
  }
  return false;
}

void RunSample(const Sample& s, const target::Profile& base) {
  target::Profile profile = base;
  for (const auto& [key, value] :
       {std::pair{"npu.sram_bytes", s.program.buffers.l1_bytes},
        {"npu.l0a_bytes", s.program.buffers.l0a_bytes},
        {"npu.l0b_bytes", s.program.buffers.l0b_bytes},
        {"npu.l0c_bytes", s.program.buffers.l0c_bytes},
        {"npu.ub_bytes", s.program.buffers.ub_bytes},
        {"npu.cube.accumulator_fp16_bits", s.program.accumulator_fp16_bits}}) {
    const Status set = profile.Set(key, Cat(value));
    ASSERT_TRUE(set.ok()) << set.message();
  }
  hal::OpenOptions options;
  options.profile = profile;
  options.virtual_clock = true;
  options.pool = std::make_shared<ThreadPool>(2);
  const auto device = devices::npu_sim::Driver().open(options);
  ASSERT_TRUE(device.ok()) << device.status().message();

  const auto buffer_of = [&](const std::vector<std::byte>& bytes) {
    auto b = (*device)->Allocate({.size_bytes = std::max<std::uint64_t>(bytes.size(), 1)});
    EXPECT_TRUE(b.ok());
    if (!bytes.empty()) std::memcpy((*b)->host(), bytes.data(), bytes.size());
    return *b;
  };
  std::vector<hal::BufferPtr> weights;
  std::vector<hal::WeightView> views;
  for (const auto& w : s.weights) {
    weights.push_back(buffer_of(w));
    views.push_back({views.size(), {weights.back()->host(), w.size()}});
  }
  const std::vector<std::byte> blob = npu::Pack(s.program);
  const auto executable = (*device)->Load(blob, views);
  ASSERT_TRUE(executable.ok()) << executable.status().message();

  hal::Work work;
  work.executable = *executable;
  for (std::size_t i = 0; i < s.inputs.size(); ++i)
    work.inputs.push_back({buffer_of(s.inputs[i]), 0, s.program.inputs[i]});
  for (const Expected& e : s.outputs) {
    const std::vector<std::byte> garbage(e.bytes.size(), std::byte{0x5A});
    work.outputs.push_back({buffer_of(garbage), 0, e.type});
  }
  if (s.program.workspace_bytes > 0) {
    const std::vector<std::byte> garbage(s.program.workspace_bytes, std::byte{0xFF});
    work.scratch = {
        buffer_of(garbage), 0,
        Type::Tensor(DType::kU8, tensor::Dims{static_cast<std::int64_t>(garbage.size())})};
  }
  const auto fence = (*device)->Submit(work);
  ASSERT_TRUE(fence.ok()) << fence.status().message();
  const Status done = (*fence)->Wait();
  ASSERT_TRUE(done.ok()) << done.message();

  for (std::size_t o = 0; o < s.outputs.size(); ++o) {
    const Expected& e = s.outputs[o];
    const std::size_t size = static_cast<std::size_t>(tensor::DTypeBits(e.type.dtype) / 8);
    const std::byte* found = work.outputs[o].buffer->host();
    for (std::size_t at = 0; at + size <= e.bytes.size(); at += size) {
      if (SameElement(e.type.dtype, e.bytes.data() + at, found + at, size)) continue;
      FAIL() << "output " << o << " (" << e.type.ToString() << ") element " << at / size
             << " differs\n"
             << npu::ToText(s.program);
    }
  }
}

TEST(NpuModel, MachineGivesTheBitsOfTheNumpyModel) {
  std::ifstream in(NPUKIT_PROGRAMS_FILE);
  ASSERT_TRUE(in.good()) << NPUKIT_PROGRAMS_FILE << " is missing: make_programs.py writes it";
  const auto profile =
      profile_io::LoadProfile(RealEnv(), "kirin9030", {NPUKIT_SOURCE_DIR "/profiles"});
  ASSERT_TRUE(profile.ok()) << profile.status().message();
  int ran = 0;
  for (Sample s; ReadSample(in, &s); s = Sample()) {
    SCOPED_TRACE(s.name);
    RunSample(s, *profile);
    if (::testing::Test::HasFailure()) return;
    ++ran;
  }
  EXPECT_GE(ran, 400);
}

}  // namespace
}  // namespace npukit
