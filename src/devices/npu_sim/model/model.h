// What a program costs on a profile, no values touched: the facade of this folder. Pure functions;
// the same program and profile give the same figures on every machine. The formulas are in
// ../README.md.
#pragma once

#include "base/status.h"
#include "devices/npu_sim/blob/blob.h"
#include "devices/npu_sim/model/price.h"
#include "target/account.h"
#include "target/estimate.h"
#include "target/profile.h"

namespace npukit::npu {

// One task: dispatch included, the call's fixed cost not. As if what `relief` names cost nothing.
target::Estimate EstimateTask(const Program& program, const Task& task, const Rates& rates,
                              target::Relief relief = {});
// Cycles from the start of a task to the end of its last instruction: what tilings are judged by.
double TaskCycles(const Program& program, const Task& task, const Rates& rates);
// Does the task only change layout or type?
bool OnlyLayout(const Program& program, const Task& task, const Rates& rates);
// What TaskCycles is never below: the longest queue, or all DRAM transfers. Cheap.
double LeastCycles(const Program& program, const Task& task, const Rates& rates);

// Handing one tensor from the CPU or to it: flush, and the way through memory. The task that
// converts it is not in it.
target::Estimate EstimateHandOver(const tensor::Type& type, const target::Profile& profile);
// One run of a checked program: the call's fixed cost, every task, and handing over every input and
// output.
Result<target::Estimate> EstimateProgram(const Program& program, const target::Profile& profile);
// The same, task by task; spans only when asked for.
Result<target::Account> AccountProgram(const Program& program, const target::Profile& profile,
                                       target::Relief relief, bool spans);

}  // namespace npukit::npu
