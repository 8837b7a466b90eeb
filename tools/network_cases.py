"""Cases of the operators that networks of attention, normalisation and shape arithmetic bring along. Used by make_cases.py."""
import math

import numpy as np
import onnx
from case_writer import EDGE, INF, NAN, NUMPY, ORT, Random, case, i64, ort, run_onnx

R = Random(20261201)
F32 = np.float32


def in_fp64(op, name, f, x, attrs=None):
    """A case whose result numpy gives in fp64, rounded once to x's type."""
    with np.errstate(all="ignore"):
        y = f(x.astype(np.float64)).astype(x.dtype)
    case(op, name, NUMPY + " in fp64, rounded", [x], [y], attrs)


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def unary():
    finite = EDGE[np.isfinite(EDGE)]
    mild = np.array([0, -0.0, 0.5, -0.5, 1, -1, 2.5, -2.5, 5, -5, 9, -9, 0.1, -0.01, 30, -30], F32)
    for op, onnx_op, f, edges in (
            ("erf", "Erf", erf, EDGE), ("tanh", "Tanh", np.tanh, EDGE), ("exp", "Exp", np.exp, EDGE),
            ("log", "Log", np.log, EDGE), ("sin", "Sin", np.sin, mild), ("cos", "Cos", np.cos, mild),
            ("floor", "Floor", np.floor, EDGE), ("ceil", "Ceil", np.ceil, EDGE),
            ("round", "Round", np.round, np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49, 7, INF, NAN], F32)),
            ("reciprocal", "Reciprocal", np.reciprocal, EDGE), ("abs", "Abs", np.abs, EDGE), ("neg", "Neg", np.negative, EDGE),
            ("softplus", "Softplus", lambda x: np.logaddexp(0, x), EDGE)):
        in_fp64(op, "edge_values", f, edges)
        ort(op, "rank4", onnx_op, [np.abs(R(1, 2, 3, 2)) + F32(0.5) if op == "log" else R(1, 2, 3, 2)])
        ort(op, "scalar", onnx_op, [np.full((), 0.75, F32)])
        ort(op, "no_elements", onnx_op, [np.zeros((2, 0, 3), F32)])
        in_fp64(op, "fp16", f, np.abs(R(11, dtype=np.float16)) + np.float16(0.25))
        case(op, "string", "by hand", [np.array(["a"])], refused="string")
    for op, onnx_op in (("abs", "Abs"), ("neg", "Neg")):
        ort(op, "int32", onnx_op, [np.array([-5, 0, 7, -2147483648, 2147483647], np.int32)])
        ort(op, "int64", onnx_op, [i64(-5, 0, 1 << 40)])
    ort("abs", "uint8", "Abs", [np.array([0, 200, 255], np.uint8)])
    case("erf", "int32", "by hand", [np.array([1], np.int32)], refused="expected a floating-point type")

    def gelu(x):
        return np.vectorize(lambda v: 0.5 * v * math.erfc(-v / math.sqrt(2)), otypes=[np.float64])(x)

    def gelu_tanh(x):
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    for name, f, attrs in (("", gelu, None), ("tanh_", gelu_tanh, {"approximate": "tanh"})):
        in_fp64("gelu", name + "values", f, mild, attrs)
        in_fp64("gelu", name + "fp16", f, R(11, dtype=np.float16), attrs)
        ort("gelu", name + "rank3", "Gelu", [R(2, 3, 2)], attrs)
    in_fp64("gelu", "huge", gelu, finite[np.abs(finite) > 5])
    case("gelu", "unknown_approximation", "by hand", [R(2)], attrs={"approximate": "fast"}, refused="is fast, expected none or tanh")

    for op, onnx_op, alpha in (("leaky_relu", "LeakyRelu", 0.25), ("elu", "Elu", 2.0)):
        ort(op, "default", onnx_op, [mild])
        ort(op, "alpha", onnx_op, [mild], {"alpha": alpha})
    case("leaky_relu", "nan", NUMPY, [np.array([NAN, -INF, INF], F32)], [np.array([NAN, -INF, INF], F32)])

    ort("is_nan", "values", "IsNaN", [EDGE])
    ort("is_nan", "no_elements", "IsNaN", [np.zeros((2, 0), F32)])
    case("is_nan", "int64", "by hand", [i64(1)], refused="expected a floating-point type")

    flags = np.array([[True, False], [False, True]])
    ort("logical_not", "values", "Not", [flags])
    case("logical_not", "numbers", "by hand", [R(2)], refused="expected bool")


