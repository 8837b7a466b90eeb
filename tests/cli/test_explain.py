"""explain, and what bench says of a modelled run: causes that add up, causes that come and go with the fact behind them, and
figures checked against a calculation by hand from the profile's facts."""
import math
import os

import common
from common import SHAPE, VERDICT_FIELDS, TensorProto, helper, np, numpy_helper, onnx

CAUSES = ["dispatch", "weight_streaming", "shape_underfill", "vector_bound", "layout", "boundary_copies", "cpu_islands"]
FACTS = {}  # of kirin9030, by key


def near(found, expected, relative=1e-9):
    return abs(found - expected) <= relative * max(abs(found), abs(expected))


def adds_up(t, r, what):
    t.equal([c["code"] for c in r["causes"]], CAUSES + [r["remainder"]], f"{what}: causes in their order, then what is left")
    total = math.fsum(c["ms"] for c in r["causes"])
    t.check(near(total, r["total_ms"]), f"{what}: causes add up to {total}, the total is {r['total_ms']}")
    t.check(all(c["ms"] >= 0 for c in r["causes"]), f"{what}: no cause is negative")
    for c in r["causes"]:
        t.check(near(c["share"] * r["total_ms"], c["ms"]), f"{what}: share of {c['code']}")
        t.check(len(c["nodes"]) == len(c["node_ms"]) and sum(c["node_ms"]) <= c["ms"] * (1 + 1e-9) + 1e-9,
                f"{what}: nodes of {c['code']} pay no more than it costs: {c}")
    alone = {w["cause"]: w["saves_ms"] for w in r["what_if"] if w["cause"]}
    t.equal(list(alone), CAUSES, f"{what}: every cause alone")
    t.check(near(alone["dispatch"], r["causes"][0]["ms"]), f"{what}: the first is taken away alone")
    t.check(all(0 <= ms <= r["total_ms"] * (1 + 1e-12) for ms in alone.values()), f"{what}: what-if lines are part of the total")


def cause(r, code):
    return next(c for c in r["causes"] if c["code"] == code)


def sets(**facts):
    """--set words: npu__dispatch_us=0 is npu.dispatch_us=0."""
    return [w for k, v in facts.items() for w in ("--set", f"{k.replace('__', '.')}={v}")]


def test_record(t, model, package):
    fields = {"total_ms", "best_alternative", "bound_ms", "causes", "what_if", "adopt", "sensitive_to"}
    r = t.json("explain", model, "-t", "kirin9030", "--shape", SHAPE)
    t.check(fields <= set(r), f"fields missing: {fields - set(r)}")
    adds_up(t, r, "model")
    t.equal(set(r["bound_ms"]), {"compute", "memory"}, "bounds")
    t.check(max(r["bound_ms"].values()) <= r["total_ms"], "nothing is faster than its bound")
    t.equal(r["best_alternative"]["device"], "CPU", "the alternative")
    yes = {True: "yes", False: "no"}
    other = r["best_alternative"]
    t.equal(r["adopt"]["latency"], yes[r["total_ms"] < other["ms"]], "adoption for latency")
    t.equal(r["adopt"]["energy"], yes[r["energy_mj"] < other["energy_mj"]], "adoption for energy")
    power = r["energy_mj"] / r["total_ms"], other["energy_mj"] / other["ms"]
    t.equal(r["adopt"]["heat"], yes[power[0] < power[1]], "adoption for heat")
    t.check(all(set(v) == VERDICT_FIELDS for v in r["verdicts"]), "verdicts")
    b = t.json("bench", model, "-t", "kirin9030", "--shape", SHAPE, "-d", "AUTO:NPU,CPU")
    t.check(abs(b["latency_ms"]["mean"] - r["total_ms"]) <= 1e-5, "the total is what bench says, to the clock's nanoseconds")
    p = t.json("explain", package)
    t.check(near(p["total_ms"], r["total_ms"]), "a package is explained like its model")
    text = t.run("explain", package).stdout
    for said in ("dispatch", "hardware_bound", "total", "Each alone", "Adopt the NPU for latency: ", "(modelled)"):
        t.check(said in text, f"text: {said!r} in {text}")
    help_text = t.run("help", "explain").stdout
    t.check("--set" in help_text and "Exit status" in help_text, "help")


