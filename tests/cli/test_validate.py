"""validate: networks whose times are worked out here, from two made-up constants and the profile's rates, are predicted
to the digit and the constants found again; an outlier is a finding; bad tables and models are refused in one line."""
import json
import os

import common
from common import TensorProto, helper, onnx

DRAM = 45.6             # GB/s, profiles/ascend310.json
CACHE = 64 * 2 * 0.68   # GB/s: 64 B/cycle into the system cache, two cores
FIXED, DISPATCH = 530.0, 19.0  # us: made up
CHAINS = ((5, 56), (10, 112), (20, 28), (40, 56), (80, 14), (160, 28))  # (operators, height and width)


def chain(path, count, size, op="Relu", domain=""):
    """x f32[1,16,size,size] through `count` operators: each reads and writes 16*size^2 fp16 numbers."""
    nodes = [helper.make_node(op, [f"t{i}"], [f"t{i + 1}"], f"{op}_{i}", domain=domain) for i in range(count)]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "chain", [value("t0", TensorProto.FLOAT, [1, 16, size, size])],
                              [value(f"t{count}", TensorProto.FLOAT, [1, 16, size, size])])
    opsets = [helper.make_opsetid("", 13)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 8
    onnx.save(model, path)


def work(count, size):
    """us: the first reads its input from DRAM, the last writes its output there, those between stay in the cache, which is
    slower to write than to read."""
    tensor = 2 * 16 * size * size
    return tensor * (2 / DRAM + (count - 2) / CACHE) / 1e3


def milliseconds(count, size):
    return (FIXED + count * DISPATCH + work(count, size)) / 1e3


def write(folder, networks=None, **changes):
    os.makedirs(folder, exist_ok=True)
    rows = []
    for count, size in CHAINS:
        name = f"relu{count}"
        chain(os.path.join(folder, f"{name}.onnx"), count, size)
        rows.append({"name": name, "file": f"{name}.onnx", "published_ms": milliseconds(count, size), "model": "made by the test"})
    table = {"table": "ascend310", "title": "six chains", "source": "worked out", "date": "2026-11-30",
             "networks": rows if networks is None else networks(rows), **changes}
    with open(os.path.join(folder, "table.json"), "w", encoding="utf-8") as f:
        json.dump(table, f)
    return folder


def test_exact(t):
    r = t.json("validate", "ascend310", "--data", write(t.path("exact")))
    t.equal((r["table"], r["target"], r["set"], r["kind"], r["method"]), ("ascend310", "ascend310", [], "modelled", "leave-one-out"), "head")
    t.equal((r["title"], r["source"], r["date"]), ("six chains", "worked out", "2026-11-30"), "where the times are from")
    t.equal([n["tasks"] for n in r["networks"]], [c for c, _ in CHAINS], "one task for each operator")
    for n, (count, size) in zip(r["networks"], CHAINS):
        t.check(abs(n["error"]) < 2e-3, f"{n['name']} is predicted: {n}")
        t.equal(n["published_ms"], milliseconds(count, size), "published")
        t.check(abs(n["work_ms"] - work(count, size) / 1e3) < 1e-9, f"time of cache and DRAM: {n}")
        t.check(abs(n["predicted_ms"] / n["published_ms"] - 1 - n["error"]) < 1e-12, "error is relative and signed")
    fitted = {f["fact"]: f for f in r["fitted"]}
    for fact, value in (("npu.inference_fixed_us", FIXED), ("npu.dispatch_us", DISPATCH)):
        f = fitted[fact]
        t.check(abs(f["value"] / value - 1) < 5e-3, f"{fact} is found again: {f}")
        t.check(f["range"][0] <= f["folds"][0] <= f["folds"][1] <= f["range"][1], f"folds within the range: {f}")
    t.check(len(fitted) <= 4, "at most four free parameters")
    t.equal(r["goal"], {"mean_error": 0.12, "worst_error": 0.35, "met": True}, "the goal")
    text = t.run("validate", "ascend310", "--data", t.path("exact")).stdout
    t.check("relu160" in text and "the goal is met" in text and "modelled" in text and "worked out" in text, text)
    result = t.run("validate", "ascend310", "--data", t.path("exact"), "-v")
    t.check("relu5" in result.stderr, f"progress: {result.stderr}")


def test_findings(t):
    def double(rows):
        rows[2]["published_ms"] *= 2
        return rows
    r = t.json("validate", "ascend310", "--data", write(t.path("outlier"), double), code=1)
    errors = [n["error"] for n in r["networks"]]
    t.check(abs(errors[2] + 0.5) < 5e-3, f"predicted by the others: half of what is published: {errors}")
    t.check(abs(r["worst_error"] - 0.5) < 5e-3 and not r["goal"]["met"], "a finding")
    t.check("the goal is missed" in t.run("validate", "ascend310", "--data", t.path("outlier"), code=1).stdout, "in text too")
    # Without a cache everything is DRAM traffic; the constants are fitted anew, near enough.
    r = t.json("validate", "ascend310", "--data", t.path("exact"), "--set", "npu.l2_bytes=0")
    t.check(abs(r["networks"][1]["work_ms"] - 10 * 64 * 112 * 112 / DRAM / 1e6) < 1e-9, "a changed fact changes the prediction")
    t.equal(r["set"], ["npu.l2_bytes=0"], "and is recorded")


def test_refused(t):
    good = t.path("exact")
    bad = t.refused
    bad(2, "TABLE", "validate", "--data", good)
    bad(2, "--data", "validate", "ascend310")
    bad(2, "no target", "validate", "ascend311", "--data", good)
    bad(2, "holds table \"ascend310\", not \"kirin9030\"", "validate", "kirin9030", "--data", good)
    bad(2, "table.json", "validate", "ascend310", "--data", t.path("nowhere"))
    bad(2, "npu.stack.name", "validate", "kirin9030", "--data", write(t.path("kirin"), table="kirin9030"))
    bad(2, "npu.dispatch_us is fitted", "validate", "ascend310", "--data", good, "--set", "npu.dispatch_us=3")
    bad(2, "too few", "validate", "ascend310", "--data", write(t.path("few"), lambda rows: rows[:3]))
    bad(2, "is given twice", "validate", "ascend310", "--data", write(t.path("twice"), lambda rows: rows + rows[:1]))
    bad(2, "missing.onnx", "validate", "ascend310", "--data",
        write(t.path("missing"), lambda rows: [{**rows[0], "file": "missing.onnx"}] + rows[1:]))
    folder = write(t.path("foreign"))
    chain(os.path.join(folder, "relu20.onnx"), 2, 8, "Frobnicate", "my.ops")
    bad(2, "Frobnicate", "validate", "ascend310", "--data", folder)
    result = t.run("validate", "ascend310", "--data", folder, code=2)
    t.check("relu20.onnx" in result.stderr and "Frobnicate_0" in result.stderr, f"names file and node: {result.stderr}")
    with open(os.path.join(write(t.path("text")), "relu5.onnx"), "w", encoding="utf-8") as f:
        f.write("no model")
    bad(2, "relu5.onnx", "validate", "ascend310", "--data", t.path("text"))


def main():
    t = common.Test(__doc__)
    test_exact(t)
    test_findings(t)
    test_refused(t)
    t.finish()


if __name__ == "__main__":
    main()