def binary():
    for op, onnx_op, f in (("min", "Min", np.minimum), ("max", "Max", np.maximum)):
        ort(op, "same_shape", onnx_op, [R(2, 3), R(2, 3)])
        ort(op, "both_broadcast", onnx_op, [R(2, 1, 3), R(1, 2, 1)])
        ort(op, "scalar", onnx_op, [R(2, 3), np.full((), 0.25, F32)])
        ort(op, "int64", onnx_op, [i64(-3, 9, 1 << 40), i64(2, -9, 5)])
        ort(op, "uint8", onnx_op, [np.array([250, 3], np.uint8), np.array([10, 5], np.uint8)])
        x, y = np.meshgrid(np.array([0, 1, -INF, INF, NAN], F32), np.array([0.5, -2, INF, NAN], F32))
        case(op, "edge_values", NUMPY, [x, y], [f(x, y)])
        case(op, "no_broadcast", "by hand", [R(2, 3), R(2, 4)], refused="3 and 4 differ and neither is 1")
    ort("prelu", "channels", "PRelu", [R(1, 3, 2, 2), R(3, 1, 1)])
    ort("prelu", "one_slope", "PRelu", [R(2, 3), np.full((1,), 0.25, F32)])

    x, y = np.meshgrid(np.array([0, 1, -INF, INF, NAN], F32), np.array([-0.0, 1, INF, NAN], F32))
    for op, onnx_op in (("equal", "Equal"), ("less", "Less"), ("less_or_equal", "LessOrEqual"), ("greater", "Greater"),
                        ("greater_or_equal", "GreaterOrEqual")):
        f = {"less_or_equal": np.less_equal, "greater_or_equal": np.greater_equal}.get(op) or getattr(np, op)
        ort(op, "broadcast", onnx_op, [R(2, 1, 3), R(2, 1)])
        ort(op, "int64", onnx_op, [i64(1, 2, 3, 1 << 40), i64(3, 2, 1, (1 << 40) + 1)])
        ort(op, "int32", onnx_op, [np.array([-1, 5], np.int32), np.array([1, 5], np.int32)])
        case(op, "uint64", NUMPY, [np.array([1, 1 << 63], np.uint64), np.array([1 << 63, 2], np.uint64)],
             [f(np.array([1, 1 << 63], np.uint64), np.array([1 << 63, 2], np.uint64))])
        case(op, "edge_values", NUMPY, [x, y], [f(x, y)])
        case(op, "types_differ", "by hand", [R(2), i64(1, 2)], refused="must have one type, found fp32 and int64")
    a, b = np.array([[True], [False]]), np.array([True, False])
    ort("equal", "bool", "Equal", [a, b])
    ort("logical_and", "broadcast", "And", [a, b])
    ort("logical_or", "broadcast", "Or", [a, b])
    case("logical_and", "numbers", "by hand", [R(2), R(2)], refused="expected bool")
    case("logical_or", "numbers", "by hand", [R(2), R(2)], refused="expected bool")
    case("less", "bool", "by hand", [a, b], refused="expected a number type")

    c = np.array([[True, False, True]])
    ort("where", "same_shape", "Where", [c, R(1, 3), R(1, 3)])
    ort("where", "all_broadcast", "Where", [c, R(2, 1, 1), R(2, 1)])
    ort("where", "scalars", "Where", [c, np.full((), -INF, F32), np.full((), 0, F32)])
    ort("where", "int64", "Where", [np.array([True, False]), i64(1, 2), i64(3, 4)])
    case("where", "bool", NUMPY, [np.array([True, False]), np.array([False, True]), np.array([True, True])], [np.array([False, True])])
    case("where", "condition", "by hand", [R(2), R(2), R(2)], refused="input 0 is fp32, expected bool")
    case("where", "types_differ", "by hand", [np.array([True]), R(1), i64(1)], refused="inputs 1 and 2 must have one type")