def test_by_hand(t, model):
    """All on the NPU: dispatch, boundary and bounds follow from the profile's facts by arithmetic."""
    r = t.json("explain", model, "-t", "kirin9030", "--shape", SHAPE, "-d", "NPU")
    adds_up(t, r, "-d NPU")
    t.equal(r["devices"], "NPU", "all of it")
    t.equal({o["device"] for o in r["ops"]}, {"NPU"}, "tasks")
    dispatch = (FACTS["npu.inference_fixed_us"] + len(r["ops"]) * FACTS["npu.dispatch_us"]) / 1e3
    t.check(near(cause(r, "dispatch")["ms"], dispatch), f"dispatch: by hand {dispatch}, found {cause(r, 'dispatch')['ms']}")
    # in/x [1,16,64,64], out/y [1,32,64,64], out_y [1,32] (keepdims), fp32: three tensors cross.
    crossing = 4 * (16 * 64 * 64 + 32 * 64 * 64 + 32)
    boundary = 3 * FACTS["npu.boundary_us"] / 1e3 + crossing / FACTS["npu.boundary_gbytes_per_s"] / 1e6
    t.check(near(cause(r, "boundary_copies")["ms"], boundary, 1e-6),
            f"boundary: by hand {boundary}, found {cause(r, 'boundary_copies')['ms']}")
    t.equal(cause(r, "cpu_islands")["ms"], 0, "nothing is on the CPU")
    # first: 64x64 pixels x 32 channels x 16x3x3; second: x 32x3x3. One block of the cube is m x k x n products a cycle.
    macs = 64 * 64 * 32 * (16 * 9 + 32 * 9)
    peak = (FACTS["npu.cores"] * FACTS["npu.clock_ghz"] * 1e9 * FACTS["npu.cube.m_fp16"] * FACTS["npu.cube.k_fp16"] *
            FACTS["npu.cube.n_fp16"])
    t.check(near(r["bound_ms"]["compute"], macs / peak * 1e3, 1e-6), f"compute bound: by hand {macs / peak * 1e3}")
    # Weights in fp16 once, and inputs and outputs; the device may pad weights, at most to whole fractals.
    weights = 2 * (32 * 16 * 9 + 32 * 32 * 9)
    low = (weights + crossing) / FACTS["npu.dram_gbytes_per_s"] / 1e6
    t.check(low <= r["bound_ms"]["memory"] <= 1.2 * low, f"memory bound: by hand {low}, found {r['bound_ms']['memory']}")

    b = t.json("bench", model, "-t", "kirin9030", "--shape", SHAPE, "-d", "NPU", "--ops")
    t.check(near(b["npu_utilisation"], macs * b["throughput_per_s"] / peak, 1e-5),
            f"utilisation: by hand {macs * b['throughput_per_s'] / peak}, found {b['npu_utilisation']}")
    t.equal(b["npu_busy"], 1.0, "one segment: the NPU has work all the time")
    t.equal([o["name"] for o in b["ops"]], [o["name"] for o in r["ops"]], "--ops lists the same tasks")
    t.check(near(sum(o["macs"] for o in b["ops"]), macs), "multiply-adds of the tasks")
    t.equal({o["kind"] for o in b["ops"]} - {"cube", "vector", "layout"}, set(), "kinds of tasks")
    tasks = math.fsum(o["ms"] for o in b["ops"])
    rest = FACTS["npu.inference_fixed_us"] / 1e3 + boundary
    t.check(abs(tasks + rest - b["latency_ms"]["mean"]) <= 1e-5, "tasks, the call and hand-overs are the latency")
    t.check(near(sum(o["share"] for o in b["ops"]), tasks / (tasks + rest), 1e-6), "shares")
    for o in b["ops"]:
        t.check(0 <= o["utilisation"] <= 1 and 0 < o["bound_ms"] <= o["ms"], f"no task beats its roofline: {o}")
    t.equal(t.json("bench", model, "-d", "CPU", "--shape", SHAPE, "--budget-ms", 1, "--ops")["ops"], [],
            "a measured run has no modelled tasks")
    text = t.run("bench", model, "-t", "kirin9030", "--shape", SHAPE, "-d", "NPU", "--ops").stdout
    t.check("of its peak multiply-adds" in text and "of peak" in text, f"text: {text}")


