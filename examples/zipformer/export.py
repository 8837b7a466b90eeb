"""Writes a size of the encoder as ONNX, with an example of its inputs in mid-stream.

    python3 export.py --size narrow --out FOLDER [--stream FILE.npz --chunks N]
    python3 export.py --describe    parameters and states of each size, as JSON

Leaves FOLDER/zipformer_SIZE.onnx and FOLDER/zipformer_SIZE_inputs/NAME.npy: x, and the states after enough chunks that the
history is full. --stream also stores N chunks with what PyTorch answers to each, states fed back, for a judge to repeat.
"""
import argparse
import json
import os
import warnings

import numpy as np
import torch

import zipformer

OPSET = 13  # that of published exports of this network
FULL = zipformer.LEFT // zipformer.CHUNK + 1  # chunks after which every state holds real history


def chunk(number):
    """Log-mel frames have a wide spread and slow changes: white noise and a drift, seeded."""
    source = np.random.Generator(np.random.PCG64(number))
    shape = (1, zipformer.FRAMES, zipformer.FEATURES)
    drift = np.cumsum(source.standard_normal((1, zipformer.FRAMES, 1), np.float32), 1) / np.float32(8)
    return (source.standard_normal(shape, np.float32) + drift).astype(np.float32)


def empty_states(size):
    return [torch.from_numpy(np.zeros(shape, dtype)) for _, shape, dtype in zipformer.state_specs(size)]


def step(encoder, x, states):
    with torch.no_grad():
        answer = encoder(torch.from_numpy(x), *states)
    return answer[0], list(answer[1:])


def write_model(encoder, path):
    names = [name for name, _, _ in zipformer.state_specs(encoder.size)]
    part = path + ".part"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's, about shapes that are meant to be constants
        torch.onnx.export(encoder, (torch.from_numpy(chunk(0)), *empty_states(encoder.size)), part, opset_version=OPSET,
                          input_names=["x"] + names, output_names=["encoder_out"] + ["new_" + n for n in names],
                          do_constant_folding=True)
    os.replace(part, path)


def write_inputs(encoder, folder):
    os.makedirs(folder, exist_ok=True)
    states = empty_states(encoder.size)
    for number in range(FULL):
        _, states = step(encoder, chunk(number), states)
    np.save(os.path.join(folder, "x.npy"), chunk(FULL))
    for (name, _, _), state in zip(zipformer.state_specs(encoder.size), states):
        np.save(os.path.join(folder, name + ".npy"), state.numpy())


def write_stream(encoder, count, path):
    states, held = empty_states(encoder.size), {}
    for number in range(count):
        held[f"x{number}"] = chunk(number)
        out, states = step(encoder, chunk(number), states)
        held[f"out{number}"] = out.numpy()
    for (name, _, _), state in zip(zipformer.state_specs(encoder.size), states):
        held[name] = state.numpy()
    np.savez(path, **held)


def describe():
    sizes = {}
    for name, size in zipformer.SIZES.items():
        encoder = zipformer.Encoder(size)
        count = {key: sum(p.numel() for p in part.parameters())
                 for key, part in (("all", encoder), ("front", encoder.front), ("projection", encoder.projection))}
        sizes[name] = {"parameters": count, "states": [[n, shape, np.dtype(d).name] for n, shape, d in zipformer.state_specs(size)]}
    return sizes


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("--size", choices=sorted(zipformer.SIZES))
    p.add_argument("--out", help="folder")
    p.add_argument("--describe", action="store_true")
    p.add_argument("--stream")
    p.add_argument("--chunks", type=int, default=6)
    args = p.parse_args()
    if args.describe:
        print(json.dumps(describe()))
        return
    if not args.size or not args.out:
        p.error("give --size and --out, or --describe")
    os.makedirs(args.out, exist_ok=True)
    encoder = zipformer.seeded(args.size)
    base = os.path.join(args.out, "zipformer_" + args.size)
    write_model(encoder, base + ".onnx")
    write_inputs(encoder, base + "_inputs")
    if args.stream:
        write_stream(encoder, args.chunks, args.stream)
    print(f"{base}.onnx: {os.path.getsize(base + '.onnx')} bytes")


if __name__ == "__main__":
    main()