def algebra():
    x = R(2, 3, 4)
    for op, onnx_op, f in (("reduce_sum", "ReduceSum", np.sum), ("reduce_max", "ReduceMax", np.max), ("reduce_min", "ReduceMin", np.min)):
        for name, axes, keep in (("last", [-1], 1), ("spatial", [1, 2], 0), ("first", [0], 1), ("middle", [1], 0)):
            ort(op, name, onnx_op, [x], {"axes": axes, "keepdims": keep}, [x, i64(*axes)], {"keepdims": keep})
        ort(op, "all", onnx_op, [x], {"keepdims": 0})
        n = np.array([[1, -7, 4], [-1, -2, 1 << 30]], np.int32)
        ort(op, "int32", onnx_op, [n], {"axes": [1]}, [n, i64(1)], {})
        z = np.array([[NAN, 1], [INF, -INF], [2, 3]], F32)
        with np.errstate(all="ignore"):
            case(op, "edge_values", NUMPY, [z], [f(z, axis=1, keepdims=True)], {"axes": [1]})
        case(op, "outside", "by hand", [x], attrs={"axes": [3]}, refused="axis 3 is outside a shape of rank 3")
    none = np.zeros((2, 0), F32)
    for op, value in (("reduce_sum", 0), ("reduce_max", -INF), ("reduce_min", INF)):
        case(op, "of_nothing", "by hand (ONNX: the neutral element)", [none], [np.full((2,), value, F32)], {"axes": [1], "keepdims": 0})
    case("reduce_max", "of_no_int64", "by hand (ONNX: the lowest number)", [np.zeros((0,), np.int64)], [np.full((), -1 << 63, np.int64)],
         {"keepdims": 0})

    s, b = R(4), R(4)
    ort("layer_normalization", "last", "LayerNormalization", [x, s, b])
    ort("layer_normalization", "no_bias", "LayerNormalization", [x, s], {"epsilon": 0.125})
    ort("layer_normalization", "two_axes", "LayerNormalization", [x, R(3, 4), R(3, 4)], {"axis": 1})
    ort("layer_normalization", "all_axes", "LayerNormalization", [R(5), R(5), R(5)], {"axis": 0})
    ort("layer_normalization", "rank4", "LayerNormalization", [R(1, 2, 2, 3), R(3), R(3)], {"axis": -1})
    y = np.full((1, 4), 3, F32) + np.array([[0, 1e-3, 0, -1e-3]], F32)
    z = y.astype(np.float64) - y.astype(np.float64).mean()
    case("layer_normalization", "far_from_zero", NUMPY + " in fp64, rounded", [y, np.ones(4, F32)],
         [(z / np.sqrt((z * z).mean() + float(F32(1e-12)))).astype(F32)], {"epsilon": 1e-12})
    case("layer_normalization", "scale_shape", "by hand", [x, R(3)], refused="input 1 is fp32[3], expected the shape of fp32[2, 3, 4] from axis 2 on")
    case("layer_normalization", "negative_epsilon", "by hand", [x, s], attrs={"epsilon": -1.0}, refused="expected a number of 0 or more")

    ties = np.array([[1, 3, 3, 2], [-1, -1, -5, -1]], F32)
    for name, attrs in (("first", {"axis": 1}), ("last", {"axis": 1, "select_last_index": 1}), ("rows", {"axis": 0, "keepdims": 0}),
                        ("default", {}), ("negative_axis", {"axis": -1, "keepdims": 0})):
        ort("arg_max", name, "ArgMax", [ties], attrs)
    ort("arg_max", "int32", "ArgMax", [np.array([-3, 7, 7], np.int32)], {"axis": 0})
    case("arg_max", "nan", NUMPY, [np.array([0, NAN, INF], F32)], [np.argmax(np.array([0, NAN, INF], F32), keepdims=True)], {"axis": 0})
    case("arg_max", "of_nothing", "by hand", [np.zeros((2, 0), F32)], attrs={"axis": 1}, refused="axis 1 is empty")

    attrs = {"alpha": 0.5, "beta": 0.75, "bias": 2.0}
    for size in (3, 9):
        ort("lrn", f"size{size}", "LRN", [R(1, 5, 2, 2)], dict(attrs, size=size))
    y = R(5, 5, 1, 1)  # onnx's reference counts images where it should count channels: as many of each
    case("lrn", "size4", f"onnx {onnx.__version__} reference", [y], [run_onnx("LRN", [y], dict(attrs, size=4), 21, True)],
         dict(attrs, size=4))
    ort("lrn", "defaults", "LRN", [R(2, 3, 2, 1)], {"size": 3})
    case("lrn", "no_size", "by hand", [R(1, 2, 1, 1)], refused="attribute size is missing")
    case("lrn", "size_zero", "by hand", [R(1, 2, 1, 1)], attrs={"size": 0}, refused="size is 0, expected 1 or more")

    p, q, w = R(2, 2, 3), R(3, 4), R(4)
    y = run_onnx("Gelu", [run_onnx("Add", [run_onnx("MatMul", [p, q], {}), w], {})], {}, 21)
    case("matmul", "gelu_epilogue", ORT + " (MatMul, Add, Gelu)", [p, q, w], [y], steps=["gelu"])
    r = R(3)
    y = run_onnx("Max", [run_onnx("Tanh", [run_onnx("Erf", [p], None)], None), r], None)
    case("chain", "erf_tanh_max", ORT + " (Erf, Tanh, Max)", [p, r], [y], steps=["erf", "tanh", "max operand=1"])