def test_extremes(t, package, heavy):
    """A fact at an extreme: its cause vanishes, or is nearly everything. Packages, so that nothing is placed anew."""
    base = t.json("explain", package)

    def at(code, package_=package, **facts):
        r = t.json("explain", package_, *sets(**facts))
        adds_up(t, r, str(facts))
        return cause(r, code)

    t.equal(at("dispatch", npu__dispatch_us=0, npu__inference_fixed_us=0)["ms"], 0, "dispatch that costs nothing")
    t.check(at("dispatch", npu__dispatch_us=1e5)["share"] > 0.99, "dispatch dominates")
    t.check(at("boundary_copies", npu__boundary_us=0, npu__boundary_gbytes_per_s=1e5)["share"] < 1e-3, "free hand-overs")
    t.check(at("boundary_copies", npu__boundary_us=1e5)["share"] > 0.99, "hand-overs dominate")
    t.check(at("vector_bound", npu__vector__bytes_per_cycle=0.01, npu__vector__move_bytes_per_cycle=0.01)["share"] > 0.9,
            "the vector unit dominates")
    slow, fast = (at("vector_bound", npu__vector__bytes_per_cycle=v)["ms"] for v in (1, 1e6))
    t.check(fast < cause(base, "vector_bound")["ms"] + 1e-9 and fast < slow / 10, "a fast vector unit costs less")
    # One row times a 1024x1024 matrix: 2 MiB of weights for a million products.
    stream = 2 * 1024 * 1024 / FACTS["npu.dram_gbytes_per_s"] / 1e6
    found = cause(t.json("explain", heavy), "weight_streaming")["ms"]
    t.check(0.6 * stream <= found <= 1.5 * stream, f"weights: by hand {stream} ms, found {found}")
    t.check(at("weight_streaming", heavy, npu__dram_gbytes_per_s=0.01)["share"] > 0.9, "weights dominate on a slow DRAM")
    t.check(at("weight_streaming", heavy, npu__dram_gbytes_per_s=1e5, npu__dram_latency_cycles=0)["ms"] < stream / 2,
            "and hardly matter on a fast one")
    # One row fills a sixteenth of the cube's block, and all of a block of one row.
    t.check(at("shape_underfill", heavy, npu__head__cube_cycles=0, npu__cube__k_fp16=1, npu__cube__n_fp16=1)["ms"] > 0.1,
            "a slow cube shows what padding costs")
    t.equal(at("shape_underfill", heavy, npu__cube__m_fp16=1)["ms"], 0, "a block of one row is filled")


