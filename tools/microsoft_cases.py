"""Nodes of com.microsoft (what onnxruntime's quantisers and optimisers write), with onnxruntime's answers: tests/importers/microsoft.case.
Used by make_cases.py; src/importers/microsoft_test.cc imports and runs each node.

    case gelu
    expected: onnxruntime 1.32.0
    node Gelu com.microsoft y0            domain - is ONNX's own; an output - is not asked for
    attr alpha:f=0.5 axes:is=[0,1]        kinds: i f s is fs
    in fp32[2] 1 2                        const: the same as an initializer
    out fp32[2] ...
    within 1e-6 1e-5
"""
import os

import numpy as np
import onnx
import onnxruntime
from case_writer import ORT, Random, number, tensor
from onnx import helper, numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATH = os.path.join(ROOT, "tests", "importers", "microsoft.case")
CASES = []
F = np.float32
R = Random(5)


def attribute(name, v):
    if isinstance(v, str):
        return f"{name}:s={v}"
    if isinstance(v, float):
        return f"{name}:f={number(F(v))}"
    if isinstance(v, int):
        return f"{name}:i={v}"
    kind = "fs" if isinstance(v[0], float) else "is"
    return f"{name}:{kind}=[" + ",".join(number(F(x)) if kind == "fs" else str(x) for x in v) + "]"


