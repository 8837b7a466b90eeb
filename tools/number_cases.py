"""Cases of elementwise, cumulative, reducing, random and linear algebra operators on all element types. Used by make_cases.py."""
import math

import ml_dtypes
import numpy as np
import onnx
from case_writer import EDGE, INF, NAN, NUMPY, Random, case, i64, run_onnx
from onnx.numpy_helper import saturate_cast, to_float8e8m0

R = Random(20261202)
F32 = np.float32
REFERENCE = f"onnx {onnx.__version__} reference"
ML = f"ml_dtypes {ml_dtypes.__version__}"


def ref(op, name, onnx_op, inputs, attrs=None, opset=24, onnx_inputs=None, onnx_attrs=None, **extra):
    """A case whose result ONNX's reference evaluator gives."""
    y = run_onnx(onnx_op, onnx_inputs or inputs, attrs if onnx_attrs is None else onnx_attrs, opset, reference=True)
    case(op, name, REFERENCE, inputs, [np.asarray(y)], attrs, **extra)


def rounded(op, name, f, x, attrs=None):
    with np.errstate(all="ignore"):
        y = f(x.astype(np.float64)).astype(x.dtype)
    case(op, name, NUMPY + " in fp64, rounded", [x], [y], attrs)


def unary():
    unit = np.array([-1, -0.99, -0.5, -1e-30, -0.0, 0, 1e-30, 0.25, 0.5, 0.99, 1, 1.01, -2, INF, -INF, NAN], F32)
    mild = np.array([0, -0.0, 0.5, -0.5, 1, -1, 2.5, -2.5, 5, -5, 88, -88, 1e-30, INF, -INF, NAN], F32)
    small = np.array([0, -0.0, 0.5, -0.5, 1, -1, 1.5, -1.5, 3, -3, 30, -30], F32)
    for op, f, x in (("acos", np.arccos, unit), ("asin", np.arcsin, unit), ("atanh", np.arctanh, unit), ("atan", np.arctan, EDGE),
                     ("acosh", np.arccosh, EDGE), ("asinh", np.arcsinh, EDGE), ("cosh", np.cosh, mild), ("sinh", np.sinh, mild),
                     ("tan", np.tan, small)):
        rounded(op, "edge_values", f, x)
        rounded(op, "fp16", f, np.array([0, 0.25, -0.5, 1, 1.5], np.float16))
        rounded(op, "bf16", f, np.array([0, 0.25, -0.5, 1, 1.5], ml_dtypes.bfloat16))
        rounded(op, "fp64_rank3", f, R(2, 1, 3, dtype=np.float64) / 2)
        case(op, "int32", "by hand", [np.array([1], np.int32)], refused="expected a floating-point type")
    finite = EDGE[np.isfinite(EDGE)]
    for op, f, attrs in (("celu", lambda x: np.maximum(x, 0) + np.minimum(0, np.expm1(x)), {}),
                         ("celu", lambda x: np.maximum(x, 0) + np.minimum(0, 2 * np.expm1(x / 2)), {"alpha": 2.0}),
                         ("selu", lambda x: np.float64(F32(1.0507009873554805)) * np.where(
                             x > 0, x, np.float64(F32(1.6732632423543772)) * np.expm1(x)), {}),
                         ("selu", lambda x: 3 * np.where(x > 0, x, 2 * np.expm1(x)), {"alpha": 2.0, "gamma": 3.0}),
                         ("softsign", lambda x: x / (1 + np.abs(x)), {}),
                         ("thresholded_relu", lambda x: np.where(x > 1, x, 0), {}),
                         ("thresholded_relu", lambda x: np.where(x > -2, x, 0), {"alpha": -2.0})):
        suffix = "_attributes" if attrs else ""
        rounded(op, "edge_values" + suffix, f, finite, attrs)
        rounded(op, "fp16" + suffix, f, R(6, dtype=np.float16), attrs)
        if not attrs:
            case(op, "nan", "by hand", [np.array([NAN], F32)], [np.array([NAN], F32)])
            case(op, "int32", "by hand", [np.array([1], np.int32)], refused="expected a floating-point type")
    rounded("sign", "edge_values", np.sign, EDGE)
    for t in (np.int8, np.int64, np.uint8, np.uint64):
        low, high = np.iinfo(t).min, np.iinfo(t).max
        x = np.array([low, 0, 1, high], t)
        case("sign", np.dtype(t).name, NUMPY, [x], [np.sign(x)])
    case("sign", "bool", "by hand", [np.array([True])], refused="expected a number type")
    for x, name in ((R(9), "fp32"), (R(9, dtype=np.float16), "fp16"), (np.array([-3, -2, -1, 0, 1, 2, 3], np.int32), "int32"),
                    (np.array([0, 1, 2, 250], np.uint8), "uint8")):
        ref("shrink", name, "Shrink", [x], {"lambd": 1.5, "bias": 1.0}, 9)
    ref("shrink", "default", "Shrink", [R(9)], {}, 9)
    case("shrink", "exact_int64", "by hand", [i64(2**53 + 1, -2**53 - 1, 0)], [i64(2**53, -2**53, 0)], {"lambd": 0.5, "bias": 1.0})
    x = np.array([INF, -INF, NAN, 0, 3e38], F32)
    for name, attrs in (("both", {}), ("negative", {"detect_positive": 0}), ("positive", {"detect_negative": 0}),
                        ("none", {"detect_negative": 0, "detect_positive": 0})):
        ref("is_inf", name, "IsInf", [x], attrs, 20)
    e5m2 = np.array([INF, -INF, NAN, 1], ml_dtypes.float8_e5m2)
    case("is_inf", "fp8e5m2", ML, [e5m2], [np.isinf(e5m2)])
    case("is_nan", "fp8e5m2", ML, [e5m2], [np.isnan(e5m2)])
    case("is_inf", "int32", "by hand", [np.array([1], np.int32)], refused="expected a floating-point type")
    case("clip", "int64_kept", "by hand", [i64(2**53 + 1, 2**60 + 1, -5)], [i64(2**53 + 1, 2**60 + 1, 0)], {"min": 0.0})


