"""Cases of the quantised operators: values from onnx's reference evaluator, onnxruntime and hand calculation. Used by make_cases.py."""
import glob
import os

import ml_dtypes
import numpy as np
import onnx
from case_writer import NAMES, NUMPY, ORT, Random, case
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

NAMES.update({np.dtype(k): v for k, v in {
    ml_dtypes.bfloat16: "bf16", ml_dtypes.float8_e4m3fn: "fp8e4m3fn", ml_dtypes.float8_e4m3fnuz: "fp8e4m3fnuz",
    ml_dtypes.float8_e5m2: "fp8e5m2", ml_dtypes.float8_e5m2fnuz: "fp8e5m2fnuz", ml_dtypes.float4_e2m1fn: "fp4e2m1",
    ml_dtypes.int4: "int4", ml_dtypes.uint4: "uint4", ml_dtypes.int2: "int2", ml_dtypes.uint2: "uint2"}.items()})
R = Random(41)
EVALUATOR = f"onnx {onnx.__version__} reference evaluator"
FOLDER = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "node")
TYPES = {TensorProto.FLOAT: "fp32", TensorProto.FLOAT16: "fp16", TensorProto.BFLOAT16: "bf16", TensorProto.DOUBLE: "fp64",
         TensorProto.INT8: "int8", TensorProto.UINT8: "uint8", TensorProto.INT16: "int16", TensorProto.UINT16: "uint16",
         TensorProto.INT4: "int4", TensorProto.UINT4: "uint4", TensorProto.INT2: "int2", TensorProto.UINT2: "uint2",
         TensorProto.FLOAT8E4M3FN: "fp8e4m3fn", TensorProto.FLOAT8E5M2: "fp8e5m2", TensorProto.FLOAT4E2M1: "fp4e2m1"}
TYPE_ATTRS = ("output_dtype", "precision", "softmax_precision")


def ours(attrs):
    """ONNX's numbers of element types by name, as case files spell them."""
    out = {}
    for k, v in attrs.items():
        if isinstance(v, bytes):
            v = v.decode()
        out[k] = TYPES[v] if k in TYPE_ATTRS else list(v) if hasattr(v, "__iter__") and not isinstance(v, str) else v
    return out


def evaluate(onnx_op, inputs, attrs=None, outputs=1, opset=25, domain="", reference=True):
    """All outputs of one node, by onnx's reference evaluator or by onnxruntime."""
    inputs = [None if a is None else np.asarray(a) for a in inputs]
    names = [f"i{k}" if a is not None else "" for k, a in enumerate(inputs)]
    results = [f"y{k}" for k in range(outputs)]
    node = helper.make_node(onnx_op, names, results, domain=domain, **(attrs or {}))
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in zip(names, inputs) if a is not None]
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=n) for n in results]),
                              ir_version=11, opset_imports=opsets)
    feed = {n: a for n, a in zip(names, inputs) if a is not None}
    if reference:
        return [np.asarray(v) for v in ReferenceEvaluator(model).run(None, feed)]
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feed)


def said(op, name, onnx_op, inputs, attrs=None, outputs=1, opset=25, reference=True, **extra):
    values = evaluate(onnx_op, inputs, attrs, outputs, opset, reference=reference)
    case(op, name, EVALUATOR if reference else ORT, inputs, values, ours(attrs or {}), **extra)


def node_tests(op, onnx_op, limit=400, but=()):
    """ONNX's own tests of one node of this operator, with all their results."""
    for path in sorted(glob.glob(os.path.join(FOLDER, "*", "model.onnx"))):
        name = os.path.basename(os.path.dirname(path))
        model = onnx.load(path)
        if len(model.graph.node) != 1 or model.graph.node[0].op_type != onnx_op or name in but:
            continue
        node = model.graph.node[0]
        data = os.path.join(os.path.dirname(path), "test_data_set_0")

        def read(file):
            t = TensorProto()
            with open(os.path.join(data, file), "rb") as f:
                t.ParseFromString(f.read())
            return numpy_helper.to_array(t)

        given = {i.name: read(f"input_{k}.pb") for k, i in enumerate(model.graph.input)}
        inputs = [given.get(i) if i else None for i in node.input]
        outputs = [read(f"output_{k}.pb") for k in range(len(model.graph.output))]
        if sum(a.size for a in inputs + outputs if a is not None) > limit or any(not o for o in node.output):
            continue
        attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        yield name, inputs, outputs, ours(attrs)


