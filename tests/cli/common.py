"""What the command line's tests share: a small network, running npukit, counting checks."""
import argparse
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SKIPPED = 77  # what CTest takes for "skipped"


def _use_the_tests_python():
    python = os.environ.get("NPUKIT_PYTHON") or os.path.join(ROOT, ".cache", "venv", "bin", "python")
    if os.path.exists(python) and not os.environ.get("NPUKIT_CLI_PYTHON"):
        os.environ["NPUKIT_CLI_PYTHON"] = python
        os.execv(python, [python] + sys.argv)
    print("SKIPPED: numpy, onnx or onnxruntime is missing: run ./dev setup, or set NPUKIT_PYTHON to a Python that has them")
    sys.exit(SKIPPED)


try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    _use_the_tests_python()

VERDICT_FIELDS = {"from", "op", "foreign_op", "device", "supported", "code", "fact", "limit", "found", "reason", "remedy",
                  "rewrite", "rewrite_result", "route", "segment", "placed_on"}


class Test:
    """One run of a test program: its folder, its npukit, its count of checks."""

    def __init__(self, description):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--npukit", required=True)
        parser.add_argument("--work", required=True)
        args = parser.parse_args()
        self.program = os.path.abspath(args.npukit)
        self.work = os.path.abspath(args.work)
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        self.checked = self.failed = 0

    def path(self, *names):
        return os.path.join(self.work, *names)

    def check(self, good, text):
        self.checked += 1
        if not good:
            self.failed += 1
            print(f"FAILED: {text}", flush=True)

    def equal(self, found, expected, what):
        self.check(found == expected, f"{what}: expected {expected!r}, found {found!r}")

    def finish(self):
        print(f"{self.checked} checks, {self.failed} failed", flush=True)
        sys.exit(0 if self.checked and not self.failed else 1)

    def run(self, *words, code=0, env=None, stdout=subprocess.PIPE):
        """Runs npukit; checks the exit code and that nothing crashed."""
        result = subprocess.run([self.program, *map(str, words)], stdin=subprocess.DEVNULL, stdout=stdout,
                                stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, **(env or {})})
        self.check(result.returncode == code,
                   f"npukit {' '.join(map(str, words))}: exit code {result.returncode}, expected {code}: {result.stderr}")
        return result

    def json(self, *words, code=0, env=None):
        """Runs with --json; checks that standard output is exactly one object of our schema."""
        result = self.run(*words, "--json", code=code, env=env)
        record = json.loads(result.stdout)  # trailing text would fail
        self.equal(record["schema_version"], 1, "schema_version")
        self.equal(set(record["tool"]), {"name", "version", "git"}, "tool")
        return record

    def refused(self, code, said, *words, env=None, stdout=subprocess.PIPE):
        """Bad input: the exit code, one line on standard error that says `said`, nothing on standard output."""
        result = self.run(*words, code=code, env={"NPUKIT_LOG": "error", **(env or {})}, stdout=stdout)  # no progress
        lines = result.stderr.splitlines()
        self.check(len(lines) == 1 and lines[0].startswith("npukit: ") and said in lines[0],
                   f"npukit {' '.join(map(str, words))}: expected one line with {said!r}, found {result.stderr!r}")
        self.check(not result.stdout, f"npukit {' '.join(map(str, words))}: standard output {result.stdout!r}")


def small_network(path, channels=32, kernel=3, softmax=True, foreign=False):
    """in/x f32[batch,16,H,W] -> conv, relu, conv (kernel), [softmax over channels] -> out/y, and its mean -> out_y.

    Large enough that a phone's NPU pays at 64x64 (two convolutions of 19 and 38 MMAC), small enough for a test."""
    rng = np.random.default_rng(5)

    def weights(name, shape):
        scale = (2.0 / np.prod(shape[1:])) ** 0.5
        return numpy_helper.from_array((rng.standard_normal(shape) * scale).astype(np.float32), name)

    pad = kernel // 2
    nodes = [
        helper.make_node("Conv", ["in/x", "w1", "b1"], ["c1"], "first", pads=[1] * 4),
        helper.make_node("Relu", ["c1"], ["r1"], "act"),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], "second", pads=[pad] * 4),
    ]
    if foreign:
        nodes += [helper.make_node("Frobnicate", ["c2"], [f"f{i}"], f"frob{i}", domain="my.ops") for i in range(2)]
        nodes += [helper.make_node("Add", ["f0", "f1"], ["c3"], "join")]
    else:
        nodes += [helper.make_node("Softmax", ["c2"], ["c3"], "soft", axis=1) if softmax
                  else helper.make_node("Sigmoid", ["c2"], ["c3"], "soft")]
    nodes += [
        helper.make_node("Identity", ["c3"], ["out/y"], "name_it"),
        helper.make_node("ReduceMean", ["c3"], ["out_y"], "mean", axes=[2, 3]),
    ]
    graph = helper.make_graph(
        nodes, "small",
        [helper.make_tensor_value_info("in/x", TensorProto.FLOAT, ["batch", 16, "H", "W"])],
        [helper.make_tensor_value_info("out/y", TensorProto.FLOAT, None),
         helper.make_tensor_value_info("out_y", TensorProto.FLOAT, None)],
        [weights("w1", (channels, 16, 3, 3)), weights("b1", (channels,)),
         weights("w2", (channels, channels, kernel, kernel))])
    opsets = [helper.make_opsetid("", 13)] + ([helper.make_opsetid("my.ops", 1)] if foreign else [])
    model = helper.make_model(graph, opset_imports=opsets, producer_name="npukit tests")
    model.ir_version = 8
    onnx.save(model, path)
    return path


SHAPE = "in/x=1x16x64x64"


def small_input(seed=0, shape=(1, 16, 64, 64)):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def reference(model, x):
    """What onnxruntime computes: {output name: values}."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, {"in/x": x})))


def cosine(a, b):
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