def binary():
    for op, onnx_op, f in (("bitwise_and", "BitwiseAnd", np.bitwise_and), ("bitwise_or", "BitwiseOr", np.bitwise_or),
                           ("bitwise_xor", "BitwiseXor", np.bitwise_xor)):
        for t in (np.int8, np.int32, np.int64, np.uint8, np.uint16, np.uint64):
            a, b = R.ints(0, 100, 2, 3, dtype=t), R.ints(0, 100, 3, dtype=t)
            a[0, 0] = np.iinfo(t).max
            case(op, np.dtype(t).name + "_broadcast", NUMPY, [a, b], [f(a, b)])
        case(op, "negative", NUMPY, [np.array([-1, -128], np.int8), np.array([5, 127], np.int8)],
             [f(np.array([-1, -128], np.int8), np.array([5, 127], np.int8))])
        case(op, "fp32", "by hand", [R(2), R(2)], refused="expected an integer type")
        case(op, "types_differ", "by hand", [i64(1), np.array([1], np.int32)], refused="must have one type")
    for t in (np.int8, np.int64, np.uint16, np.uint64):
        x = np.array([0, 1, np.iinfo(t).max, np.iinfo(t).min], t)
        case("bitwise_not", np.dtype(t).name, NUMPY, [x], [~x])
    case("bitwise_not", "bool", "by hand", [np.array([True])], refused="expected an integer type")
    a, b = np.array([[True, False], [True, True]]), np.array([True, False])
    case("logical_xor", "broadcast", NUMPY, [a, b], [a ^ b])
    case("logical_xor", "int8", "by hand", [np.array([1], np.int8)] * 2, refused="expected bool")
    for t in (np.uint8, np.uint16, np.uint32, np.uint64):
        x = np.array([[1, 3], [np.iinfo(t).max, 16]], t)
        s = np.array([1, 3], t)
        case("bit_shift", "left_" + np.dtype(t).name, NUMPY, [x, s], [x << s], {"direction": "LEFT"})
        case("bit_shift", "right_" + np.dtype(t).name, NUMPY, [x, s], [x >> s], {"direction": "RIGHT"})
    wide = [np.array([255, 255], np.uint8), np.array([8, 200], np.uint8)]
    for way in ("LEFT", "RIGHT"):
        case("bit_shift", "all_out_" + way.lower(), "by hand", wide, [np.zeros(2, np.uint8)], {"direction": way})
    case("bit_shift", "sideways", "by hand", wide, attrs={"direction": "UP"}, refused="expected LEFT or RIGHT")
    case("bit_shift", "no_direction", "by hand", wide, refused="attribute direction is missing")
    case("bit_shift", "signed", "by hand", [i64(1), i64(1)], attrs={"direction": "LEFT"}, refused="expected an unsigned integer type")

    for t in (np.int8, np.int16, np.int32, np.int64):
        a, b = np.array([-7, 7, -7, 7, 6, np.iinfo(t).min], t), np.array([3, -3, -3, 3, 3, -1], t)
        case("mod", np.dtype(t).name, NUMPY, [a, b], [np.mod(a, b)])
        case("mod", "fmod_" + np.dtype(t).name, NUMPY, [a, b], [np.fmod(a, b)], {"fmod": 1})
    for t in (np.uint8, np.uint64):
        a, b = np.array([[7], [np.iinfo(t).max]], t), np.array([3, 10], t)
        case("mod", np.dtype(t).name + "_broadcast", NUMPY, [a, b], [np.mod(a, b)])
    a, b = np.array([-4.3, 7.2, 5, 4.3, -7.2, 8, INF, 1, 1], F32), np.array([2.1, -3.4, 8, -2.1, 3.4, 5, 2, INF, 0], F32)
    with np.errstate(all="ignore"):
        case("mod", "fp32", NUMPY, [a, b], [np.fmod(a, b)], {"fmod": 1})
        h = [a[:6].astype(np.float16), b[:6].astype(np.float16)]
        case("mod", "fp16", NUMPY, h, [np.fmod(*h)], {"fmod": 1})
    case("mod", "floats_without_fmod", "by hand", [a, b], refused="attribute fmod is 0, expected 1 for fp32")
    case("mod", "by_zero", "by hand", [i64(1), i64(0)], refused="an integer is divided by zero")
    case("mod", "fmod_2", "by hand", [a, b], attrs={"fmod": 2}, refused="attribute fmod is 2")
    a, b = np.array([["a", "bc"], ["x", "d"]], object), np.array(["a", "d"], object)
    case("equal", "string_broadcast", NUMPY, [a, b], [a == b])


