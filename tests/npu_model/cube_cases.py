"""Random loads of the cube, matrix products and their way back to UB."""

from builder import L0A, L0B, L0C, L1, between, disjoint, flip
from random_data import FP16, FP32, INT32, INT8, SIZE


def load_windows(g, kind, what, m, k1):
    """load3d of m rows and k1 blocks; gives a_addr, a_m1_stride."""
    rng = g.rng
    if flip(rng, 0.2):      # a matrix
        height, width, kernel_h, kernel_w = 1, between(rng, 1, m + 4), 1, 1
        stride, dilation, pad, out_w = [1, 1], [1, 1], [0, 0], between(rng, width, width + 2)
    else:
        height, width = between(rng, 1, 8), between(rng, 1, 8)
        kernel_h, kernel_w = between(rng, 1, 4), between(rng, 1, 4)
        stride = [between(rng, 1, 3), between(rng, 1, 3)]
        dilation = [between(rng, 1, 3), between(rng, 1, 3)]
        pad = [between(rng, 0, 4), between(rng, 0, 4)]
        out_w = between(rng, 1, 9)
    c1 = between(rng, 1, 3)
    m_start = between(rng, 0, 40) if flip(rng) else 0
    extreme = flip(rng, 0.15)
    if extreme:
        choice = between(rng, 0, 4)
        if choice == 0:
            kernel_h, kernel_w = 1, 511
        elif choice == 1:
            stride, pad = [63, 63], [between(rng, 0, 255), between(rng, 0, 255)]
        elif choice == 2:
            dilation, pad = [255, between(rng, 1, 255)], [255, 0]
        elif choice == 3:
            m_start, out_w = 2 ** 24 - between(rng, 0, 9), between(rng, 1, 2 ** 24)
        else:
            kernel_h, pad = 511, [255, 3]
    taps = kernel_h * kernel_w
    while c1 * taps < k1:
        c1 += 1
    k_start = between(rng, 0, c1 * taps - k1)
    c1_stride = height * width * 32 + int(rng.choice([0, 0, 1])) * 32
    if flip(rng, 0.05):
        c1_stride = 32
    src = g.source_region(kind, (c1 - 1) * c1_stride + height * width * 32, what, mem=L1, unit=32)
    m1_stride = (k1 + between(rng, 0, 1)) * 512
    dst = g.alloc(L0A, ((m + 15) // 16 - 1) * m1_stride + k1 * 512, 512)
    first = between(rng, 1, k1) if flip(rng, 0.3) else k1
    rows = m - between(rng, 0, (m - 1) % 16) if flip(rng, 0.3) else m      # zeros in the last rows
    for begin, n in ((0, first), (first, k1 - first)):
        if n:
            g.emit("load3d", dst + begin * 512, m1_stride, src.addr, c1_stride, height, width, pad, kernel_h, kernel_w,
                   stride, dilation, out_w, m_start, rows, k_start + begin, n)
    return dst, m1_stride


def load_fractals(g, mem, kind, what, outer, inner, transpose):
    """load2d of outer x inner fractals; gives the address and the stride of the outer."""
    rng = g.rng
    to = [(inner + between(rng, 0, 1)) * 512, 512]
    back, span = disjoint(rng, [outer, inner], 512, 32)
    if flip(rng, 0.1):
        back = [32, 0] if flip(rng) else [0, 64]
    src = g.source_region(kind, span, what, mem=L1, unit=32)
    dst = g.alloc(mem, (outer - 1) * to[0] + inner * 512, 512)
    g.emit("load2d", mem, dst, src.addr, [outer, inner], to, back, transpose)
    return dst, to[0]


def product_case(g, kind, init, windows, dst_type, relu, scale):
    rng = g.rng
    acc = 4 if kind == INT8 or g.program.bits == 32 else 2
    m, k1, n1 = between(rng, 1, 40), between(rng, 1, 4), between(rng, 1, 3)
    what = None
    if kind == FP16:
        what = str(rng.choice(["unit", "unit", "ints", "near16", "zeros", "wide"])) if flip(rng, 0.9) else None

    def operands():
        if windows:
            a = load_windows(g, kind, what, m, k1)
        else:
            a = load_fractals(g, L0A, kind, what, (m + 15) // 16, k1, int(flip(rng)))
        setup = g.setup
        g.setup = setup or flip(rng, 0.3)       # weights that stay in L0B for all tiles
        b = load_fractals(g, L0B, kind, what, k1, n1, int(flip(rng)))
        g.setup = setup
        return a, b

    bias_kind = INT32 if kind == INT8 else FP32
    c_n1 = m * 16 * acc + int(rng.choice([0, 0, 1, 5])) * 32
    c_addr = g.alloc(L0C, (n1 - 1) * c_n1 + m * 16 * acc, 32)
    (a_addr, a_m1), (b_addr, b_k1) = operands()
    first = init or between(rng, 1, 2)
    bias = 0
    if first == 2:
        bias_what = str(rng.choice(["unit", "near16", "wide"])) if kind == FP16 else None
        bias = g.source_region(bias_kind, n1 * 64, bias_what, mem=L1).addr
    g.emit("mmad", kind, a_addr, a_m1, b_addr, b_k1, c_addr, c_n1, m, k1, n1, first, bias)
    if init == 0:
        if flip(rng):
            (a_addr, a_m1), (b_addr, b_k1) = operands()
        rows = between(rng, 1, m)
        depth, wide = between(rng, 1, k1), between(rng, 1, n1)
        g.emit("mmad", kind, a_addr, a_m1, b_addr, b_k1, c_addr, c_n1, rows, depth, wide, 0, 0)
    skip = between(rng, 0, m - 1) if flip(rng, 0.3) else 0
    rows, blocks = between(rng, 1, m - skip) if flip(rng, 0.3) else m - skip, between(rng, 1, n1)
    scale_addr = -1
    if scale:
        scale_addr = g.source_region(FP32, blocks * 64, "unit" if flip(rng) else None).addr
    inner = rows * 16 * SIZE[dst_type]
    dst_n1, size = disjoint(rng, [blocks], inner, SIZE[dst_type])
    region, dst_addr = g.target(dst_type, size)
    g.sources.append(region)
    g.emit("l0c_to_ub", c_addr + skip * 16 * acc, c_n1, dst_addr, dst_n1, rows, blocks, int(kind == INT8), dst_type,
           relu, scale_addr)


def cases():
    """(function, arguments) of every type, start and way back."""
    bits = (0, 1)
    ends = [(kind, d, relu, scale) for kind in (FP16, INT8) for d in (FP16, FP32) for relu in bits for scale in bits]
    ends += [(INT8, INT32, relu, 0) for relu in (0, 1)]
    return [(product_case, (kind, init, windows, d, relu, scale)) for kind, d, relu, scale in ends
            for init in (0, 1, 2) for windows in (0, 1)]
