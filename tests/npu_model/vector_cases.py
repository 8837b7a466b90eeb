"""Random copies and vector instructions. Every case adds itself to the body of a group."""

from builder import INPUT, L1, OUTPUT, UB, WEIGHT, WORKSPACE, Region, between, counts, disjoint, flip, readable
from random_data import FP16, FP32, INT32, INT8, SIZE

import numpy as np

from npu_model.numbers import word_of_float

FLOATS = (FP16, FP32)
LIMIT = 240


def length(rng):
    return int(rng.choice([1, 2, 3, 8, 15, 16, 17, 33, 40]))


def copy_case(g, src, dst):
    rng = g.rng
    unit = int(rng.choice([1, 1, 2, 4, 32]))
    n = between(rng, 1, 40) * unit
    count = counts(rng, 3, 60)
    if dst in (OUTPUT, WORKSPACE):
        size = n * int(np.prod(count))
        region = g.source_region(INT8, size, mem=src)
        g.out(Region(src, region.addr, size, INT8), dst)
        return
    to, size = disjoint(rng, count, n, unit)
    region, addr = g.target(INT8, size, mem=dst)
    back, span = readable(rng, count, n, unit)
    if src in (L1, UB):
        source = g.chip(g.source_region(INT8, span, mem=src))
        if source[2] + span > region.addr and src == dst and source[2] < region.addr + region.size:
            return      # the target itself: nothing to copy
    else:
        step, total = g.steps(span) if flip(rng) and not g.setup else ([0, 0], span)
        source = g.program.source(INT8, rng.integers(0, 256, total).astype(np.uint8).tobytes(), src) + step
    g.emit("copy", [dst, 0, addr, 0, 0], source, count, to, back, n)


def fill_case(g, mem, kind):
    rng, unit = g.rng, SIZE[kind]
    n, count = length(rng), counts(rng, 2, 20)
    to, size = disjoint(rng, count, n * unit, unit)
    _, addr = g.target(kind, size, mem=mem)
    g.emit("fill", mem, addr, count, to, n, kind, between(rng, -2 ** 31, 2 ** 31 - 1))


UNARY_DATA = {4: ["exp", "exp", "wide"], 5: ["positive", "near1", "near1", "wide", "zeros"],
              6: ["positive", "wide"], 7: ["positive", "near1", "wide", "zeros"], 8: ["wide", "zeros", "unit"],
              11: ["signs", "unit", "zeros", "wide"], 12: ["signs", "unit", "zeros", "wide"]}


