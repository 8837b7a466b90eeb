"""Every verb in text and JSON on a small network; what it computes is judged by onnxruntime."""
import os
import re

import common
from common import SHAPE, VERDICT_FIELDS, np

UNITS = re.compile(r"^Compute units: NPU \(\d+\), GPU \(\d+\), CPU \(\d+\), folded \(\d+\) \| Total \(\d+\)$", re.M)


def units_add_up(t, units, total):
    t.equal(units["total"], total, "nodes of the file")
    t.equal(units["NPU"] + units["GPU"] + units["CPU"] + units["folded"], total, "every node counted once")


def test_check(t, model):
    r = t.json("check", model, "-t", "kirin9030", "--shape", SHAPE, "--allow", "reduce_mean")
    units_add_up(t, r["compute_units"], 6)
    for v in r["verdicts"]:
        t.equal(set(v), VERDICT_FIELDS, "fields of a verdict")
        t.check(v["supported"] or v["code"], f"a no without a code: {v}")
    t.equal(set(r["size"]), {"bytes", "restored_bytes", "gate_bytes", "passes"}, "size")
    t.equal(r["target"], "kirin9030", "target")
    on_npu = {n for v in r["verdicts"] if v["placed_on"] == "NPU" for n in v["from"]}
    t.check({"first", "act", "second"} <= on_npu, f"the convolutions are on the NPU: {on_npu}")
    # With a hand-over of a second nothing pays on the NPU: findings, unless they are allowed.
    dear = ("--set", "npu.boundary_us=1000000")
    r = t.json("check", model, "-t", "kirin9030", "--shape", SHAPE, *dear, code=1)
    for v in r["verdicts"]:
        t.equal((v["code"], v["placed_on"]), ("costs_more_than_it_saves", "CPU"), f"{v['from']} stays on the CPU")
    allowed = ",".join(sorted({v["op"] for v in r["verdicts"]}))
    t.run("check", model, "-t", "kirin9030", "--shape", SHAPE, *dear, "--allow", allowed)

    r = t.json("check", model, "-t", "host", "--shape", SHAPE, code=1)
    t.equal({v["code"] for v in r["verdicts"]}, {"no_npu"}, "host has no NPU")
    r = t.json("check", model, "-t", "kirin9030", code=1)
    t.check(any(v["code"] == "dynamic_shape" and "--shape in/x=1x16x" in v["remedy"] for v in r["verdicts"]), "open shapes")
    text = t.run("check", model, "-t", "kirin9030", "--shape", SHAPE).stdout
    t.check(UNITS.search(text), f"compute units line: {text}")


def test_foreign(t):
    model = common.small_network(t.path("foreign.onnx"), foreign=True)
    r = t.json("check", model, "-t", "kirin9030", "--shape", SHAPE, code=1)
    unknown = [v for v in r["verdicts"] if v["code"] == "unknown_operator"]
    t.equal([v["from"] for v in unknown], [["frob0"], ["frob1"]], "every unknown operator is listed")
    t.equal({v["foreign_op"] for v in unknown}, {"Frobnicate"}, "by the file's name")
    t.refused(2, "unknown operator Frobnicate", "compile", model, "-t", "kirin9030", "--shape", SHAPE, "-o", t.path("f.npk"))
    t.check(not os.path.exists(t.path("f.npk")), "nothing is written")


def test_compile(t, model):
    out = t.path("small.npk")
    r = t.json("compile", model, "-t", "kirin9030", "-o", out, "--shape", SHAPE, "--shape", "in/x=1x16x32x64")
    t.equal([(p["precision"], p["shapes"]["in/x"]) for p in r["programs"]],
            [("fp16", [1, 16, 64, 64]), ("fp32", [1, 16, 64, 64]), ("fp16", [1, 16, 32, 64]), ("fp32", [1, 16, 32, 64])],
            "one program per shape and device set")
    t.check("NPU" in r["programs"][0]["devices"].split(","), "the first is the NPU's")
    t.equal(r["programs"][1]["devices"], "CPU", "and the CPU's own beside it")
    for p in r["programs"]:
        t.check(p["modelled_ms"] > 0, "a modelled time")
    t.equal(set(r["bytes"]), {"shared", "own"}, "bytes")
    t.check(r["bytes"]["shared"] > 0, "programs share weights")
    t.equal(r["output_bytes"], os.path.getsize(out), "output_bytes")
    with open(out, "rb") as f:
        first = f.read()
    t.equal(first[:4], b"NPK1", "file identifier")
    t.run("compile", model, "-t", "kirin9030", "-o", out, "--shape", SHAPE, "--shape", "in/x=1x16x32x64")
    with open(out, "rb") as f:
        t.check(f.read() == first, "the same input gives the same bytes")
    r = t.json("compile", model, "-t", "kirin9030", "-o", t.path("no_cpu.npk"), "--shape", SHAPE, "--no-cpu")
    t.equal(len(r["programs"]), 1, "--no-cpu")
    text = t.run("compile", model, "-o", t.path("host.npk"), "--shape", SHAPE).stdout
    t.check("for host" in text and UNITS.search(text), f"the default target is host: {text}")
    return out