def moves():
    x = np.arange(12, dtype=F32).reshape(1, 3, 4)
    for name, pads, extra, attrs in (
            ("constant", (0, 1, 2, 0, 0, 1), [np.full((), 7, F32)], {}), ("zeros", (1, 0, 0, 0, 2, 0), [], {}),
            ("cut", (0, -1, 0, 0, 0, -2), [], {}), ("cut_and_add", (0, -2, 3, 0, 1, -1), [np.full((1,), -1, F32)], {}),
            ("edge", (0, 2, 0, 0, 1, 3), [], {"mode": "edge"}), ("reflect", (0, 2, 1, 0, 1, 3), [], {"mode": "reflect"}),
            ("wrap", (0, 2, 1, 0, 1, 3), [], {"mode": "wrap"}), ("nothing", (0,) * 6, [], {})):
        ort("pad", name, "Pad", [x, i64(*pads)] + extra, attrs, opset=19)
    ort("pad", "axes", "Pad", [x, i64(1, 2, 0, 1), None, i64(-1, 1)])
    ort("pad", "int64", "Pad", [i64(3, 4), i64(2, 1), np.full((), 9, np.int64)])
    case("pad", "reflect_far", NUMPY, [x, i64(0, 0, 5, 0, 0, 9)], [np.pad(x, ((0, 0), (0, 0), (5, 9)), "reflect")], {"mode": "reflect"})
    case("pad", "wrap_far", NUMPY, [x, i64(0, 0, 5, 0, 0, 9)], [np.pad(x, ((0, 0), (0, 0), (5, 9)), "wrap")], {"mode": "wrap"})
    case("pad", "short", "by hand", [x, i64(1, 1)], refused="pads has 2 numbers, expected two for each of 3 axes")
    case("pad", "cuts_all", "by hand", [x, i64(0, 0, -3, 0, 0, -3)], refused="cut more than dimension 2 has, 4")
    case("pad", "mode", "by hand", [x, i64(0, 0, 0, 0, 0, 0)], attrs={"mode": "mirror"}, refused="mode mirror is not known")
    case("pad", "huge", "by hand", [x, i64(0, 0, 1 << 62, 0, 0, 1 << 62)], refused="too large")
    case("pad", "edge_of_nothing", "by hand", [np.zeros((0,), F32), i64(1, 0)], attrs={"mode": "edge"}, refused="nothing to repeat")

    t = R(4, 3)
    ort("gather", "rows", "Gather", [t, i64(2, 0, 2)])
    ort("gather", "columns", "Gather", [t, np.array([[0, 2], [1, -3]], np.int64)], {"axis": 1})
    ort("gather", "scalar", "Gather", [i64(1, 3, 48, 320), np.full((), 3, np.int64)])
    ort("gather", "int32_negative", "Gather", [t, np.array([-1, -4], np.int32)], {"axis": 0})
    ort("gather", "last_axis", "Gather", [R(2, 2, 3), i64(1)], {"axis": -1})
    ort("gather", "no_indices", "Gather", [t, np.zeros((0,), np.int64)])
    case("gather", "strings", "by hand", [np.array(["a", "b"]), i64(1, 0)], [np.array(["b", "a"])])
    case("gather", "outside", "by hand", [t, i64(4)], refused="index 4 is outside axis 0 of 4")
    case("gather", "outside_below", "by hand", [t, i64(-5)], refused="index -5 is outside axis 0 of 4")
    case("gather", "float_index", "by hand", [t, R(1)], refused="expected int32 or int64")
    case("gather", "axis_outside", "by hand", [t, i64(0)], attrs={"axis": 2}, refused="axis 2 is outside a shape of rank 2")

    ort("expand", "rows", "Expand", [R(3, 1), i64(3, 4)])
    ort("expand", "new_dimensions", "Expand", [R(3, 1), i64(2, 1, 2)])
    ort("expand", "smaller_list", "Expand", [R(2, 1, 3), i64(2, 1)])
    ort("expand", "scalar", "Expand", [np.full((), 2, np.int64), i64(2, 2)])
    ort("expand", "to_nothing", "Expand", [R(1, 2), i64(0, 2)])
    case("expand", "no_broadcast", "by hand", [R(3), i64(2)], refused="3 and 2 differ and neither is 1")
    case("expand", "negative", "by hand", [R(3), i64(-1)], refused="negative size")
    ort("tile", "both", "Tile", [R(2, 3), i64(2, 2)])
    ort("tile", "one", "Tile", [R(2, 1, 2), i64(1, 3, 1)])
    ort("tile", "none", "Tile", [R(2), i64(0)])
    case("tile", "short", "by hand", [R(2, 3), i64(2)], refused="expected one for each of 2 dimensions")
    case("tile", "negative", "by hand", [R(2), i64(-1)], refused="cannot be repeated -1 times")

    ort("constant_of_shape", "zeros", "ConstantOfShape", [i64(2, 3)])
    ort("constant_of_shape", "scalar", "ConstantOfShape", [i64()])
    ort("constant_of_shape", "nothing", "ConstantOfShape", [i64(0, 2)])
    case("constant_of_shape", "negative", "by hand", [i64(2, -1)], refused="a negative size, -1")
    case("constant_of_shape", "float_shape", "by hand", [R(1)], refused="expected a list of int64")
    for name, a in (("up", (0, 5, 2)), ("down", (5, -2, -3)), ("empty", (3, 3, 1)), ("against", (3, 0, 1))):
        ort("range", name, "Range", [np.full((), v, np.int64) for v in a])
    ort("range", "fp32", "Range", [np.full((), v, F32) for v in (0.5, 2, 0.25)])
    ort("range", "int32", "Range", [np.full((), v, np.int32) for v in (-3, 4, 3)])
    case("range", "no_step", "by hand", [np.full((), v, np.int64) for v in (0, 3, 0)], refused="the step is 0")
    case("range", "too_long", "by hand", [np.full((), v, np.int64) for v in (0, 1 << 62, 1)], refused="too long")
    case("range", "no_end", "by hand", [np.full((), v, F32) for v in (0, INF, 1)], refused="no end from 0")
    for name, k, upper in (("upper", None, 1), ("lower", None, 0), ("upper_1", 1, 1), ("lower_minus_1", -1, 0), ("lower_2", 2, 0), ("beyond", 9, 1)):
        ort("trilu", name, "Trilu", [R(2, 3, 4)] + ([] if k is None else [np.full((), k, np.int64)]), {"upper": upper})
    ort("trilu", "bool", "Trilu", [np.ones((3, 2), bool)], {"upper": 0})
    case("trilu", "vector", "by hand", [R(3)], refused="expected rank 2 or more")


def write():
    unary()
    binary()
    algebra()
    moves()