def reductions():
    x = R(2, 3, 4)
    for op, f in (("reduce_prod", np.prod), ("reduce_log_sum_exp", lambda v, **k: np.log(np.sum(np.exp(v), **k)))):
        for name, axes, keep in (("last", [-1], 1), ("spatial", [1, 2], 0), ("first", [0], 1), ("middle", [1], 0)):
            y = f(x.astype(np.float64), axis=tuple(axes), keepdims=bool(keep)).astype(F32)
            case(op, name, NUMPY + " in fp64, rounded", [x], [y], {"axes": axes, "keepdims": keep})
        case(op, "all", NUMPY + " in fp64, rounded", [x[0]], [np.asarray(f(x[0].astype(np.float64)), F32)], {"keepdims": 0})
        case(op, "outside", "by hand", [x], attrs={"axes": [3]}, refused="axis 3 is outside a shape of rank 3")
        case(op, "bool", "by hand", [np.array([True])], refused="expected a number type")
    case("reduce_prod", "of_nothing", NUMPY, [np.zeros((2, 0), F32)], [np.ones(2, F32)], {"axes": [1], "keepdims": 0})
    case("reduce_log_sum_exp", "of_nothing", "by hand", [np.zeros((2, 0), F32)], [np.full(2, -INF, F32)], {"axes": [1], "keepdims": 0})
    big = np.array([[1000, 1001, 999], [-1000, -1001, -999], [-INF, -INF, -INF], [INF, 1, 2], [NAN, 1, 2]], F32)
    with np.errstate(all="ignore"):
        case("reduce_log_sum_exp", "far_out", NUMPY + " (logaddexp)", [big], [np.logaddexp.reduce(big.astype(np.float64), 1).astype(F32)],
             {"axes": [1], "keepdims": 0})
    case("reduce_log_sum_exp", "int32", "by hand (cut)", [np.array([[1, 1]], np.int32)], [np.array([[1]], np.int32)], {"axes": [1]})
    for t in (np.int32, np.int64, np.uint32, np.uint64):
        v = np.array([[3, 5, np.iinfo(t).max], [2, 0, 7]], t)
        case("reduce_prod", np.dtype(t).name + "_wraps", NUMPY, [v], [np.prod(v, 1, dtype=t, keepdims=True)], {"axes": [1]})
    for t in (np.uint8, np.int8, np.uint32, np.uint64):
        v = np.array([[3, 200 if t != np.int8 else -100, 5], [np.iinfo(t).max, 0, 1]], t)
        for op, f in (("reduce_max", np.max), ("reduce_min", np.min)):
            case(op, np.dtype(t).name, NUMPY, [v], [f(v, 1)], {"axes": [1], "keepdims": 0})
            empty = np.iinfo(t).min if op == "reduce_max" else np.iinfo(t).max
            case(op, np.dtype(t).name + "_of_nothing", "by hand", [np.zeros((1, 0), t)], [np.array([empty], t)],
                 {"axes": [1], "keepdims": 0})
    flags = np.array([[True, False], [False, False], [True, True]])
    case("reduce_max", "bool", NUMPY, [flags], [np.max(flags, 1)], {"axes": [1], "keepdims": 0})
    case("reduce_min", "bool", NUMPY, [flags], [np.min(flags, 1)], {"axes": [1], "keepdims": 0})
    case("reduce_sum", "bool", "by hand", [flags], refused="expected a number type")
    v = np.array([[2**64 - 1, 2**64 - 3]], np.uint64)
    case("reduce_mean", "uint64", "by hand (the sum wraps)", [v], [np.array([[2**63 - 2]], np.uint64)], {"axes": [1]})
    v = R(2, 5, dtype=ml_dtypes.bfloat16)
    case("reduce_sum", "bf16", NUMPY + " in fp64, rounded", [v], [v.astype(np.float64).sum(1).astype(ml_dtypes.bfloat16)],
         {"axes": [1], "keepdims": 0})

    kinds = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod,
             "log_sum_exp": lambda a, **k: np.log(np.sum(np.exp(a), **k))}
    for kind, f in kinds.items():
        y = f(x.astype(np.float64), axis=(0, 2), keepdims=True).astype(F32)
        case("reduce_over", kind, NUMPY + " in fp64, rounded", [x, i64(-1, 0)], [y], {"reduction": kind})
    case("reduce_over", "not_kept", NUMPY, [x, i64(1)], [x.sum(1)], {"reduction": "sum", "keepdims": 0})
    case("reduce_over", "int32_axes", NUMPY, [x, np.array([1], np.int32)], [x.max(1)], {"reduction": "max", "keepdims": 0})
    case("reduce_over", "no_axes", NUMPY, [x, i64()], [np.max(x, keepdims=True)], {"reduction": "max"})
    case("reduce_over", "no_axes_not_kept", NUMPY, [x, i64()], [np.max(x)], {"reduction": "max", "keepdims": 0})
    case("reduce_over", "noop", "by hand", [x, i64()], [x], {"reduction": "max", "noop_with_empty_axes": 1})
    case("reduce_over", "outside", "by hand", [x, i64(3)], attrs={"reduction": "max"}, refused="axis 3 is outside")
    case("reduce_over", "twice", "by hand", [x, i64(0, -3)], attrs={"reduction": "max"}, refused="axis -3 is named twice")
    case("reduce_over", "many", "by hand", [x, i64(0, 1, 2, 3)], attrs={"reduction": "max"}, refused="4 axes, expected at most the rank 3")
    case("reduce_over", "median", "by hand", [x, i64(0)], attrs={"reduction": "median"}, refused="attribute reduction is median")
    case("reduce_over", "float_axes", "by hand", [x, R(1)], attrs={"reduction": "max"}, refused="expected a list of int64 or int32")

    x = np.array([[3, 1, 1], [1, 1, 2]], F32)
    for axis in (0, 1, -1):
        for keep in (0, 1):
            for last in (0, 1):
                ref("arg_min", f"axis{axis}_keep{keep}_last{last}", "ArgMin", [x],
                    {"axis": axis, "keepdims": keep, "select_last_index": last}, 13)
    for t in (np.uint8, np.int8, np.uint64):
        v = np.array([[3, np.iinfo(t).min, np.iinfo(t).max]], t)
        case("arg_min", np.dtype(t).name, NUMPY, [v], [np.argmin(v, 1)], {"axis": 1, "keepdims": 0})
    case("arg_min", "nan", NUMPY, [np.array([1, NAN, 0], F32)], [np.array(1)], {"keepdims": 0})
    case("arg_min", "of_nothing", "by hand", [np.zeros((2, 0), F32)], attrs={"axis": 1}, refused="axis 1 is empty")

    x = R(2, 3)
    for op, onnx_op, opset in (("cum_sum", "CumSum", 14), ("cum_prod", "CumProd", 26)):
        for axis in (0, 1, -1):
            for exclusive in (0, 1):
                for reverse in (0, 1):
                    ref(op, f"axis{axis}_exclusive{exclusive}_reverse{reverse}", onnx_op, [x, np.array(axis, np.int64)],
                        {"exclusive": exclusive, "reverse": reverse}, opset)
        for t in (np.int32, np.uint64):
            v = np.array([np.iinfo(t).max, 2, 3], t)
            f = np.cumsum if op == "cum_sum" else np.cumprod
            case(op, np.dtype(t).name + "_wraps", NUMPY, [v, np.array(0, np.int32)], [f(v, dtype=t)])
        case(op, "axis_in_a_list", "by hand", [np.array([2, 3], F32), i64(0)], [np.array([2, 5 if op == "cum_sum" else 6], F32)])
        case(op, "no_elements", "by hand", [np.zeros((2, 0), F32), np.array(1, np.int64)], [np.zeros((2, 0), F32)])
        case(op, "outside", "by hand", [x, np.array(2, np.int64)], refused="axis 2 is outside a shape of rank 2")
        case(op, "two_axes", "by hand", [x, i64(0, 1)], refused="expected one int32 or int64 number")
        case(op, "scalar", "by hand", [np.ones((), F32), np.array(0, np.int64)], refused="axis 0 is outside a shape of rank 0")


