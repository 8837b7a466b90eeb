"""Programs under construction: words, buffers, boundary tensors."""

from random_data import DTYPE, FP16, FP32, INT32, INT8, SIZE, elements  # noqa: F401

from npu_model import instructions as ins
from npu_model.instructions import INPUT, L0A, L0B, L0C, L1, OUTPUT, UB, WEIGHT, WORKSPACE  # noqa: F401
from npu_model.machine import Group, Program

OPCODE = {function.__name__: (opcode, words) for opcode, (function, words) in ins.TABLE.items()}


def flip(rng, p=0.5):
    return bool(rng.random() < p)


def between(rng, low, high):
    """An integer from low to high, both possible."""
    return int(rng.integers(low, high + 1))


def counts(rng, n, limit):
    """n loop counts whose product is at most limit."""
    out = [1] * n
    for at in rng.permutation(n):
        if flip(rng, 0.7):
            out[at] = between(rng, 1, max(1, min(limit, 7)))
            limit //= out[at]
    return out


def disjoint(rng, count, inner, unit, gaps=True):
    """Strides of a loop nest over pieces of `inner` bytes that do not overlap; bytes it spans."""
    strides, extent = [0] * len(count), inner
    for at in rng.permutation(len(count)):
        gap = int(rng.choice([0, 0, 0, 1, 3])) * unit if gaps else 0
        strides[at] = extent + gap
        extent += strides[at] * (count[at] - 1)
    return strides, extent


def readable(rng, count, inner, unit):
    """Strides of a loop nest that only reads: pieces may repeat or overlap."""
    strides, extent = disjoint(rng, count, inner, unit)
    for at in range(len(count)):
        if flip(rng, 0.2):
            strides[at] = int(rng.choice([0, 1, 2, 5])) * unit
    return strides, inner + sum(s * (c - 1) for s, c in zip(strides, count))


def dense(rng, n, unit):
    """Splits n bytes (a multiple of unit) into count[3] x bytes."""
    pieces, split = n // unit, []
    for _ in range(3):
        divisors = [d for d in range(1, min(pieces, 12) + 1) if pieces % d == 0]
        split.append(int(rng.choice(divisors)) if flip(rng, 0.6) else 1)
        pieces //= split[-1]
    return split, pieces * unit


class Region:
    """Elements of one type on chip."""

    def __init__(self, mem, addr, size, kind):
        self.mem, self.addr, self.size, self.kind = mem, addr, size, kind
        self.in_prologue = False        # a prologue wrote it


