"""Writes the 18 classification networks of a published Ascend 310 table as ONNX, and the table, for `npukit validate`.

    python3 zoo18.py DIR [--weights own|shared] [--host kunpeng|x86] [--only NAME ...]

Runs with Debian's torch, torchvision and onnx, and PyPI timm (README.md). Weights are seeded noise: the table is about time,
which does not depend on them. `own` stores them in each file, 2.2 GB in all; `shared` lets every weight of two or more
dimensions begin at the same byte of one seeded block, weights.bin, so that the folder is 0.4 GB.
"""
import argparse
import json
import os
import time
import warnings

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import torch
import torchvision

import export

SOURCE = ("Paddle-Lite, docs/demo_guides/huawei_ascend_npu.md at 75387c4f835524cbb1864b1f324d2f7e742e9b0c, performance table "
          "(CANN 3.3.0), column {}; warm-up 1, repeats 1 in the page's sample log")
COLUMNS = {"kunpeng": (1, "Kunpeng 920 + Ascend310"), "x86": (0, "x86 + Ascend310")}
READ = "2026-11-30"
SEED = 18


def vision(name, **options):
    return lambda: getattr(torchvision.models, name)(**options)


def without_copy_pool(name):
    """AlexNet and VGG pool to the size they have at 224: a copy, which the published networks do not make."""
    def make():
        model = getattr(torchvision.models, name)(init_weights=False) if name != "alexnet" else torchvision.models.alexnet()
        model.avgpool = torch.nn.Identity()
        return model
    return make


def image_models(name):
    def make():
        import timm  # noqa: only two of the networks need it
        return timm.create_model(name, pretrained=False)
    return make


# Published name (variant as the page's links name it), x86 and Kunpeng host in ms, where the graph is from, how it is made,
# input height and width. The page does not state input sizes: 224, and 299 for the Inceptions, are those of the papers and
# of the linked models' own training configuration. GoogLeNet and Inception-v3 are taken without auxiliary classifiers.
NETWORKS = (
    ("AlexNet", (4.32, 3.64), "torchvision alexnet", without_copy_pool("alexnet"), 224),
    ("DenseNet121", (7.81, 6.23), "torchvision densenet121", vision("densenet121"), 224),
    ("EfficientNetB0", (21.08, 7.14), "torchvision efficientnet_b0", vision("efficientnet_b0"), 224),
    ("GoogLeNet", (2.65, 2.40), "torchvision googlenet", vision("googlenet", aux_logits=False, init_weights=False), 224),
    ("Inception-v3", (5.91, 3.46), "torchvision inception_v3", vision("inception_v3", aux_logits=False, init_weights=False),
     299),
    ("Inception-v4", (9.00, 6.72), "timm inception_v4", image_models("inception_v4"), 299),
    ("MobileNet-v1", (3.06, 1.43), "timm mobilenetv1_100", image_models("mobilenetv1_100"), 224),
    ("MobileNet-v2", (3.82, 1.74), "torchvision mobilenet_v2", vision("mobilenet_v2"), 224),
    ("MobileNetV3_large", (8.96, 2.83), "torchvision mobilenet_v3_large", vision("mobilenet_v3_large"), 224),
    ("MobileNetV3_small", (6.38, 2.24), "torchvision mobilenet_v3_small", vision("mobilenet_v3_small"), 224),
    ("ResNet-101", (7.33, 4.27), "torchvision resnet101", vision("resnet101"), 224),
    ("ResNet-18", (2.84, 1.59), "torchvision resnet18", vision("resnet18"), 224),
    ("ResNet-50", (5.66, 2.87), "torchvision resnet50", vision("resnet50"), 224),
    ("ResNeXt50", (5.32, 3.10), "torchvision resnext50_32x4d", vision("resnext50_32x4d"), 224),
    ("ShuffleNetV2", (5.41, 4.06), "torchvision shufflenet_v2_x1_0", vision("shufflenet_v2_x1_0"), 224),
    ("SqueezeNet-v1", (3.06, 1.49), "torchvision squeezenet1_0", vision("squeezenet1_0"), 224),
    ("VGG16", (10.53, 9.43), "torchvision vgg16", without_copy_pool("vgg16"), 224),
    ("VGG19", (11.50, 10.23), "torchvision vgg19", without_copy_pool("vgg19"), 224),
)


def without_initialisation():
    """What follows sets every weight; torch's own initialisation would only take time."""
    for name in ("kaiming_normal_", "kaiming_uniform_", "trunc_normal_", "normal_", "uniform_", "constant_", "ones_", "zeros_"):
        setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor.data.fill_(1))