def algebra():
    case("det", "2x2", "by hand", [np.array([[1, 2], [3, 4]], F32)], [np.array(-2, F32)])
    x = R(2, 2, 3, 3)
    case("det", "batches", NUMPY + " in fp64, rounded", [x], [np.linalg.det(x.astype(np.float64)).astype(F32)])
    x = R(4, 4, dtype=np.float64)
    case("det", "fp64", NUMPY, [x], [np.asarray(np.linalg.det(x))])
    case("det", "pivots", "by hand", [np.array([[0, 1], [1, 0]], F32)], [np.array(-1, F32)])
    case("det", "singular", "by hand", [np.array([[1, 2], [2, 4]], F32)], [np.array(0, F32)])
    case("det", "nan", "by hand", [np.array([[0, 1], [NAN, 1]], F32)], [np.array(NAN, F32)])
    case("det", "0x0", NUMPY, [np.zeros((2, 0, 0), F32)], [np.ones(2, F32)])
    case("det", "no_matrices", NUMPY, [np.zeros((0, 2, 2), F32)], [np.zeros(0, F32)])
    case("det", "not_square", "by hand", [R(2, 3)], refused="expected square matrices")
    case("det", "vector", "by hand", [R(2)], refused="expected square matrices")

    def einsum(name, equation, *operands):
        y = np.einsum(equation, *[a.astype(np.float64) if a.dtype.kind == "f" else a for a in operands])
        case("einsum", name, NUMPY, list(operands), [np.asarray(y, operands[0].dtype)], {"equation": equation.replace(" ", "")})
    einsum("matmul", "ij,jk->ik", R(2, 3), R(3, 2))
    einsum("implicit", "ij,jk", R(2, 3), R(3, 2))
    einsum("implicit_order", "ba", R(2, 3))
    einsum("transpose", "ij->ji", R(2, 3))
    einsum("sum", "ij->i", R(2, 3))
    einsum("total", "ij->", R(2, 3))
    einsum("diagonal", "ii->i", R(3, 3))
    einsum("trace", "ii", R(3, 3))
    einsum("batch_diagonal", "...ii->...i", R(2, 3, 3))
    einsum("batch_matmul", "bij,bjk->bik", R(2, 2, 3), R(2, 3, 2))
    einsum("ellipsis_broadcast", "...ij,...jk->...ik", R(2, 1, 2, 3), R(2, 3, 2))
    einsum("ellipsis_implicit", "...i,...i", R(2, 3), R(3))
    einsum("ellipsis_last", "i...,i...->...i", R(2, 3), R(2, 3))
    einsum("outer", "i,j->ij", R(2), R(3))
    einsum("stretched", "ij,ij->ij", R(2, 1), R(2, 3))
    einsum("stretched_sum", "ij,ij->i", R(2, 1), R(2, 3))
    einsum("stretched_later", "ij,kj,j->ik", R(2, 1), R(2, 1), R(3))
    einsum("three", "ij,jk,kl->il", R(2, 3), R(3, 2), R(2, 2))
    einsum("four", "a,b,a,ab->b", R(2), R(3), R(2), R(2, 3))
    einsum("only_in_one", "ij,k->i", R(2, 3), R(2))
    einsum("scalar", ",ij->ij", np.array(3, F32), R(2, 2))
    einsum("capitals", "Ab,bA->A", R(2, 3), R(3, 2))
    einsum("int32_wraps", "i,i->", np.full(2, 1 << 30, np.int32), np.full(2, 2, np.int32))
    einsum("uint8", "i,j->ij", np.array([200, 3], np.uint8), np.array([2, 1], np.uint8))
    einsum("no_elements", "ij,jk->ik", np.zeros((2, 0), F32), np.zeros((0, 2), F32))
    a, b = R(2, 3), R(3, 2)
    for name, equation, inputs, message in (
            ("operands", "ij,jk->ik", [a], "the equation has 2 operands, found 1 inputs"),
            ("rank", "ijk->i", [a], "input 0 has rank 2, the equation gives it 3 indices"),
            ("sizes", "ij,ij->i", [a, b], "an index has size"),
            ("not_a_square", "ii->i", [a], "named twice has sizes"),
            ("unknown_index", "ij->k", [a], "an index of the result is in no operand"),
            ("result_twice", "ij->ii", [a], "named twice"),
            ("two_ellipses", "...i...->i", [a], "two ellipses"),
            ("two_arrows", "ij->i->j", [a], "expected letters, commas"),
            ("digit", "i1->i", [a], "expected letters, commas"),
            ("dots", "i..->i", [a], "expected letters, commas")):
        case("einsum", name, "by hand", inputs, attrs={"equation": equation}, refused=message)

    x = np.array([[3, 1, 3], [2, 2, 1]], F32)
    for axis in (0, 1, -1):
        ref("hardmax", f"axis{axis}", "Hardmax", [x], {"axis": axis}, 13)
    ref("hardmax", "default", "Hardmax", [R(2, 3)], {}, 13)
    case("hardmax", "no_elements", "by hand", [np.zeros((2, 0), F32)], [np.zeros((2, 0), F32)])
    case("hardmax", "outside", "by hand", [x], attrs={"axis": 2}, refused="axis 2 is outside a shape of rank 2")
    x = np.array([[3, -4], [0, 0], [1, 1]], F32)
    case("lp_normalization", "p2", "by hand", [x[:2]], [np.array([[0.6, -0.8], [0, 0]], F32)])
    case("lp_normalization", "p1", "by hand", [x[:2]], [np.array([[3 / 7, -4 / 7], [0, 0]], F32)], {"p": 1})
    y = R(2, 3, 2)
    n = np.sqrt((y.astype(np.float64) ** 2).sum(1, keepdims=True))
    case("lp_normalization", "axis1", NUMPY + " in fp64, rounded", [y], [(y / n).astype(F32)], {"axis": 1})
    case("lp_normalization", "p3", "by hand", [x], attrs={"p": 3}, refused="attribute p is 3, expected 1 or 2")


