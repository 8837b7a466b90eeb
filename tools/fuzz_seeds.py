#!/usr/bin/env python3
"""Seed corpora for the fuzzers, from the ONNX suites and our own cases. Made, never committed.

Run with a Python that has onnx (./dev fuzz does)."""
import argparse
import os
import random
import struct
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LARGEST = 16384  # bytes: small inputs are mutated faster


def put(folder, name, content):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(content)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def onnx_reader(out):
    import onnx.backend.test  # pylint: disable=import-outside-toplevel
    data = os.path.join(os.path.dirname(onnx.backend.test.__file__), "data")
    count = 0
    for folder, _, files in sorted(os.walk(data)):
        for name in files:
            if name != "model.onnx":
                continue
            content = read(os.path.join(folder, name))
            if len(content) <= LARGEST:
                put(out, os.path.basename(folder) + ".onnx", content)
                count += 1
    return count


def graph_text(out):
    """The graphs of tests/passes/*.case; then what the parser's own tests hold as raw strings."""
    count = 0
    folder = os.path.join(ROOT, "tests", "passes")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".case"):
            continue
        graph = None
        for line in read(os.path.join(folder, name)).decode().splitlines(keepends=True):
            if line.startswith("graph "):
                graph = []
            if graph is not None:
                graph.append(line)
                if line.startswith("}"):
                    put(out, f"{name}.{count}.txt", "".join(graph).encode())
                    graph, count = None, count + 1
    for part in read(os.path.join(ROOT, "src", "ir", "text_test.cc")).decode().split('R"(')[1:]:
        put(out, f"text_test.{count}.txt", part.split(')"')[0].encode())
        count += 1
    return count


def profile_json(out):
    folder = os.path.join(ROOT, "profiles")
    names = [n for n in sorted(os.listdir(folder)) if n.endswith(".json")]
    for name in names:
        content = read(os.path.join(folder, name))
        put(out, name, content)
        facts = content.split(b'"facts"')[0]
        put(out, "start_of_" + name, facts + b'"facts": {}}')
    put(out, "small.json", b'{"name": "chip", "facts": {"cpu.cores": {"value": 2, "source": "assumed", "ref": "none", '
        b'"date": "2026-11-30"}}}')
    return 2 * len(names) + 1


def package_head(out, npukit):
    """Whole packages behind a 0, heads alone behind a 1 (fuzz/package_head.cc)."""
    count = 0
    node = os.path.join(os.path.dirname(out), "onnx_reader")
    for name in ("test_relu.onnx", "test_add.onnx", "test_conv_with_strides_padding.onnx", "test_softmax_axis_1.onnx",
                 "test_matmul_4d.onnx", "test_concat_2d_axis_0.onnx", "test_transpose_default.onnx"):
        for target in ("host", "kirin9030"):
            package = os.path.join(out, "package.tmp")
            os.makedirs(out, exist_ok=True)
            done = subprocess.run([npukit, "compile", os.path.join(node, name), "-t", target, "-o", package, "-q"], check=False,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if done.returncode != 0:
                continue
            content = read(package)
            os.remove(package)
            offset, length = struct.unpack_from("<QQ", content, 8)
            put(out, f"{name}.{target}.head", b"\1" + content[offset:offset + length])
            if len(content) <= 4 * LARGEST:
                put(out, f"{name}.{target}.npk", b"\0" + content)
            count += 2
    return count


def shape_inference_and_folding(out):
    """The grammar reads any bytes: random ones of several lengths are a start."""
    rng = random.Random(1)
    for i in range(400):
        put(out, f"random{i}", rng.randbytes(rng.choice((16, 60, 150, 400))))
    return 400


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--npukit", required=True)
    args = parser.parse_args()
    for make in (onnx_reader, graph_text, profile_json, shape_inference_and_folding):
        count = make(os.path.join(args.out, make.__name__))
        print(f"{make.__name__}: {count} seeds")
    print(f"package_head: {package_head(os.path.join(args.out, 'package_head'), os.path.abspath(args.npukit))} seeds")


if __name__ == "__main__":
    main()
