"""What the end-to-end tests share: where things lie, running the programs, onnxruntime as the judge, comparing."""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.path.join(ROOT, ".cache")
SKIPPED = 77  # what CTest takes for "skipped"


def skip(reason):
    print(f"SKIPPED: {reason}", flush=True)
    sys.exit(SKIPPED)


def _use_the_tests_python():
    """numpy and onnxruntime lie in the environment ./dev setup makes, not in the system's Python."""
    python = os.environ.get("NPUKIT_PYTHON") or os.path.join(CACHE, "venv", "bin", "python")
    if os.path.exists(python) and not os.environ.get("NPUKIT_E2E_PYTHON"):
        os.environ["NPUKIT_E2E_PYTHON"] = python
        os.execv(python, [python] + sys.argv)
    skip("numpy, onnxruntime or pillow is missing: run ./dev setup, or set NPUKIT_PYTHON to a Python that has them")


try:
    import numpy as np
    import onnxruntime
    import PIL  # noqa: F401: draws the Chinese line
except ImportError:
    _use_the_tests_python()

sys.path.insert(0, os.path.join(ROOT, "tools", "demo"))
import draw_chinese_line  # noqa: E402
import score  # noqa: E402

NETWORKS = ("det", "cls", "rec")
SHAPES = {
    "det": ((1, 3, 736, 736), (1, 3, 736, 1024), (1, 3, 1024, 736)),
    "cls": ((1, 3, 48, 192),),
    "rec": ((1, 3, 48, 320), (1, 3, 48, 640), (1, 3, 48, 960)),
}
TARGET = "kirin9030"
# For this target the NPU saves nothing on it, and its verdicts say so (test_compile); -d NPU forces it there.
STAYS_ON_CPU = "cls"
DRAWN = "drawn_chinese_line.png"
# A smaller run for slow builds (sanitizers): one photo, one random input a network.
SAMPLE = os.environ.get("NPUKIT_E2E_SAMPLE", "0") != "0"


def arguments(description, more=None):
    """more: adds a test's own arguments to the parser."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--npukit", help="the npukit program")
    parser.add_argument("--ocr", help="the npukit-ocr program")
    parser.add_argument("--work", required=True, help="folder for packages and outputs")
    parser.add_argument("--device", help="as npukit -d")
    if more:
        more(parser)
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    return args


def model(network):
    return cached("models", f"ppocrv4_{network}.onnx")


def keys():
    return cached("models", "ppocr_keys_v1.txt")


def package(args, network):
    return os.path.join(args.work, network + ".npk")


def cached(*parts):
    """A file ./dev setup fetches or makes; without it the test is skipped."""
    path = os.path.join(CACHE, *parts)
    if not os.path.exists(path):
        skip(f".cache/{'/'.join(parts)} is missing: run ./dev setup --networks")
    return path


def truth(all_photos=not SAMPLE):
    """Photo's name -> its entry in truth.json; the drawn line's truth is what was drawn."""
    with open(os.path.join(HERE, "truth.json"), encoding="utf-8") as f:
        entries = json.load(f)["photos"]
    line = [draw_chinese_line.TEXT]
    entries[DRAWN] = {"truth": line, "recorded": line}
    return entries if all_photos else {"scenetext04.jpg": entries["scenetext04.jpg"]}


def photos(args):
    """The paths of all pictures to read; draws the drawn one."""
    paths = []
    for name in truth():
        if name == DRAWN:
            paths.append(os.path.join(args.work, DRAWN))
            draw_chinese_line.draw(cached("fonts", "wqy-microhei.ttc")).save(paths[-1])
        else:
            paths.append(cached("photos", name))
    return paths


def run(command, expect=0, **kwargs):
    """Runs a program; a wrong exit code fails the test and shows what it printed. Returns its result with text output."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=kwargs.pop("stdout", subprocess.PIPE),
                            stderr=subprocess.PIPE, text=True, check=False, **kwargs)
    if result.returncode != expect:
        fail(f"exit code {result.returncode}, expected {expect}: {' '.join(command)}\n{result.stdout}{result.stderr}")
    return result


