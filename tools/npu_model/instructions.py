"""The instructions of the simulated NPU: sections 3 to 5 of docs/npu_semantics.md.

Every function takes a core (machine.Core) and a reader of its operand words."""

import numpy as np

from . import numbers as num
from .numbers import FP16, FP32, INT32, INT8, SIZE, f32

INPUT, OUTPUT, WEIGHT, WORKSPACE, L1, UB, L0A, L0B, L0C = range(9)


def require(condition, message):
    if not condition:
        raise ValueError(message)


class Words:
    """Operand words in order."""

    def __init__(self, words):
        self.words = words
        self.at = 0

    def one(self):
        self.at += 1
        return self.words[self.at - 1]

    def many(self, n):
        return [self.one() for _ in range(n)]


def grid(addr, counts, strides, length=None, size=1):
    """Byte addresses of the elements of a loop nest, the first index outermost."""
    require(all(c >= 1 for c in counts), "counts are at least 1")
    require(addr >= 0 and all(s >= 0 for s in strides), "negative address or stride")
    out = np.array(addr, dtype=np.int64)
    for count, stride in zip(counts, strides):
        out = out[..., None] + np.arange(count, dtype=np.int64) * stride
    if length is not None:
        require(length >= 1, "len is at least 1")
        out = out[..., None] + np.arange(length, dtype=np.int64) * size
    return out


def aligned(unit, *values):
    require(all(v % unit == 0 for v in values), f"not aligned to {unit}")


def copy(core, w):
    dst, src = w.many(5), w.many(5)
    count, dst_stride, src_stride = w.many(3), w.many(3), w.many(3)
    n = w.one()
    require(src[0] in (INPUT, WEIGHT, WORKSPACE, L1, UB), "source of copy")
    require(dst[0] in (OUTPUT, WORKSPACE, L1, UB), "destination of copy")
    require(src[0] >= L1 or dst[0] >= L1, "copy from DRAM to DRAM")
    (dst_memory, dst_addr), (src_memory, src_addr) = core.place(dst), core.place(src)
    to = grid(dst_addr, count, dst_stride, n)
    back = grid(src_addr, count, src_stride, n)
    if dst_memory is src_memory:
        core.check_overlap(to, 1, back, 1)
    core.write(dst_memory, to[..., None], core.read(src_memory, back[..., None]))


def fill(core, w):
    mem, addr = w.one(), w.one()
    count, stride = w.many(2), w.many(2)
    length, kind, value = w.one(), w.one(), w.one()
    require(mem in (L1, UB), "memory of fill")
    size = SIZE[kind]
    aligned(size, addr, *stride)
    at = grid(addr, count, stride, length, size)
    pattern = np.array([value], dtype="<i4").view(np.uint8)[:size]
    core.write(core.memory(mem), at[..., None] + np.arange(size), np.broadcast_to(pattern, at.shape + (size,)))