def tests(op, onnx_op, outputs=1, **extra):
    for name, inputs, values, attrs in node_tests(op, onnx_op, **extra):
        if len(values) == outputs:
            case(op, "onnx_" + name.removeprefix("test_"), f"onnx {onnx.__version__} node test {name}", inputs, values, attrs)


def quantizers():
    tests("quantize_linear", "QuantizeLinear")
    tests("dequantize_linear", "DequantizeLinear")
    x = np.array([[-3.5, -0.5, 0.5, 1.5, 2.5, 300], [0, -0.0, 254.5, 255.5, -300, 7]], np.float32)
    one = np.ones((), np.float32)
    for t in (np.uint8, np.int8, np.int16, np.uint16):
        said("quantize_linear", f"ties_and_limits_{np.dtype(t)}", "QuantizeLinear", [x * np.float32(200), one * 2, np.array(3, t)])
    said("quantize_linear", "no_zero_point", "QuantizeLinear", [x, one * np.float32(0.1)])
    said("quantize_linear", "int32_source", "QuantizeLinear", [np.array([5, -7, 1000], np.int32), one * 3, np.array(1, np.int8)])
    said("quantize_linear", "axis_negative", "QuantizeLinear", [R(2, 3, 2) * 9, np.array([0.5, 0.25, 2], np.float32),
                                                              np.array([0, 1, -2], np.int8)], {"axis": -2})
    said("quantize_linear", "scale_of_one", "QuantizeLinear", [R(2, 2), np.array([0.5], np.float32), np.array([9], np.uint8)])
    said("quantize_linear", "blocks_with_a_rest", "QuantizeLinear", [R(2, 5) * 9, np.abs(R(2, 3)) + np.float32(0.25),
                                                                    R.ints(-3, 3, 2, 3, dtype=np.int8)], {"axis": 1, "block_size": 2})
    said("quantize_linear", "by_output_dtype", "QuantizeLinear", [R(2, 3) * 9, one], {"output_dtype": TensorProto.INT8})
    said("quantize_linear", "fp16", "QuantizeLinear", [(R(2, 4) * 9).astype(np.float16), np.array(0.3, np.float16), np.array(4, np.uint8)])
    half, scale = (R(2, 4) * 9).astype(np.float16), np.array(0.3, np.float16)
    y = evaluate("QuantizeLinear", [half.astype(np.float32), scale.astype(np.float32), np.array(4, np.uint8)])[0]
    case("quantize_linear", "fp16_in_fp32", EVALUATOR + " (of fp32)", [half, scale, np.array(4, np.uint8)], [y], {"precision": "fp32"})
    said("quantize_linear", "fp8_not_saturated", "QuantizeLinear", [np.array([0.1, 500, -500, 1e9, 448], np.float32), one,
                                                                   np.zeros((), ml_dtypes.float8_e4m3fn)], {"saturate": 0})
    said("quantize_linear", "empty", "QuantizeLinear", [np.zeros((0, 3), np.float32), one, np.array(4, np.uint8)])
    case("quantize_linear", "wrong_scales", "by hand", [R(2, 3), np.array([1, 2], np.float32)], refused="expected [3] for axis 1")
    case("quantize_linear", "zero_point_of_another_type", "by hand", [R(2, 3), one, np.array(1, np.uint8)],
         attrs={"output_dtype": "int8"}, refused="output_dtype is int8, the zero point is uint8")
    case("quantize_linear", "blocks_do_not_fit", "by hand", [R(2, 5), np.ones((2, 2), np.float32)], attrs={"block_size": 2},
         refused="expected [2, 3] for blocks of 2 along axis 1")

    q = np.array([[0, 3, 255], [128, 7, 1]], np.uint8)
    said("dequantize_linear", "no_zero_point", "DequantizeLinear", [q, one * np.float32(0.1)])
    said("dequantize_linear", "axis_0", "DequantizeLinear", [q, np.array([0.5, 0.1], np.float32), np.array([128, 1], np.uint8)], {"axis": 0})
    said("dequantize_linear", "int32", "DequantizeLinear", [np.array([5, -7, 2000000001], np.int32), one * np.float32(0.1)])
    said("dequantize_linear", "fp16_scale", "DequantizeLinear", [q, np.array(0.3, np.float16), np.array(3, np.uint8)])
    case("dequantize_linear", "output_dtype", NUMPY, [q, one * np.float32(0.25), np.array(3, np.uint8)],
         [((q.astype(np.float32) - 3) * 0.25).astype(np.float16)], {"output_dtype": "fp16"})
    said("dequantize_linear", "blocks_with_a_rest", "DequantizeLinear", [R.ints(-8, 8, 3, 4, dtype=np.int8), np.abs(R(2, 4)) + np.float32(0.5),
                                                                        R.ints(-3, 3, 2, 4, dtype=np.int8)], {"axis": 0, "block_size": 2})
    case("dequantize_linear", "zero_point_of_another_type", "by hand", [q, one, np.array(1, np.int8)],
         refused="inputs 0 and 2 must have one type, found uint8 and int8")

    tests("dynamic_quantize_linear", "DynamicQuantizeLinear", 3)
    for name, x in (("positive", np.array([1, 2.5, 3], np.float32)), ("negative", np.array([[-1, -2.5], [-0.5, -7]], np.float32)),
                    ("zeros", np.zeros((2,), np.float32)), ("ties", np.array([-127.5, 0.5, 1.5, 2.5, 127.5], np.float32))):
        said("dynamic_quantize_linear", name, "DynamicQuantizeLinear", [x], outputs=3)
    case("dynamic_quantize_linear", "fp16", "by hand", [np.ones(2, np.float16)], refused="input 0 is fp16, expected fp32")