def test_info(t, model, package):
    r = t.json("info", model)
    t.equal(r["format"], "onnx", "format")
    t.equal(r["inputs"], [{"name": "in/x", "type": "fp32[batch, 16, H, W]", "dtype": "fp32", "shape": ["batch", 16, "H", "W"]}],
            "inputs")
    t.equal(r["ops"], {"Conv": 2, "Identity": 1, "ReduceMean": 1, "Relu": 1, "Softmax": 1}, "operators")
    t.equal(r["nodes"], 6, "nodes")
    t.equal(r["bytes"], os.path.getsize(model), "bytes")
    sha = r["model_sha256"]
    r = t.json("info", package, "--verify")
    t.equal((r["format"], r["model_sha256"], r["target"], r["verified"]), ("npk", sha, "kirin9030", True), "provenance")
    t.equal(len(r["programs"]), 4, "programs")
    t.equal(t.json("info", package)["verified"], None, "nothing is verified unasked")
    t.check("Every segment" in t.run("info", package, "--verify").stdout, "text")


def compare(t, record, folder, want, limit, what):
    t.equal([o["name"] for o in record["outputs"]], list(want), f"{what}: outputs")
    t.equal([os.path.basename(o["file"]) for o in record["outputs"]], ["out_y.npy", "out_y_2.npy"], f"{what}: file names")
    for o in record["outputs"]:
        got = np.load(os.path.join(folder, os.path.basename(o["file"])))
        t.equal((list(got.shape), str(got.dtype)), (o["shape"], "float32"), f"{what}: shape and type")
        t.check(common.cosine(got, want[o["name"]]) >= limit, f"{what}: {o['name']} differs from onnxruntime")


def test_run(t, model, package):
    x = common.small_input()
    want = common.reference(model, x)
    os.makedirs(t.path("inputs"))
    np.save(t.path("inputs", "in_x.npy"), x)
    out = t.path("outputs")
    cases = [
        ("model on the CPU", [model, "-d", "CPU", "--input", "in/x=" + t.path("inputs", "in_x.npy")], 0.99999, "measured", "fp32"),
        ("model on the NPU", [model, "-d", "NPU", "-t", "kirin9030", "--inputs", t.path("inputs")], 0.999, "modelled", "fp16"),
        ("package, best", [package, "--inputs", t.path("inputs")], 0.999, "modelled", "fp16"),
        ("package, CPU", [package, "-d", "CPU", "--inputs", t.path("inputs")], 0.99999, "modelled", "fp32"),
        ("package, fp32", [package, "--precision", "fp32", "--inputs", t.path("inputs")], 0.99999, "modelled", "fp32"),
        ("package, both", [package, "-d", "HETERO:NPU,CPU", "--inputs", t.path("inputs")], 0.999, "modelled", "fp16"),
    ]
    for what, words, limit, kind, precision in cases:
        r = t.json("run", *words, "--output-dir", out)
        compare(t, r, out, want, limit, what)
        t.equal((r["kind"], r["precision"]), (kind, precision), f"{what}: kind and precision")
        t.equal(r["inputs"][0]["source"], "file", f"{what}: source")
        units_add_up(t, r["compute_units"], 6)
        if kind == "modelled":
            t.equal(r["wall_ms"]["kind"], "measured", f"{what}: wall time is measured")
        if "NPU" in r["program"].split()[0].split(","):
            t.check("NPU (simulated kirin9030)" in r["device"], f"{what}: a simulated device says so: {r['device']}")
    text = t.run("run", package).stdout
    t.check(UNITS.search(text) and "(modelled)" in text, f"text: {text}")

    t.run("run", package, "-d", "CPU", "--seed", 7, "--output-dir", t.path("a"))
    t.run("run", model, "-d", "CPU", "--seed", 7, "--shape", SHAPE, "--output-dir", t.path("b"))
    same = np.array_equal(np.load(t.path("a", "out_y.npy")), np.load(t.path("b", "out_y.npy")))
    t.check(same, "a model compiled in memory and its package compute the same from the same seed")


