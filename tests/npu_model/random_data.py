"""Random elements, rich in the values that rounding rules are about."""

import numpy as np

FP16, FP32, INT32, INT8 = 0, 1, 2, 3
DTYPE = {FP16: np.dtype("<f2"), FP32: np.dtype("<f4"), INT32: np.dtype("<i4"), INT8: np.dtype("<i1")}
SIZE = {kind: dtype.itemsize for kind, dtype in DTYPE.items()}

FLOAT_KINDS = ("unit", "ints", "ties", "wide", "bits", "zeros")


def special_floats(kind):
    info = np.finfo(DTYPE[kind])
    tiny, least = float(info.smallest_normal), float(info.smallest_subnormal)
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, float(info.max), float(info.min), tiny, -tiny, least, -least,
              tiny - least, 1.0, -1.0, 0.5, 1 + float(info.eps)]
    if kind == FP32:
        # Ties and limits of the conversions to fp16 and to integers, and of exp.
        values += [65519.996, 65520.0, -65520.0, 2.0 ** -25, -2.0 ** -25, 1 + 2.0 ** -11, 1 + 3 * 2.0 ** -11,
                   3 * 2.0 ** -25, 2147483520.0, 2147483648.0, -2147483648.0, 1e20, 88.72283, 88.72284, -87.33654,
                   -87.33655, 0.70710677, 0.70710683]
    return np.array(values)


def floats(rng, kind, n, what):
    info = np.finfo(DTYPE[kind])
    low = int(np.log2(float(info.smallest_subnormal)))
    high = 16 if kind == FP16 else 128
    sign = rng.choice([-1.0, 1.0], n)
    if what == "unit":
        return rng.standard_normal(n)
    if what == "ints":
        return rng.integers(-9, 10, n).astype(float)
    if what == "ties":
        return rng.integers(-300, 300, n) / 2.0
    if what == "wide":
        return sign * (1 + rng.random(n)) * 2.0 ** rng.integers(low, high, n)
    if what == "positive":
        return (1 + rng.random(n)) * 2.0 ** rng.integers(low, high, n)
    if what == "near16":
        # Around the range and the ties of fp16.
        return sign * (1 + rng.integers(0, 4096, n) / 4096.0) * 2.0 ** rng.integers(-26, 17, n)
    if what == "exp":
        edges = [88.72283, 88.72284, 88.7228, -87.33654, -87.33655, -87.3365, 88.375, 0.0, -0.0]
        values = rng.uniform(-1, 1, n) * rng.choice([1.0, 20.0, 100.0], n)
        return np.where(rng.random(n) < 0.1, rng.choice(edges, n), values)
    if what == "near1":
        return rng.uniform(0.4, 2.5, n)
    if what == "signs":
        # Zeros of both signs and nothing above (or nothing below) them.
        return rng.choice([0.0, -0.0, float(rng.choice([-0.0, -1.0, 1.0]))], n)
    if what == "zeros":
        return sign * rng.choice([0.0, 0.0, float(info.smallest_subnormal), float(info.smallest_normal), 1.0], n)
    raise ValueError(what)


def elements(rng, kind, n, what=None):
    """n elements of a type as bytes."""
    if kind == INT8:
        return rng.integers(-128, 128, n).astype(np.int8).tobytes()
    if kind == INT32:
        wide = rng.integers(-2 ** 31, 2 ** 31, n)
        small = rng.integers(-400, 400, n)
        edge = rng.choice([2 ** 31 - 1, -2 ** 31, 2 ** 24 + 1, 2 ** 24 + 3, -2 ** 24 - 1, 2 ** 25 + 2, 65519, 65520,
                           2049, 2051, 127, 128, -128, -129, 0], n)
        pick = rng.choice(3, n)
        return np.select([pick == 0, pick == 1], [wide, small], edge).astype(np.int32).tobytes()
    if what is None:
        what = str(rng.choice(FLOAT_KINDS))
    if what == "bits":
        return rng.integers(0, 256, n * SIZE[kind]).astype(np.uint8).tobytes()
    values = floats(rng, kind, n, what)
    share = rng.choice([0.0, 0.0, 0.03, 0.25])
    values = np.where(rng.random(n) < share, rng.choice(special_floats(kind), n), values)
    with np.errstate(all="ignore"):
        return values.astype(np.float32).astype(DTYPE[kind]).tobytes()
