"""Numbers of the simulated NPU: sections 1 and 6 of docs/npu_semantics.md."""

import numpy as np

FP16, FP32, INT32, INT8 = 0, 1, 2, 3
SIZE = {FP16: 2, FP32: 4, INT32: 4, INT8: 1}
DTYPE = {FP16: np.dtype("<f2"), FP32: np.dtype("<f4"), INT32: np.dtype("<i4"), INT8: np.dtype("<i1")}
FLOATS = (FP16, FP32)

f32 = np.float32


def quiet(function):
    """Silences warnings of NumPy: overflow and NaN are ordinary here."""

    def wrapped(*args, **kwargs):
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return wrapped


def float_of_word(word):
    """The binary32 whose pattern is the int32 word."""
    return np.array([word], dtype=np.int64).astype(np.uint32).view(f32)[0]


def word_of_float(value):
    """The int32 word that holds a binary32."""
    return int(np.array([value], dtype=f32).view(np.int32)[0])


@quiet
def fl16(x):
    """An fp32 array rounded to fp16: nearest, ties to even, overflow to infinity, subnormals kept."""
    return np.asarray(x, dtype=f32).astype(np.float16)


def widen(x):
    """fp16 or fp32 to fp32, exact."""
    return np.asarray(x).astype(f32)


def store(kind, v):
    """An fp32 array as elements of type fp16 or fp32."""
    v = np.asarray(v)
    assert v.dtype == f32 and kind in FLOATS
    return fl16(v) if kind == FP16 else v


@quiet
def maximum(a, b):
    return np.where((a > b) | np.isnan(a), a, b)


@quiet
def minimum(a, b):
    return np.where((a < b) | np.isnan(a), a, b)


@quiet
def relu(x):
    return np.where(x < 0, f32(0), x)


def wrap32(x):
    """int64 to int32, two's complement."""
    return (np.asarray(x, dtype=np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def saturate(x, kind):
    info = np.iinfo(DTYPE[kind])
    return np.clip(x, info.min, info.max).astype(DTYPE[kind])


@quiet
def convert(x, src, dst):
    """Unary copy: elements of type src as elements of type dst."""
    x = np.asarray(x)
    if src == dst:
        return x
    if src in FLOATS and dst in FLOATS:
        return store(dst, widen(x))
    if dst in FLOATS:
        return store(dst, x.astype(f32))
    if src in FLOATS:
        rounded = np.rint(widen(x)).astype(np.float64)
        return saturate(np.where(np.isnan(rounded), 0.0, rounded), dst)
    return saturate(x.astype(np.int64), dst)


@quiet
def sqrt(x):
    return np.sqrt(np.asarray(x, dtype=f32))


EXP_P = [f32(c) for c in ("1.9875691500e-4", "1.3981999507e-3", "8.3334519073e-3", "4.1665795894e-2",
                          "1.6666665459e-1", "5.0000001201e-1")]
LN_P = [f32(c) for c in ("7.0376836292e-2", "-1.1514610310e-1", "1.1676998740e-1", "-1.2420140846e-1",
                         "1.4249322787e-1", "-1.6668057665e-1", "2.0000714765e-1", "-2.4999993993e-1",
                         "3.3333331174e-1")]
LN2_HIGH = f32("0.693359375")
LN2_LOW = f32("-2.12194440e-4")


def horner(coefficients, x):
    p = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        p = p * x + c
    return p


@quiet
def exp(x):
    x = np.asarray(x, dtype=f32)
    high = x > f32("88.72283")
    low = x < f32("-87.33654")
    nan = np.isnan(x)
    safe = np.where(high | low | nan, f32(0), x)
    n = np.rint(safe * f32("1.44269504"))
    r = safe - n * LN2_HIGH
    r = r - n * LN2_LOW
    p = horner(EXP_P, r)
    y = p * (r * r) + r
    y = y + f32(1)
    whole = n.astype(np.int32)
    half = whole >> 1
    one = np.ones_like(x)
    y = (y * np.ldexp(one, half)) * np.ldexp(one, whole - half)
    y = np.where(high, f32(np.inf), np.where(low, f32(0), y))
    return np.where(nan, f32(np.nan), y)


@quiet
def ln(x):
    x = np.asarray(x, dtype=f32)
    bad = np.isnan(x) | (x < 0)
    zero = x == 0
    infinite = x == f32(np.inf)
    safe = np.where(bad | zero | infinite, f32(1), x)
    tiny = safe < f32(2.0 ** -126)
    safe = np.where(tiny, safe * f32(2.0 ** 25), safe)
    m, e = np.frexp(safe)
    e = e - np.where(tiny, 25, 0)
    low = m < f32("0.707106781186547524")
    e = np.where(low, e - 1, e).astype(f32)
    m = np.where(low, (m + m) - f32(1), m - f32(1))
    z = m * m
    p = horner(LN_P, m)
    y = (m * z) * p
    y = y + e * LN2_LOW
    y = y - f32(0.5) * z
    y = (m + y) + e * LN2_HIGH
    y = np.where(infinite, f32(np.inf), np.where(zero, f32(-np.inf), y))
    return np.where(bad, f32(np.nan), y)
