#include "harness.h"

#include <cstring>

#include "base/text.h"

namespace npukit::conformance {

Result<hal::DevicePtr> Subject::Open(bool virtual_clock) const {
  hal::OpenOptions options;
  options.profile = profile;
  options.virtual_clock = virtual_clock;
  options.pool = std::make_shared<ThreadPool>(2);
  return driver->open(options);
}

#ifndef NPUKIT_PHONE_ONLY

Result<std::unique_ptr<Program>> LoadGraph(const Subject& subject, const ir::Graph& graph,
                                           bool virtual_clock) {
  auto program = std::make_unique<Program>();
  compile::LowerOptions options;
  options.precision = subject.lowering->precision();
  NPUKIT_ASSIGN_OR_RETURN(program->lowered,
                          subject.lowering->Lower(graph, subject.profile, options));
  for (const compile::LoweredWeight& w : program->lowered.weights) {
    const std::span<const std::byte> bytes = w.kept.bytes;
    NPUKIT_ASSIGN_OR_RETURN(
        auto value,
        tensor::Value::Allocate(tensor::DType::kU8, {static_cast<std::int64_t>(bytes.size())}));
    if (!bytes.empty()) std::memcpy(value.mutable_data(), bytes.data(), bytes.size());
    auto owner = std::make_shared<tensor::Value>(std::move(value));
    program->weights.push_back({.id = program->weights.size(), .bytes = owner->bytes()});
    program->aligned.push_back(std::move(owner));
  }
  for (const ir::ValueId id : graph.inputs) program->inputs.push_back(graph.value(id).type);
  for (const ir::ValueId id : graph.outputs) program->outputs.push_back(graph.value(id).type);
  NPUKIT_ASSIGN_OR_RETURN(program->device, subject.Open(virtual_clock));
  NPUKIT_ASSIGN_OR_RETURN(program->executable,
                          program->device->Load(program->lowered.blob, program->weights));
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<tensor::Type> outputs,
                          program->executable->Prepare(program->inputs));
  if (!(outputs == program->outputs)) {
    return Internal(
        Cat("Prepare gives ", outputs.empty() ? std::string("nothing") : outputs[0].ToString(),
            " where the graph has ",
            program->outputs.empty() ? std::string("nothing") : program->outputs[0].ToString()));
  }
  return program;
}

Status Run::Fill(const Program& program, const std::vector<tensor::Value>& inputs) {
  hal::Device& device = *program.device;
  work = {};
  work.executable = program.executable;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    NPUKIT_ASSIGN_OR_RETURN(hal::BufferPtr buffer,
                            device.Allocate({.size_bytes = inputs[i].byte_size()}));
    if (inputs[i].byte_size() > 0)
      std::memcpy(buffer->host(), inputs[i].data(), inputs[i].byte_size());
    work.inputs.push_back({std::move(buffer), 0, program.inputs[i]});
  }
  for (const tensor::Type& type : program.outputs) {
    NPUKIT_ASSIGN_OR_RETURN(hal::BufferPtr buffer, device.Allocate({.size_bytes = *type.bytes()}));
    if (*type.bytes() > 0)
      std::memset(buffer->host(), 0xCD, *type.bytes());  // what is not written shows
    work.outputs.push_back({std::move(buffer), 0, type});
  }
  const std::uint64_t scratch =
      std::max(program.lowered.scratch_bytes, program.executable->scratch_bytes());
  if (scratch > 0) {
    NPUKIT_ASSIGN_OR_RETURN(hal::BufferPtr buffer, device.Allocate({.size_bytes = scratch}));
    std::memset(buffer->host(), 0xCD, scratch);
    work.scratch = {
        std::move(buffer), 0,
        tensor::Type::Tensor(tensor::DType::kU8, tensor::Dims{static_cast<std::int64_t>(scratch)})};
  }
  return OkStatus();
}

Result<tensor::Value> Run::Output(std::size_t i) const {
  const hal::Binding& b = work.outputs[i];
  return tensor::Value::Borrow(b.type.dtype, b.type.dims(), b.buffer->host() + b.offset).Clone();
}

Status Execute(const Program& program, const hal::Work& work) {
  NPUKIT_ASSIGN_OR_RETURN(const hal::FencePtr fence, program.device->Submit(work));
  return fence->Wait();
}

#endif

}  // namespace npukit::conformance
