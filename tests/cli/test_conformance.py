"""`conformance onnx`: both layouts are read, every kind of result is told from the others, lists of exceptions bind."""
import json
import os
import resource
import subprocess

import common
import numpy as np
from common import TensorProto, helper, numpy_helper, onnx


def model(path, nodes, inputs, outputs, opset=21, initializers=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), path)


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def data(folder, index, inputs, outputs):
    at = os.path.join(folder, f"test_data_set_{index}")
    os.makedirs(at)
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for i, a in enumerate(arrays):
            with open(os.path.join(at, f"{kind}_{i}.pb"), "wb") as f:
                f.write(numpy_helper.from_array(a).SerializeToString())


X = np.array([[-1, 2, 3]], np.float32)


def relu(test, name, expected, op="Relu", sets=1):
    folder = test.path("data", name)
    model(os.path.join(folder, "model.onnx"), [helper.make_node(op, ["x"], ["y"])], [value("x", X.shape)], [value("y", X.shape)])
    for i in range(sets):
        data(folder, i, [X], [expected if i == sets - 1 else np.maximum(X, 0)])
    return folder


def slow(test):
    """Seconds of work for the interpreter."""
    folder, n = test.path("data", "slow"), 900
    model(os.path.join(folder, "model.onnx"), [helper.make_node("MatMul", ["x", "x"], ["y"]), helper.make_node("MatMul", ["y", "x"], ["z"])],
          [value("x", (n, n))], [value("z", (n, n))])
    zeros = np.zeros((n, n), np.float32)
    data(folder, 0, [zeros], [zeros])


def run(test, *words, limit=None):
    done = subprocess.run([test.program, "conformance", "onnx", "--data", test.path("data"), "--interpret", "--json", *words],
                          capture_output=True, text=True, timeout=250, check=False, preexec_fn=limit)
    record = json.loads(done.stdout) if done.stdout else None
    return done.returncode, record, done.stderr


def results(record):
    return {c["name"]: c["result"] for c in record["cases"]}


def main():
    test = common.Test(__doc__)
    right = np.maximum(X, 0)
    relu(test, "right", right)
    relu(test, "nested/right_too", right, sets=2)
    relu(test, "second_set_wrong", right + 1, sets=2)
    relu(test, "wrong_type", right.astype(np.float64))
    relu(test, "wrong_shape", right[0])
    relu(test, "no_such_operator", right, op="Frobnicate")
    loose = relu(test, "loose", right * np.float32(1.05))
    with open(os.path.join(loose, "data.json"), "w", encoding="utf-8") as f:
        json.dump({"rtol": 0.1, "url": "elsewhere"}, f)
    broken = relu(test, "broken", right)
    with open(os.path.join(broken, "model.onnx"), "r+b") as f:
        f.truncate(40)
    # Flat: input arange(n)/n, open dimensions 1.
    model(test.path("data", "flat", "light_neg.onnx"), [helper.make_node("Neg", ["x"], ["y"])], [value("x", ("N", 4))],
          [value("y", ("N", 4))])
    with open(test.path("data", "flat", "light_neg_output_0.pb"), "wb") as f:
        f.write(numpy_helper.from_array(-np.arange(4, dtype=np.float32).reshape(1, 4) / 4).SerializeToString())

    code, record, _ = run(test)
    found = results(record)
    expected = {"right": "pass", "nested/right_too": "pass", "second_set_wrong": "fail", "wrong_type": "fail", "wrong_shape": "fail",
                "no_such_operator": "unsupported", "loose": "pass", "broken": "fail", "flat/light_neg": "pass"}
    test.equal(code, 1, "exit code with failures")
    test.equal(found, expected, "results")
    reasons = {c["name"]: c["reason"] or "" for c in record["cases"]}
    test.equal(reasons["right"], "", "reason of a pass")
    test.check("data set 1: output y: element 0: expected 1, found 0" in reasons["second_set_wrong"], reasons["second_set_wrong"])
    test.equal(reasons["wrong_type"], "output y: expected fp64[1, 3], found fp32[1, 3]", "reason of a wrong type")
    test.check("Frobnicate" in reasons["no_such_operator"], reasons["no_such_operator"])
    test.equal([record[k] for k in ("suite", "passed", "failed", "unsupported", "crashed", "hung", "total", "wrong_values")],
               ["onnx", 4, 4, 1, 0, 0, 9, 3], "counts")

    code, record, _ = run(test, "--only", "*right*")
    test.equal((code, sorted(results(record))), (0, ["nested/right_too", "right"]), "--only")
    code, _, err = run(test, "--only", "nothing")
    test.equal(code, 2, "--only without a match")
    test.check("nothing" in err, err)

    listed = test.path("list.txt")
    good = [n for n, r in expected.items() if r != "pass"]

    def expect(names):
        with open(listed, "w", encoding="utf-8") as f:
            f.write("# a comment\n" + "".join(f"{n}  because\n" for n in names))
        return run(test, "--expect", listed)

    test.equal(expect(good)[0], 0, "all as listed")
    code, record, _ = expect(good[1:])
    test.equal((code, [u["name"] for u in record["unexpected"]]), (1, [good[0]]), "one failure is not listed")
    code, record, _ = expect(good + ["right"])
    test.equal((code, [u["name"] for u in record["unexpected"]]), (1, ["right"]), "one listed passes")
    code, record, _ = expect(good + ["gone"])
    test.equal((code, [u["name"] for u in record["unexpected"]]), (1, ["gone"]), "one listed is not there")
    with open(listed, "w", encoding="utf-8") as f:
        f.write("right\n")
    test.equal(run(test, "--expect", listed)[0], 2, "a list without reasons")

    # What does not end, and what a signal ends: both are counted, and the others run on.
    slow(test)
    # Long enough for a process to start on a busy machine, under sanitizers too; the slow case takes many seconds.
    code, record, _ = run(test, "--timeout", "5" if "NPUKIT_SANITIZED_FACTOR" in os.environ else "1.5")
    test.equal((code, results(record)["slow"], results(record)["right"]), (1, "hang", "pass"), "a hang")
    code, record, _ = run(test, limit=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 1)))
    test.equal((code, results(record)["slow"], results(record)["right"]), (1, "crash", "pass"), "a crash")

    empty = test.path("empty")
    os.makedirs(empty)
    done = subprocess.run([test.program, "conformance", "onnx", "--data", empty], capture_output=True, text=True, check=False)
    test.equal(done.returncode, 2, "no case in the folder")
    test.check("test_data_set_0" in done.stderr, done.stderr)
    test.finish()


if __name__ == "__main__":
    main()