def products():
    tests("matmul_integer", "MatMulInteger")
    a, b = R.ints(0, 256, 2, 3, dtype=np.uint8), R.ints(-128, 128, 3, 4, dtype=np.int8)
    ort = dict(reference=False, opset=10)
    said("matmul_integer", "no_zero_points", "MatMulInteger", [a, b], **ort)
    said("matmul_integer", "zero_point_of_b", "MatMulInteger", [a, b, None, np.array(-3, np.int8)], **ort)
    said("matmul_integer", "columns", "MatMulInteger", [a, b, np.array(7, np.uint8), np.array([1, -2, 3, -4], np.int8)], **ort)
    said("matmul_integer", "batch", "MatMulInteger", [R.ints(0, 256, 2, 2, 3, dtype=np.uint8), R.ints(0, 256, 3, 2, dtype=np.uint8),
                                                      np.array(128, np.uint8), np.array(100, np.uint8)], **ort)
    wide = (a.astype(np.int32) - np.array([[5], [9]])) @ b.astype(np.int32)
    case("matmul_integer", "rows", NUMPY, [a, b, np.array([5, 9], np.uint8)], [wide.astype(np.int32)])
    v = R.ints(0, 256, 3, dtype=np.uint8)
    case("matmul_integer", "vector", NUMPY, [v, b], [v.astype(np.int32) @ b.astype(np.int32)])
    case("matmul_integer", "rows_do_not_fit", "by hand", [a, b, np.array([1, 2, 3], np.uint8)],
         refused="expected one number or one for each row of uint8[2, 3]")
    case("matmul_integer", "sizes_differ", "by hand", [a, a], refused="expected 3 rows in b, as many as a has columns, found 2")

    for name, inputs, values, attrs in node_tests("qlinear_matmul", "QLinearMatMul"):
        case("qlinear_matmul", "onnx_" + name.removeprefix("test_"), f"onnx {onnx.__version__} node test {name}", inputs, values, attrs)
    f = np.float32
    za, zb, zy = np.array(120, np.uint8), np.array(3, np.int8), np.array(-5, np.int8)
    said("qlinear_matmul", "uint8_int8", "QLinearMatMul", [a, f(0.02), za, b, f(0.05), zb, f(0.7), np.array(128, np.uint8)], **ort)
    said("qlinear_matmul", "columns", "QLinearMatMul", [a, f(0.02), za, b, np.array([0.05, 0.1, 0.01, 0.2], f),
                                                        np.array([3, 0, -1, 9], np.int8), f(0.7), np.array(128, np.uint8)], **ort)
    a8 = R.ints(-128, 128, 2, 3, dtype=np.int8)
    said("qlinear_matmul", "int8", "QLinearMatMul", [a8, f(0.5), np.array(1, np.int8), b, f(0.5), zb, f(16), zy], **ort)

    tests("conv_integer", "ConvInteger")
    x, w = R.ints(0, 256, 1, 2, 5, 5, dtype=np.uint8), R.ints(0, 256, 2, 2, 3, 3, dtype=np.uint8)
    said("conv_integer", "strides_pads", "ConvInteger", [x, w, np.array(128, np.uint8)], {"strides": [2, 1], "pads": [1, 0, 2, 1]}, **ort)
    said("conv_integer", "groups", "ConvInteger", [x, w[:, :1], np.array(9, np.uint8), np.array(7, np.uint8)], {"group": 2}, **ort)
    said("conv_integer", "same_upper", "ConvInteger", [x, w], {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, **ort)
    said("conv_integer", "one_dimension", "ConvInteger", [x[:, :, 0], w[:, :, 0], np.array(128, np.uint8)], {"dilations": [2]}, **ort)
    said("conv_integer", "three_dimensions", "ConvInteger", [R.ints(0, 256, 1, 1, 2, 3, 3, dtype=np.uint8),
                                                            R.ints(0, 256, 1, 1, 2, 2, 2, dtype=np.uint8)], **ort)
    case("conv_integer", "channels", "by hand", [x, w[:, :1]], refused="x has 2 channels, w expects 1 x group 1")

    tests("qlinear_conv", "QLinearConv")
    w8, bias = R.ints(-128, 128, 2, 2, 3, 3, dtype=np.int8), np.array([1000, -2000], np.int32)
    head = [x, f(0.03), np.array(117, np.uint8)]
    said("qlinear_conv", "bias", "QLinearConv", head + [w8, f(0.02), np.array(0, np.int8), f(0.4), np.array(9, np.uint8), bias], **ort)
    said("qlinear_conv", "channels", "QLinearConv", head + [w8, np.array([0.02, 0.005], f), np.zeros(2, np.int8), f(0.4),
                                                            np.array(128, np.uint8), bias], {"pads": [1, 1, 1, 1]}, **ort)
    said("qlinear_conv", "groups", "QLinearConv", head + [w8[:, :1], f(0.02), np.array(0, np.int8), f(0.1), np.array(128, np.uint8)],
         {"group": 2, "strides": [2, 2]}, **ort)
    said("qlinear_conv", "one_dimension", "QLinearConv", [x[:, :, 0], f(0.03), np.array(117, np.uint8), w[:, :, 0], f(0.02),
                                                          np.array(99, np.uint8), f(0.4), np.array(9, np.uint8)], **ort)
    case("qlinear_conv", "zero_point_of_another_type", "by hand", [x, f(1), np.array(0, np.int8), w8, f(1), np.array(0, np.int8), f(1),
                                                                  np.array(0, np.uint8)],
         refused="inputs 0 and 2 must have one type, found uint8 and int8")


def few_bits():
    f = np.float32

    def check(name, rows, k, n, bits, block, zeros=None, bias=None):
        blocks = (k + block - 1) // block
        inputs = [R(*rows, k), R.ints(0, 256, n, blocks, block * bits // 8, dtype=np.uint8), np.abs(R(n, blocks)) + f(0.125), zeros, None, bias]
        while inputs[-1] is None:
            inputs.pop()
        attrs = {"K": k, "N": n, "bits": bits, "block_size": block}
        values = evaluate("MatMulNBits", inputs, attrs, opset=21, domain="com.microsoft", reference=False)
        case("matmul_nbits", name, ORT, inputs, values, attrs, within=(1e-3, 1e-4))

    check("four_bits", (2,), 32, 3, 4, 16)
    check("a_rest_of_a_block", (2, 1), 20, 2, 4, 16)
    check("zero_points", (2,), 48, 2, 4, 16, R.ints(0, 256, 2, 2, dtype=np.uint8))
    check("zero_points_fp32", (2,), 32, 2, 4, 16, np.array([[7.5, 8], [3, 9.25]], f))
    check("eight_bits_bias", (3,), 16, 2, 8, 16, bias=R(2))
    check("two_bits", (2,), 32, 3, 2, 16)
    b, s = R.ints(0, 256, 3, 2, 8, dtype=np.uint8), np.ones((3, 2), f)
    sizes = {"K": 32, "N": 3, "block_size": 16}
    case("matmul_nbits", "columns", "by hand", [R(2, 31), b, s], attrs=sizes, refused="expected 32 columns")
    case("matmul_nbits", "bytes", "by hand", [R(2, 32), b[:, :, :7], s], attrs=sizes, refused="expected [3, 2, 8]")
    case("matmul_nbits", "block", "by hand", [R(2, 32), b, s], attrs=dict(sizes, block_size=24), refused="expected a power of two")


def write():
    few_bits()
    quantizers()
    products()
