"""compare: figures against NumPy's on the very files that run writes, references from onnxruntime, errors that are put there
on purpose and must be found where they are."""
import os

import common
from common import SHAPE, TensorProto, helper, np, numpy_helper, onnx, onnxruntime

NPU = ["-t", "kirin9030", "-d", "NPU"]
OUTPUTS = {"out/y": "out_y.npy", "out_y": "out_y_2.npy"}


def all_values(model, x):
    """Every value onnxruntime computes, by name."""
    m = onnx.load(model)
    names = [n for node in m.graph.node for n in node.output]
    known = {o.name for o in m.graph.output}
    m.graph.output.extend(helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names if n not in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(m.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, {"in/x": x})))


def dump(t, folder, values):
    folder = t.path(folder)
    os.makedirs(folder, exist_ok=True)
    for name, value in values.items():
        np.save(os.path.join(folder, OUTPUTS.get(name, name.replace("/", "_") + ".npy")), value)
    return folder


def figures(found, reference):
    a, b = found.astype(np.float64).ravel(), reference.astype(np.float64).ravel()
    error = ((a - b) ** 2).sum()
    return {"max_abs": np.abs(a - b).max(), "cosine": a @ b / np.sqrt((a @ a) * (b @ b)),
            "snr_db": 10 * np.log10((b @ b) / error)}


def test_outputs(t, model, package, inputs, values):
    """What compare prints is what NumPy computes from the outputs of run and the reference of onnxruntime."""
    reference = dump(t, "outputs_only", {n: values[n] for n in OUTPUTS})
    t.run("run", model, *NPU, "--inputs", inputs, "--output-dir", t.path("run"))
    for what, words in {"model": [model, *NPU], "package": [package]}.items():
        r = t.json("compare", *words, "--inputs", inputs, "--against", reference)
        t.equal([o["name"] for o in r["outputs"]], list(OUTPUTS), f"{what}: outputs")
        for o in r["outputs"]:
            want = figures(np.load(t.path("run", OUTPUTS[o["name"]])), values[o["name"]])
            if what == "model":
                for key, value in want.items():
                    t.check(abs(o[key] - value) <= 1e-6 * max(1, abs(value)), f"{o['name']}: {key}: NumPy {value}, found {o[key]}")
            t.check(o["within"] and o["cosine"] >= 0.999, f"{what}: {o['name']} agrees with onnxruntime")
            t.equal(o["file"], os.path.join(reference, OUTPUTS[o["name"]]), f"{what}: which file judged")
    t.equal(r["layers"], [], "a package has no layers")
    t.check(any("model file" in n for n in r["notes"]), "and says so")
    r = t.json("compare", package, "--inputs", inputs)
    t.check("CPU" in r["reference"] and all(o["within"] for o in r["outputs"]), "a package against its own CPU program")


def test_layers(t, model, inputs, values):
    full = dump(t, "full", values)
    r = t.json("compare", model, *NPU, "--inputs", inputs, "--against", full)
    t.equal(r["first_divergence"], None, "nothing diverges")
    layers = {n: l for l in r["layers"] for n in l["from"]}
    t.check({"first", "second", "soft"} <= set(layers), f"layers by the file's names: {sorted(layers)}")
    t.check(all(set(l[c]) >= {"cosine", "snr_db"} for l in r["layers"] for c in ("entire", "single")), "both columns")
    t.check(all(l["single_within"] and l["entire_within"] for l in r["layers"]), "every layer is close")
    judged = {os.path.basename(l["file"]) for l in r["layers"] if l["file"]}
    t.check({"r1.npy", "c2.npy"} <= judged, f"fused nodes are judged by the value they end with: {judged}")
    # fp16 keeps 11 bits, and sums 144 products in fp16: tens of dB, not hundreds.
    t.check(30 < layers["first"]["single"]["snr_db"] < 90, f"fp16 shows: {layers['first']['single']}")
    t.equal(layers["first"]["entire"], layers["first"]["single"], "of the first layer both columns are the same")
    t.check(layers["second"]["entire"]["snr_db"] <= layers["second"]["single"]["snr_db"] + 1, "errors add up")

    ours = t.json("compare", model, *NPU, "--inputs", inputs)
    t.check("CPU" in ours["reference"], "the default reference")
    for mine, theirs in zip(ours["layers"], r["layers"]):
        t.check(abs(mine["single"]["cosine"] - theirs["single"]["cosine"]) < 1e-4, f"{mine['node']}: as against onnxruntime")
    exact = t.json("compare", model, *NPU, "--inputs", inputs, "--interpret")
    t.check("definition" in exact["reference"] and all(o["within"] for o in exact["outputs"]), "--interpret")
    t.run("compare", model, "-d", "CPU", "--inputs", inputs, "--strict-npu", code=1)
    cpu = t.json("compare", model, "-d", "CPU", "--inputs", inputs)
    t.check("definition" in cpu["reference"], "the CPU does not judge itself")
    t.check(all(o["cosine"] > 0.999999 for o in cpu["outputs"]), "fp32 on the CPU")
    text = t.run("compare", model, *NPU, "--inputs", inputs).stdout
    for said in ("entire", "single", "No layer falls below", "Compute units"):
        t.check(said in text, f"text: {said!r} in {text}")


