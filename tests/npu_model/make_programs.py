"""Writes random programs of the simulated NPU with the outputs that tools/npu_model computes for them.

    make_programs.py --seed 1 --count 400 --out FILE

FILE holds tokens separated by white space:

    program <name> <accumulator_bits> <l1> <l0a> <l0b> <l0c> <ub> <workspace_bytes>
    input <dtype> <rank> <dims...> <hex bytes>
    output <dtype> <rank> <dims...> <hex expected bytes>
    weight <hex bytes>
    task
    group <tiles0> <tiles1> <n_prologue_words> <words...> <n_body_words> <words...>
    end

Inputs, outputs and weights come in the order of their indices, groups after their task. No bytes: `-`.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import cube_cases  # noqa: E402
import vector_cases  # noqa: E402
from builder import L0A, L0B, L0C, L1, UB, ProgramBuilder, between, flip  # noqa: E402

from npu_model import machine  # noqa: E402

NAMES = {0: "fp16", 1: "fp32", 2: "int32", 3: "int8"}


def make(rng, name, cases):
    """One program with the given cases, spread over groups and tasks."""
    p = ProgramBuilder(rng, name, int(rng.choice([16, 32])))
    while cases:
        if not p.tasks or flip(rng):
            p.tasks.append([])
        tiles = (between(rng, 1, 3), between(rng, 1, 3)) if flip(rng) else (1, 1)
        group = p.group(*tiles)
        p.tasks[-1].append(group)
        n = between(rng, 1, len(cases))
        group.setup = flip(rng, 0.25)
        for function, arguments in cases[:n]:
            function(group, *arguments)
            group.setup = False
        cases = cases[n:]
        group.finish()
    return p


def hexed(data):
    return data.hex() or "-"


def write(out, p, program, outputs):
    sizes = " ".join(str(program.sizes[mem]) for mem in (L1, L0A, L0B, L0C, UB))
    out.write(f"program {p.name} {p.bits} {sizes} {program.workspace_bytes}\n")
    for kind, dims, data in p.inputs:
        out.write(f"input {NAMES[kind]} {len(dims)} {' '.join(map(str, dims))} {hexed(data)}\n")
    for (kind, dims, _), data in zip(p.outputs, outputs):
        out.write(f"output {NAMES[kind]} {len(dims)} {' '.join(map(str, dims))} {hexed(data)}\n")
    for data in p.weights:
        out.write(f"weight {hexed(data)}\n")
    for task in program.tasks:
        out.write("task\n")
        for group in task:
            words = [f"{len(code)} {' '.join(map(str, code))}".strip() for code in (group.prologue, group.body)]
            out.write(f"group {group.tiles0} {group.tiles1} {words[0]} {words[1]}\n")
    out.write("end\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    cases = vector_cases.cases() + cube_cases.cases()
    order = np.random.default_rng([arguments.seed, 0])
    queue, done, used = [], 0, {}
    with open(arguments.out, "w", encoding="ascii") as out:
        for index in range(arguments.count):
            rng = np.random.default_rng([arguments.seed, 1, index])
            n = between(rng, 1, 4)
            while len(queue) < n:
                queue += [cases[at] for at in order.permutation(len(cases))]
            chosen, queue = queue[:n], queue[n:]
            done += n
            names = "_".join(function.__name__.replace("_case", "") for function, _ in chosen)
            p = make(rng, f"p{index}_{names}", chosen)
            program = p.program()
            try:
                outputs = machine.run(program)
            except ValueError as error:
                raise ValueError(f"{p.name} {chosen}: {error}") from error
            write(out, p, program, outputs)
            for name, times in p.used.items():
                used[name] = used.get(name, 0) + times
    print(f"{arguments.count} programs, {done} cases of {len(cases)} kinds; instructions:",
          ", ".join(f"{name} {used[name]}" for name in sorted(used)))


if __name__ == "__main__":
    main()