def test_islands(t, model):
    """An operator the chip is said not to run: its time is the CPU's, and lifting the limit is a what-if line."""
    words = ["explain", model, "-t", "kirin9030", "--shape", SHAPE, "-d", "NPU"]
    before = t.json(*words)
    t.check(all(w["cause"] for w in before["what_if"]), "nothing to lift")
    r = t.json(*words, "--set", "npu.op.softmax.supported=0")
    adds_up(t, r, "an island")
    on_cpu = [o for o in r["ops"] if o["device"] == "CPU"]
    t.check(on_cpu and near(cause(r, "cpu_islands")["ms"], math.fsum(o["ms"] for o in on_cpu)), "islands are the CPU's tasks")
    lift = next(w for w in r["what_if"] if not w["cause"])
    t.equal(lift["change"], "npu.op.softmax.supported = 1", "the limit to lift")
    t.equal([(v["from"], v["placed_on"]) for v in lift["new_verdicts"]], [(["soft"], "NPU")], "who moves")
    t.check(near(r["total_ms"] - lift["saves_ms"], before["total_ms"]), "and it is as fast as if the limit had never been there")
    r = t.json("explain", model, "-t", "kirin9030", "--shape", SHAPE, "--set", "npu.op.conv2d.max_kernel=2", "-d", "NPU")
    lift = next(w for w in r["what_if"] if w["change"].startswith("npu.op.conv2d"))
    t.equal(lift["change"], "npu.op.conv2d.max_kernel = 3", "as large a kernel as is found")
    t.equal({n for v in lift["new_verdicts"] for n in v["from"]} & {"first", "second"}, {"first", "second"}, "both convolutions")
    t.run(*words, "--set", "npu.op.softmax.supported=0", "--strict-npu", code=1)
    t.run(*words, "--set", "npu.op.softmax.supported=0", "--strict-npu", "--allow", "softmax")
    t.check("operators move to the NPU" in t.run("explain", model, "-t", "kirin9030", "--shape", SHAPE, "-d", "NPU", "--set",
                                                 "npu.op.softmax.supported=0").stdout, "text")


def test_not_worth_it(t, model):
    r = t.json("explain", model, "-t", "kirin9030", "--shape", SHAPE, "--set", "npu.boundary_us=100000")
    t.check(any("-d NPU" in n for n in r["notes"]), f"says that run would use the CPU: {r['notes']}")
    t.equal(r["adopt"]["latency"], "no", "and that it should")
    t.check(cause(r, "boundary_copies")["share"] > 0.9, "and why")


def test_sensitivity(t, package):
    r = t.json("explain", package)
    t.check(r["assumed_facts"] > 10, "assumed facts are tried")
    now = {"latency": r["adopt"]["latency"], "energy": r["adopt"]["energy"]}
    for s in r["sensitive_to"]:
        t.equal({s["becomes"], now[s["conclusion"]]}, {"yes", "no"}, f"{s['fact']} flips")
    # Hand-overs add up, so where the CPU becomes faster follows from the two times.
    crossings = round((t.json("explain", package, *sets(npu__boundary_us=1000))["total_ms"] -
                       t.json("explain", package, *sets(npu__boundary_us=0))["total_ms"]))
    cpu = next(a for a in r["alternatives"] if a["device"] == "CPU")
    flips = FACTS["npu.boundary_us"] + (cpu["ms"] - r["total_ms"]) * 1e3 / crossings
    found = [s for s in r["sensitive_to"] if (s["fact"], s["conclusion"]) == ("npu.boundary_us", "latency")]
    if now["latency"] == "yes":
        t.check(found and near(found[0]["flips_at"], flips, 2e-3), f"npu.boundary_us: by hand {flips}, found {found}")
    for s in r["sensitive_to"][:4]:  # the nearest: asked again with the fact there
        p = t.json("explain", package, "--set", f"{s['fact']}={s['flips_at']!r}")
        t.equal(p["adopt"][s["conclusion"]], s["becomes"], f"{s['fact']} = {s['flips_at']} flips {s['conclusion']}")
        if not s["unit"]:
            continue  # a count: there is no value just before
        inside = s["value"] + 0.98 * (s["flips_at"] - s["value"])
        p = t.json("explain", package, "--set", f"{s['fact']}={inside!r}")
        t.equal(p["adopt"][s["conclusion"]], now[s["conclusion"]], f"{s['fact']} = {inside} does not yet")


def answers(t, model, shape, *words):
    r = t.json("explain", model, "-t", "kirin9030", "--shape", shape, *words)
    return {c: r["adopt"][c] for c in ("latency", "energy")}


def flips(r, fact):
    return {s["conclusion"]: s for s in r["sensitive_to"] if s["fact"] == fact}


