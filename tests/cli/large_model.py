"""A model whose weights lie in a file beside it: matrices of every way exporters write them. Written piece by piece."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper

WIDTH = 4096


def write(folder, megabytes):
    """Returns (path of the model, path of the data, bytes of the data). About half of it is MatMul weights, a fifth Gemm weights
    that must be turned round, the rest an embedding that is looked up."""
    path, data = os.path.join(folder, "large.onnx"), os.path.join(folder, "large.bin")
    block = np.random.default_rng(1).standard_normal((WIDTH, 256)).astype(np.float32)
    nodes, tensors, offset = [], [], 0
    matrix = WIDTH * WIDTH * 4
    count = max(2, megabytes * 2**20 // matrix)
    with open(data, "wb") as f:
        def weight(name, rows, columns):
            nonlocal offset
            t = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[rows, columns], data_location=TensorProto.EXTERNAL)
            for key, value in (("location", "large.bin"), ("offset", offset), ("length", 4 * rows * columns)):
                t.external_data.add(key=key, value=str(value))
            for at in range(0, rows * columns, block.size):
                block[0, 0], block[0, 1] = (offset + at) // block.size % 2048, at // block.size  # no two are equal
                f.write(block.tobytes()[:4 * min(block.size, rows * columns - at)])
            offset += 4 * rows * columns
            tensors.append(t)
            return name

        embedding = max(1, count * 3 // 10)
        nodes.append(helper.make_node("Gather", [weight("table", embedding * WIDTH, WIDTH), "ids"], ["h0"], "lookup"))
        for i in range(count - embedding):
            w = weight(f"w{i}", WIDTH, WIDTH)
            node = helper.make_node("Gemm", [f"h{i}", w], [f"m{i}"], f"gemm{i}", transB=1) if i % 3 == 0 else \
                helper.make_node("MatMul", [f"h{i}", w], [f"m{i}"], f"matmul{i}")
            nodes += [node, helper.make_node("Tanh", [f"m{i}"], [f"h{i + 1}"], f"tanh{i}")]
    nodes.append(helper.make_node("Identity", [f"h{count - embedding}"], ["y"], "out"))
    graph = helper.make_graph(nodes, "large", [helper.make_tensor_value_info("ids", TensorProto.INT64, [4])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, WIDTH])], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)
    return path, data, offset
