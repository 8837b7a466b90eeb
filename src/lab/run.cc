#include "lab/describe.h"
#include "lab/prepared.h"
#include "lab/verbs.h"

namespace npukit::lab {

Result<report::Run> RunModel(const Kit& kit, const ModelOptions& options, const RunOptions& run) {
  NPUKIT_ASSIGN_OR_RETURN(const Prepared p, Prepare(kit, options, run));
  NPUKIT_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Request> request, p.NewRequest());
  if (kit.progress) kit.progress("running", 0, 0);
  NPUKIT_RETURN_IF_ERROR(request->Run());
  const runtime::Account& account = request->account();
  const format::Head& head = p.session->head();
  report::Run r;
  r.model = options.path;
  r.target = TargetOf(p.model.profile);
  r.inputs = p.InputRecords();
  NPUKIT_ASSIGN_OR_RETURN(r.outputs, TakeOutputs(kit, p, *request, run.output_folder));
  r.program = ProgramKey(head, head.programs[account.program]);
  r.device = p.session->device_description();
  r.precision = account.precision;
  r.seed = run.inputs.seed;
  r.kind = account.kind;
  r.latency_ms = account.latency_ns / 1e6;
  r.wall_ms = report::Measured(account.wall_ns / 1e6, "ms");
  if (account.energy_pj) r.energy_mj = {*account.energy_pj / 1e9, "mJ", target::Kind::kModelled};
  r.compile_ms = p.compile_ms;
  r.load_ms = p.load_ms;
  r.copies = account.copies;
  r.bytes_copied = account.bytes_copied;
  r.plan_cache = PlanCacheOf(account);
  r.compute_units = account.compute_units;
  if (options.strict_npu) r.off_npu = OffNpu(head.programs[account.program], options.allow);
  return r;
}

}  // namespace npukit::lab