def test_roofline(t, model):
    words = ["bench", model, "-d", "CPU", "--threads", 1, "--shape", SHAPE, "--budget-ms", 1, "--ops"]
    r = t.json(*words, env={"NPUKIT_CPU_TARGET": "scalar"})
    t.equal(r["cpu_target"], "scalar", "NPUKIT_CPU_TARGET is obeyed and shown")
    f = r["roofline"]
    t.equal(f["kind"], "measured", "kind")
    t.check(all(v > 0 for v in f["peak"].values()) and len(f["peak"]) == 3, f"peaks: {f['peak']}")
    t.check(f["runs"] >= 5 and f["steps"] and f["kernels"], "steps, kernels and runs")
    fields = {"name", "op", "kernel", "shape", "segment", "ms", "p50_ms", "share", "macs", "flops", "bytes", "gflops",
              "gbytes_per_s", "roof", "bound_ms", "of_roof", "above_ms"}
    memory = max(f["peak"]["read_gbytes_per_s"], f["peak"]["copy_gbytes_per_s"])
    for s in f["steps"]:
        t.equal(fields, set(s), "fields of a step")
        compute_ms, memory_ms = s["flops"] / f["peak"]["gflops"] / 1e6, s["bytes"] / memory / 1e6
        t.check(abs(s["bound_ms"] - max(compute_ms, memory_ms)) <= 1e-9 * s["bound_ms"], "the nearer roof")
        t.check(0 < s["ms"] <= s["p50_ms"] and s["flops"] >= 2 * s["macs"], f"figures: {s}")
        t.check(abs(s["gflops"] * s["ms"] * 1e6 - s["flops"]) <= 1e-9 * s["flops"], "GFLOP/s times time are operations")
    # By hand: 32 channels of 64x64 results of 3x3 taps over 16, then over 32 channels.
    macs = [s["macs"] for s in f["steps"] if s["op"].startswith("conv2d")]
    t.equal(macs, [32 * 64 * 64 * 9 * 16, 32 * 64 * 64 * 9 * 32], "multiply-adds of the convolutions")
    total = sum(s["ms"] for s in f["steps"])
    t.check(abs(f["total"]["ms"] - total) < 1e-9 * total, "the total is the sum")
    t.check(abs(sum(k["ms"] for k in f["kernels"]) - total) < 1e-9 * total, "kernels add up to it")
    t.equal(sum(k["steps"] for k in f["kernels"]), len(f["steps"]), "every step belongs to a kernel")
    said = t.run(*words).stdout
    t.check("Roofs of this machine" in said and "Sums by kernel" in said, "text")


def test_bench(t, model, package):
    fields = {"model", "model_sha256", "device", "target", "program", "cpu_target", "threads", "precision", "shapes", "batch",
              "seed", "iterations", "kind", "latency_ms", "first_inference_ms", "load_ms", "compile_ms", "throughput_per_s",
              "idle_rss_bytes", "peak_rss_bytes", "arena_bytes", "weights_bytes", "copies_per_run", "bytes_copied_per_run",
              "energy_mj", "power_mw", "npu_utilisation", "compute_units", "beats", "sustained", "per_model", "device_state",
              "conditions", "void"}
    r = t.json("bench", "-m", model, "-d", "CPU", "--threads", 1, "--shape", SHAPE, "--budget-ms", 50)
    t.check(fields <= set(r), f"fields missing: {fields - set(r)}")
    l = r["latency_ms"]
    t.check(0 < l["min"] <= l["p50"] <= l["p90"] <= l["p95"] <= l["p99"] <= l["max"], f"percentiles in order: {l}")
    t.equal((r["kind"], r["threads"], r["batch"]), ("measured", 1, 1), "kind, threads, batch")
    t.check(r["iterations"] >= 5 and r["peak_rss_bytes"] >= r["idle_rss_bytes"] > 0, "iterations and memory")
    t.check(r["cpu_target"], "the kernels' target is named")
    t.equal((r["input_sets"], r["roofline"]), (2, None), "two inputs take turns; no roofline unasked")
    first = t.json("run", model, "-d", "CPU", "--shape", SHAPE, "--seed", 3, "--output-dir", t.path("first"))
    t.check(first["outputs"], "run")
    t.json("bench", model, "-d", "CPU", "--shape", SHAPE, "--seed", 3, "--budget-ms", 1, "--iterations", 2,
           "--output-dir", t.path("turns"))
    same = open(t.path("first", "out_y.npy"), "rb").read() == open(t.path("turns", "out_y.npy"), "rb").read()
    t.check(same, "whichever input came last, outputs written are of the one that was asked for")
    test_roofline(t, model)

    r = t.json("bench", package, "-d", "HETERO:NPU,CPU", "--ops", "--output-dir", t.path("bench"))
    t.equal(r["kind"], "modelled", "kind")
    t.equal(r["latency_ms"]["std"], 0.0, "a model's clock does not waver")
    t.check(r["energy_mj"] > 0 and r["power_mw"] > 0, "energy and power")
    t.equal({"value", "unit", "kind"}, set(r["load_ms"]), "a measured figure in a modelled record")
    t.check(r["steps"] and all(isinstance(s["ms"], float) for s in r["steps"]), "--ops")
    t.check(os.path.exists(t.path("bench", "out_y.npy")), "--output-dir")
    r = t.json("bench", package, "-d", "CPU", "--concurrency", 3, "--iterations", 2)
    t.equal(r["iterations"], 6, "--concurrency times --iterations")
    t.check("Throughput" in t.run("bench", package, "-d", "CPU").stdout, "text")


