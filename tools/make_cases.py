#!/usr/bin/env python3
"""Writes tests/ops/<op>.case: what each operator must answer, computed by others (onnxruntime, ONNX's own node tests, numpy).

Needs onnx, onnxruntime and numpy (the tests' Python environment). Deterministic: run again, the files stay the same.
    python tools/make_cases.py            write all
    python tools/make_cases.py --check    write nothing; exit 1 where a file would change
Cases that say "by hand" are written here as literal numbers.
"""
import argparse
import os
import sys

import index_cases
import attention_cases
import microsoft_cases
import kind_cases
import network_cases
import nn_cases
import number_cases
import numpy as np
import onnx
import onnx_node_tests
import quant_cases
import string_cases
from case_writer import EDGE, FILES, INF, NAMES, NAN, NUMPY, ORT, R, case, i64, nhwc, ort, ort_nhwc, run_onnx
from onnx import TensorProto

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def unary():
    for op, onnx_op, opset in (("relu", "Relu", 21), ("sigmoid", "Sigmoid", 21), ("sqrt", "Sqrt", 21),
                               ("hard_sigmoid", "HardSigmoid", 21), ("hard_swish", "HardSwish", 21)):
        ort(op, "edge_values", onnx_op, [EDGE], opset=opset)
        ort(op, "rank4", onnx_op, [R(1, 2, 3, 2)], opset=opset)
        ort(op, "scalar", onnx_op, [np.full((), 0.75, np.float32)], opset=opset)
        ort(op, "no_elements", onnx_op, [np.zeros((2, 0, 3), np.float32)], opset=opset)
    ort("relu", "int32", "Relu", [np.array([-5, 0, 7, -2147483648, 2147483647], np.int32)])
    ort("relu", "fp64", "Relu", [np.array([-0.1, 0.1, 1e300], np.float64)])
    ort("hard_sigmoid", "alpha_beta", "HardSigmoid", [EDGE], {"alpha": 0.16666667, "beta": 0.5})
    for op, f in (("sigmoid", lambda x: 1 / (1 + np.exp(-x))), ("sqrt", np.sqrt), ("relu", lambda x: np.maximum(x, 0)),
                  ("hard_swish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1))):
        with np.errstate(all="ignore"):
            x = R(11, dtype=np.float16)
            case(op, "fp16", NUMPY + " in fp64, rounded", [x], [f(x.astype(np.float64)).astype(np.float16)])
            x = R(11, dtype=np.float64)
            case(op, "fp64_values", NUMPY, [x], [f(x)])
    with np.errstate(all="ignore"):
        x = EDGE[np.isfinite(EDGE)]
        y = (x.astype(np.float64) / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)
        case("swish", "edge_values", NUMPY + " in fp64, rounded", [x], [y])
    x = R(2, 3, 2)
    case("swish", "rank3", ORT + " (Sigmoid, Mul)", [x], [run_onnx("Mul", [x, run_onnx("Sigmoid", [x], None)], None)])
    case("relu", "string", "by hand", [np.array(["a"])], refused="string")
    case("sigmoid", "int32", "by hand", [i64(1)], refused="expected a floating-point type")
    case("relu", "unknown_attribute_value", "by hand", [EDGE[:2], EDGE[:2]], refused="expected 1 inputs, found 2")

    ort("clip", "relu6", "Clip", [EDGE], {"min": 0.0, "max": 6.0}, [EDGE, np.zeros((), np.float32),
                                                                   np.full((), 6, np.float32)], {})
    x = R(7)
    ort("clip", "only_min", "Clip", [x], {"min": -0.5}, [x, np.full((), -0.5, np.float32)], {})
    ort("clip", "only_max", "Clip", [x], {"max": 0.25}, [x, None, np.full((), 0.25, np.float32)], {})
    ort("clip", "int32", "Clip", [np.array([-9, -1, 0, 5, 99], np.int32)], {"min": -1.0, "max": 5.0},
        [np.array([-9, -1, 0, 5, 99], np.int32), np.full((), -1, np.int32), np.full((), 5, np.int32)], {})
    case("clip", "min_above_max", "by hand (ONNX: all become max)", [np.array([-3, 0, 3], np.float32)],
         [np.array([1, 1, 1], np.float32)], {"min": 2.0, "max": 1.0})
    case("clip", "no_limits", "by hand", [EDGE], [EDGE])
    case("clip", "nan_limit", "by hand", [x], attrs={"min": NAN}, refused="a limit is NaN")

    case("identity", "values", "by hand", [EDGE], [EDGE])
    case("identity", "string", "by hand", [np.array([["a", "bc"]])], [np.array([["a", "bc"]])])
    case("identity", "scalar", "by hand", [np.full((), 7, np.int64)], [np.full((), 7, np.int64)])


def binary():
    for op, onnx_op in (("add", "Add"), ("sub", "Sub"), ("mul", "Mul"), ("div", "Div")):
        a, b = R(2, 3), R(2, 3)
        b[b == 0] = 0.5
        ort(op, "same_shape", onnx_op, [a, b])
        ort(op, "channel", onnx_op, [R(1, 3, 2, 2), np.abs(R(3, 1, 1)) + 0.125])
        ort(op, "both_broadcast", onnx_op, [R(2, 1, 3), np.abs(R(1, 4, 1)) + 0.125])
        ort(op, "scalar_left", onnx_op, [np.full((), 1.5, np.float32), np.abs(R(4)) + 0.125])
        ort(op, "ranks_differ", onnx_op, [R(2), np.abs(R(2, 2, 2)) + 0.125])
        ort(op, "no_elements", onnx_op, [np.zeros((0, 3), np.float32), R(3)])
        ort(op, "int64", onnx_op, [i64(7, -7, 9, 1 << 40), i64(2, 2, -4, 3)])
        ort(op, "int32_wraps", onnx_op, [np.array([2147483647, -2147483648, 5], np.int32), np.array([1, 1, 2], np.int32)])
        ort(op, "uint8", onnx_op, [np.array([250, 3, 9], np.uint8), np.array([10, 5, 2], np.uint8)], opset=14)
        ort(op, "fp64", onnx_op, [np.array([0.1, 1e300], np.float64), np.array([0.3, 10], np.float64)])
        with np.errstate(all="ignore"):
            x, y = np.meshgrid(np.array([0, 1, -INF, INF, NAN], np.float32), np.array([0, -2, INF, NAN], np.float32))
            f = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[op]
            case(op, "edge_values", NUMPY, [x, y], [f(x, y)])
            x, y = R(6, dtype=np.float16), np.abs(R(6, dtype=np.float16)) + np.float16(0.5)
            case(op, "fp16", NUMPY + " in fp64, rounded", [x, y],
                 [f(x.astype(np.float64), y.astype(np.float64)).astype(np.float16)])
        case(op, "no_broadcast", "by hand", [R(2, 3), R(2, 4)], refused="3 and 4 differ and neither is 1")
        case(op, "types_differ", "by hand", [R(2), i64(1, 2)], refused="must have one type, found fp32 and int64")
    case("div", "by_zero", "by hand", [i64(1), i64(0)], refused="divided by zero")
    case("div", "lowest_by_minus_one", "by hand (wraps)", [np.array([-2147483648], np.int32), np.array([-1], np.int32)],
         [np.array([-2147483648], np.int32)])

    ort("pow", "squares", "Pow", [R(2, 3), np.full((), 2, np.float32)])
    ort("pow", "broadcast", "Pow", [np.abs(R(2, 1, 3)), R(1, 2, 1)])
    ort("pow", "int_exponent", "Pow", [R(4), i64(0, 1, 2, 3)])
    ort("pow", "int32", "Pow", [np.array([2, -3, 7, 0], np.int32), np.array([10, 3, 2, 0], np.int32)])
    case("pow", "edge_values", NUMPY, [np.array([0, 0, -8, INF, -INF, NAN, 1, 2], np.float32),
                                       np.array([0, -1, 1 / 3, -1, 3, 0, NAN, 200], np.float32)],
         [np.power(np.array([0, 0, -8, INF, -INF, NAN, 1, 2], np.float32),
                   np.array([0, -1, 1 / 3, -1, 3, 0, NAN, 200], np.float32))])
    case("pow", "int64_negative_exponent", "by hand (1/b^n towards zero)", [i64(1, -1, -1, 2), i64(-5, -5, -4, -1)],
         [i64(1, -1, 1, 0)])

    def cast(name, x, to, y=None, source=None):
        number_of = {v: k for k, v in {TensorProto.FLOAT: "fp32", TensorProto.INT64: "int64", TensorProto.INT32: "int32",
                                       TensorProto.FLOAT16: "fp16", TensorProto.BOOL: "bool", TensorProto.INT8: "int8",
                                       TensorProto.UINT8: "uint8", TensorProto.DOUBLE: "fp64"}.items()}
        if y is None:
            y, source = run_onnx("Cast", [x], {"to": number_of[to]}), ORT
        case("cast", name, source, [x], [y], {"to": to})
    cast("fp32_to_int32", np.array([0, 0.9, -0.9, 1.5, -1.5, 2.5, 1e9], np.float32), "int32")
    cast("fp32_to_int64", np.array([-0.5, 7.99, -1e15], np.float32), "int64")
    cast("int64_to_fp32", i64(0, -1, 16777217, (1 << 53) + 1), "fp32")
    cast("int64_to_int32_wraps", i64((1 << 32) + 5, -1, 1 << 31), "int32")
    cast("int32_to_uint8_wraps", np.array([256, 300, -1], np.int32), "uint8")
    cast("fp32_to_fp16", np.array([0.1, 65504, 65519.996, 65520, 1e-8, 5.9604645e-08, INF, NAN], np.float32), "fp16")
    cast("fp16_to_fp32", np.array([0.1, 65504, 6e-8, -INF], np.float16), "fp32")
    cast("to_bool", np.array([0, -0.0, 0.1, -3, NAN], np.float32), "bool")
    cast("bool_to_fp32", np.array([True, False]), "fp32")
    cast("fp64_to_fp32", np.array([1 / 3, 1e300, 1e-60], np.float64), "fp32")
    cast("same", R(2, 2), "fp32")
    cast("out_of_range", np.array([1e20, -1e20, NAN], np.float32), "int32", np.array([2147483647, -2147483648, 0], np.int32),
         "by hand (ONNX leaves it open; npukit saturates, NaN gives 0)")
    case("cast", "no_such_type", "by hand", [R(1)], attrs={"to": 99}, refused="attribute to is 99")
    case("cast", "no_type", "by hand", [R(1)], refused="attribute to is missing")


def moves():
    ort("concat", "axis0", "Concat", [R(1, 2), R(3, 2)], {"axis": 0})
    ort("concat", "axis_last_negative", "Concat", [R(2, 1, 2), R(2, 1, 1), R(2, 1, 3)], {"axis": -1})
    ort("concat", "middle", "Concat", [R(2, 1, 2), R(2, 2, 2)], {"axis": 1})
    ort("concat", "one", "Concat", [R(2, 2)], {"axis": 0})
    ort("concat", "with_empty", "Concat", [np.zeros((0, 2), np.float32), R(1, 2)], {"axis": 0})
    ort("concat", "int64", "Concat", [i64(1), i64(2, 3), i64(4)], {"axis": 0})
    ort("concat", "bool", "Concat", [np.array([True]), np.array([False, True])], {"axis": 0})
    case("concat", "strings", "by hand", [np.array(["a"]), np.array(["b", "c"])], [np.array(["a", "b", "c"])], {"axis": 0})
    case("concat", "sizes_differ", "by hand", [R(2, 2), R(2, 3)], attrs={"axis": 0}, refused="input 1, dimension 1: 2 and 3 differ")
    case("concat", "ranks_differ", "by hand", [R(2, 2), R(2)], attrs={"axis": 0}, refused="expected rank 2")
    case("concat", "axis_outside", "by hand", [R(2), R(2)], attrs={"axis": 1}, refused="axis 1 is outside a shape of rank 1")
    case("concat", "no_axis", "by hand", [R(2), R(2)], refused="attribute axis is missing")
    case("concat", "scalars", "by hand", [np.ones((), np.float32)], attrs={"axis": 0}, refused="a scalar has no axis")
    case("concat", "nothing", "by hand", [], attrs={"axis": 0}, refused="expected 1 or more inputs, found 0")

    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for name, *lists in (("one_axis", [1], [3], [1]), ("all_axes", [0, 1, 1], [1, 3, 4]),
                         ("negative_ends", [0, -3], [2, -1], [0, 2]), ("steps", [0, 3], [3, -5], [1, 2], [2, -1]),
                         ("reversed", [-1, -1, -1], [-1 << 62, -1 << 62, -1 << 62], [0, 1, 2], [-1, -1, -1]),
                         ("end_beyond", [1], [1 << 62], [2]), ("start_beyond", [9], [99], [1]),
                         ("empty", [2], [1], [1]), ("huge_step", [0], [4], [2], [1 << 62]),
                         ("axes_out_of_order", [1, 0], [4, 1], [-1, 0]), ("step_skips", [3, 0], [0, 3], [2, 1], [-2, 2])):
        ort("slice", name, "Slice", [x] + [i64(*v) for v in lists])
    ort("slice", "int32_lists", "Slice", [x, np.array([1], np.int32), np.array([2], np.int32), np.array([1], np.int32)])
    ort("slice", "shape_arithmetic", "Slice", [i64(1, 3, 48, 320), i64(3), i64(4), i64(0)])
    ort("slice", "no_axes_but_steps", "Slice", [x, i64(0, 2, 0), i64(2, 0, 4), None, i64(1, -1, 3)])
    case("slice", "uint64_lowest_step", "by hand", [i64(1, 2, 3), i64(2), i64(-9), i64(0), i64(-1 << 63)], [i64(3)])
    case("slice", "step_zero", "by hand", [x, i64(0), i64(1), i64(0), i64(0)], refused="the step of axis 0 is 0")
    case("slice", "axis_twice", "by hand", [x, i64(0, 0), i64(1, 1), i64(0, -3)], refused="axis -3 is named twice")
    case("slice", "lengths_differ", "by hand", [x, i64(0, 1), i64(1)], refused="have 2, 1")
    case("slice", "axis_outside", "by hand", [x, i64(0), i64(1), i64(3)], refused="axis 3 is outside a shape of rank 3")
    case("slice", "float_starts", "by hand", [x, R(1), i64(1)], refused="expected a list of int64 or int32")

    for name, shape, attrs in (("flatten", (2, 12), {}), ("guess", (4, -1), {}), ("copy", (0, -1), {}),
                               ("copy_all", (0, 0, 0), {}), ("scalar_like", (24,), {}), ("more_ranks", (1, 2, 1, 3, 4, 1), {})):
        ort("reshape", name, "Reshape", [x, i64(*shape)], attrs)
    ort("reshape", "to_scalar", "Reshape", [np.ones((1, 1), np.float32), i64()])
    ort("reshape", "empty", "Reshape", [np.zeros((0, 3), np.float32), i64(3, 0)], {"allowzero": 1})
    ort("reshape", "empty_copy", "Reshape", [np.zeros((0, 3), np.float32), i64(0, 3, 1)])
    case("reshape", "strings", "by hand", [np.array(["a", "b"]), i64(2, 1)], [np.array([["a"], ["b"]])])
    case("reshape", "does_not_fill", "by hand", [x, i64(5, 5)], refused="the 24 elements of fp32[2, 3, 4] do not fill shape [5, 5]")
    case("reshape", "no_guess", "by hand", [x, i64(5, -1)], refused="do not fill")
    case("reshape", "two_guesses", "by hand", [x, i64(-1, -1)], refused="more than one -1")
    case("reshape", "negative", "by hand", [x, i64(-2, 12)], refused="negative size")
    case("reshape", "copies_beyond", "by hand", [i64(1), i64(1, 0)], refused="copies dimension 1")
    case("reshape", "zero_and_guess", "by hand", [np.zeros((0, 2), np.float32), i64(0, -1)], attrs={"allowzero": 1},
         refused="both 0 and -1")
    case("reshape", "overflow", "by hand", [x, i64(1 << 62, 4)], refused="too large")
    case("reshape", "float_shape", "by hand", [x, R(2)], refused="expected a list of int64")

    for perm in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1)):
        ort("transpose", "perm" + "".join(map(str, perm)), "Transpose", [x], {"perm": list(perm)})
    ort("transpose", "default", "Transpose", [x])
    ort("transpose", "nchw_to_nhwc", "Transpose", [R(1, 3, 2, 2)], {"perm": [0, 2, 3, 1]})
    ort("transpose", "int8", "Transpose", [R.ints(-9, 9, 2, 3, dtype=np.int8)], {"perm": [1, 0]})
    ort("transpose", "rank5", "Transpose", [R(1, 2, 3, 1, 2)], {"perm": [2, 0, 3, 1, 4]})
    case("transpose", "scalar", NUMPY, [np.ones((), np.float32)], [np.ones((), np.float32)])
    ort("transpose", "no_elements", "Transpose", [np.zeros((2, 0, 3), np.float32)], {"perm": [2, 0, 1]})
    case("transpose", "not_a_permutation", "by hand", [x], attrs={"perm": [0, 0, 1]}, refused="no permutation of 3 dimensions")
    case("transpose", "too_short", "by hand", [x], attrs={"perm": [1, 0]}, refused="no permutation")

    y = x.reshape(1, 2, 3, 1, 4)
    for name, axes in (("first", [0]), ("negative", [-2]), ("both", [0, 3])):
        ort("squeeze", name, "Squeeze", [y], {"axes": axes}, [y, i64(*axes)], {})
    ort("squeeze", "all", "Squeeze", [y])
    case("squeeze", "not_one", "by hand", [y], attrs={"axes": [1]}, refused="dimension 1 of fp32[1, 2, 3, 1, 4] is 2, expected 1")
    case("squeeze", "outside", "by hand", [y], attrs={"axes": [5]}, refused="axis 5 is outside a shape of rank 5")
    for name, axes in (("front", [0]), ("back", [-1]), ("several", [0, 2, 5]), ("unsorted", [3, 0])):
        ort("unsqueeze", name, "Unsqueeze", [x], {"axes": axes}, [x, i64(*axes)], {})
    ort("unsqueeze", "scalar", "Unsqueeze", [np.full((), 3, np.int64)], {"axes": [0]}, [np.full((), 3, np.int64), i64(0)], {})
    case("unsqueeze", "twice", "by hand", [x], attrs={"axes": [0, 0]}, refused="axis 0 is named twice")
    case("unsqueeze", "outside", "by hand", [x], attrs={"axes": [4]}, refused="axis 4 is outside a shape of rank 4")
    case("unsqueeze", "no_axes", "by hand", [x], refused="expected axes, as an attribute or as an input")

    ort("shape", "all", "Shape", [x])
    ort("shape", "scalar", "Shape", [np.ones((), np.float32)])
    ort("shape", "zero", "Shape", [np.zeros((3, 0), np.float32)])
    for name, attrs in (("start", {"start": 1}), ("end_negative", {"end": -1}), ("middle", {"start": -2, "end": -1}),
                        ("beyond", {"start": -9, "end": 99}), ("nothing", {"start": 2, "end": 1})):
        ort("shape", name, "Shape", [x], attrs)