def casts():
    wide = np.array([0.48, 1e6, -1e6, INF, -INF, NAN, 464, 465, 448, -1e-7, 61440, 57344, 0, -0.0], F32)
    for t in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz):
        name = "fp8" + np.dtype(t).name[len("float8_"):]
        y = saturate_cast(wide, np.dtype(t))
        case("cast", "fp32_to_" + name, f"onnx {onnx.__version__} saturate_cast", [wide], [y], {"to": name})
        with np.errstate(all="ignore"):
            case("cast", "fp32_to_" + name + "_open", ML, [wide], [wide.astype(t)], {"to": name, "saturate": 0})
        case("cast", name + "_to_fp16", ML, [y], [y.astype(np.float16)], {"to": "fp16"})
    x = np.array([1, 1.25, 1.5, 1.75, 2, 3, 0.124, 1e-30, 3e38, 1.1], F32)
    for mode in ("up", "down", "nearest"):
        case("cast", "fp32_to_fp8e8m0_" + mode, f"onnx {onnx.__version__} to_float8e8m0", [x],
             [to_float8e8m0(x, True, mode)], {"to": "fp8e8m0", "round_mode": mode})
    e8 = to_float8e8m0(x)
    case("cast", "fp8e8m0_to_fp64", ML, [e8], [e8.astype(np.float64)], {"to": "fp64"})
    case("cast", "fp8e8m0_ends", "by hand (ONNX's table)", [np.array([0, INF, NAN, 1e300], np.float64)],
         [np.array([2.0**-127, 2.0**127, NAN, 2.0**127], ml_dtypes.float8_e8m0fnu)], {"to": "fp8e8m0"})
    case("cast", "fp8e8m0_ends_open", "by hand (ONNX's table)", [np.array([0, INF, NAN, 1e300, 1e-300], np.float64)],
         [np.array([NAN] * 5, ml_dtypes.float8_e8m0fnu)], {"to": "fp8e8m0", "saturate": 0, "round_mode": "nearest"})
    f4 = np.array([0.48, 0.25, 1.05, -3.5, -8, 9, 1e6, 1e-7, INF, -INF, -4], F32)
    case("cast", "fp32_to_fp4e2m1", ML, [f4], [f4.astype(ml_dtypes.float4_e2m1fn)], {"to": "fp4e2m1"})
    odd = np.arange(-9, 16).astype(F32)
    for t, name in ((ml_dtypes.int4, "int4"), (ml_dtypes.uint4, "uint4")):
        case("cast", "fp32_to_" + name, ML, [odd], [odd.astype(t)], {"to": name})
        case("cast", name + "_to_fp32", ML, [odd.astype(t)], [odd.astype(t).astype(F32)], {"to": "fp32"})
        case("cast", name + "_to_int8", ML, [odd.astype(t)], [odd.astype(t).astype(np.int8)], {"to": "int8"})
        case("cast", "int16_to_" + name, ML, [odd.astype(np.int16)], [odd.astype(np.int16).astype(t)], {"to": name})
    for t, name in ((ml_dtypes.int2, "int2"), (ml_dtypes.uint2, "uint2")):
        v = np.arange(-3, 4).astype(F32)
        case("cast", "fp32_to_" + name, ML, [v], [v.astype(t)], {"to": name})
        case("cast", name + "_to_int8", ML, [v.astype(t)], [v.astype(t).astype(np.int8)], {"to": "int8"})
    v = np.array([-1.5, 255.9, 256, 300, -129, 70000], F32)
    case("cast", "fp32_to_uint8_low_bits", "by hand", [v], [np.array([255, 255, 0, 44, 127, 112], np.uint8)], {"to": "uint8"})
    case("cast", "fp32_to_int8_low_bits", "by hand", [v], [np.array([-1, -1, 0, 44, 127, 112], np.int8)], {"to": "int8"})
    v = np.array([-1.9, -3, -0.5, 7.9], F32)
    case("cast", "fp32_to_uint32_negative", "by hand (low bits of -1, -3)", [v], [np.array([2**32 - 1, 2**32 - 3, 0, 7], np.uint32)],
         {"to": "uint32"})
    case("cast", "fp32_to_uint64_negative", "by hand (low bits of -2^40)", [np.array([-2.0**40, 7], F32)],
         [np.array([2**64 - 2**40, 7], np.uint64)], {"to": "uint64"})
    halfway = i64(2**60 + 2**36, 2**60 + 2**36 + 1, -(2**60 + 2**36 + 1), 2**60 + 2**36 - 1)
    case("cast", "int64_to_fp32_halfway", NUMPY, [halfway], [halfway.astype(F32)], {"to": "fp32"})
    u = np.array([2**64 - 1, 2**63 + 1, 0], np.uint64)
    case("cast", "uint64_to_fp64", NUMPY, [u], [u.astype(np.float64)], {"to": "fp64"})
    bf = np.array([0.47892547, 3.0e38, NAN, INF, -1.00390625], F32)
    case("cast", "fp32_to_bf16", ML, [bf], [bf.astype(ml_dtypes.bfloat16)], {"to": "bf16"})
    words = np.array(["3.14", "1000", "1e-5", "-2.5E3", "+INF", "-inf", "nan", "+7"], object)
    case("cast", "string_to_fp32", "by hand", [words], [np.array([3.14, 1000, 1e-5, -2500, INF, -INF, NAN, 7], F32)], {"to": "fp32"})
    case("cast", "string_to_int64", "by hand", [np.array(["9007199254740993", "-9223372036854775808", "100.5"], object)],
         [i64(2**53 + 1, -2**63, 100)], {"to": "int64"})
    case("cast", "string_to_uint64", "by hand", [np.array(["18446744073709551615"], object)], [np.array([2**64 - 1], np.uint64)],
         {"to": "uint64"})
    case("cast", "string_to_bool", "by hand", [np.array(["True", "0", "2"], object)], [np.array([True, False, True])], {"to": "bool"})
    numbers = np.array([0.47892547, 1, -0.0, 1e-7, 123456.79, 1e16, 0.001, 1.5e30], F32)
    case("cast", "fp32_to_string", NUMPY, [numbers], [numbers.astype(str).astype(object)], {"to": "string"})
    doubles = np.array([0.1, 1e22, 1 / 3, 100], np.float64)
    case("cast", "fp64_to_string", NUMPY, [doubles], [doubles.astype(str).astype(object)], {"to": "string"})
    halves = np.array([0.1, 65504, -2.5, 0.3333], np.float16)
    case("cast", "fp16_to_string", "by hand (shortest that reads back)", [halves],
         [np.array(["0.1", "65500.0", "-2.5", "0.3333"], object)], {"to": "string"})
    case("cast", "special_to_string", "by hand (ONNX's literals)", [np.array([NAN, INF, -INF], F32)],
         [np.array(["NaN", "INF", "-INF"], object)], {"to": "string"})
    case("cast", "ints_to_string", NUMPY, [i64(0, -2**63, 2**63 - 1)], [np.array(["0", str(-2**63), str(2**63 - 1)], object)],
         {"to": "string"})
    case("cast", "bool_to_string", NUMPY, [np.array([True, False])], [np.array(["True", "False"], object)], {"to": "string"})
    for word in ("hello", "0x10", "1.2.3", "--1", "1e"):
        case("cast", "no_number_" + word, "by hand", [np.array([word], object)], attrs={"to": "fp32"}, refused="expected a number as text")
    case("cast", "complex", "by hand", [R(1)], attrs={"to": "complex64"}, refused="attribute to is 24 (complex64)")
    case("cast", "round_mode", "by hand", [R(1)], attrs={"to": "fp8e8m0", "round_mode": "odd"}, refused="expected up, down or nearest")

    x = np.array([1, -2.5, INF, 0], F32)
    case("bit_cast", "fp32_to_int32", NUMPY, [x], [x.view(np.int32)], {"to": "int32"})
    case("bit_cast", "int32_to_fp32", NUMPY, [x.view(np.int32)], [x], {"to": "fp32"})
    y = np.array([[1, 200], [3, 4]], np.uint8)
    case("bit_cast", "uint8_to_int8", NUMPY, [y], [y.view(np.int8)], {"to": "int8"})
    case("bit_cast", "bf16_to_uint16", ML, [bf.astype(ml_dtypes.bfloat16)], [bf.astype(ml_dtypes.bfloat16).view(np.uint16)], {"to": "uint16"})
    case("bit_cast", "int4_to_uint4", ML, [odd.astype(ml_dtypes.int4)], [odd.astype(ml_dtypes.uint4)], {"to": "uint4"})
    case("bit_cast", "to_bool", "by hand", [np.array([0, 1, 2], np.uint8)], [np.array([False, True, True])], {"to": "bool"})
    case("bit_cast", "other_size", "by hand", [x], attrs={"to": "int64"}, refused="expected a type of 64 bits as int64 has")
    case("bit_cast", "string", "by hand", [x], attrs={"to": "string"}, refused="expected a type of a fixed size")