def stays(r, fact):
    return next((s for s in r["insensitive_to"] if s["fact"] == fact), None)


def test_every_assumed_fact(t, model, package):
    """Facts that a program is compiled for are moved too; every assumed fact is in one list or the other."""
    r = t.json("explain", model, "-t", "kirin9030", "--shape", SHAPE)
    assumed = {f["key"] for f in t.json("targets", "show", "kirin9030")["facts"] if f["source"] == "assumed"}
    told = {s["fact"] for s in r["sensitive_to"]}, {s["fact"] for s in r["insensitive_to"]}
    t.equal(told[0] | told[1], assumed, "every assumed fact is spoken of")
    t.equal(told[0] & told[1], set(), "once")
    for s in r["insensitive_to"]:
        t.check(s["tried_from"] <= s["value"] <= s["tried_to"] and s["because"], f"what was tried: {s}")
    # Both kernels are 3: at 2 nothing that multiplies is on the NPU, at 3 all is. Asked again with the fact there.
    limit = "npu.op.conv2d.max_kernel"
    t.equal(r["adopt"]["latency"], "yes", "the NPU pays here")
    t.equal(flips(r, limit)["latency"]["flips_at"], 2, "one below what the kernels need")
    t.equal(flips(r, limit)["latency"]["becomes"], "no", "and then it does not pay")
    t.equal(answers(t, model, SHAPE, "--set", f"{limit}=2")["latency"], "no", "as compiled with 2")
    t.equal(answers(t, model, SHAPE, "--set", f"{limit}=3")["latency"], "yes", "as compiled with 3")
    # No pool, so its limit is met by nobody; a limit met by an operator that does not decide.
    never = stays(r, "npu.op.max_pool2d.max_kernel")
    t.equal((never["tried_from"], never["tried_to"]), (255, 255), "nothing to try")
    t.check("no operator" in never["because"], f"because: {never}")
    mean = stays(r, "npu.op.reduce_mean.max_rank")
    t.equal(mean["tried_from"], 3, "of rank 4: tried one below")
    t.equal(answers(t, model, SHAPE, "--set", "npu.op.reduce_mean.max_rank=3"), {c: r["adopt"][c] for c in ("latency", "energy")},
            "and the answers stay")
    # A package holds no model.
    said = stays(t.json("explain", package), limit)
    t.check(said and "package" in said["because"], f"a package: {said}")
    text = t.run("explain", model, "-t", "kirin9030", "--shape", SHAPE).stdout
    t.check("never change an answer" in text and "no operator of the model meets it" in text, f"text: {text}")


def test_limit_by_trial(t, path):
    """Kernels of 3 and 5: the value found is the nearest of all whole numbers below that turns an answer."""
    model = common.small_network(path, kernel=5)
    r = t.json("explain", model, "-t", "kirin9030", "--shape", SHAPE)
    now = {c: r["adopt"][c] for c in ("latency", "energy")}
    tried = {k: answers(t, model, SHAPE, "--set", f"npu.op.conv2d.max_kernel={k}") for k in range(5, -1, -1)}
    for conclusion in now:
        nearest = next((k for k, a in tried.items() if a[conclusion] != now[conclusion]), None)
        found = flips(r, "npu.op.conv2d.max_kernel").get(conclusion)
        t.equal(found["flips_at"] if found else None, nearest, f"{conclusion}: by trying all, {tried}")