def unary_case(g, op, dst_type, src_type):
    rng = g.rng
    count, n = counts(rng, 4, LIMIT // 8), length(rng)
    what = None
    if op in UNARY_DATA:
        what = str(rng.choice(UNARY_DATA[op]))
    elif op == 0 and src_type in FLOATS and flip(rng):
        what = str(rng.choice(["ties", "near16"]))
    elif flip(rng) and dst_type == FP16 and src_type == FP32:
        what = "near16"
    scalar = float(rng.choice([0.0, -0.0, 1.0, -1.5, 0.1, 3e-8, 65504.0, 1e-40, 3e38, np.inf, -np.inf,
                               float(rng.standard_normal())]))
    if what == "signs":
        scalar = float(rng.choice([0.0, -0.0]))
    if op not in (11, 12) and flip(rng, 0.05):
        scalar = np.nan
    to, size = disjoint(rng, count, n * SIZE[dst_type], SIZE[dst_type])
    if SIZE[dst_type] == SIZE[src_type] and flip(rng, 0.15):
        region = Region(UB, g.alloc(UB, size, SIZE[dst_type]), size, src_type)
        g.load(region, what, prologue=False)
        dst_addr = src_addr = region.addr
        back = to
        if dst_type == src_type:
            g.results.append(region)
        else:
            # Gaps keep the source's type: show the elements alone.
            count, to, back = [1] * 4, [0] * 4, [0] * 4
            n = size // SIZE[dst_type]
            g.results.append(Region(UB, region.addr, n * SIZE[dst_type], dst_type))
    else:
        back, span = readable(rng, count, n * SIZE[src_type], SIZE[src_type])
        src_addr = g.source_region(src_type, span, what).addr
        region, dst_addr = g.target(dst_type, size)
        g.sources.append(region)
    g.emit("unary", op, dst_type, src_type, dst_addr, src_addr, count, to, back, n, word_of_float(scalar))


def binary_case(g, op, dst_type, src0_type, src1_type, scalar):
    rng = g.rng
    count, n = counts(rng, 4, LIMIT // 8), length(rng)
    what = "near16" if dst_type == FP16 and flip(rng, 0.3) else None
    if op in (4, 5) and flip(rng, 0.3):
        what = "signs"
    to, size = disjoint(rng, count, n * SIZE[dst_type], SIZE[dst_type])
    in_place = flip(rng, 0.2)
    dst_addr = None
    operands = []
    for at, kind in enumerate((src0_type, src1_type)):
        inner = SIZE[kind] * (1 if at and scalar else n)
        if in_place and kind == dst_type and not (at and scalar) and (at == 0 or dst_addr is None or flip(rng)):
            if dst_addr is None:
                region = Region(UB, g.alloc(UB, size, SIZE[kind]), size, kind)
                g.load(region, what, prologue=False)
                g.results.append(region)
                dst_addr = region.addr
            operands.append((dst_addr, to))
        else:
            strides, span = readable(rng, count, inner, SIZE[kind])
            operands.append((g.source_region(kind, span, what).addr, strides))
    if dst_addr is None:
        region, dst_addr = g.target(dst_type, size)
        g.sources.append(region)
    (addr0, stride0), (addr1, stride1) = operands
    g.emit("binary", op, dst_type, src0_type, src1_type, dst_addr, addr0, addr1, count, to, stride0, stride1, n, scalar)


def window_case(g, op, dst_type, bias):
    rng = g.rng
    count = [between(rng, 1, 3), between(rng, 1, 4), between(rng, 1, 4)]
    kernel_h, kernel_w = between(rng, 1, 3), between(rng, 1, 4)
    what = str(rng.choice(["unit", "ints", "wide", "zeros"])) if flip(rng, 0.8) else None
    if op == 1 and flip(rng, 0.3):
        what = "signs"
    if flip(rng, 0.7):      # a map of rows and columns of blocks
        stride, dilation = between(rng, 1, 2), between(rng, 1, 2)
        width = (count[2] - 1) * stride + (kernel_w - 1) * dilation + 1
        height = (count[1] - 1) * stride + (kernel_h - 1) * dilation + 1
        src = [height * width * 32, stride * width * 32, stride * 32]
        tap = [dilation * width * 32, dilation * 32]
    else:
        src, _ = readable(rng, count, 32, 2)
        tap = [between(rng, 0, 60) * 2, between(rng, 0, 60) * 2]
    span = sum(s * (c - 1) for s, c in zip(src, count)) + tap[0] * (kernel_h - 1) + tap[1] * (kernel_w - 1) + 32
    src_addr = g.source_region(FP16, span, what).addr
    weight_addr = weight_stride = 0
    bias_addr = -1
    if op == 0:
        weight_stride = int(rng.choice([0, 2, kernel_h * kernel_w * 32, kernel_h * kernel_w * 32 + 6]))
        weight_addr = g.source_region(FP16, weight_stride * (count[0] - 1) + kernel_h * kernel_w * 32, what).addr
        if bias:
            bias_addr = g.source_region(FP32, count[0] * 64, "unit" if flip(rng) else None).addr
    to, size = disjoint(rng, count, 16 * SIZE[dst_type], SIZE[dst_type])
    region, dst_addr = g.target(dst_type, size)
    g.sources.append(region)
    g.emit("window", op, dst_type, dst_addr, src_addr, weight_addr, weight_stride, bias_addr, kernel_h, kernel_w,
           tap, count, to, src)


def reduce_case(g, op, dst_type, src_type):
    rng = g.rng
    rows = between(rng, 1, 20) if op < 2 else 1
    n = length(rng) if op < 2 else between(rng, 1, 80)
    count = counts(rng, 3, 8)
    what = str(rng.choice(["unit", "ints", "wide", "zeros", "near16"])) if flip(rng, 0.8) else None
    if op in (1, 3) and flip(rng, 0.4):
        what = "signs"
    strides, _ = readable(rng, count + [rows], n * SIZE[src_type], SIZE[src_type])
    span = sum(s * (c - 1) for s, c in zip(strides, count + [rows])) + n * SIZE[src_type]
    src_addr = g.source_region(src_type, span, what).addr
    to, size = disjoint(rng, count, SIZE[dst_type] * (n if op < 2 else 1), SIZE[dst_type])
    region, dst_addr = g.target(dst_type, size)
    g.sources.append(region)
    g.emit("reduce", op, dst_type, src_type, dst_addr, src_addr, count, to, strides[:3], rows,
           strides[3] if op < 2 else 0, n)


def move_case(g, dst_type, src_type):
    rng = g.rng
    count = counts(rng, 5, LIMIT)
    to, size = disjoint(rng, count, SIZE[dst_type], SIZE[dst_type])
    back, span = readable(rng, count, SIZE[src_type], SIZE[src_type])
    src_addr = g.source_region(src_type, span).addr
    region, dst_addr = g.target(dst_type, size)
    g.sources.append(region)
    g.emit("move", dst_type, src_type, dst_addr, src_addr, count, to, back)


def cases():
    """(function, arguments) of every op, type and option."""
    every = (FP16, FP32, INT32, INT8)
    out = [(unary_case, (0, d, s)) for d in every for s in every]
    out += [(unary_case, (op, d, s)) for op in range(1, 13) for d in FLOATS for s in FLOATS]
    out += [(unary_case, (op, FP32, FP32)) for op in (4, 4, 5, 5, 7, 11, 12)]
    out += [(binary_case, (op, d, a, b, scalar)) for op in range(6) for d in FLOATS for a in FLOATS for b in FLOATS
            for scalar in (0, 1)]
    out += [(window_case, (op, d, bias)) for op in range(3) for d in FLOATS for bias in (0, 1)] * 2
    out += [(reduce_case, (op, d, s)) for op in range(4) for d in FLOATS for s in FLOATS] * 2
    out += [(move_case, types) for types in [(k, k) for k in every] + [(FP16, FP32), (FP32, FP16)]] * 2
    out += [(fill_case, (mem, kind)) for mem in (L1, UB) for kind in every]
    out += [(copy_case, (s, d)) for s in (INPUT, WEIGHT, WORKSPACE, L1, UB) for d in (L1, UB)] * 2
    out += [(copy_case, (s, d)) for s in (L1, UB) for d in (OUTPUT, WORKSPACE)]
    return out