class GroupBuilder:
    def __init__(self, program, tiles0, tiles1):
        self.program, self.rng = program, program.rng
        self.tiles0, self.tiles1 = tiles0, tiles1
        self.prologue, self.body = [], []
        self.top = {L1: 0, UB: 0, L0A: 0, L0B: 0, L0C: 0}
        self.results = []       # regions to be seen
        self.sources = []       # regions later instructions may read
        self.in_prologue = False
        self.setup = False      # everything goes to the prologue

    def emit(self, name, *operands):
        opcode, n = OPCODE[name]
        flat = []
        for operand in operands:
            flat += [int(x) for x in operand] if isinstance(operand, (list, tuple)) else [int(operand)]
        assert len(flat) == n, name
        assert all(-2 ** 31 <= x < 2 ** 31 for x in flat), name
        (self.prologue if self.in_prologue or self.setup else self.body).extend([opcode | n << 8] + flat)
        self.program.used[name] = self.program.used.get(name, 0) + 1

    def alloc(self, mem, size, unit):
        addr = (self.top[mem] + unit - 1) // unit * unit + int(self.rng.choice([0, 0, 1, 3])) * unit
        self.top[mem] = addr + size
        return addr

    def chip(self, region, offset=0):
        return [region.mem, 0, region.addr + offset, 0, 0]

    def steps(self, size):
        """Steps for tiles of `size` bytes next to one another, and the bytes of all tiles."""
        if flip(self.rng):
            return [self.tiles1 * size, size], size * self.tiles0 * self.tiles1
        return [size, self.tiles0 * size], size * self.tiles0 * self.tiles1

    def load(self, region, what=None, prologue=None, space=None):
        """Fills a region with random elements from DRAM."""
        rng, unit = self.rng, SIZE[region.kind]
        if prologue is None:
            prologue = flip(rng, 0.3)
        region.in_prologue = prologue = prologue or self.setup
        split, n = dense(rng, region.size, unit)
        to, _ = disjoint(rng, split, n, unit, gaps=False)
        back, span = readable(rng, split, n, unit)
        step, total = [0, 0], span
        if not prologue and flip(rng, 0.6):
            step, total = self.steps(span)
        source = self.program.source(region.kind, elements(rng, region.kind, total // unit, what), space)
        self.in_prologue = prologue
        self.emit("copy", self.chip(region), source + step, split, to, back, n)
        self.in_prologue = False

    def source_region(self, kind, size, what=None, mem=UB, unit=None, **kwargs):
        """A region of at least `size` bytes with content to read: an earlier one or a new one."""
        unit = unit or SIZE[kind]
        size = (size + SIZE[kind] - 1) // SIZE[kind] * SIZE[kind]
        if what is None and not kwargs and flip(self.rng, 0.3):
            for region in self.sources:
                fits = region.kind == kind and region.mem == mem and region.size >= size and region.addr % unit == 0
                if fits and (region.in_prologue or not self.setup):
                    return region
        region = Region(mem, self.alloc(mem, size, unit), size, kind)
        self.load(region, what, **kwargs)
        self.sources.append(region)
        return region

    def target(self, kind, size, mem=UB, unit=None):
        """A region for results, with known content so that gaps are seen too; and an address in it."""
        rng, element = self.rng, SIZE[kind]
        unit = unit or element
        lead = int(rng.choice([0, 0, 1, 2])) * unit
        size += lead + int(rng.choice([0, 0, 1])) * element
        region = Region(mem, self.alloc(mem, size, unit), size, kind)
        if flip(rng, 0.6):
            self.load(region, prologue=False)
        else:
            split, n = dense(rng, size, element)
            to, _ = disjoint(rng, split[:2], n * split[2], element, gaps=False)
            value = between(rng, -2 ** 31, 2 ** 31 - 1)
            self.emit("fill", mem, region.addr, split[:2], to, n * split[2] // element, kind, value)
        region.in_prologue = self.setup
        self.results.append(region)
        return region, region.addr + lead

    def out(self, region, space=OUTPUT):
        """Copies a region of every tile to an output, or to workspace and from there to an output."""
        rng, unit = self.rng, SIZE[region.kind]
        setup, self.setup = self.setup, False
        split, n = dense(rng, region.size, unit)
        back, _ = disjoint(rng, split, n, unit, gaps=False)
        tiles = self.tiles0 * self.tiles1
        if flip(rng, 0.3):      # pieces of the tiles between one another
            order = sorted(range(3), key=lambda at: -back[at])
            to = list(back)
            extent = n * tiles
            for at in reversed(order):
                to[at] = extent
                extent *= split[at]
            step = [self.tiles1 * n, n]
        else:
            to, _ = disjoint(rng, split, n, unit, gaps=False)
            step, _ = self.steps(region.size)
        total = region.size * tiles
        if space == OUTPUT:
            dst = self.program.output(region.kind, total, (self.tiles0, self.tiles1))
        else:
            dst = self.program.scratch(total)
        self.emit("copy", dst + step, self.chip(region), split, to, back, n)
        if space == WORKSPACE:
            self.program.show(dst, region.kind, total)
        self.setup = setup

    def finish(self):
        for at in self.rng.permutation(len(self.results)):
            self.out(self.results[at], WORKSPACE if flip(self.rng, 0.12) else OUTPUT)
        self.results = []


class ProgramBuilder:
    def __init__(self, rng, name, bits):
        self.rng, self.name, self.bits = rng, name, bits
        self.inputs, self.outputs, self.weights = [], [], []
        self.workspace = 0
        self.early, self.late = [], []      # groups before and after all others
        self.groups = []
        self.tasks = []
        self.used = {}

    def group(self, tiles0=1, tiles1=1):
        group = GroupBuilder(self, tiles0, tiles1)
        self.groups.append(group)
        return group

    def dims(self, n, tiles):
        if tiles[0] * tiles[1] > 1 and n % (tiles[0] * tiles[1]) == 0 and flip(self.rng):
            return [tiles[0], tiles[1], n // (tiles[0] * tiles[1])]
        for d in (7, 5, 3, 2):
            if n % d == 0 and flip(self.rng):
                return [1, d, n // d][between(self.rng, 0, 1):]
        return [n]

    def input(self, kind, data):
        self.inputs.append((kind, self.dims(len(data) // SIZE[kind], (1, 1)), data))
        return [INPUT, len(self.inputs) - 1, 0]

    def output(self, kind, size, tiles):
        self.outputs.append((kind, self.dims(size // SIZE[kind], tiles), size))
        return [OUTPUT, len(self.outputs) - 1, 0]

    def scratch(self, size):
        addr = self.workspace + int(self.rng.choice([0, 0, 4, 64]))
        self.workspace = addr + size
        return [WORKSPACE, 0, addr]

    def source(self, kind, data, space=None):
        """A DRAM place with the given content."""
        if space is None:
            space = int(self.rng.choice([INPUT, WEIGHT, WORKSPACE], p=[0.6, 0.3, 0.1]))
        if space == INPUT:
            return self.input(kind, data)
        if space == WEIGHT:
            lead = int(self.rng.choice([0, 0, 4, 20]))
            self.weights.append(bytes(lead) + data)
            return [WEIGHT, len(self.weights) - 1, lead]
        place = self.scratch(len(data))
        group = self.group()
        self.early.append(group)
        mem = int(self.rng.choice([L1, UB]))
        region = Region(mem, group.alloc(mem, len(data), 4), len(data), kind)
        group.emit("copy", group.chip(region), self.input(kind, data) + [0, 0], [1] * 3, [0] * 3, [0] * 3, len(data))
        group.emit("copy", place + [0, 0], group.chip(region), [1] * 3, [0] * 3, [0] * 3, len(data))
        return place

    def show(self, place, kind, size):
        """In the last task: copies bytes of the workspace to an output."""
        group = self.group()
        self.late.append(group)
        mem = int(self.rng.choice([L1, UB]))
        region = Region(mem, group.alloc(mem, size, 4), size, kind)
        group.emit("copy", group.chip(region), place + [0, 0], [1] * 3, [0] * 3, [0] * 3, size)
        dst = self.output(kind, size, (1, 1))
        group.emit("copy", dst + [0, 0], group.chip(region), [1] * 3, [0] * 3, [0] * 3, size)

    def program(self):
        sizes = {}
        tight = flip(self.rng)
        for mem in (L1, L0A, L0B, L0C, UB):
            top = max(max(g.top[mem] for g in self.groups), 1)
            sizes[mem] = (top + 511) // 512 * 512
            if not tight:
                sizes[mem] = max(sizes[mem], 262144 if mem in (L1, UB) else 65536)
        tasks = [self.early] * bool(self.early) + self.tasks + [self.late] * bool(self.late)
        groups = [[Group(g.tiles0, g.tiles1, g.prologue, g.body) for g in task] for task in tasks]
        return Program(self.bits, sizes, self.workspace, [data for _, _, data in self.inputs],
                       [size for _, _, size in self.outputs], self.weights, groups)