def test_buffer(t, model):
    """L1 is on the data sheet; a value given with --set is assumed, and halved and doubled."""
    given = ["--set", f"npu.sram_bytes={int(FACTS['npu.sram_bytes'])}"]
    r = t.json("explain", model, "-t", "kirin9030", "--shape", SHAPE, *given)
    now = {c: r["adopt"][c] for c in ("latency", "energy")}
    found = flips(r, "npu.sram_bytes")
    t.check(found or stays(r, "npu.sram_bytes"), "it is spoken of")
    if not found:
        never = stays(r, "npu.sram_bytes")
        t.check(never["tried_from"] <= 1024 and never["tried_to"] >= 16 * FACTS["npu.sram_bytes"], f"its range: {never}")
        for v in (never["tried_from"], never["tried_to"]):
            t.equal(answers(t, model, SHAPE, "--set", f"npu.sram_bytes={int(v)}"), now, f"at {v} as now")
    for conclusion, s in found.items():
        at = int(s["flips_at"])
        t.equal(answers(t, model, SHAPE, "--set", f"npu.sram_bytes={at}")[conclusion], s["becomes"], f"at {at} it turns")
        before = int(at * 1.11 // 32 * 32) if at < s["value"] else int(at / 1.11 // 32 * 32)
        t.equal(answers(t, model, SHAPE, "--set", f"npu.sram_bytes={before}")[conclusion], now[conclusion], f"at {before} not yet")


def test_bad_input(t, model, package):
    t.refused(2, "has no NPU", "explain", model, "--shape", SHAPE)
    t.refused(2, "about an NPU", "explain", package, "-d", "CPU")
    t.refused(2, "npu.no_such_fact", "explain", package, "--set", "npu.no_such_fact=1")
    t.refused(2, "npu.dispatch_us", "explain", package, "--set", "npu.dispatch_us=-1")
    t.refused(2, "no program takes these shapes", "explain", package, "--shape", "in/x=1x16x65x64")
    t.refused(2, "no input", "explain", package, "--shape", "nobody=1x16x65x64")
    t.refused(2, "compiled for target kirin9030", "explain", package, "-t", "ascend310")
    t.refused(2, "one program at a time", "explain", model, "-t", "kirin9030", "--shape", SHAPE, "--shape", "in/x=1x16x8x8")
    t.refused(2, "absent.onnx", "explain", t.path("absent.onnx"), "-t", "kirin9030")
    with open(package, "rb") as f:
        data = bytearray(f.read())
    bad = t.path("bad.npk")
    with open(bad, "wb") as f:
        f.write(data[:len(data) // 2])
    t.refused(2, "bad.npk", "explain", bad)


def heavy_weights(path):
    weights = np.random.default_rng(1).standard_normal((1024, 1024)).astype(np.float32) / 32
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], "heavy",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1024])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1024])],
                              [numpy_helper.from_array(weights, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, path)
    return path


def main():
    t = common.Test(__doc__)
    for f in t.json("targets", "show", "kirin9030")["facts"]:
        FACTS[f["key"]] = f["value"]
    model = common.small_network(t.path("small.onnx"))
    package = t.path("small.npk")
    t.run("compile", model, "-t", "kirin9030", "--shape", SHAPE, "-o", package)
    heavy = t.path("heavy.npk")
    # Nothing of one product is worth a phone's NPU: free hand-overs and calls make it so.
    free = ["--set", "npu.boundary_us=0", "--set", "npu.inference_fixed_us=0", "--set", "npu.dispatch_us=0",
            "--set", "cpu.dram_gbytes_per_s=1"]
    t.run("compile", heavy_weights(t.path("heavy.onnx")), "-t", "kirin9030", *free, "-o", heavy)
    t.equal(t.json("info", heavy)["programs"][0]["devices"], "NPU", "the product is on the NPU")
    t.check(os.path.getsize(heavy) > 2 * 1024 * 1024, "with its weights")
    test_record(t, model, package)
    test_by_hand(t, model)
    test_extremes(t, package, heavy)
    test_islands(t, model)
    test_not_worth_it(t, model)
    test_sensitivity(t, package)
    test_every_assumed_fact(t, model, package)
    if "NPUKIT_SANITIZED_FACTOR" not in os.environ:  # the same code many more times, for the values it finds
        test_limit_by_trial(t, t.path("kernels.onnx"))
        test_buffer(t, model)
    test_bad_input(t, model, package)
    t.finish()


if __name__ == "__main__":
    main()
