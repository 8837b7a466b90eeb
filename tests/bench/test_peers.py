"""./dev bench peers, without measuring: what it refuses, what its page says of results worked out by hand, when answers agree; and
that docs/performance.md is what the stored results make."""
import copy
import importlib.util
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.path.insert(0, os.path.join(ROOT, "tools", "bench"))
from devtool import common, performance  # noqa: E402

if importlib.util.find_spec("numpy") is None:
    # It lies in the environment ./dev setup makes, not in the system's Python.
    python = os.environ.get("NPUKIT_PYTHON") or common.venv_python()
    if not os.path.exists(python) or os.environ.get("NPUKIT_BENCH_PYTHON"):
        print("SKIPPED: numpy is missing: run ./dev setup, or set NPUKIT_PYTHON to a Python that has it")
        sys.exit(77)
    os.environ["NPUKIT_BENCH_PYTHON"] = python
    os.execv(python, [python] + sys.argv)

TARGETS = {"cases": {"a": 0.75, "b": 0.82}, "geometric_mean": 0.77, "geometric_mean_avx2": 0.85, "load": 0.5, "memory": 0.8}
GOOD = {"cos": 0.9999999, "max_rel": 1e-5, "ok": True}


def row(engine, p50, ratio, noisy=False):
    return {"engine": engine, "p50_ms": p50, "min_ms": p50, "ratio": ratio, "spread": 0.02, "noisy": noisy}


RESULT = {
    "schema": performance.SCHEMA, "date": "2026-12-01", "commit": "abc", "flags": "avx2", "limited_to": "", "note": "",
    "cpu": {"model": "A CPU", "usable_cores": 2, "flags": ["avx2"]}, "versions": {"ort": "1", "ncnn": "2"}, "rounds": 7, "budget_ms": 400,
    "cases": [
        {"name": "a", "threads": 1, "best_peer": "ort", "rows": [row("ort", 10, 1.0), row("ncnn", 15, 1.5), row("npukit", 5, 0.5)],
         "agreement": GOOD, "problem": None, "lost": {}},
        {"name": "a", "threads": 2, "best_peer": "ncnn", "rows": [row("ort", 8, 2.0), row("ncnn", 4, 1.0, True),
                                                                 row("npukit", 8, 2.0)], "agreement": GOOD, "problem": None, "lost": {}},
        {"name": "b", "threads": 1, "best_peer": "ort", "rows": [row("ort", 100, 1.0), row("npukit", 80, 0.8)],
         "agreement": {"cos": 0.9, "max_rel": 0.25, "ok": False}, "problem": None, "lost": {"ncnn": "no such operator"}}],
    "footprint": [{"name": "a", "engines": {"ort": {"load_ms": 30.0, "rss_bytes": 40e6}, "ncnn": {"load_ms": 20.0, "rss_bytes": 50e6},
                                            "npukit": {"load_ms": 5.0, "rss_bytes": 36e6}}}],
}


def has(text, part):
    assert part in text, f"missing: {part}\n{text}"


def says_what_was_worked_out():
    text = performance.page([RESULT], TARGETS)
    has(text, "| a | 1 | 5.00 | ort 10.0 | 0.50 | 0.02 | 0.75 | 1.00 | 1.50 |")
    has(text, "| a | 2 | 8.00 | ncnn 4.00 | 2.00 | 0.02 | 0.75 | 2.00 | 1.00~ |")
    # 0.5 at one thread, 2 at two: their geometric mean is 1. The wrong row counts nowhere.
    has(text, "Geometric mean of 2 ratios: **1.000** (T=1 0.500, T=2 2.000).")
    has(text, "| b | 1 | 80.0 | ort 100.0 | **wrong** | 0.02 | 0.82 | 1.00 | - |")
    has(text, "- b T=1: **wrong**: cosine 0.900000, off by 2.5e-01 of the largest value")
    has(text, "- b: ncnn: no such operator")
    has(text, "- a T=2: behind ncnn, 2.00")
    has(text, "- geometric mean: 1.000, goal 0.77")
    # 5 of the fastest 20 ms; 36 of the leanest 40 MB.
    has(text, "| a | 5.00 | ncnn 20.0 | 0.25 | 36.0 | ort 40.0 | 0.90 |")
    has(text, "- a: memory 0.90, goal 0.80")
    assert "a: load" not in text and "a T=1:" not in text, text
    assert performance.wrong(RESULT) == ["b T=1"]


def ahead_but_short_of_the_goal():
    result = copy.deepcopy(RESULT)
    result["cases"][0]["rows"][2]["ratio"] = 0.8
    has(performance.page([result], TARGETS), "- a T=1: ahead, 0.80, goal 0.75")


def sections_stand_beside_each_other():
    other = {**RESULT, "flags": "avx512", "limited_to": "avx2", "footprint": []}
    text = performance.page([RESULT, other], TARGETS)
    assert text.index("## avx2") < text.index("## avx512, limited to avx2") < text.index("ONEDNN_MAX_CPU_ISA=AVX2")
    has(text[text.index("## avx512"):], "- geometric mean: 1.000, goal 0.85")


def page_is_what_the_results_make():
    with open(performance.PAGE, encoding="utf-8") as f:
        assert f.read() == performance.page(performance.stored(), performance.targets_table()), "run ./dev bench page"


def refuses(folder, part):
    words = ["--yardstick", folder] if folder else []
    done = subprocess.run([sys.executable, os.path.join(ROOT, "dev"), "bench", "peers", *words], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 2 and done.stdout.count("\n") == 1, (done.returncode, done.stdout)
    has(done.stdout, part)


def refuses_without_a_yardstick():
    refuses(None, "--yardstick DIR")
    with tempfile.TemporaryDirectory() as folder:
        refuses(folder, "no bench_peers.py and no make_models.py")
        with open(os.path.join(folder, "bench_peers.py"), "w", encoding="utf-8"):
            refuses(folder, "no make_models.py there")


def agreement_is_held_to_both_bounds():
    import numpy as np
    import agreement
    b = np.full(1000, 1.0)
    assert agreement.compare([b], [b])["ok"]
    off = b.copy()
    off[0] = 1.002  # the direction is right to 2e-9, one value is off by 0.002
    assert not agreement.compare([off], [b])["ok"]
    # Values off by 0.001 of the largest everywhere, but small ones: the direction is wrong, no value is.
    large, turned = np.zeros(10000), np.full(10000, 0.0009)
    large[0], turned[0] = 1.0, 1.0
    found = agreement.compare([turned], [large])
    assert found["max_rel"] < 1e-3 and found["cos"] < 0.99999 and not found["ok"], found
    assert not agreement.compare([b * np.nan], [b])["ok"]
    assert not agreement.compare([b[:10]], [b])["ok"]
    assert not agreement.compare([], [b])["ok"]
    zero = np.zeros(4)
    assert agreement.compare([zero], [zero])["ok"] and not agreement.compare([zero + 1e-9], [zero])["ok"]


def main():
    says_what_was_worked_out()
    ahead_but_short_of_the_goal()
    sections_stand_beside_each_other()
    page_is_what_the_results_make()
    refuses_without_a_yardstick()
    agreement_is_held_to_both_bounds()
    print("bench.peers: all checks passed")


if __name__ == "__main__":
    main()
