"""The streaming encoder: its counts are the published ones, and onnxruntime and npukit answer as PyTorch does, chunk after chunk
with the states fed back."""
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import common  # noqa: E402

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402

PYTHON = "/usr/bin/python3"  # the one Debian's python3-torch belongs to
EXPORT = os.path.join(common.ROOT, "examples", "zipformer", "export.py")
CHUNKS = 6

# Of the published model with these widths (icefall 36e0420c, recipe reazonspeech, left context 128), counted there.
ENCODER, FRONT, PROJECTION, STATE_BYTES = 146_855_113, 611_953, 393_728, 2_395_656
# Each published layer also holds a vector of its width that nothing reads: the sum of all layers' widths.
UNREAD = 2 * 192 + 2 * 256 + 4 * 512 + 5 * 768 + 4 * 512 + 2 * 256
# First layer of each stack: key, nonlin_attn, val, conv.
SHAPES = {0: ([128, 1, 128], [1, 1, 128, 144], [128, 1, 48], [1, 192, 15]),
          2: ([64, 1, 128], [1, 1, 64, 192], [64, 1, 48], [1, 256, 15]),
          4: ([32, 1, 128], [1, 1, 32, 384], [32, 1, 48], [1, 512, 7]),
          8: ([16, 1, 256], [1, 1, 16, 576], [16, 1, 96], [1, 768, 7]),
          13: ([32, 1, 128], [1, 1, 32, 384], [32, 1, 48], [1, 512, 7]),
          17: ([64, 1, 128], [1, 1, 64, 192], [64, 1, 48], [1, 256, 15])}

# fp32 rounding of the longest sum (the front end's 608 products) by chance signs, once a layer, relative to the largest value.
BOUND = 2.0**-24 * math.sqrt(608) * 19


def counts_are_published():
    text = subprocess.run([PYTHON, EXPORT, "--describe"], check=True, stdout=subprocess.PIPE, text=True).stdout
    large = json.loads(text)["large"]
    count = large["parameters"]
    assert count["front"] == FRONT, count
    assert count["projection"] == PROJECTION, count
    assert count["all"] == ENCODER - UNREAD + FRONT + PROJECTION, count
    states = {name: (shape, dtype) for name, shape, dtype in large["states"]}
    assert len(states) == 116, len(states)
    assert sum(math.prod(s) * np.dtype(d).itemsize for s, d in states.values()) == STATE_BYTES
    assert states["embed_states"] == ([1, 128, 3, 19], "float32") and states["processed_lens"] == ([1], "int64")
    for layer, (key, nonlin, value, conv) in SHAPES.items():
        wanted = {"key": key, "nonlin_attn": nonlin, "val1": value, "val2": value, "conv1": conv, "conv2": conv}
        for what, shape in wanted.items():
            assert states[f"cached_{what}_{layer}"] == (shape, "float32"), (what, layer, states[f"cached_{what}_{layer}"])


def close(got, want, what):
    assert got.shape == want.shape, (what, got.shape, want.shape)
    off, largest = float(np.abs(got - want).max()), float(np.abs(want).max())
    assert off <= BOUND * largest, f"{what}: off by {off} of {largest}"
    return off / largest


def follow(answer, names, stream, who):
    """answer: feeds -> outputs by name. Feeds its own states back; compares every chunk, and at the end every state."""
    feeds = {name: np.zeros(shape, dtype) for name, (shape, dtype) in names.items() if name != "x"}
    worst = 0.0
    for k in range(CHUNKS):
        feeds["x"] = stream[f"x{k}"]
        out = answer(feeds)
        worst = max(worst, close(out["encoder_out"], stream[f"out{k}"], f"{who}, chunk {k}"))
        feeds = {name: out["new_" + name] for name in feeds if name != "x"}
    for name, value in feeds.items():
        if name == "processed_lens":
            assert value.tolist() == [32 * CHUNKS], value
        else:
            worst = max(worst, close(value, stream[name], f"{who}, {name}"))
    print(f"{who}: {CHUNKS} chunks, off by at most {worst:.1e} of the largest value (bound {BOUND:.1e})")


def main():
    args = common.arguments(__doc__)
    if subprocess.run([PYTHON, "-c", "import torch, onnx"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
        common.skip("python3-torch or python3-onnx is missing: run ./dev setup --networks")
    counts_are_published()
    stream_file = os.path.join(args.work, "stream.npz")
    subprocess.run([PYTHON, EXPORT, "--size", "narrow", "--out", args.work, "--stream", stream_file, "--chunks", str(CHUNKS)],
                   check=True)
    model, stream = os.path.join(args.work, "zipformer_narrow.onnx"), np.load(stream_file)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = {i.name: (i.shape, np.int64 if "int64" in i.type else np.float32) for i in session.get_inputs()}
    outputs = [o.name for o in session.get_outputs()]
    assert len(names) == 117 and len(outputs) == 117, (len(names), len(outputs))
    follow(lambda feeds: dict(zip(outputs, session.run(None, feeds))), names, stream, "onnxruntime")

    package = os.path.join(args.work, "narrow.npk")
    subprocess.run([args.npukit, "compile", model, "-t", "host", "-o", package, "-q"], check=True,
                   stdout=subprocess.DEVNULL)
    give, take = os.path.join(args.work, "in"), os.path.join(args.work, "out")
    os.makedirs(give, exist_ok=True)

    def npukit(feeds):
        for name, value in feeds.items():
            np.save(os.path.join(give, name + ".npy"), value)
        subprocess.run([args.npukit, "run", package, "-d", "CPU", "--inputs", give, "--output-dir", take, "-q"], check=True,
                       stdout=subprocess.DEVNULL)
        return {name: np.load(os.path.join(take, name + ".npy")) for name in outputs}
    follow(npukit, names, stream, "npukit")


if __name__ == "__main__":
    main()