def run_json(command):
    return json.loads(run(command).stdout)


def run_network(args, file, value, folder, extra):
    """One inference of a PP-OCR network, whose input is x."""
    return infer(args, file, {"x": value}, folder, extra)


def infer(args, file, inputs, folder, extra):
    """One inference through `npukit run`; `inputs` go in by name, the one output and the report are returned."""
    os.makedirs(folder, exist_ok=True)
    for name, value in inputs.items():
        np.save(os.path.join(folder, name + ".npy"), value)
    report = run_json([args.npukit, "run", file, "--inputs", folder, "--output-dir", os.path.join(folder, "out"), "--json"]
                      + extra)
    if len(report["outputs"]) != 1:
        fail(f"{file}: {len(report['outputs'])} outputs, expected 1")
    return np.load(report["outputs"][0]["file"]), report


def run_all_on_npu(args, network, value, folder):
    """From the model, with no other device allowed: also where the compiler would have left it on the CPU."""
    shape = "x=" + "x".join(map(str, value.shape))
    found, report = run_network(args, model(network), value, folder, ["-t", TARGET, "-d", "NPU", "--shape", shape])
    units = report["compute_units"]
    if units["CPU"] != 0 or units["NPU"] == 0:
        fail(f"{network} with -d NPU: {units}")
    return found


class Checks:
    """Counts checks, so that a test that checked nothing cannot pass."""

    def __init__(self):
        self.done = 0
        self.failed = 0

    def check(self, good, text):
        self.done += 1
        if not good:
            self.failed += 1
            print(f"FAILED: {text}", flush=True)

    def finish(self):
        print(f"{self.done} checks, {self.failed} failed", flush=True)
        sys.exit(0 if self.done > 0 and self.failed == 0 else 1)


def fail(text):
    print(f"FAILED: {text}", flush=True)
    sys.exit(1)


class Reference:
    """onnxruntime on the original models: the judge of every output."""

    def __init__(self):
        self._sessions = {}

    def _session(self, file):
        if file not in self._sessions:
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 3
            options.intra_op_num_threads = len(os.sched_getaffinity(0))
            self._sessions[file] = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        return self._sessions[file]

    def run(self, network, value):
        return self.run_file(model(network), {"x": value})

    def run_file(self, file, inputs):
        return self._session(file).run(None, inputs)[0]


def compare(checks, name, found, expected, device):
    """The bounds: CPU fp32 max|a-b| <= 1e-3 max|b| and cosine >= 0.99999, simulated NPU fp16 cosine >= 0.999."""
    if found.shape != expected.shape:
        checks.check(False, f"{name}: shape {found.shape}, expected {expected.shape}")
        return
    a, b = found.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    checks.check(bool(np.isfinite(a).all()), f"{name}: not finite")
    difference = np.abs(a - b).max() / np.abs(b).max()
    cosine = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    print(f"{name} on {device}: max|a-b| / max|b| = {difference:.2e}, 1 - cosine = {1 - cosine:.2e}", flush=True)
    if device == "CPU":
        checks.check(difference <= 1e-3, f"{name}: max|a-b| = {difference:.3e} max|b|, allowed 1e-3")
        checks.check(cosine >= 0.99999, f"{name}: cosine {cosine:.7f}, at least 0.99999")
    else:
        checks.check(cosine >= 0.999, f"{name}: cosine {cosine:.7f}, at least 0.999")


def texts(reading):
    """Photo's name -> its lines, of what npukit-ocr --json printed."""
    return {os.path.basename(p["file"]): [line["text"] for line in p["lines"]] for p in reading["photos"]}


def check_distances(checks, reading):
    """No photo is read worse than in the recorded reading."""
    found = texts(reading)
    for name, entry in truth().items():
        distance = score.distance(found[name], entry["truth"])
        bound = score.distance(entry["recorded"], entry["truth"])
        print(f"{name}: {distance} off (recorded reading {bound}): {' / '.join(found[name])}", flush=True)
        checks.check(distance <= bound, f"{name}: read {found[name]}, {distance} off the truth, allowed {bound}")