def load3d(core, w):
    (dst_addr, dst_m1, src_addr, src_c1, height, width, pad_top, pad_left, kernel_h, kernel_w, stride_h, stride_w,
     dilation_h, dilation_w, out_w, m_start, m_count, k_start, k_count) = w.many(19)
    aligned(512, dst_addr, dst_m1)
    aligned(32, src_addr, src_c1)
    require(1 <= kernel_h <= 511 and 1 <= kernel_w <= 511, "kernel")
    require(1 <= stride_h <= 63 and 1 <= stride_w <= 63, "stride")
    require(1 <= dilation_h <= 255 and 1 <= dilation_w <= 255, "dilation")
    require(0 <= pad_top <= 255 and 0 <= pad_left <= 255, "pad")
    require(1 <= height <= 32767 and 1 <= width <= 32767, "map")
    require(out_w >= 1 and m_count >= 1 and k_count >= 1 and m_start >= 0 and k_start >= 0, "windows")
    require(max(m_start, m_count, k_start, k_count, out_w) <= 2 ** 24, "windows")
    r = np.arange((m_count + 15) // 16 * 16, dtype=np.int64)[:, None]
    q = np.arange(k_count, dtype=np.int64)[None, :]
    oh, ow = (m_start + r) // out_w, (m_start + r) % out_w
    k = k_start + q
    kw, kh, c1 = k % kernel_w, (k // kernel_w) % kernel_h, k // (kernel_w * kernel_h)
    ih = oh * stride_h + kh * dilation_h - pad_top
    iw = ow * stride_w + kw * dilation_w - pad_left
    inside = (r < m_count) & (ih >= 0) & (ih < height) & (iw >= 0) & (iw < width)
    last = src_addr + int(c1.max()) * src_c1 + height * width * 32
    require(last <= len(core.memory(L1).data), "map leaves L1")
    source = src_addr + c1 * src_c1 + (ih * width + iw) * 32
    block = np.arange(32)
    out = np.zeros(inside.shape + (32,), dtype=np.uint8)
    if inside.any():
        out[inside] = core.read(core.memory(L1), source[inside][:, None] + block)
    to = dst_addr + (r // 16) * dst_m1 + q * 512 + (r % 16) * 32
    core.write(core.memory(L0A), to[..., None] + block, out)


def load2d(core, w):
    dst_mem, dst_addr, src_addr = w.many(3)
    count, dst_stride, src_stride = w.many(2), w.many(2), w.many(2)
    transpose = w.one()
    require(dst_mem in (L0A, L0B) and transpose in (0, 1), "load2d")
    aligned(512, dst_addr, *dst_stride)
    aligned(32, src_addr, *src_stride)
    to = grid(dst_addr, count, dst_stride, 512)
    raw = core.read(core.memory(L1), grid(src_addr, count, src_stride, 512))
    if transpose:
        pairs = raw.reshape(count[0], count[1], 16, 16, 2)
        raw = np.ascontiguousarray(pairs.swapaxes(2, 3)).reshape(raw.shape)
    core.write(core.memory(dst_mem), to, raw)


def mmad(core, w):
    kind, a_addr, a_m1, b_addr, b_k1, c_addr, c_n1, m, k1, n1, init, bias_addr = w.many(12)
    require(kind in (FP16, INT8) and init in (0, 1, 2), "mmad")
    require(all(1 <= x <= 4095 for x in (m, k1, n1)), "m, k1, n1")
    aligned(512, a_addr, a_m1, b_addr, b_k1)
    aligned(32, c_addr, c_n1)
    c0 = 32 // SIZE[kind]
    c_type = INT32 if kind == INT8 else core.accumulator_type
    acc_size = SIZE[c_type]
    require(m <= 16 or a_m1 >= k1 * 512, "a_m1_stride")
    require(k1 == 1 or b_k1 >= n1 * 512, "b_k1_stride")
    require(n1 == 1 or c_n1 >= m * 16 * acc_size, "c_n1_stride")
    row, k, n = np.arange(m)[:, None], np.arange(k1 * c0), np.arange(n1 * 16)
    lane = (k % c0) * SIZE[kind]
    a = core.load(L0A, a_addr + row // 16 * a_m1 + k // c0 * 512 + row % 16 * 32 + lane, kind)
    b_at = b_addr + (k // c0 * b_k1 + lane)[:, None] + (n // 16 * 512 + n % 16 * 32)[None, :]
    b = core.load(L0B, b_at, kind)
    c_at = c_addr + n // 16 * c_n1 + (row * 16 + n % 16) * acc_size
    if init == 0:
        c = core.load(L0C, c_at, c_type)
    elif init == 1:
        c = np.zeros(c_at.shape, dtype=num.DTYPE[c_type])
    else:
        aligned(4, bias_addr)
        bias = core.load(L1, bias_addr + n * 4, INT32 if kind == INT8 else FP32)
        c = np.broadcast_to(bias if kind == INT8 else num.store(c_type, bias), c_at.shape)
    if kind == INT8:
        result = num.wrap32(c.astype(np.int64) + a.astype(np.int64) @ b.astype(np.int64))
    else:
        a, b, acc = num.widen(a), num.widen(b), num.widen(c)
        for block in range(k1):
            s = np.zeros(acc.shape, dtype=f32)
            for at in range(16 * block, 16 * block + 16):
                s = s + a[:, at, None] * b[None, at, :]
            acc = num.widen(num.store(c_type, acc + s))
        result = num.store(c_type, acc)
    core.save(L0C, c_at, c_type, result)


def l0c_to_ub(core, w):
    src_addr, src_n1, dst_addr, dst_n1, rows, n1, from_int32, dst_type, relu, scale_addr = w.many(10)
    require(from_int32 in (0, 1) and relu in (0, 1) and rows >= 1 and n1 >= 1, "l0c_to_ub")
    src_type = INT32 if from_int32 else core.accumulator_type
    aligned(32, src_addr, src_n1)
    element = np.arange(rows * 16)
    j = np.arange(n1)[:, None]
    x = core.load(L0C, src_addr + j * src_n1 + element * SIZE[src_type], src_type)
    to = dst_addr + j * dst_n1 + element * SIZE[dst_type]
    if dst_type == INT32:
        require(from_int32 == 1 and scale_addr == -1, "int32 of l0c_to_ub")
        core.save(UB, to, INT32, np.where(x < 0, np.int32(0), x) if relu else x)
        return
    v = num.widen(x)
    if scale_addr >= 0:
        v = v * core.load(UB, scale_addr + (j * 16 + element % 16) * 4, FP32)
    if relu:
        v = num.relu(v)
    core.save(UB, to, dst_type, num.store(dst_type, v))


UNARY = {
    1: lambda x, s: num.relu(x),
    2: lambda x, s: np.abs(x),
    3: lambda x, s: np.negative(x),
    4: lambda x, s: num.exp(x),
    5: lambda x, s: num.ln(x),
    6: lambda x, s: num.sqrt(x),
    7: lambda x, s: f32(1) / num.sqrt(x),
    8: lambda x, s: f32(1) / x,
    9: lambda x, s: x + s,
    10: lambda x, s: x * s,
    11: lambda x, s: num.maximum(s, x),
    12: lambda x, s: num.minimum(s, x),
}


def unary(core, w):
    op, dst_type, src_type, dst_addr, src_addr = w.many(5)
    count, dst_stride, src_stride = w.many(4), w.many(4), w.many(4)
    length, scalar = w.one(), num.float_of_word(w.one())
    to = grid(dst_addr, count, dst_stride, length, SIZE[dst_type])
    back = grid(src_addr, count, src_stride, length, SIZE[src_type])
    core.check_overlap(to, SIZE[dst_type], back, SIZE[src_type])
    x = core.load(UB, back, src_type)
    if op == 0:
        result = num.convert(x, src_type, dst_type)
    else:
        require(src_type in num.FLOATS, "type of unary")
        require(op < 11 or not np.isnan(scalar), "NaN as scalar of maxs or mins")
        result = num.store(dst_type, UNARY[op](num.widen(x), scalar))
    core.save(UB, to, dst_type, result)


BINARY = {
    0: lambda a, b: a + b,
    1: lambda a, b: a - b,
    2: lambda a, b: a * b,
    3: lambda a, b: a / b,
    4: num.maximum,
    5: num.minimum,
}


def binary(core, w):
    op, dst_type, src0_type, src1_type, dst_addr, src0_addr, src1_addr = w.many(7)
    count, dst_stride, src0_stride, src1_stride = w.many(4), w.many(4), w.many(4), w.many(4)
    length, src1_scalar = w.one(), w.one()
    require(src1_scalar in (0, 1), "src1_scalar")
    to = grid(dst_addr, count, dst_stride, length, SIZE[dst_type])
    at0 = grid(src0_addr, count, src0_stride, length, SIZE[src0_type])
    at1 = grid(src1_addr, count, src1_stride, 1 if src1_scalar else length, SIZE[src1_type])
    core.check_overlap(to, SIZE[dst_type], at0, SIZE[src0_type])
    core.check_overlap(to, SIZE[dst_type], at1, SIZE[src1_type])
    a, b = core.load_float(at0, src0_type), core.load_float(at1, src1_type)
    core.save(UB, to, dst_type, num.store(dst_type, BINARY[op](a, b)))


def window(core, w):
    op, dst_type, dst_addr, src_addr, weight_addr, weight_stride, bias_addr, kernel_h, kernel_w = w.many(9)
    tap, count, dst_stride, src_stride = w.many(2), w.many(3), w.many(3), w.many(3)
    require(op in (0, 1, 2) and kernel_h >= 1 and kernel_w >= 1, "window")
    to = grid(dst_addr, count, dst_stride, 16, SIZE[dst_type])
    back = grid(src_addr, count, src_stride, 16, 2)
    lane = np.arange(16)
    c1 = np.arange(count[0])[:, None, None, None]
    acc = np.full(to.shape, -np.inf if op == 1 else 0, dtype=f32)
    if op == 0 and bias_addr >= 0:
        bias_at = bias_addr + (c1 * 16 + lane) * 4
        core.check_overlap(to, SIZE[dst_type], bias_at, 4)
        acc = np.broadcast_to(core.load(UB, bias_at, FP32), to.shape)
    for kh in range(kernel_h):
        for kw in range(kernel_w):
            x_at = back + kh * tap[0] + kw * tap[1]
            core.check_overlap(to, SIZE[dst_type], x_at, 2)
            x = core.load_float(x_at, FP16)
            if op == 0:
                w_at = weight_addr + c1 * weight_stride + (kh * kernel_w + kw) * 32 + 2 * lane
                core.check_overlap(to, SIZE[dst_type], w_at, 2)
                acc = acc + x * core.load_float(w_at, FP16)
            else:
                acc = num.maximum(acc, x) if op == 1 else acc + x
    core.save(UB, to, dst_type, num.store(dst_type, acc))


def reduce(core, w):
    op, dst_type, src_type, dst_addr, src_addr = w.many(5)
    count, dst_stride, src_stride = w.many(3), w.many(3), w.many(3)
    rows, row_stride, length = w.many(3)
    require(op in (0, 1, 2, 3) and rows >= 1 and (op < 2 or rows == 1), "reduce")
    back = grid(src_addr, count + [rows], src_stride + [row_stride], length, SIZE[src_type])
    to = grid(dst_addr, count, dst_stride, length if op < 2 else 1, SIZE[dst_type])
    core.check_overlap(to, SIZE[dst_type], back, SIZE[src_type])
    x = core.load_float(back, src_type)
    start = f32(-np.inf) if op in (1, 3) else f32(0)
    step = num.maximum if op in (1, 3) else BINARY[0]
    if op < 2:
        acc = np.full(to.shape, start)
        for r in range(rows):
            acc = step(acc, x[..., r, :])
    else:
        p = np.full(tuple(count) + (16,), start)
        for j in range(length):
            p[..., j % 16] = step(p[..., j % 16], x[..., 0, j])
        for h in (8, 4, 2, 1):
            p = step(p[..., :h], p[..., h:2 * h])
        acc = p
    core.save(UB, to, dst_type, num.store(dst_type, acc))


def move(core, w):
    dst_type, src_type, dst_addr, src_addr = w.many(4)
    count, dst_stride, src_stride = w.many(5), w.many(5), w.many(5)
    require(dst_type == src_type or {dst_type, src_type} == {FP16, FP32}, "types of move")
    to, back = grid(dst_addr, count, dst_stride), grid(src_addr, count, src_stride)
    core.check_overlap(to, SIZE[dst_type], back, SIZE[src_type])
    core.save(UB, to, dst_type, num.convert(core.load(UB, back, src_type), src_type, dst_type))


# opcode: (function, operand words)
TABLE = {1: (copy, 20), 2: (fill, 9), 3: (load3d, 19), 4: (load2d, 10), 5: (mmad, 12), 6: (l0c_to_ub, 10),
         7: (unary, 19), 8: (binary, 25), 9: (window, 20), 10: (reduce, 17), 11: (move, 19)}


def run_code(core, code):
    """Decodes and runs the words of a prologue or a body."""
    at = 0
    while at < len(code):
        header = code[at]
        opcode, n = header & 255, header >> 8 & 255
        require(header >> 16 == 0 and opcode in TABLE and TABLE[opcode][1] == n, f"header {header}")
        require(at + 1 + n <= len(code), "code ends inside an instruction")
        TABLE[opcode][0](core, Words(code[at + 1:at + 1 + n]))
        at += 1 + n