def fill(model, own):
    """Seeded noise everywhere. No two tensors may be equal: the exporter would keep one and put an Identity for the other.
    Weights that will be shared anyway only get a number each."""
    if own:
        export.seed(model, SEED)
    source = np.random.Generator(np.random.PCG64(SEED))
    for number, tensor in enumerate(list(model.parameters()) + list(model.buffers())):
        if tensor.dim() == 1:
            tensor.data = 1 + 0.1 * torch.from_numpy(source.random(len(tensor), np.float32))
        elif tensor.dim() > 1 and not own:
            tensor.data.fill_(number)


def merge_pads(model):
    """This torch writes average pooling as Pad and AveragePool even without padding; one operator says the same, as newer ones
    write it and the published networks have it."""
    nodes = model.graph.node
    makers = {output: node for node in nodes for output in node.output}
    for pool in [n for n in nodes if n.op_type == "AveragePool"]:
        pad = makers.get(pool.input[0])
        if pad is None or pad.op_type != "Pad":
            continue
        amounts = onnx.numpy_helper.to_array(makers[pad.input[1]].attribute[0].t).tolist()
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in pool.attribute}
        if any(attributes.get("pads", [])) or amounts[:2] + amounts[4:6] != [0] * 4:
            raise SystemExit(f"{pool.name}: padding that cannot be merged")
        del pool.attribute[:]
        attributes.update(pads=amounts[2:4] + amounts[6:8], count_include_pad=1)
        pool.attribute.extend(onnx.helper.make_attribute(k, v) for k, v in sorted(attributes.items()))
        pool.input[0] = pad.input[0]
        nodes.remove(makers[pad.input[1]])
        nodes.remove(pad)


def share_weights(model, block):
    """Points weights into the block; returns how many bytes of it are needed."""
    needed = 0
    for tensor in model.graph.initializer:
        if len(tensor.dims) < 2 or tensor.data_type != onnx.TensorProto.FLOAT:
            continue
        length = 4 * int(np.prod(tensor.dims))
        needed = max(needed, length)
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        del tensor.external_data[:]
        for key, value in (("location", block), ("offset", 0), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
    return needed


def write_block(path, length):
    source, step = np.random.Generator(np.random.PCG64(SEED)), 1 << 22
    with open(path + ".part", "wb") as f:
        for start in range(0, length // 4, step):
            count = min(step, length // 4 - start)
            (source.standard_normal(count, np.float32) * np.float32(0.002)).tofile(f)
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("dir", help="folder for the networks and table.json")
    parser.add_argument("--weights", choices=("own", "shared"), default="own")
    parser.add_argument("--host", choices=sorted(COLUMNS), default="kunpeng", help="column of the published table")
    parser.add_argument("--only", nargs="+", choices=[n[0] for n in NETWORKS])
    args = parser.parse_args()
    os.makedirs(args.dir, exist_ok=True)
    warnings.simplefilter("ignore")
    without_initialisation()
    index, column = COLUMNS[args.host]
    entries, block = [], 0
    for name, published, origin, make, size in NETWORKS:
        if args.only and name not in args.only:
            continue
        start = time.monotonic()
        file = origin.split()[1] + ".onnx"
        path = os.path.join(args.dir, file)
        model = make().eval()
        fill(model, args.weights == "own")
        export.export(model, {"input": (1, 3, size, size)}, "logits", False, path)
        network = onnx.load(path)
        merge_pads(network)
        if args.weights == "shared":
            block = max(block, share_weights(network, "weights.bin"))
        onnx.save(network, path)
        library = origin.split()[0]
        version = torchvision.__version__ if library == "torchvision" else __import__(library).__version__
        entries.append({"name": name, "file": file, "published_ms": published[index],
                        "model": f"{library} {version} {origin.split()[1]}, input {size} x {size} (assumed), seeded weights"})
        print(f"{path}: {os.path.getsize(path)} bytes in {time.monotonic() - start:.1f} s", flush=True)
    if block:
        write_block(os.path.join(args.dir, "weights.bin"), block)
    table = {"table": "ascend310", "title": f"18 classification networks, Ascend 310, batch 1, fp16, {column.split(' +')[0]} host",
             "source": SOURCE.format(column), "date": READ, "networks": entries}
    with open(os.path.join(args.dir, "table.json"), "w", encoding="utf-8") as f:
        json.dump(table, f, indent=2)
        f.write("\n")


if __name__ == "__main__":
    main()
