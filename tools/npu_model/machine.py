"""Memories, tasks, groups and tiles of the simulated NPU: section 2 of docs/npu_semantics.md.

What the page leaves undefined raises ValueError here."""

from dataclasses import dataclass, field

import numpy as np

from . import instructions as ins
from . import numbers as num
from .instructions import INPUT, L0A, L0B, L0C, L1, OUTPUT, UB, WEIGHT, WORKSPACE, require

NOBODY, PROLOGUE, BODY = 0, 1, 2


@dataclass
class Group:
    tiles0: int
    tiles1: int
    prologue: list
    body: list


@dataclass
class Program:
    accumulator_bits: int
    sizes: dict                                     # bytes of L1, L0A, L0B, L0C, UB by memory number
    workspace_bytes: int = 0
    inputs: list = field(default_factory=list)      # bytes
    outputs: list = field(default_factory=list)     # sizes in bytes
    weights: list = field(default_factory=list)     # bytes
    tasks: list = field(default_factory=list)       # lists of Group


class Memory:
    """Bytes, and who wrote each of them."""

    def __init__(self, size, content=None):
        self.data = np.full(size, 0xA5, dtype=np.uint8)
        self.state = np.zeros(size, dtype=np.uint8)
        self.on_chip = False
        if content is not None:
            self.data[:] = np.frombuffer(content, dtype=np.uint8)
            self.state[:] = BODY
        self.begin()

    def begin(self):
        """Forgets accesses: at the start of a task (DRAM) or group (on chip)."""
        self.writer = np.full(len(self.data), -1, dtype=np.int32)
        self.seen = np.zeros(len(self.data), dtype=bool)

    def clear(self):
        self.data[:] = 0xA5
        self.state[:] = NOBODY


class Core:
    """One core while it runs one tile."""

    def __init__(self, machine):
        self.machine = machine
        self.accumulator_type = num.FP16 if machine.program.accumulator_bits == 16 else num.FP32
        self.phase = BODY
        self.tile = (0, 0)
        self.tile_id = 0

    def memory(self, mem):
        return self.machine.chip[mem]

    def place(self, words):
        """Memory and address of a place in this tile."""
        mem, index, addr, step0, step1 = words
        if mem >= L1:
            require(index == 0 and step0 == 0 and step1 == 0, "index or step on chip")
            return self.memory(mem), addr
        require(addr >= 0 and step0 >= 0 and step1 >= 0, "negative address or step")
        if self.phase == PROLOGUE:
            require(step0 == 0 and step1 == 0, "step in a prologue")
        spaces = {INPUT: self.machine.inputs, OUTPUT: self.machine.outputs, WEIGHT: self.machine.weights,
                  WORKSPACE: [self.machine.workspace]}
        return spaces[mem][index], addr + self.tile[0] * step0 + self.tile[1] * step1

    def read(self, memory, at):
        require(at.min() >= 0 and at.max() < len(memory.data), "read outside a buffer")
        state = memory.state[at]
        require(state.all(), "read of a byte nobody wrote")
        if not memory.on_chip:
            memory.seen[at] = True
        elif self.phase == BODY:
            memory.seen[at[state == PROLOGUE]] = True
        return memory.data[at]

    def write(self, memory, at, raw):
        require(at.min() >= 0 and at.max() < len(memory.data), "write outside a buffer")
        touched = np.zeros(len(memory.data), dtype=bool)
        touched[at] = True
        require(np.count_nonzero(touched) == at.size, "elements of a destination overlap")
        if not memory.on_chip:
            require(self.phase == BODY, "a prologue writes DRAM")
            before = memory.writer[at]
            require(((before == -1) | (before == self.tile_id)).all(), "tiles write the same bytes")
        if self.phase == BODY:
            memory.writer[at] = self.tile_id
        memory.data[at] = raw
        memory.state[at] = self.phase

    def load(self, mem, at, kind):
        """Elements of a type at byte addresses."""
        size = num.SIZE[kind]
        require((at % size == 0).all(), "element not aligned")
        raw = self.read(self.memory(mem), at[..., None] + np.arange(size))
        return np.ascontiguousarray(raw).view(num.DTYPE[kind])[..., 0]

    def load_float(self, at, kind):
        """fp16 or fp32 elements of UB as fp32."""
        require(kind in num.FLOATS, "type is not a float")
        return num.widen(self.load(UB, at, kind))

    def save(self, mem, at, kind, values):
        size = num.SIZE[kind]
        require((at % size == 0).all(), "element not aligned")
        values = np.ascontiguousarray(values)
        require(values.dtype == num.DTYPE[kind] and values.shape == at.shape, "internal: result of another type")
        raw = values[..., None].view(np.uint8)
        self.write(self.memory(mem), at[..., None] + np.arange(size), raw)

    def check_overlap(self, dst, dst_size, src, src_size):
        """Source and destination are the very same elements or lie apart."""
        if dst_size == src_size and np.array_equal(dst, src):
            return
        if dst.max() + dst_size <= src.min() or src.max() + src_size <= dst.min():
            return
        end = max(int(dst.max()) + dst_size, int(src.max()) + src_size)
        touched = np.zeros(end, dtype=bool)
        touched[dst[..., None] + np.arange(dst_size)] = True
        require(not touched[src[..., None] + np.arange(src_size)].any(), "source and destination overlap in part")


class Machine:
    def __init__(self, program):
        self.program = program
        self.inputs = [Memory(len(b), b) for b in program.inputs]
        self.weights = [Memory(len(b), b) for b in program.weights]
        self.outputs = [Memory(n) for n in program.outputs]
        self.workspace = Memory(program.workspace_bytes)
        self.chip = {mem: Memory(program.sizes[mem]) for mem in (L1, UB, L0A, L0B, L0C)}
        for memory in self.chip.values():
            memory.on_chip = True

    def run_group(self, core, group):
        for memory in self.chip.values():
            memory.begin()
        for t0 in range(group.tiles0):
            for t1 in range(group.tiles1):
                for memory in self.chip.values():
                    memory.clear()
                core.tile = (t0, t1)
                core.phase = PROLOGUE
                ins.run_code(core, group.prologue)
                core.phase = BODY
                ins.run_code(core, group.body)
                core.tile_id += 1
        for memory in self.chip.values():
            mixed = memory.seen & (memory.writer >= 0)
            require(not mixed.any(), "a body overwrites what a tile reads from the prologue")

    def run(self):
        core = Core(self)
        for task in self.program.tasks:
            for memory in self.outputs + [self.workspace]:
                memory.begin()
            core.tile_id = 0
            for group in task:
                self.run_group(core, group)
            ws = self.workspace
            require(not (ws.seen & (ws.writer >= 0)).any(), "a tile reads DRAM that its task writes")


@num.quiet
def run(program):
    """Runs a program; gives the bytes of every output. All of them must have been written."""
    machine = Machine(program)
    machine.run()
    for memory in machine.outputs:
        require(memory.state.all(), "a byte of an output is not written")
    return [memory.data.tobytes() for memory in machine.outputs]
