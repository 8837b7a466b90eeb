"""One model made ready to be loaded by every engine, and npukit's answers compared with onnxruntime's.

    python3 prepare.py SPEC    SPEC: JSON, see `main`; prints one JSON object

Prints {"files": {engine: file}, "inputs" (npz), "given" (folder), "names", "outputs", "agreement": {"cos", "max_rel", "ok"}, "problems": [...]}.
"""
import json
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import agreement  # noqa: E402
import yardstick  # noqa: E402


GIVEN = "in"


def give_inputs(model, folder):
    """A folder as `npukit bench --inputs` takes it."""
    given = os.path.join(folder, GIVEN)
    os.makedirs(given, exist_ok=True)
    for name, value in model.inputs.items():
        np.save(os.path.join(given, name.replace("/", "_") + ".npy"), value)
    return given


def npukit_answers(command, model, folder):
    """What `npukit bench` leaves for these inputs: the very call that is timed."""
    give, take = os.path.join(folder, GIVEN), os.path.join(folder, "out")
    argv = [command, "bench", "-m", str(model.path), "-d", "CPU", "--threads", "1", "--budget-ms", "1", "--iterations", "2",
            "--inputs", give, "--output-dir", take, "-q"]
    for name, dims in model.shapes.items():
        argv += ["--shape", f"{name}={'x'.join(map(str, dims))}"]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return [np.load(os.path.join(take, name.replace("/", "_") + ".npy")) for name in model.outputs]


def package(command, model, path):
    argv = [command, "compile", str(model.path), "-t", "host", "-o", path, "-q"]
    for name, dims in model.shapes.items():
        argv += ["--shape", f"{name}={'x'.join(map(str, dims))}"]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return path


def ort_file(model, path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    options.optimized_model_filepath = path
    options.add_session_config_entry("session.save_model_format", "ORT")
    session = onnxruntime.InferenceSession(str(model.file), options, providers=["CPUExecutionProvider"])
    return session.run(model.outputs, model.inputs)


def main():
    """SPEC: yardstick, cache, folder, npukit, name, model, shapes (as the yardstick's suite has them), input, engines."""
    spec = json.loads(sys.argv[1])
    bench = yardstick.load(spec["yardstick"])
    shapes = bench.parse_shapes([spec["shapes"]] if isinstance(spec["shapes"], str) else spec["shapes"])
    model = bench.Model(spec["model"], shapes, spec["cache"], 0, spec["input"])
    os.makedirs(spec["folder"], exist_ok=True)
    inputs = os.path.join(spec["folder"], "inputs.npz")
    np.savez(inputs, **{f"{k:03d}": v for k, v in enumerate(model.inputs.values())})
    given, files, problems = give_inputs(model, spec["folder"]), {}, []
    ort = os.path.join(spec["folder"], "model.ort")
    want = ort_file(model, ort)
    if "ort" in spec["engines"]:
        files["ort"] = ort
    if "openvino" in spec["engines"]:
        files["openvino"] = str(model.file)
    for engine in ("mnn", "ncnn"):
        if engine not in spec["engines"]:
            continue
        try:
            files[engine] = str(model.convert(engine)[0])
        except RuntimeError as e:
            problems.append(f"{engine}: {e}")
    try:
        files["npukit"] = package(spec["npukit"], model, os.path.join(spec["folder"], "model.npk"))
        agrees = agreement.compare(npukit_answers(spec["npukit"], model, spec["folder"]), want)
    except (subprocess.CalledProcessError, FileNotFoundError) as e:
        agrees = {"cos": None, "max_rel": None, "ok": False}
        problems.append(f"npukit: {e}")
    print(json.dumps({"files": files, "inputs": inputs, "given": given, "names": list(model.inputs), "outputs": model.outputs,
                      "agreement": agrees, "problems": problems}))


if __name__ == "__main__":
    main()