def splitmix(seed, k):
    """The generator of src/ops/random.cc, worked out again with Python's integers."""
    full = 2**64 - 1

    def mix(z):
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & full
        z = (z ^ z >> 27) * 0x94d049bb133111eb & full
        return z ^ z >> 31
    golden = 0x9e3779b97f4a7c15
    key = mix(seed + golden & full)
    return (mix(mix(k * golden + key & full) ^ key) >> 11) * 2.0**-53


def random():
    mine = "the definition in src/ops/random.cc, worked out in Python"
    u = np.array([splitmix(7, k) for k in range(6)])
    case("random_uniform", "low_high", mine, [i64(2, 3)], [(2 + 3 * u).reshape(2, 3).astype(F32)], {"seed": 7, "low": 2.0, "high": 5.0})
    case("random_uniform", "fp64", mine, [i64(6)], [u], {"seed": 7, "dtype": "fp64"})
    n = np.array([math.sqrt(-2 * math.log(1 - splitmix(9, 2 * k))) * math.cos(2 * math.pi * splitmix(9, 2 * k + 1)) for k in range(5)])
    case("random_normal", "mean_scale", mine, [i64(5)], [(1 + 2 * n).astype(F32)], {"seed": 9, "mean": 1.0, "scale": 2.0})
    case("random_normal", "scalar", mine, [i64()], [np.array(n[0], F32)], {"seed": 9})
    for op in ("random_normal", "random_uniform"):
        case(op, "no_elements", "by hand", [i64(0, 3)], [np.zeros((0, 3), F32)])
        case(op, "negative", "by hand", [i64(-1)], refused="the shape holds -1")
        case(op, "int32", "by hand", [i64(1)], attrs={"dtype": "int32"}, refused="attribute dtype is int32")
    p = np.array([0, 1, 0.5, 0.5, 0.5, 0.2], F32)
    u = np.array([splitmix(3, k) for k in range(6)])
    case("bernoulli", "same_type", mine, [p], [(u < p).astype(F32)], {"seed": 3})
    case("bernoulli", "bool", mine, [p], [u < p], {"seed": 3, "dtype": "bool"})
    case("bernoulli", "string", "by hand", [p], attrs={"dtype": "string"}, refused="attribute dtype is string")
    x = np.array([[0, -INF, math.log(3)], [-INF, 0, -INF]], F32)
    u = np.array([splitmix(5, k) for k in range(8)]).reshape(2, 4)
    case("multinomial", "two_rows", mine, [x], [np.array([[0 if v < 0.25 else 2 for v in u[0]], [1] * 4], np.int32)],
         {"seed": 5, "sample_size": 4})
    case("multinomial", "int64", mine, [x[1:]], [i64(1).reshape(1, 1)], {"dtype": "int64"})
    case("multinomial", "impossible", "by hand", [np.full((1, 2), -INF, F32)], refused="row 0 has no class of any probability")
    case("multinomial", "no_classes", "by hand", [np.zeros((1, 0), F32)], refused="expected [batch, classes]")
    case("multinomial", "no_samples", "by hand", [x], attrs={"sample_size": 0}, refused="sample_size is 0")


def write():
    unary()
    binary()
    reductions()
    algebra()
    casts()
    random()