def spatial():
    def conv(name, x, w, b=None, op="conv2d", onnx_op="Conv", **attrs):
        inputs = [x, w] + ([b] if b is not None else [])
        ort(op, name, onnx_op, inputs, attrs, onnx_attrs=dict(attrs, kernel_shape=list(w.shape[2:])))
        return inputs, attrs
    conv("pointwise", R(1, 3, 2, 2), R(2, 3, 1, 1), R(2))
    conv("same_3x3", R(1, 2, 4, 3), R(2, 2, 3, 3), R(2), pads=[1, 1, 1, 1])
    conv("stride2_odd", R(1, 1, 5, 6), R(1, 1, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
    conv("strides_differ", R(1, 1, 5, 5), R(1, 1, 3, 3), strides=[2, 1], pads=[1, 1, 1, 1])
    conv("kernel_1x3", R(1, 2, 2, 4), R(1, 2, 1, 3), pads=[0, 1, 0, 1])
    conv("depthwise", R(1, 3, 4, 4), R(3, 1, 3, 3), R(3), group=3, pads=[1, 1, 1, 1])
    conv("depth_multiplier", R(1, 2, 3, 3), R(4, 1, 2, 2), group=2)
    conv("groups", R(1, 4, 3, 3), R(6, 2, 2, 2), R(6), group=2)
    conv("dilated", R(1, 1, 6, 6), R(1, 1, 3, 2), dilations=[2, 3])
    conv("pads_differ", R(1, 1, 3, 3), R(1, 1, 2, 2), pads=[0, 1, 2, 0])
    conv("same_upper", R(1, 1, 5, 4), R(1, 1, 2, 3), auto_pad="SAME_UPPER", strides=[2, 2])
    conv("same_lower", R(1, 1, 5, 4), R(1, 1, 2, 3), auto_pad="SAME_LOWER", strides=[2, 2])
    conv("valid", R(1, 1, 4, 4), R(1, 1, 3, 3), auto_pad="VALID")
    conv("batch", R(2, 2, 2, 2), R(1, 2, 2, 2), R(1))
    conv("window_in_padding", R(1, 1, 1, 1), R(1, 1, 2, 2), pads=[2, 2, 2, 2])
    x, w, b = R(2, 2, 3, 4), R(3, 2, 2, 3), R(3)
    attrs = {"strides": [1, 2], "pads": [1, 0, 0, 1]}
    ort_nhwc("conv2d", "nhwc", "Conv", [x, w, b], attrs)
    x, w = R(1, 4, 3, 3), R(4, 1, 3, 3)
    ort_nhwc("conv2d", "nhwc_depthwise", "Conv", [x, w], {"group": 4, "pads": [1, 1, 1, 1]})
    case("conv2d", "no_batch", NUMPY, [np.zeros((0, 1, 3, 3), np.float32), R(2, 1, 2, 2)], [np.zeros((0, 2, 2, 2), np.float32)])
    x = R(1, 3, 2, 2)
    conv_fp16 = (x.astype(np.float16), R(2, 3, 1, 1, dtype=np.float16))
    y = np.einsum("nchw,oc->nohw", conv_fp16[0].astype(np.float64), conv_fp16[1].astype(np.float64)[:, :, 0, 0])
    case("conv2d", "fp16", NUMPY + " in fp64, rounded", list(conv_fp16), [y.astype(np.float16)])
    a, w = R(1, 2, 3, 3), R(2, 2, 2, 2)
    y = run_onnx("Conv", [a, w], {})
    z = R(1, 2, 2, 2)
    case("conv2d", "epilogue_add_relu", ORT + " (Conv, Add, Relu)", [a, w, z],
         [run_onnx("Relu", [run_onnx("Add", [y, z], {})], {})], steps=["add operand=2", "relu"])
    bias, c = R(2), np.full((1, 2, 1, 1), 0.5, np.float32)
    y = run_onnx("Sub", [c, run_onnx("Conv", [a, w, bias], {})], {})
    case("conv2d", "epilogue_swapped", ORT + " (Conv, Sub, Clip)", [a, w, bias, c],
         [np.clip(y, -1, 1)], steps=["sub operand=3 swapped=1", "clip min=-1 max=1"])
    case("conv2d", "epilogue_absent_bias", ORT + " (Conv, Mul)", [a, w, None, c],
         [run_onnx("Mul", [run_onnx("Conv", [a, w], {}), c], {})], steps=["mul operand=3"])
    case("conv2d", "epilogue_grows", "by hand", [a, w, R(3, 1, 2, 2, 2)], steps=["add operand=2"],
         refused="epilogue step add would change the shape")
    case("conv2d", "epilogue_no_operand", "by hand", [a, w], steps=["add operand=2"], refused="epilogue operand 2 is not among 2 inputs")
    case("conv2d", "channels", "by hand", [R(1, 3, 2, 2), R(1, 4, 1, 1)], refused="expected 4 x group 1 channels in x, as w says, found 3")
    case("conv2d", "group", "by hand", [R(1, 4, 2, 2), R(3, 2, 1, 1)], attrs={"group": 2}, refused="not a multiple of group 2")
    case("conv2d", "bias", "by hand", [R(1, 1, 2, 2), R(2, 1, 1, 1), R(3)], refused="bias is fp32[3]")
    case("conv2d", "rank3", "by hand", [R(1, 3, 2), R(1, 3, 1, 1)], refused="expected rank 4")
    case("conv2d", "too_large_window", "by hand", [R(1, 1, 2, 2), R(1, 1, 3, 3)], refused="a window of 3 does not fit in height 2")
    case("conv2d", "stride0", "by hand", [R(1, 1, 2, 2), R(1, 1, 1, 1)], attrs={"strides": [0, 1]}, refused="strides holds 0")
    case("conv2d", "negative_pad", "by hand", [R(1, 1, 2, 2), R(1, 1, 1, 1)], attrs={"pads": [0, 0, -1, 0]}, refused="pads holds -1")
    case("conv2d", "three_strides", "by hand", [R(1, 1, 2, 2), R(1, 1, 1, 1)], attrs={"strides": [1, 1, 1]}, refused="strides has 3 numbers")
    case("conv2d", "layout", "by hand", [R(1, 1, 2, 2), R(1, 1, 1, 1)], attrs={"layout": "NHCW"}, refused="expected NCHW or NHWC")
    case("conv2d", "int32", "by hand", [np.ones((1, 1, 1, 1), np.int32)] * 2, refused="expected a floating-point type")
    case("conv2d", "no_weights", "by hand", [R(1, 1, 2, 2)], refused="expected 2 to 3 inputs, found 1")
    case("conv2d", "absent_weights", "by hand", [R(1, 1, 2, 2), None], refused="input 1 is missing")

    def convt(name, x, w, b=None, **attrs):
        conv(name, x, w, b, "conv_transpose2d", "ConvTranspose", **attrs)
    convt("upsample_2x2", R(1, 2, 2, 3), R(2, 3, 2, 2), R(3), strides=[2, 2])
    convt("stride1", R(1, 1, 3, 3), R(1, 2, 3, 3))
    convt("pads", R(1, 1, 3, 3), R(1, 1, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
    convt("output_padding", R(1, 1, 3, 3), R(1, 1, 3, 3), strides=[3, 2], pads=[1, 1, 1, 1], output_padding=[2, 1])
    convt("dilated", R(1, 1, 2, 3), R(1, 1, 2, 2), dilations=[2, 3])
    convt("groups", R(1, 4, 2, 2), R(4, 1, 2, 2), R(2), group=2, strides=[2, 1])
    convt("depthwise", R(1, 3, 2, 2), R(3, 1, 3, 3), group=3, strides=[2, 2], pads=[1, 1, 1, 1])
    convt("same_upper", R(1, 1, 3, 3), R(1, 1, 4, 3), auto_pad="SAME_UPPER", strides=[2, 2])
    convt("same_lower", R(1, 1, 3, 3), R(1, 1, 4, 3), auto_pad="SAME_LOWER", strides=[2, 2])
    convt("pads_differ", R(1, 1, 3, 2), R(1, 1, 3, 3), strides=[1, 2], pads=[0, 1, 2, 0])
    ort_nhwc("conv_transpose2d", "nhwc", "ConvTranspose", [R(1, 2, 2, 2), R(2, 2, 2, 3), R(2)], {"strides": [2, 2]})
    case("conv_transpose2d", "channels", "by hand", [R(1, 3, 2, 2), R(2, 1, 1, 1)], refused="expected 2 channels in x, as w says, found 3")
    case("conv_transpose2d", "pads_too_large", "by hand", [R(1, 1, 1, 1), R(1, 1, 1, 1)], attrs={"pads": [1, 0, 1, 0]},
         refused="take more than the 1 of height")

    def pool(kind, name, x, reference=False, **attrs):
        op, onnx_op = {"max": ("max_pool2d", "MaxPool"), "avg": ("avg_pool2d", "AveragePool")}[kind]
        if reference:
            case(op, name, f"onnx {onnx.__version__} reference", [x], [run_onnx(onnx_op, [x], attrs, 22, True)], attrs)
        else:
            ort(op, name, onnx_op, [x], attrs, opset=19 if kind == "avg" else 21)
    for kind in ("max", "avg"):
        pool(kind, "2x2", R(1, 2, 4, 4), kernel_shape=[2, 2], strides=[2, 2])
        pool(kind, "overlap", R(1, 1, 4, 5), kernel_shape=[3, 2])
        pool(kind, "pads", R(1, 1, 4, 4), kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
        pool(kind, "ceil", R(1, 1, 5, 5), kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
        pool(kind, "ceil_window_starts_in_padding", R(1, 1, 2, 2), kernel_shape=[3, 3], strides=[3, 3], pads=[1, 1, 1, 1], ceil_mode=1)
        pool(kind, "dilated", R(1, 1, 5, 5), kernel_shape=[2, 2], dilations=[2, 3])
        pool(kind, "same_upper", R(1, 1, 5, 4), kernel_shape=[2, 3], strides=[2, 2], auto_pad="SAME_UPPER")
        pool(kind, "same_lower", R(1, 1, 5, 4), kernel_shape=[2, 3], strides=[2, 2], auto_pad="SAME_LOWER")
        pool(kind, "valid", R(1, 1, 5, 4), kernel_shape=[3, 3], auto_pad="VALID")
        pool(kind, "whole", R(2, 2, 3, 2), kernel_shape=[3, 2], strides=[3, 2])
        op, onnx_op = {"max": ("max_pool2d", "MaxPool"), "avg": ("avg_pool2d", "AveragePool")}[kind]
        ort_nhwc(op, "nhwc", onnx_op, [R(1, 3, 4, 3)], {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]})
        case(op, "no_kernel", "by hand", [R(1, 1, 2, 2)], refused="attribute kernel_shape is missing")
        case(op, "pad_as_large_as_window", "by hand", [R(1, 1, 2, 2)], attrs={"kernel_shape": [2, 2], "pads": [2, 0, 0, 0]},
             refused="expected less than the window's 2")
        case(op, "kernel_1d", "by hand", [R(1, 1, 2, 2)], attrs={"kernel_shape": [2]}, refused="kernel_shape has 1 numbers, expected 2")
        case(op, "no_batch", NUMPY, [np.zeros((0, 1, 2, 2), np.float32)], [np.zeros((0, 1, 1, 1), np.float32)], {"kernel_shape": [2, 2]})
    pool("avg", "count_pads", R(1, 1, 4, 4), kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2], count_include_pad=1)
    pool("avg", "count_pads_ceil", R(1, 1, 4, 4), True, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2], ceil_mode=1, count_include_pad=1)
    ort("max_pool2d", "uint8", "MaxPool", [R.ints(0, 255, 1, 1, 3, 3, dtype=np.uint8)], {"kernel_shape": [2, 2]})
    ort("max_pool2d", "int8_pads", "MaxPool", [R.ints(-100, -1, 1, 1, 2, 2, dtype=np.int8)], {"kernel_shape": [2, 2], "pads": [1, 1, 1, 1]})
    x = R(1, 1, 3, 3)
    x[0, 0, 1, 1] = NAN
    x[0, 0, 0, 0] = -INF
    y = np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(2, 3)).max(axis=(4, 5))
    case("max_pool2d", "nan_wins", NUMPY, [x], [y], {"kernel_shape": [2, 2]})

    def norm(c):
        return [R(c), R(c), R(c), np.abs(R(c)) + 0.25]
    s = norm(3)
    ort("batch_normalization", "nchw", "BatchNormalization", [R(2, 3, 2, 2)] + s, {"epsilon": 0.001})
    ort("batch_normalization", "default_epsilon", "BatchNormalization", [R(1, 3, 1, 2)] + s)
    ort("batch_normalization", "rank2", "BatchNormalization", [R(4, 3)] + s)
    ort("batch_normalization", "rank3", "BatchNormalization", [R(1, 3, 4)] + s)
    ort_nhwc("batch_normalization", "nhwc", "BatchNormalization", [R(1, 3, 2, 2)] + s, {"epsilon": 0.01})
    case("batch_normalization", "channels", "by hand", [R(1, 2, 2, 2)] + s, refused="input 1 is fp32[3], expected one number for each of the 2 channels")

    x = np.array([[[[1, 2, 3], [4, 5, 6]]]], np.float32)
    modes = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric")
    for mode in modes:
        for to in ((1, 1, 4, 6), (1, 1, 3, 4), (1, 1, 1, 2)):
            name = f"{mode}_{to[2]}x{to[3]}"
            attrs = {"mode": "linear", "coordinate_transformation_mode": mode}
            case("resize", "linear_" + name, ORT, [x, None, i64(*to)],
                 [run_onnx("Resize", [x, None, None, i64(*to)], attrs)], attrs)
            for rounding in (("round_prefer_floor", "round_prefer_ceil", "floor", "ceil") if mode != "half_pixel_symmetric" else ("floor",)):
                attrs = {"mode": "nearest", "coordinate_transformation_mode": mode, "nearest_mode": rounding}
                case("resize", f"{rounding}_{name}", ORT, [x, None, i64(*to)],
                     [run_onnx("Resize", [x, None, None, i64(*to)], attrs)], attrs)
    nearest = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    for name, scales in (("double", (1, 1, 2, 2)), ("by_0_7", (1, 1, 0.7, 1.4)), ("by_2_6", (1, 1, 2.6, 1)), ("by_0_6", (1, 1, 1, 0.6))):
        f = np.array(scales, np.float32)
        case("resize", "scales_" + name, ORT, [x, f], [run_onnx("Resize", [x, None, f], nearest)], nearest)
        linear = {"mode": "linear"}
        case("resize", "linear_scales_" + name, ORT, [x, f], [run_onnx("Resize", [x, None, f], linear)], linear)
    corners = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    f = np.array([1, 1, 0.6, 0.6], np.float32)
    z = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 2, 4)
    case("resize", "align_corners_scales", ORT, [z, f], [run_onnx("Resize", [z, None, f], corners)], corners)
    tf = {"mode": "nearest", "coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": "floor"}
    f = np.array([1, 1, 2, 1.5], np.float32)
    case("resize", "tf_half_pixel_for_nn", ORT, [x, f], [run_onnx("Resize", [x, np.zeros(0, np.float32), f], tf, 11)], tf)
    z = R(1, 2, 2, 3)
    y = run_onnx("Resize", [z, None, np.array([1, 1, 2, 2], np.float32)], nearest)
    case("resize", "nhwc", ORT + " (in NCHW, transposed)", [nhwc(z), np.array([1, 1, 2, 2], np.float32)], [nhwc(y)], dict(nearest, layout="NHWC"))
    y = run_onnx("Resize", [z, None, None, i64(1, 2, 3, 5)], {"mode": "linear"})
    case("resize", "nhwc_linear_sizes", ORT + " (in NCHW, transposed)", [nhwc(z), None, i64(1, 2, 3, 5)], [nhwc(y)], {"mode": "linear", "layout": "NHWC"})
    case("resize", "uint8", ORT, [np.array([[[[1, 200]]]], np.uint8), np.array([1, 1, 2, 2], np.float32)],
         [run_onnx("Resize", [np.array([[[[1, 200]]]], np.uint8), None, np.array([1, 1, 2, 2], np.float32)], nearest)], nearest)
    case("resize", "both_lists", "by hand", [x, f, i64(1, 1, 2, 2)], refused="expected either scales or sizes")
    case("resize", "no_list", "by hand", [x], refused="expected either scales or sizes")
    case("resize", "short_list", "by hand", [x, None, i64(2, 2)], refused="sizes has 2 numbers, expected one for each of 4 dimensions")
    case("resize", "zero_scale", "by hand", [x, np.array([1, 1, 0, 1], np.float32)], refused="a scale of 0")
    case("resize", "nan_scale", "by hand", [x, np.array([1, 1, NAN, 1], np.float32)], refused="a scale of nan")
    case("resize", "negative_size", "by hand", [x, None, i64(1, 1, -1, 2)], refused="cannot become -1")
    case("resize", "cubic", "by hand", [x, f], attrs={"mode": "cubic"}, refused="mode cubic is not known")


def algebra():
    ort("matmul", "2d", "MatMul", [R(2, 3), R(3, 4)])
    ort("matmul", "batch", "MatMul", [R(2, 2, 3), R(2, 3, 2)])
    ort("matmul", "batch_broadcast", "MatMul", [R(2, 1, 2, 3), R(3, 3, 2)])
    ort("matmul", "shared_right", "MatMul", [R(2, 2, 3), R(3, 2)])
    ort("matmul", "vector_left", "MatMul", [R(3), R(3, 2)])
    ort("matmul", "vector_right", "MatMul", [R(2, 2, 3), R(3)])
    ort("matmul", "vectors", "MatMul", [R(3), R(3)])
    ort("matmul", "no_rows", "MatMul", [np.zeros((0, 3), np.float32), R(3, 2)])
    case("matmul", "no_inner", NUMPY, [np.zeros((2, 0), np.float32), np.zeros((0, 2), np.float32)], [np.zeros((2, 2), np.float32)])
    ort("matmul", "int64", "MatMul", [R.ints(-9, 9, 2, 3), R.ints(-9, 9, 3, 2)])
    ort("matmul", "int32_wraps", "MatMul", [np.full((1, 2), 1 << 30, np.int32), np.full((2, 1), 3, np.int32)])
    ort("matmul", "fp64", "MatMul", [R(2, 2, dtype=np.float64), R(2, 2, dtype=np.float64)])
    a, b, c = R(2, 2, 3), R(3, 4), R(4)
    case("matmul", "bias", ORT + " (MatMul, Add)", [a, b, c], [run_onnx("Add", [run_onnx("MatMul", [a, b], {}), c], {})])
    y = run_onnx("MatMul", [a, b], {})
    case("matmul", "epilogue", ORT + " (MatMul, Add, HardSwish)", [a, b, c],
         [run_onnx("HardSwish", [run_onnx("Add", [y, c.reshape(1, 1, 4)], {})], {})], steps=["add operand=2", "hard_swish"])
    case("matmul", "inner", "by hand", [R(2, 3), R(2, 2)], refused="expected 3 rows in b, as many as a has columns, found 2")
    case("matmul", "batches", "by hand", [R(2, 2, 2), R(3, 2, 2)], refused="2 and 3 differ and neither is 1")
    case("matmul", "scalar", "by hand", [R(2, 2), np.ones((), np.float32)], refused="b is a scalar")
    case("matmul", "bias_length", "by hand", [a, b, R(3)], refused="bias is fp32[3]")
    case("matmul", "bias_of_vector", "by hand", [R(2, 2), R(2), R(1)], refused="a bias needs b of rank 2 or more")

    x = R(2, 3, 4)
    for name, axes, keep in (("last", [-1], 1), ("spatial", [1, 2], 0), ("first", [0], 1), ("all_named", [0, 1, 2], 0), ("middle", [1], 0)):
        ort("reduce_mean", name, "ReduceMean", [x], {"axes": axes, "keepdims": keep}, [x, i64(*axes)], {"keepdims": keep})
    ort("reduce_mean", "all", "ReduceMean", [x], {"keepdims": 0})
    ort("reduce_mean", "all_kept", "ReduceMean", [x])
    ort("reduce_mean", "global_pool", "GlobalAveragePool", [R(1, 2, 3, 3)], {"axes": [2, 3], "keepdims": 1}, onnx_attrs={})
    ort("reduce_mean", "int32", "ReduceMean", [np.array([[1, 2, 4], [-1, -2, -4]], np.int32)], {"axes": [1], "keepdims": 0},
        [np.array([[1, 2, 4], [-1, -2, -4]], np.int32), i64(1)], {"keepdims": 0})
    case("reduce_mean", "of_nothing", NUMPY, [np.zeros((2, 0), np.float32)], [np.full((2,), NAN, np.float32)], {"axes": [1], "keepdims": 0})
    case("reduce_mean", "nothing_left", NUMPY, [np.zeros((0, 2), np.float32)], [np.zeros((0, 1), np.float32)], {"axes": [1]})
    case("reduce_mean", "scalar", NUMPY, [np.full((), 2, np.float32)], [np.full((), 2, np.float32)])
    case("reduce_mean", "outside", "by hand", [x], attrs={"axes": [3]}, refused="axis 3 is outside a shape of rank 3")
    case("reduce_mean", "twice", "by hand", [x], attrs={"axes": [1, -2]}, refused="axis -2 is named twice")

    for axis in (-1, 0, 1):
        ort("softmax", f"axis{axis}", "Softmax", [x], {"axis": axis})
    ort("softmax", "default", "Softmax", [R(2, 3)])
    ort("softmax", "large", "Softmax", [np.array([[1000, 1001, 999], [-1000, -1001, -999]], np.float32)])
    ort("softmax", "some_minus_inf", "Softmax", [np.array([[-INF, 0, 1], [2, -INF, -INF]], np.float32)])
    ort("softmax", "one", "Softmax", [R(2, 1)])
    ort("softmax", "fp64", "Softmax", [R(5, dtype=np.float64)])
    case("softmax", "all_minus_inf", NUMPY, [np.full(2, -INF, np.float32)], [np.full(2, NAN, np.float32)])
    case("softmax", "nan", NUMPY, [np.array([[0, NAN], [0, 0]], np.float32)], [np.array([[NAN, NAN], [0.5, 0.5]], np.float32)])
    case("softmax", "no_elements", NUMPY, [np.zeros((2, 0), np.float32)], [np.zeros((2, 0), np.float32)])
    case("softmax", "outside", "by hand", [x], attrs={"axis": 3}, refused="axis 3 is outside a shape of rank 3")
    case("softmax", "scalar", "by hand", [np.ones((), np.float32)], refused="axis -1 is outside a shape of rank 0")

    a, b, c = R(2, 3), R(3), R(2, 1)
    case("chain", "add_mul_relu", NUMPY, [a, b, c], [np.maximum((a + b) * c, 0)], steps=["add operand=1", "mul operand=2", "relu"])
    case("chain", "swapped", NUMPY, [a, b], [np.clip(b - a, -1, 1)], steps=["sub operand=1 swapped=1", "clip min=-1 max=1"])
    case("chain", "cast_last", NUMPY, [a], [np.maximum(a, 0).astype(np.int32)],
         steps=["relu", "cast to=int32"])
    case("chain", "same_operand_twice", NUMPY, [a, b], [(a + b) * b], steps=["add operand=1", "mul operand=1"])
    case("chain", "no_steps", "by hand", [a], [a])
    case("chain", "grows", "by hand", [b, a], steps=["add operand=1"], refused="would change the shape from [3] to [2, 3]")
    case("chain", "not_elementwise", "by hand", [a], steps=["softmax"], refused="not an elementwise operator with 1 inputs")
    case("chain", "operand_for_unary", "by hand", [a, b], steps=["relu operand=1"], refused="not an elementwise operator with 2 inputs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    unary()
    binary()
    moves()
    spatial()
    algebra()
    network_cases.write()
    number_cases.write()
    kind_cases.write()
    nn_cases.write()
    index_cases.write()
    quant_cases.write()
    attention_cases.write()
    string_cases.write()
    for op, name, source, inputs, outputs, attrs, within in onnx_node_tests.node_tests(NAMES):
        case(op, name, source, inputs, outputs, attrs, within=within)
    stale = microsoft_cases.write(args.check)
    for op, cases in sorted(FILES.items()):
        path = os.path.join(ROOT, "tests", "ops", op + ".case")
        text = f"# {op}: written by tools/make_cases.py; the format is in src/testing/cases.h.\n\n" + "\n".join(cases)
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if old == text:
            continue
        stale.append(path)
        if not args.check:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
    if args.check and stale:
        print("\n".join(stale))
        sys.exit(1)
    print(f"{sum(map(len, FILES.values()))} cases of {len(FILES)} operators")


if __name__ == "__main__":
    main()
