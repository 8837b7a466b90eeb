// A profile as a whole: facts that are each in range may still contradict one another, or leave out
// what nothing can be computed without. Pure; messages are one line and name the facts, what they
// say and what to do. kInvalidArgument.
#pragma once

#include "base/status.h"
#include "target/profile.h"

namespace npukit::target {

// No fact contradicts another or the nature of its kind: whole numbers where things are counted,
// bursts that are a power of two, accumulators of 16 or 32 bits, buffers that hold at least one
// block of the cube, facts of an NPU only where npu.model says that there is one. Facts that are
// not there contradict nothing.
Status CheckConsistent(const Profile& profile);

// Every fact the models of the devices need is there: those of the CPU always, those of the NPU
// where there is one.
Status CheckComplete(const Profile& profile);

}  // namespace npukit::target