def node(name, op, inputs, attrs=None, outputs=("y0",), domain="com.microsoft", const=(), within=None):
    """`const`: indices of inputs that are initializers. Integer results must be equal."""
    attrs = attrs or {}
    inputs = [None if a is None else np.asarray(a) for a in inputs]
    names = [f"i{k}" if a is not None else "" for k, a in enumerate(inputs)]
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for k, (n, a) in enumerate(zip(names, inputs)) if a is not None and k not in const]
    initializers = [numpy_helper.from_array(inputs[k], names[k]) for k in const]
    read = [o for o in outputs if o]
    model = helper.make_model(
        helper.make_graph([helper.make_node(op, names, list(outputs), domain=domain, **attrs)], "g", infos,
                          [onnx.ValueInfoProto(name=o) for o in read], initializers),
        ir_version=10, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    values = session.run(None, {n: a for k, (n, a) in enumerate(zip(names, inputs)) if a is not None and k not in const})
    lines = [f"case {name}", f"expected: {ORT}", f"node {op} {domain or '-'} {','.join(o or '-' for o in outputs)}"]
    if attrs:
        lines.append("attr " + " ".join(attribute(k, v) for k, v in sorted(attrs.items())))
    lines += [("const " if k in const else "in ") + tensor(a) for k, a in enumerate(inputs)]
    lines += ["out " + tensor(v) for v in values]
    exact = values[0].dtype.kind in "iub" and within is None
    within = within or ((0, 0) if exact else (2e-5, 2e-5))
    lines.append(f"within {within[0]} {within[1]}")
    CASES.append("\n".join(lines) + "\n")


def fused():
    x = R(2, 3, 4)
    node("gelu", "Gelu", [x])
    node("fast_gelu", "FastGelu", [x])
    node("fast_gelu_bias", "FastGelu", [x, R(4)])
    node("bias_gelu", "BiasGelu", [x, R(4)])
    node("quick_gelu", "QuickGelu", [x])
    node("quick_gelu_alpha_1", "QuickGelu", [x], {"alpha": 1.0})
    node("matmul_alpha", "FusedMatMul", [R(2, 3), R(3, 4)], {"alpha": 0.125})
    node("matmul_trans_b", "FusedMatMul", [R(2, 3, 4), R(2, 5, 4)], {"transB": 1, "alpha": 0.5})
    node("matmul_trans_both", "FusedMatMul", [R(2, 4, 3), R(2, 5, 4)], {"transA": 1, "transB": 1})
    node("matmul_batch_a", "FusedMatMul", [R(3, 2, 4), R(2, 4, 5)], {"transBatchA": 1})
    node("matmul_batch_b_trans", "FusedMatMul", [R(2, 3, 4), R(5, 2, 4)], {"transBatchB": 1, "transB": 1})
    node("gemm_relu", "FusedGemm", [R(2, 3), R(4, 3), R(4)], {"transB": 1, "activation": "Relu"})
    node("gemm_leaky", "FusedGemm", [R(2, 3), R(3, 4)], {"activation": "LeakyRelu", "activation_alpha": 0.25, "alpha": 0.5})
    conv = [R(1, 2, 5, 5), R(3, 2, 3, 3), R(3)]
    node("conv_relu", "FusedConv", conv, {"activation": "Relu", "pads": [1, 1, 1, 1]})
    node("conv_leaky", "FusedConv", conv[:2], {"activation": "LeakyRelu", "activation_params": [0.125]})
    node("conv_clip", "FusedConv", conv, {"activation": "Clip", "activation_params": [-0.5, 1.5]})
    node("conv_hard_sigmoid", "FusedConv", conv, {"activation": "HardSigmoid", "activation_params": [0.25, 0.5]})
    node("conv_sum_relu", "FusedConv", conv + [R(1, 3, 3, 3)], {"activation": "Relu"})
    node("conv_1d_tanh", "FusedConv", [R(1, 2, 6), R(3, 2, 3), R(3)], {"activation": "Tanh"})
    node("dynamic_pads", "ConvTransposeWithDynamicPads", [R(1, 2, 3, 3), R(2, 2, 3, 3), np.array([1, 0, 1, 1], np.int64), R(2)],
         {"strides": [2, 2]}, const=[2])
    node("pad", "Pad", [R(2, 2), np.array([0, 1, 1, 0], np.int64), np.array([7], F)])
    node("pad_edge", "Pad", [R(2, 2), np.array([1, 1, 1, 0], np.int64)], {"mode": "edge"})
    node("gather_nd", "GatherND", [R(2, 3, 2), np.array([[0, 2], [1, 1]], np.int64)])
    node("nhwc_max_pool", "NhwcMaxPool", [R.ints(0, 256, 1, 4, 5, 2, dtype=np.uint8)], {"kernel_shape": [2, 3], "strides": [2, 1]})


def normalizations():
    x, skip, g, b, bias = R(2, 3, 8), R(2, 3, 8), R(8), R(8), R(8)
    node("skip_layer", "SkipLayerNormalization", [x, skip, g, b], {"epsilon": 1e-5})
    node("skip_layer_bias_sum", "SkipLayerNormalization", [x, skip, g, b, bias], outputs=("y0", "", "", "y1"))
    node("skip_layer_broadcast", "SkipLayerNormalization", [x, skip[:1], g])
    node("skip_rms", "SkipSimplifiedLayerNormalization", [x, skip, g], {"epsilon": 1e-6})
    node("skip_rms_sum", "SkipSimplifiedLayerNormalization", [x, skip, g, bias], outputs=("y0", "", "", "y1"))
    node("rms", "SimplifiedLayerNormalization", [x, g], {"axis": -1, "epsilon": 1e-5}, domain="")
    ids, segments = R.ints(0, 5, 2, 3, dtype=np.int32), R.ints(0, 2, 2, 3, dtype=np.int32)
    tables = [R(5, 8), R(6, 8), R(2, 8)]
    mask = np.array([[1, 1, 0], [1, 1, 1]], np.int32)
    node("embed", "EmbedLayerNormalization", [ids, segments, *tables, g, b, mask], outputs=("y0", "y1"))
    node("embed_no_segments", "EmbedLayerNormalization", [ids, None, *tables[:2], None, g, b], outputs=("y0", "y1"))
    node("embed_positions_sum", "EmbedLayerNormalization", [ids, segments, *tables, g, b, None, R.ints(0, 6, 2, 3, dtype=np.int32)],
         outputs=("y0", "y1", "y2"))


def attention():
    x, w, bias = R(2, 3, 8), R(8, 24), R(24)
    node("attention", "Attention", [x, w, bias], {"num_heads": 2})
    node("attention_causal", "Attention", [x, w, bias], {"num_heads": 2, "unidirectional": 1})
    node("attention_mask", "Attention", [x, w, bias, np.array([[1, 1, 0], [1, 0, 1]], np.int32)], {"num_heads": 2})
    node("attention_mask_ends", "Attention", [x, w, bias, np.array([2, 3], np.int32)], {"num_heads": 2})
    node("attention_mask_pairs", "Attention", [x, w, bias, R.ints(0, 2, 2, 3, 3, dtype=np.int32)], {"num_heads": 2})
    node("attention_past", "Attention", [x, w, bias, None, R(2, 2, 2, 2, 4)], {"num_heads": 2, "unidirectional": 1}, outputs=("y0", "y1"))
    node("attention_bias", "Attention", [x, w, bias, None, None, R(2, 2, 3, 3)], {"num_heads": 2, "scale": 0.25})
    node("attention_sizes", "Attention", [x, R(8, 20), R(20)], {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4]})

    q, k, v = R(2, 3, 8), R(2, 5, 8), R(2, 5, 6)
    node("heads", "MultiHeadAttention", [q, k, v], {"num_heads": 2})
    node("heads_bias", "MultiHeadAttention", [q, k, v, R(22)], {"num_heads": 2})
    node("heads_padding", "MultiHeadAttention", [q, k, v, None, np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], np.int32)], {"num_heads": 2})
    node("heads_bias_scores", "MultiHeadAttention", [q, k, v, None, None, R(1, 2, 3, 5)], {"num_heads": 2, "scale": 0.25})
    node("heads_past", "MultiHeadAttention", [q, k[:, :3], R(2, 3, 8), None, None, None, R(2, 2, 2, 4), R(2, 2, 2, 4)],
         {"num_heads": 2, "unidirectional": 1}, outputs=("y0", "y1", "y2"))

    cos, sin = np.cos(R(8, 4)).astype(F), np.sin(R(8, 4)).astype(F)
    ids = R.ints(0, 8, 2, 3)
    node("rotary", "RotaryEmbedding", [R(2, 3, 16), ids, cos, sin])
    node("rotary_interleaved", "RotaryEmbedding", [R(2, 3, 16), ids, cos, sin], {"interleaved": 1})
    node("rotary_offset", "RotaryEmbedding", [R(2, 3, 16), np.array([2], np.int64), cos, sin])
    node("rotary_4d", "RotaryEmbedding", [R(2, 2, 3, 8), ids, cos, sin])
    node("rotary_part", "RotaryEmbedding", [R(2, 3, 16), ids, cos[:, :2], sin[:, :2]], {"num_heads": 2, "rotary_embedding_dim": 4})

    grouped = {"num_heads": 4, "kv_num_heads": 2}
    gq, gk, gv = R(2, 3, 64), R(2, 3, 32), R(2, 3, 32)
    cos, sin = np.cos(R(8, 8)).astype(F), np.sin(R(8, 8)).astype(F)
    i32 = lambda *a: np.array(a, np.int32)  # noqa: E731
    empty = np.zeros((2, 2, 0, 16), F)
    out = ("y0", "y1", "y2")
    prompt = [gq, gk, gv, None, None, i32(2, 2), i32(3)]
    node("grouped_prompt", "GroupQueryAttention", prompt, grouped, out)
    node("grouped_prompt_rotary", "GroupQueryAttention", prompt[:3] + [empty, empty] + prompt[5:] + [cos, sin], dict(grouped, do_rotary=1), out)
    past = [R(2, 2, 4, 16), R(2, 2, 4, 16)]
    step = [gq[:, :1], gk[:, :1], gv[:, :1]] + past + [i32(4, 4), i32(5)]
    node("grouped_step", "GroupQueryAttention", step, grouped, out)
    node("grouped_step_rotary", "GroupQueryAttention", step + [cos, sin], dict(grouped, do_rotary=1, rotary_interleaved=1, scale=0.25), out)
    node("grouped_step_uneven", "GroupQueryAttention", step[:5] + [i32(2, 4), i32(5)] + [cos, sin], dict(grouped, do_rotary=1), out)
    node("grouped_window", "GroupQueryAttention", step, dict(grouped, local_window_size=2, softcap=2.0), out)
    node("grouped_packed", "GroupQueryAttention", [R(1, 2, 64), None, None, None, None, i32(1), i32(2)], grouped, out)
    node("grouped_bias", "GroupQueryAttention", prompt + [None, None, None, R(1, 4, 3, 3)], grouped, out)

    def packed(n, k, bits, block):
        blocks = (k + block - 1) // block
        return R.ints(0, 256, n, blocks, block * bits // 8, dtype=np.uint8), np.abs(R(n * blocks)) + F(0.125), blocks

    b, scales, blocks = packed(3, 40, 4, 16)
    sizes = {"K": 40, "N": 3, "bits": 4, "block_size": 16}
    loose = (1e-3, 1e-4)
    node("nbits", "MatMulNBits", [R(2, 2, 40), b, scales], sizes, const=[1, 2], within=loose)
    node("nbits_zero_points", "MatMulNBits", [R(2, 40), b, scales, R.ints(0, 256, 3 * ((blocks + 1) // 2), dtype=np.uint8)], sizes,
         const=[1, 2, 3], within=loose)
    b, scales, _ = packed(3, 32, 8, 32)
    node("nbits_8", "MatMulNBits", [R(2, 32), b, scales, None, None, R(3)], {"K": 32, "N": 3, "bits": 8, "block_size": 32}, const=[1, 2],
         within=(1e-2, 1e-3))


def quantized():
    a, b = R(2, 3, 8), R.ints(0, 256, 8, 5, dtype=np.uint8)
    b8, wide = R.ints(-128, 128, 8, 5, dtype=np.int8), np.abs(R(5)) + F(0.125)
    node("dynamic_matmul", "DynamicQuantizeMatMul", [a, b, F(0.02), np.uint8(120)])
    node("dynamic_matmul_bias", "DynamicQuantizeMatMul", [a, b8, F(0.02), None, R(5)])
    node("dynamic_matmul_columns", "DynamicQuantizeMatMul", [a, b8, wide, R.ints(-9, 9, 5, dtype=np.int8), R(5)])
    qa = R.ints(0, 256, 2, 3, 8, dtype=np.uint8)
    node("integer_to_float", "MatMulIntegerToFloat", [qa, b, F(0.02), F(0.5), np.uint8(118), np.uint8(130)])
    node("integer_to_float_bias", "MatMulIntegerToFloat", [qa, b8, F(0.02), wide, np.uint8(118), None, R(5)])
    g = [qa[0], F(0.02), np.uint8(120), b8, F(0.05), np.int8(0)]
    node("gemm_float", "QGemm", g)
    node("gemm_quantized", "QGemm", g + [R.ints(-900, 900, 5, dtype=np.int32), F(0.4), np.uint8(128)])
    node("gemm_trans_columns", "QGemm", [qa[0], F(0.02), np.uint8(120), np.ascontiguousarray(b8.T), wide, np.zeros(5, np.int8), None, F(1.5),
                                         np.uint8(100)], {"transB": 1})
    node("quantize", "QuantizeLinear", [a, F(0.02), np.uint16(3000)])
    node("quantize_axis", "QuantizeLinear", [R(2, 3), np.array([0.5, 0.25], F), np.array([3, 9], np.uint8)], {"axis": 0})
    node("dequantize", "DequantizeLinear", [qa, F(0.02), np.uint8(7)])
    node("q_attention", "QAttention", [qa, R.ints(-128, 128, 8, 24, dtype=np.int8), R(24), F(0.01), F(0.02), np.array([2, 3], np.int32),
                                       np.uint8(128), np.int8(0)], {"num_heads": 2}, within=(1e-4, 1e-4))

    x, y = R.ints(0, 256, 2, 3, 4, dtype=np.uint8), R.ints(0, 256, 3, 1, dtype=np.uint8)
    sx, zx, sy, zy = F(0.03), np.uint8(128), F(0.02), np.uint8(100)
    to = [F(0.06), np.uint8(120)]
    node("q_add", "QLinearAdd", [x, sx, zx, y, sy, zy, *to])
    node("q_add_int8", "QLinearAdd", [x.view(np.int8), sx, np.int8(3), y.view(np.int8), sy, np.int8(-3), F(0.0613), np.int8(5)])
    node("q_mul", "QLinearMul", [x, sx, zx, y, sy, zy, *to])
    node("q_sigmoid", "QLinearSigmoid", [x, sx, zx, F(1 / 256), np.uint8(0)])
    node("q_leaky", "QLinearLeakyRelu", [x, sx, zx, *to], {"alpha": 0.125}, const=[1, 2, 3, 4])
    node("q_softmax", "QLinearSoftmax", [x, sx, zx, F(1 / 256), np.uint8(0)], {"opset": 13, "axis": -1}, const=[1, 2, 3, 4])
    image = R.ints(0, 256, 1, 2, 4, 5, dtype=np.uint8)
    node("q_average", "QLinearAveragePool", [image, sx, zx, F(0.0613), np.uint8(120)], {"kernel_shape": [2, 2], "strides": [2, 1], "pads": [1, 0, 0, 1]})
    node("q_average_last", "QLinearAveragePool", [image.transpose(0, 2, 3, 1).copy(), sx, zx, F(0.0613), np.uint8(120)], {"kernel_shape": [2, 2], "channels_last": 1})
    node("q_global_average", "QLinearGlobalAveragePool", [image, sx, zx, *to])
    node("q_global_average_last", "QLinearGlobalAveragePool", [image.transpose(0, 2, 3, 1).copy(), sx, zx, *to], {"channels_last": 1})
    node("q_concat", "QLinearConcat", [*to, x, sx, zx, x[:, :1], sy, zy], {"axis": 1}, const=[0, 1, 3, 4, 6, 7])
    node("q_where", "QLinearWhere", [R.ints(0, 2, 3, 4).astype(bool), x, sx, zx, y, sy, zy, *to])
    conv = [image, sx, zx, R.ints(-128, 128, 3, 2, 3, 3, dtype=np.int8), F(0.02), np.int8(0), F(0.3), np.uint8(128)]
    node("q_conv", "QLinearConv", conv, {"pads": [1, 1, 1, 1]})
    conv[0] = image.transpose(0, 2, 3, 1).copy()
    node("q_conv_last", "QLinearConv", conv, {"channels_last": 1})


def write(check):
    """The files that differ; writes them unless `check`."""
    fused()
    normalizations()
    attention()
    quantized()
    text = "# Written by tools/microsoft_cases.py, which says what the lines mean.\n\n" + "\n".join(CASES)
    old = open(PATH, encoding="utf-8").read() if os.path.exists(PATH) else None
    if old == text:
        return []
    if not check:
        with open(PATH, "w", encoding="utf-8") as f:
            f.write(text)
    return [PATH]