def test_divergence(t, model, inputs, values):
    """A reference that was changed in one place: found there, and not before."""
    wrong = dict(values)
    wrong["c2"] = -values["c2"]
    r = t.json("compare", model, *NPU, "--inputs", inputs, "--against", dump(t, "wrong", wrong))
    index = next(i for i, l in enumerate(r["layers"]) if "second" in l["from"])
    t.equal((r["first_divergence"]["layer"], r["first_divergence"]["column"]), (index, "single"), "the layer that was changed")
    t.check(r["first_divergence"]["cosine"] < -0.999, "its sign was")
    t.check(all(l["single_within"] for l in r["layers"][:index]), "those before it are fine")
    t.check(any("c2.npy" in n for n in r["notes"]), "and our own fp32 says that the reference is strange")
    t.check(all(o["within"] for o in r["outputs"]), "outputs are judged by their own files")
    bad = dict(wrong)
    bad["out/y"] = values["out/y"][..., ::-1].copy()
    text = t.run("compare", model, *NPU, "--inputs", inputs, "--against", dump(t, "bad", bad), code=1).stdout
    t.check("<-- first" in text and "First divergence: " in text, f"text: {text}")
    t.run("compare", model, *NPU, "--inputs", inputs, "--min-cosine", "0.9999999", code=1)


def overflowing(path):
    """Two products; sums of the second exceed what fp16 can hold (65504), those of the first do not."""
    ones = np.ones((64, 64), np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["a"], "small"), helper.make_node("MatMul", ["a", "w2"], ["y"], "large")]
    graph = helper.make_graph(nodes, "overflow", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 64])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [16, 64])],
                              [numpy_helper.from_array(ones, "w1"), numpy_helper.from_array(64 * ones, "w2")])
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    m.ir_version = 8
    onnx.save(m, path)
    return path


def test_overflow(t):
    """64 rows of ones give 64, then 64 * 64 * 64 = 262144 > 65504: infinity in fp16, named where it happens."""
    model = overflowing(t.path("overflow.onnx"))
    np.save(t.path("x.npy"), np.ones((16, 64), np.float32))
    r = t.json("compare", model, *NPU, "--input", "x=" + t.path("x.npy"), code=1)
    t.equal([l["from"][0] for l in r["layers"]][:2], ["small", "large"], "in order of running")
    d = r["first_divergence"]
    t.equal((d["layer"], d["column"]), (1, "single"), "the second product")
    t.check(r["layers"][1]["single"]["mismatched"] > 0, "infinity against a number")
    t.equal(r["layers"][0]["entire"]["mismatched"], 0, "not the first")


def test_bad_input(t, model, package, inputs, values):
    words = ["compare", model, *NPU, "--inputs", inputs, "--against"]
    t.refused(2, "nowhere", *words, t.path("nowhere"))
    t.refused(2, "nobody.npy", *words, dump(t, "b1", {"nobody": values["r1"], "out/y": values["out/y"]}))
    t.refused(2, "expected fp32[1, 32, 64, 64], found fp32[1, 32, 64, 63]", *words,
              dump(t, "b2", {"out/y": values["out/y"][..., :63].copy()}))
    t.refused(2, "r1.npy: expected fp32[1, 32, 64, 64], found fp64", *words, dump(t, "b3", {"r1": values["r1"].astype(np.float64)}))
    t.refused(2, "made from another in/x", *words, dump(t, "b4", {"in/x": common.small_input(9), "out/y": values["out/y"]}))
    os.makedirs(t.path("empty"))
    t.refused(2, "nothing in", *words, t.path("empty"))
    os.makedirs(t.path("junk"))
    with open(t.path("junk", "out_y.npy"), "wb") as f:
        f.write(b"\x93NUMPY no")
    t.refused(2, "out_y.npy", *words, t.path("junk"))
    t.refused(2, "min-cosine", "compare", model, *NPU, "--min-cosine", "2")
    t.refused(2, "not compared with itself", "compare", package, "-d", "CPU")


def main():
    t = common.Test(__doc__)
    model = common.small_network(t.path("small.onnx"))
    package = t.path("small.npk")
    t.run("compile", model, "-t", "kirin9030", "--shape", SHAPE, "-o", package)
    x = common.small_input()
    os.makedirs(t.path("inputs"))
    np.save(t.path("inputs", "in_x.npy"), x)
    inputs, values = t.path("inputs"), all_values(model, x)
    test_outputs(t, model, package, inputs, values)
    test_layers(t, model, inputs, values)
    test_divergence(t, model, inputs, values)
    test_overflow(t)
    test_bad_input(t, model, package, inputs, values)
    t.finish()


if __name__ == "__main__":
    main()
