"""When two engines' answers are the same in fp32: the direction to 1e-5, and no value off by more than a thousandth of the
largest. Each output is held to both by itself."""
import numpy as np

COSINE = 0.99999
RELATIVE = 1e-3


def compare(got, want):
    """Lists of arrays, in one order. Returns the worst cosine and the worst max|a-b| / max|b| of all outputs."""
    if len(got) != len(want):
        return {"cos": None, "max_rel": None, "ok": False}
    cos, relative, ok = 1.0, 0.0, True
    for a, b in zip(got, want):
        if np.shape(a) != np.shape(b):
            return {"cos": None, "max_rel": None, "ok": False}
        a, b = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
        if not a.size:
            continue
        if not np.isfinite(a).all():
            return {"cos": None, "max_rel": None, "ok": False}
        largest, off = float(np.abs(b).max()), float(np.abs(a - b).max())
        lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
        # Two zeros agree; a zero and something else do not.
        c = float(a @ b) / lengths if lengths else float(off == 0)
        r = off / largest if largest else float(off != 0)
        cos, relative, ok = min(cos, c), max(relative, r), ok and c >= COSINE and r <= RELATIVE
    return {"cos": cos, "max_rel": relative, "ok": ok}