def test_strict(t, model):
    # On this target nothing is faster than handing data over, so cost keeps all on the CPU.
    slow = ["-t", "kirin9030", "--set", "npu.boundary_us=100000", "--shape", SHAPE]
    r = t.json("check", model, *slow, code=1)
    t.equal(r["set"], ["npu.boundary_us=100000"], "--set is recorded")
    costs = [v for v in r["verdicts"] if v["code"] == "costs_more_than_it_saves" and v["from"]]
    t.check(costs and all(v["fact"] == "npu.boundary_us" and v["supported"] for v in costs), "cost decides")
    t.check(all(v["found"].startswith("copy ") and v["limit"].startswith("gain ") for v in costs), "with copy and gain")
    out = t.path("strict.npk")
    t.run("compile", model, *slow, "--strict-npu", "-o", out, code=1)
    t.check(not os.path.exists(out), "--strict-npu writes nothing when an operator falls off")
    t.run("compile", model, "-t", "kirin9030", "--shape", SHAPE, "--strict-npu", "--allow", "reduce_mean", "-o", out)
    t.check(os.path.exists(out), "and writes when none does")
    r = t.json("run", model, *slow, "-d", "NPU")
    t.equal(r["compute_units"]["CPU"], 0, "-d NPU forces it, whatever it costs")


def test_cache(t, model):
    cache = t.path("cache")
    env = {"NPUKIT_CACHE_DIR": cache}
    words = ["run", model, "-t", "kirin9030", "--shape", SHAPE]
    t.run(*words, "--output-dir", t.path("c1"), env=env)
    files = os.listdir(cache)
    t.equal(len(files), 1, "one package is kept")
    entry = os.path.join(cache, files[0])
    with open(entry, "rb") as f:
        kept = f.read()
    t.run(*words, "--set", "npu.dispatch_us=1", env=env)
    t.equal(len(os.listdir(cache)), 2, "another profile is another entry")
    with open(entry, "r+b") as f:  # a weight: found by verifying
        f.seek(8192)
        byte = f.read(1)
        f.seek(8192)
        f.write(bytes([byte[0] ^ 1]))
    t.run(*words, "--output-dir", t.path("c2"), env=env)
    with open(entry, "rb") as f:
        t.check(f.read() == kept, "a damaged entry is made again")
    t.check(np.array_equal(np.load(t.path("c1", "out_y.npy")), np.load(t.path("c2", "out_y.npy"))), "and never used")


def test_progress(t, model):
    words = ["bench", model, "-d", "CPU", "--shape", SHAPE, "--budget-ms", 2600]
    said = t.run(*words).stderr
    t.check(re.search(r"^ +2\.\d s  measuring$", said, re.M), f"after two seconds it says what it does: {said!r}")
    t.equal(t.run(*words, "-q").stderr, "", "-q: nothing")
    t.check("reading the model" in t.run("check", model, "--shape", SHAPE, "-v", code=1).stderr, "-v: every step")


def test_help(t):
    overview = t.run("help").stdout
    for verb in ("bench", "check", "compile", "info", "run", "targets"):
        t.check(f"  {verb}" in overview, f"help lists {verb}")
        text = t.run("help", verb).stdout
        t.equal(t.run(verb, "--help").stdout, text, f"{verb} --help")
        t.check("--json" in text and "Exit status" in text, f"help {verb} is complete")
    t.check(t.run("--version").stdout.startswith("npukit "), "--version")


def main():
    t = common.Test(__doc__)
    model = common.small_network(t.path("small.onnx"))
    test_help(t)
    test_check(t, model)
    test_foreign(t)
    package = test_compile(t, model)
    test_info(t, model, package)
    test_run(t, model, package)
    test_bench(t, model, package)
    test_strict(t, model)
    test_cache(t, model)
    test_progress(t, model)
    t.finish()


if __name__ == "__main__":
    main()
