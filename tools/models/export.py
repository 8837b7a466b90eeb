"""Makes the ONNX files of the real networks, with Debian's torch, from weights that lie in packages.

    python3 export.py --weights DIR --out DIR [--only NAME ...]

What it writes is the same bytes every time: trained weights are only copied, seeded ones come from numpy's PCG64, and what
is computed (ResNet-50's BatchNorm statistics) is computed in fp64 and rounded far above its error. README.md has the hashes.
"""
import argparse
import hashlib
import json
import os
import sys
import time
import warnings

import numpy as np
import torch
import torchvision

import networks

OPSET = 17
SEED = 4
RESNET_CALIBRATION = (16, 3, 112, 112)
# Gain of what a block adds to its input. With 1 an untrained network is chaos: each block enlarges rounding errors, and fp16 is
# off by a hundredth at the end, which no bound could tell from a fault.
BRANCH = 0.25
HERE = os.path.dirname(os.path.abspath(__file__))


def read_safetensors(path):
    """Header length (u64), JSON header, data: https://github.com/huggingface/safetensors, "Format"."""
    with open(path, "rb") as f:
        length = int.from_bytes(f.read(8), "little")
        header, data = json.loads(f.read(length)), f.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = torch.from_numpy(np.frombuffer(data[begin:end], np.float32).reshape(entry["shape"]).copy())
    return tensors


def load(model, tensors, unused=()):
    """Every parameter must come from the file, and nothing of the file may be left over but `unused`."""
    missing, extra = model.load_state_dict(tensors, strict=False)
    extra = [name for name in extra if not name.startswith(unused)]
    missing = [name for name in missing if not name.endswith("num_batches_tracked")]
    if missing or extra:
        raise SystemExit(f"weights do not fit: missing {missing}, left over {extra}")
    return model.eval()


def mobilenet_v2(weights):
    tensors = torch.load(os.path.join(weights, "mobilenet_v2.pth"), weights_only=True)
    return load(torchvision.models.mobilenet_v2(), tensors)


def efficientnet_lite0(weights):
    tensors = torch.load(os.path.join(weights, "efficientnet_lite0.pth"), weights_only=True)
    return load(networks.EfficientNetLite0(), tensors)


def minilm(weights):
    tensors = read_safetensors(os.path.join(weights, "minilm.safetensors"))
    return load(networks.MiniLM(), tensors, unused=("pooler.",))


def seed(model, number):
    """He's initialisation from PCG64: torch's own generator may differ in the last bit between CPUs."""
    source = np.random.Generator(np.random.PCG64(number))
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, (torch.nn.Conv2d, torch.nn.Linear)):
                weight = module.weight
                scale = np.float32((2.0 / (weight[0].numel())) ** 0.5)
                weight.copy_(torch.from_numpy(source.standard_normal(tuple(weight.shape), np.float32) * scale))
                if module.bias is not None:
                    module.bias.zero_()


def calibrate(model, shape, number):
    """BatchNorm statistics of one seeded batch: with those of an untrained network deep layers would answer the same to any
    picture. fp64, then 12 bits of mantissa: its error across CPUs (1e-13) is far below the rounding, so the bits are the same."""
    layers = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    # As in pictures, every scale has its share: white noise would calibrate for nothing but edges.
    source = np.random.Generator(np.random.PCG64(number))
    batch = np.zeros(shape)
    for cells in (1, 2, 4, 7, 14, 28, 56, 112):
        grid = source.standard_normal(shape[:2] + (cells, cells)) / 8**0.5
        batch += grid.repeat(shape[2] // cells, 2).repeat(shape[3] // cells, 3)
    for layer in layers:
        layer.momentum = 1.0
    model.double().train()
    with torch.no_grad():
        features = []
        model.fc.register_forward_pre_hook(lambda _, inputs: features.append(inputs[0]))
        model(torch.from_numpy(batch))
        for layer in layers:
            _round(layer.running_mean)
            _round(layer.running_var)
        # Features are never negative, so every picture's answer would point the same way: take the common part out.
        model.fc.bias.copy_(-(features[0].mean(0) @ model.fc.weight.T))
        _round(model.fc.bias)
    return model.float().eval()


def _round(tensor):
    mantissa, exponent = np.frexp(tensor.numpy())
    tensor.copy_(torch.from_numpy(np.ldexp(np.round(mantissa * 4096) / 4096, exponent)))


def resnet50(_):
    model = torchvision.models.resnet50()
    seed(model, SEED)
    for module in model.modules():
        if isinstance(module, torchvision.models.resnet.Bottleneck):
            torch.nn.init.constant_(module.bn3.weight, BRANCH)
    return calibrate(model, RESNET_CALIBRATION, SEED + 1)


IMAGE = {"input": (1, 3, 224, 224)}
TOKENS = {name: (1, 128) for name in ("input_ids", "attention_mask", "token_type_ids")}
# Name: how it is made, its inputs, its output's name, whether BatchNormalization stays (an importer must cope with both).
MODELS = {
    "mobilenet_v2": (mobilenet_v2, IMAGE, "logits", True),
    "efficientnet_lite0": (efficientnet_lite0, IMAGE, "logits", True),
    "resnet50": (resnet50, IMAGE, "logits", False),
    "minilm": (minilm, TOKENS, "last_hidden_state", False),
}


def export(model, inputs, output, keep_batch_norm, path):
    values = tuple(torch.ones(shape, dtype=torch.int64) if len(shape) == 2 else torch.zeros(shape) for shape in inputs.values())
    mode = torch.onnx.TrainingMode.PRESERVE if keep_batch_norm else torch.onnx.TrainingMode.EVAL
    part = path + ".part"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's, about shapes that are meant to be constants
        torch.onnx.export(model, values, part, opset_version=OPSET, input_names=list(inputs), output_names=[output],
                          training=mode, do_constant_folding=True)
    os.replace(part, path)


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--weights", required=True, help="folder with the packages' weight files")
    parser.add_argument("--out", required=True, help="folder for the ONNX files")
    parser.add_argument("--only", nargs="+", choices=sorted(MODELS), default=list(MODELS))
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    with open(os.path.join(HERE, "exports.json"), encoding="utf-8") as f:
        recorded = json.load(f)["sha256"]
    for name in args.only:
        start = time.monotonic()
        make, inputs, output, keep = MODELS[name]
        path = os.path.join(args.out, name + ".onnx")
        export(make(args.weights), inputs, output, keep, path)
        found = sha256(path)
        print(f"{path}: {os.path.getsize(path)} bytes in {time.monotonic() - start:.1f} s, sha256 {found}", flush=True)
        if found != recorded.get(name):
            print(f"{name}: not the recorded bytes (sha256 {recorded.get(name)}): another torch or numpy than Debian 12's?",
                  file=sys.stderr)


if __name__ == "__main__":
    main()
