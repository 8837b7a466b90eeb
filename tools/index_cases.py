"""Cases of the operators that pick, place and sort by index, of vision and of signals. Used by make_cases.py."""
import glob
import os

import numpy as np
import onnx
import onnxruntime
from case_writer import FILES, INF, NAMES, NAN, NUMPY, ORT, Random, case, i64, run_onnx
from onnx import helper
from onnx_node_tests import read

R = Random(20261205)
F32 = np.float32
MAX_ELEMENTS = 400  # of a node test


def run_all(onnx_op, inputs, attrs=None, outputs=1, opset=21):
    """All results of one node, from onnxruntime."""
    names = [f"i{k}" if a is not None else "" for k, a in enumerate(inputs)]
    results = [f"y{k}" for k in range(outputs)]
    node = helper.make_node(onnx_op, names, results, **(attrs or {}))
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in zip(names, inputs) if a is not None]
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=n) for n in results])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", opset)])
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    for given, known in zip(model.graph.output, inferred.graph.output):
        given.CopyFrom(known)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {n: a for n, a in zip(names, inputs) if a is not None})


def ort(op, name, onnx_op, inputs, attrs=None, onnx_inputs=None, onnx_attrs=None, outputs=1, opset=21, **extra):
    y = run_all(onnx_op, onnx_inputs or inputs, attrs if onnx_attrs is None else onnx_attrs, outputs, opset)
    case(op, name, ORT, inputs, y, attrs, **extra)


def gathers():
    x = np.arange(12, dtype=F32).reshape(3, 4)
    for axis in (0, 1, -1):
        ort("gather_elements", f"axis{axis}", "GatherElements", [x, i64(2, -3, 1, 0).reshape(2, 2)], {"axis": axis})
    ort("gather_elements", "int32_indices", "GatherElements", [x, np.array([[0, 1, 2, 0]], np.int32)])
    ort("gather_elements", "bool", "GatherElements", [np.array([True, False]), i64(1, -1, 0)])
    ort("gather_elements", "string", "GatherElements", [np.array([["a", "b"]], object), i64(0, 1, 1).reshape(1, 3)], {"axis": 1})
    case("gather_elements", "no_indices", "by hand", [x, np.zeros((0, 4), np.int64)], [np.zeros((0, 4), F32)])
    case("gather_elements", "outside", "by hand", [x, i64(3).reshape(1, 1)], refused="index 3 is outside a dimension of 3")
    case("gather_elements", "below", "by hand", [x, i64(-4).reshape(1, 1)], refused="index -4 is outside")
    case("gather_elements", "scalar", "by hand", [np.ones((), F32), i64(0)], refused="axis 0 is outside a shape of rank 0")
    case("gather_elements", "ranks", "by hand", [x, i64(0)], refused="expected rank 2")
    case("gather_elements", "wider", "by hand", [x, np.zeros((1, 5), np.int64)], refused="dimension 1 of the indices is 5")
    case("gather_elements", "float_indices", "by hand", [x, x], refused="expected int32 or int64")

    x = np.arange(24, dtype=F32).reshape(2, 3, 4)
    for name, indices, attrs in (("rows", [[0, 2], [1, -1]], {}), ("whole_index", [[1, 2, 3]], {}), ("slices", [[-1]], {}),
                                 ("batch", [[[1]], [[0]]], {"batch_dims": 1}), ("deep", [[[0, 0], [1, 1]]], {})):
        ort("gather_nd", name, "GatherND", [x, np.array(indices, np.int64)], attrs)
    ort("gather_nd", "string", "GatherND", [np.array(["a", "b", "c"], object), i64(2, 0).reshape(2, 1)])
    case("gather_nd", "none", "by hand", [x, np.zeros((0, 1), np.int64)], [np.zeros((0, 3, 4), F32)])
    case("gather_nd", "outside", "by hand", [x, i64(2).reshape(1, 1)], refused="index 2 is outside a dimension of 2")
    case("gather_nd", "too_long", "by hand", [x, np.zeros((1, 4), np.int64)], refused="an index has 4 numbers")
    case("gather_nd", "batches", "by hand", [x, np.zeros((2, 1), np.int64)], attrs={"batch_dims": 2}, refused="batch_dims is 2")
    case("gather_nd", "batches_differ", "by hand", [x, np.zeros((3, 1), np.int64)], attrs={"batch_dims": 1}, refused="batch dimension 0")

    data = np.arange(6, dtype=F32).reshape(3, 2)
    for reduction in ("none", "add", "mul", "min", "max"):
        ort("scatter_elements", "reduce_" + reduction, "ScatterElements",
            [data, i64(1, 1, -1, 1).reshape(2, 2), np.array([[5, -6], [7, 8]], F32)], {"axis": 0, "reduction": reduction})
        ort("scatter_nd", "reduce_" + reduction, "ScatterND",
            [data, i64(1, -3, 1).reshape(3, 1), np.array([[5, -6], [7, 8], [0.5, 2]], F32)], {"reduction": reduction})
        low = np.array([-100, 100, 3], np.int8)
        with np.errstate(all="ignore"):
            up = np.array([-100, 100], np.int8)
            y = {"none": low * 0 + [-100, 100, 3], "add": low + up[[0, 1, 0]] * [1, 1, 0], "mul": low * [-100, 100, 1],
                 "min": low, "max": low}[reduction].astype(np.int8)
        case("scatter_elements", "int8_wraps_" + reduction, NUMPY, [low, i64(0, 1), up], [y], {"reduction": reduction})
    ort("scatter_elements", "axis1", "ScatterElements", [data, i64(1).reshape(1, 1), np.array([[9]], F32)], {"axis": 1})
    ort("scatter_elements", "string", "ScatterElements", [np.array(["a", "b"], object), i64(-1), np.array(["z"], object)])
    case("scatter_elements", "fp16", "by hand", [np.array([1, 2], np.float16), i64(0, 0), np.array([0.5, 4], np.float16)],
         [np.array([5.5, 2], np.float16)], {"reduction": "add"})
    case("scatter_elements", "bool_add", "by hand (or)", [np.array([False, True]), i64(0, 1), np.array([True, False])],
         [np.array([True, True])], {"reduction": "add"})
    case("scatter_elements", "nothing", "by hand", [data, np.zeros((0, 2), np.int64), np.zeros((0, 2), F32)], [data])
    case("scatter_elements", "nan_max", "by hand", [np.array([1], F32), i64(0), np.array([NAN], F32)], [np.array([NAN], F32)],
         {"reduction": "max"})
    case("scatter_elements", "outside", "by hand", [data, i64(3).reshape(1, 1), np.ones((1, 1), F32)], refused="index 3 is outside")
    case("scatter_elements", "shapes", "by hand", [data, i64(0).reshape(1, 1), np.ones((1, 2), F32)], refused="expected the shape [1, 1]")
    case("scatter_elements", "reduction", "by hand", [data, i64(0).reshape(1, 1), np.ones((1, 1), F32)], attrs={"reduction": "sum"},
         refused="reduction sum is not known")
    case("scatter_elements", "string_add", "by hand", [np.array(["a"]), i64(0), np.array(["z"])], attrs={"reduction": "add"},
         refused="reduction add of string")
    ort("scatter_nd", "whole_index", "ScatterND", [x, np.array([[0, 1, 2], [1, 2, -1]], np.int64), np.array([-1, -2], F32)])
    ort("scatter_nd", "slices", "ScatterND", [x, np.array([[[1]]], np.int64), -np.ones((1, 1, 3, 4), F32)])
    case("scatter_nd", "nothing", "by hand", [data, np.zeros((0, 1), np.int64), np.zeros((0, 2), F32)], [data])
    case("scatter_nd", "string", "by hand", [np.array(["a", "b"]), i64(1).reshape(1, 1), np.array(["z"])], [np.array(["a", "z"])])
    case("scatter_nd", "outside", "by hand", [data, i64(-4).reshape(1, 1), np.ones((1, 2), F32)], refused="index -4 is outside")
    case("scatter_nd", "shapes", "by hand", [data, i64(0).reshape(1, 1), np.ones((1, 3), F32)], refused="expected the shape [1, 2]")


def data_dependent():
    ort("non_zero", "matrix", "NonZero", [np.array([[1, 0], [NAN, -0.0]], F32)])
    ort("non_zero", "bool", "NonZero", [np.array([False, True, True])])
    ort("non_zero", "int64", "NonZero", [np.array([[[0, 7]], [[-1, 0]]], np.int64)])
    ort("non_zero", "nothing", "NonZero", [np.zeros((2, 2), F32)])
    case("non_zero", "empty", "by hand", [np.zeros((0, 3), F32)], [np.zeros((2, 0), np.int64)])
    case("non_zero", "scalar", "by hand (rank 0, one column)", [np.full((), 5, F32)], [np.zeros((0, 1), np.int64)])
    case("non_zero", "string", "by hand", [np.array(["a", "b"])], [i64(0, 1).reshape(1, 2)])

    x = np.arange(6, dtype=F32).reshape(3, 2)
    ort("compress", "rows", "Compress", [x, np.array([False, True, True])], {"axis": 0})
    ort("compress", "short_condition", "Compress", [x, np.array([False, True])], {"axis": 0})
    ort("compress", "negative_axis", "Compress", [x, np.array([False, True])], {"axis": -1})
    ort("compress", "flat", "Compress", [x, np.array([True, False, False, True, True])])
    ort("compress", "nothing", "Compress", [x, np.array([False, False, False])], {"axis": 0})
    ort("compress", "string", "Compress", [np.array(["a", "b"], object), np.array([False, True])], {"axis": 0})
    case("compress", "empty", "by hand", [np.zeros((0, 2), F32), np.zeros(0, bool)], [np.zeros((0, 2), F32)], {"axis": 0})
    case("compress", "beyond", "by hand", [x, np.array([True, False, False, True])], attrs={"axis": 0}, refused="takes element 3 of 3")
    case("compress", "condition_rank", "by hand", [x, np.ones((1, 1), bool)], refused="expected rank 1")

    for name, x, attrs in (("sorted", np.array([2, 1, 1, 3, 4, 3], F32), {}), ("unsorted", np.array([2, 1, 1, 3, 4, 3], F32), {"sorted": 0}),
                           ("rows", np.array([[1, 0, 0], [1, 0, 0], [2, 3, 4]], F32), {"axis": 0}),
                           ("columns", np.array([[1, 1, 0], [2, 2, 3]], F32), {"axis": -1}),
                           ("columns_unsorted", np.array([[[7, 1, 7]], [[2, 2, 2]]], F32), {"axis": 2, "sorted": 0}),
                           ("int64", i64(5, -5, 5, 1 << 60), {}), ("string", np.array(["b", "a", "b"], object), {})):
        ort("unique", name, "Unique", [x], attrs, outputs=4)
    nan = np.array([NAN, 1, NAN, -INF], F32)
    case("unique", "nan", NUMPY, [nan], list(np.unique(nan, True, True, True)))
    case("unique", "bool", NUMPY, [np.array([True, False, True])], list(np.unique(np.array([True, False, True]), True, True, True)))
    case("unique", "empty", NUMPY, [np.zeros((0, 2), F32)],
         [np.zeros(0, F32), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)])
    case("unique", "scalar", "by hand", [np.full((), 3, F32)], [np.array([3], F32), i64(0), i64(0), i64(1)])
    case("unique", "outside", "by hand", [x], attrs={"axis": 9}, refused="axis 9 is outside")

    x = np.array([[3, 1, 3, 2], [-1, 5, 0, 5]], F32)
    for name, k, attrs in (("largest", 2, {}), ("smallest", 3, {"largest": 0}), ("first_axis", 1, {"axis": 0}), ("all", 4, {}),
                           ("middle", 2, {"axis": -1, "sorted": 1})):
        ort("top_k", name, "TopK", [x, i64(k)], attrs, outputs=2)
    ort("top_k", "int64", "TopK", [i64(1 << 60, -3, (1 << 60) + 1), i64(2)], outputs=2)
    ort("top_k", "fp64", "TopK", [np.array([0.1, 0.3, 0.2], np.float64), i64(1)], outputs=2)
    ort("top_k", "none", "TopK", [x, i64(0)], outputs=2)
    case("top_k", "nan", "by hand (NaN is the largest)", [np.array([1, NAN, 2], F32), i64(2)], [np.array([NAN, 2], F32), i64(1, 2)])
    case("top_k", "uint8", NUMPY, [np.array([200, 3, 200], np.uint8), i64(2)], [np.array([200, 200], np.uint8), i64(0, 2)])
    case("top_k", "too_many", "by hand", [x, i64(5)], refused="k is 5, axis 1 has 4 elements")
    case("top_k", "negative", "by hand", [x, i64(-1)], refused="k is -1")
    case("top_k", "scalar", "by hand", [np.ones((), F32), i64(1)], refused="axis -1 is outside a shape of rank 0")

    off_on = np.array([2, 5], F32)
    for name, indices, depth, attrs in (("last", i64(0, 2, -1), 3, {}), ("first_axis", i64(0, 1, 2, 0).reshape(2, 2), 3, {"axis": 0}),
                                        ("negative_axis", i64(1, 0), 2, {"axis": -2}), ("outside", i64(3, -4, 1), 3, {})):
        ort("one_hot", name, "OneHot", [indices, np.full((), depth, np.int64), off_on], attrs)
    ort("one_hot", "float_indices", "OneHot", [np.array([1, 7, 2], F32), np.array([4], F32), off_on])
    case("one_hot", "uint8_values", "by hand", [i64(1), np.full((), 2, np.int64), np.array([7, 9], np.uint8)], [np.array([[7, 9]], np.uint8)])
    case("one_hot", "scalar_index", "by hand", [np.full((), 1, np.int64), np.full((), 3, np.int64), off_on], [np.array([2, 5, 2], F32)])
    case("one_hot", "string", "by hand", [i64(1), i64(2), np.array(["off", "on"])], [np.array([["off", "on"]])])
    case("one_hot", "nothing", "by hand", [np.zeros(0, np.int64), i64(2), off_on], [np.zeros((0, 2), F32)])
    case("one_hot", "negative_depth", "by hand", [i64(1), i64(-2), off_on], refused="depth is -2")
    case("one_hot", "three_values", "by hand", [i64(1), i64(2), np.ones(3, F32)], refused="expected off and on")

    ort("eye_like", "wide", "EyeLike", [np.zeros((2, 4), F32)])
    ort("eye_like", "above", "EyeLike", [np.zeros((3, 3), np.int32)], {"k": 1})
    ort("eye_like", "below", "EyeLike", [np.zeros((3, 2), F32)], {"k": -2})
    y = run_all("EyeLike", [np.zeros((2, 2), np.int32)], {"dtype": onnx.TensorProto.DOUBLE})
    case("eye_like", "dtype", ORT, [np.zeros((2, 2), np.int32)], y, {"dtype": "fp64"})
    case("eye_like", "bool", NUMPY, [np.zeros((2, 2), bool)], [np.eye(2, dtype=bool)])
    case("eye_like", "far", "by hand", [np.zeros((1, 1), F32)], [np.zeros((1, 1), F32)], {"k": 1 << 62})
    case("eye_like", "rank1", "by hand", [np.zeros(2, F32)], refused="expected rank 2")
    for name, x in (("matrix", np.zeros((2, 3), F32)), ("scalar", np.zeros((), F32)), ("empty", np.zeros((2, 0), F32)), ("bool", np.ones(3, bool))):
        ort("size", name, "Size", [x])
    case("size", "string", "by hand", [np.array(["a", "b"])], [np.full((), 2, np.int64)])


def rearranging():
    x = np.arange(24, dtype=F32).reshape(1, 8, 1, 3)
    for mode in ("DCR", "CRD"):
        ort("depth_to_space", mode, "DepthToSpace", [x], {"blocksize": 2, "mode": mode})
    case("depth_to_space", "block1", "by hand", [x], [x], {"blocksize": 1})
    case("depth_to_space", "channels", "by hand", [x], attrs={"blocksize": 3}, refused="no multiple of blocksize squared, 9")
    case("depth_to_space", "rank", "by hand", [x[0]], attrs={"blocksize": 2}, refused="expected rank 4")
    case("depth_to_space", "mode", "by hand", [x], attrs={"blocksize": 2, "mode": "XYZ"}, refused="mode XYZ is not known")
    case("depth_to_space", "no_block", "by hand", [x], refused="attribute blocksize is missing")
    z = np.arange(16, dtype=F32).reshape(1, 2, 2, 4)
    ort("space_to_depth", "two", "SpaceToDepth", [z], {"blocksize": 2})
    case("space_to_depth", "empty", "by hand", [np.zeros((0, 1, 2, 2), F32)], [np.zeros((0, 4, 1, 1), F32)], {"blocksize": 2})
    case("space_to_depth", "rows", "by hand", [z], attrs={"blocksize": 3}, refused="no multiple of blocksize 3")
    case("space_to_depth", "zero", "by hand", [z], attrs={"blocksize": 0}, refused="blocksize is 0")
    case("space_to_depth", "strings", "by hand", [np.array([[[["a", "b"], ["c", "d"]]]])], [np.array([[[["a"]], [["b"]], [["c"]], [["d"]]]])],
         {"blocksize": 2})

    x = np.arange(12, dtype=F32).reshape(4, 3)
    ort("reverse_sequence", "time_first", "ReverseSequence", [x, i64(1, 4, 2)])
    ort("reverse_sequence", "batch_first", "ReverseSequence", [x, i64(3, 2, 1, 1)], {"batch_axis": 0, "time_axis": 1})
    ort("reverse_sequence", "rank3", "ReverseSequence", [np.arange(12, dtype=np.int32).reshape(2, 3, 2), i64(2, 1, 2)])
    case("reverse_sequence", "strings", "by hand", [np.array([["a"], ["b"]]), i64(2)], [np.array([["b"], ["a"]])])
    case("reverse_sequence", "too_long", "by hand", [x, i64(1, 5, 2)], refused="sequence 1 has the length 5")
    case("reverse_sequence", "axes", "by hand", [x, i64(1, 1, 1)], attrs={"time_axis": 1}, refused="expected 0 and 1")

    x = np.arange(12, dtype=F32).reshape(3, 4)
    for name, shape, attrs, y in (("crop", (2, 3), {}, x[0:2, 0:3]), ("pad", (4, 7), {}, np.pad(x, ((0, 1), (1, 2)))),
                                  ("both", (6, 1), {}, np.pad(x[:, 1:2], ((1, 2), (0, 0)))), ("axis", (2,), {"axes": [-1]}, x[:, 1:3]),
                                  ("to_nothing", (0, 4), {}, x[0:0])):
        case("center_crop_pad", name, NUMPY, [x, i64(*shape)], [y], attrs)
    case("center_crop_pad", "string", "by hand (an empty string is written as no word, so only a crop)",
         [np.array(["a", "b", "c"]), np.array([1], np.int32)], [np.array(["b"])])
    case("center_crop_pad", "negative", "by hand", [x, i64(-1, 2)], refused="axis 0 cannot have -1 elements")
    case("center_crop_pad", "sizes", "by hand", [x, i64(1)], refused="input 1 has 1 sizes, expected one for each of 2 axes")

    x = R(1, 4, 5)
    for name, shape, block, attrs in (("overlap", (6,), (2,), {}), ("strided", (10,), (2,), {"strides": [2]}),
                                      ("padded", (4,), (2,), {"pads": [1, 1]})):
        ort("col2im", name, "Col2Im", [x, i64(*shape), i64(*block)], attrs)
    for name, attrs in (("dilated_rows", {"dilations": [2, 1]}), ("dilated_columns", {"dilations": [1, 2]})):
        ort("col2im", name, "Col2Im", [R(1, 4, 6), i64(4, 4), i64(2, 2)], attrs)
    ort("col2im", "2d", "Col2Im", [R(1, 8, 6), i64(3, 4), i64(2, 2)])
    case("col2im", "int32", NUMPY, [np.array([[[1, 2], [3, 4]]], np.int32), i64(3), i64(2)], [np.array([[[1, 5, 4]]], np.int32)])
    case("col2im", "columns", "by hand", [x, i64(7), i64(2)], refused="there are 5 columns, expected 6")
    case("col2im", "rows", "by hand", [x, i64(7), i64(3)], refused="no multiple of the 3 elements of a block")
    case("col2im", "block", "by hand", [x, i64(2), i64(3)], refused="the block is larger than the image")
    case("col2im", "string", "by hand", [np.array([[["a"]]]), i64(1), i64(1)], refused="expected a number type or bool")


def vision():
    theta = np.array([[[1, 0.5, -0.25], [0, 2, 0.75]]], F32)
    for align in (0, 1):
        y = np.zeros((1, 2, 3, 2))
        for h in range(2):
            for w in range(3):
                px = [-1 + 2 * w / 2, -1 + 2 * h / 1] if align else [(2 * w + 1) / 3 - 1, (2 * h + 1) / 2 - 1]
                y[0, h, w] = theta[0].astype(np.float64) @ [*px, 1]
        case("affine_grid", f"2d_align{align}", NUMPY + " in fp64, rounded", [theta, i64(1, 1, 2, 3)], [y.astype(F32)],
             {"align_corners": align})
    case("affine_grid", "one_place", "by hand (the middle)", [theta, i64(1, 1, 1, 1)], [np.array([[[[-0.25, 0.75]]]], F32)],
         {"align_corners": 1})
    case("affine_grid", "batches", "by hand", [theta, i64(2, 1, 1, 1)], refused="1 and 2 differ")
    case("affine_grid", "theta", "by hand", [theta[:, :, :2], i64(1, 1, 1, 1)], refused="expected [N, 2, 3] or [N, 3, 4]")
    case("affine_grid", "size", "by hand", [theta, i64(1, 1, 1)], refused="size has 3 numbers, expected 4")

    x = R(1, 2, 3, 4)
    grid = np.array([[[[-1, -1], [0.1, -0.3]], [[1.4, 0.2], [-2.5, 3.1]]]], F32)
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                attrs = {"mode": mode, "padding_mode": padding, "align_corners": align}
                if (mode, padding) == ("cubic", "border"):  # onnxruntime moves only the neighbours to the border, not the place
                    y = [run_onnx("GridSample", [x, grid], attrs, 20, reference=True)]
                    case("grid_sample", f"{mode}_{padding}_{align}", f"onnx {onnx.__version__} reference", [x, grid], y, attrs)
                    continue
                ort("grid_sample", f"{mode}_{padding}_{align}", "GridSample", [x, grid], attrs)
    deep, places = R(1, 1, 2, 3, 2), np.array([-0.5, 0.25, 0.75, 1.5, -0.1, 0], F32).reshape(1, 1, 1, 2, 3)
    for mode in ("linear", "nearest"):
        ort("grid_sample", "3d_" + mode, "GridSample", [deep, places], {"mode": mode})
    case("grid_sample", "old_names", ORT, [x, grid], run_all("GridSample", [x, grid], {"mode": "bicubic"}, opset=16), {"mode": "bicubic"})
    case("grid_sample", "nan_place", "by hand (nowhere: zeros)", [x, np.full((1, 1, 1, 2), NAN, F32)], [np.zeros((1, 2, 1, 1), F32)],
         {"mode": "nearest"})
    case("grid_sample", "no_places", "by hand", [x, np.zeros((1, 0, 2, 2), F32)], [np.zeros((1, 2, 0, 2), F32)])
    case("grid_sample", "mode", "by hand", [x, grid], attrs={"mode": "area"}, refused="mode area is not known")
    case("grid_sample", "place", "by hand", [x, R(1, 1, 1, 3)], refused="a place of the grid has 3 numbers, expected 2")
    case("grid_sample", "empty_image", "by hand", [np.zeros((1, 1, 0, 2), F32), grid], refused="no elements to sample")

    x = R(2, 2, 5, 6)
    rois = np.array([[0, 0, 3, 3], [1, 1, 5.5, 4], [-2, -1, 8, 9]], F32)
    batches = i64(0, 1, 1)
    for coordinates in ("half_pixel", "output_half_pixel"):
        for mode in ("avg", "max"):
            attrs = {"output_height": 2, "output_width": 3, "sampling_ratio": 2, "spatial_scale": 0.5, "mode": mode,
                     "coordinate_transformation_mode": coordinates}
            ort("roi_align", f"{coordinates}_{mode}", "RoiAlign", [x, rois, batches], attrs)
    ort("roi_align", "adaptive", "RoiAlign", [x, rois, batches], {"output_height": 1, "output_width": 2})
    case("roi_align", "no_regions", "by hand", [x, np.zeros((0, 4), F32), np.zeros(0, np.int64)], [np.zeros((0, 2, 1, 1), F32)])
    case("roi_align", "batch", "by hand", [x, rois, i64(0, 2, 1)], refused="index 2 is outside a dimension of 2")
    case("roi_align", "huge", "by hand", [x, np.array([[0, 0, 1e30, 1]], F32), i64(0)], refused="needs too many samples")
    case("roi_align", "mode", "by hand", [x, rois, batches], attrs={"mode": "min"}, refused="mode min is not known")
    regions = np.array([[0, 0, 0, 3, 3], [1, 2, 1, 5, 4], [1, 5, 4, 1, 1]], F32)
    for scale in (1.0, 0.5):
        ort("max_roi_pool", f"scale_{scale}", "MaxRoiPool", [x, regions], {"pooled_shape": [2, 2], "spatial_scale": scale})
    case("max_roi_pool", "batch", "by hand", [x, np.array([[2, 0, 0, 1, 1]], F32)], attrs={"pooled_shape": [1, 1]},
         refused="region 0 is of batch 2, there are 2")
    case("max_roi_pool", "shape", "by hand", [x, regions], attrs={"pooled_shape": [1]}, refused="expected a height and a width")

    pooled, places = np.array([[[[1, 2], [3, 4]]]], F32), i64(5, 7, 13, 15).reshape(1, 1, 2, 2)
    ort("max_unpool", "plain", "MaxUnpool", [pooled, places], {"kernel_shape": [2, 2], "strides": [2, 2]})
    case("max_unpool", "outside", "by hand", [pooled, places + 1], attrs={"kernel_shape": [2, 2], "strides": [2, 2]},
         refused="index 16 is outside [1, 1, 4, 4]")
    case("max_unpool", "shapes", "by hand", [pooled, i64(1)], attrs={"kernel_shape": [2, 2]}, refused="expected the shape of")

    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]], F32)
    scores = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]]], F32)
    one = np.array([0.5], F32)
    for name, inputs, attrs in (("overlap", [boxes, scores, i64(3), one], {}), ("scores", [boxes, scores, i64(3), one, np.array([0.4], F32)], {}),
                                ("limited", [boxes, scores, i64(1), one], {}), ("default_overlap", [boxes, scores, i64(9)], {}),
                                ("none_wanted", [boxes, scores], {}), ("flipped", [boxes[:, :, [2, 3, 0, 1]], scores, i64(3), one], {}),
                                ("classes", [np.repeat(boxes, 2, 0), np.repeat(np.repeat(scores, 2, 0), 2, 1), i64(2), one], {}),
                                ("centers", [boxes, scores, i64(3), one], {"center_point_box": 1}),
                                ("ties", [boxes, scores * 0 + F32(0.5), i64(6), one], {})):
        ort("non_max_suppression", name, "NonMaxSuppression", inputs, attrs)
    case("non_max_suppression", "boxes", "by hand", [boxes[:, :, :3], scores], refused="expected boxes of 4 numbers")
    case("non_max_suppression", "counts", "by hand", [boxes[:, :5], scores], refused="5 and 6 differ")


def resizing():
    x = np.arange(1, 17, dtype=F32).reshape(1, 1, 4, 4)
    two = np.array([1, 1, 2, 1.5], F32)
    less = np.array([1, 1, 0.8, 0.6], F32)

    def nd(name, inputs, attrs, opset=19):
        ort("resize_nd", name, "Resize", inputs, attrs, opset=opset)
    for mode in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric"):
        attrs = {"mode": "cubic", "coordinate_transformation_mode": mode}
        nd(f"cubic_{mode}", [x, None, two], attrs)
        nd(f"cubic_{mode}_sizes", [x, None, None, i64(1, 1, 3, 3)], attrs)
    nd("cubic_a", [x, None, two], {"mode": "cubic", "cubic_coeff_a": -0.5})
    nd("cubic_exclude", [x, None, less], {"mode": "cubic", "exclude_outside": 1})
    for mode in ("linear", "cubic"):
        nd(f"antialias_{mode}", [x, None, None, i64(1, 1, 2, 3)], {"mode": mode, "antialias": 1, "exclude_outside": 1})
        nd(f"antialias_{mode}_up", [x, None, two], {"mode": mode, "antialias": 1})
    for policy in ("not_larger", "not_smaller"):
        nd(policy, [x, None, None, i64(7, 8)], {"mode": "nearest", "axes": [2, 3], "keep_aspect_ratio_policy": policy})
    nd("axes", [x, None, two[2:]], {"mode": "linear", "axes": [2, 3]})
    roi = np.array([0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7], F32)
    nd("crop", [x, roi, None, i64(1, 1, 3, 3)], {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize",
                                                 "extrapolation_value": 10.0})
    case("resize_nd", "strings", "by hand", [np.array(["a", "b"]), None, np.array([2], F32)], [np.array(["a", "a", "b", "b"])])
    case("resize_nd", "bool", "by hand", [np.array([True, False]), None, None, i64(4)], [np.array([True, True, False, False])])
    simple = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "simple"}
    for name, scales in (("simple_up", two), ("simple_down", less), ("simple_both", np.array([1, 1, 0.6, 1.7], F32))):
        case("resize_nd", name, ORT + " (opset 10)", [x, None, scales], run_all("Resize", [x, scales], {}, opset=10), simple)
    case("resize_nd", "no_list", "by hand", [x], refused="expected either scales or sizes")
    case("resize_nd", "no_roi", "by hand", [x, None, two], attrs={"coordinate_transformation_mode": "tf_crop_and_resize"},
         refused="tf_crop_and_resize needs roi")
    case("resize_nd", "axes_twice", "by hand", [x, None, two[2:]], attrs={"axes": [2, -2]}, refused="axis -2 is named twice")
    case("resize_nd", "antialias_nearest", "by hand", [x, None, two], attrs={"antialias": 1}, refused="antialias needs mode linear or cubic")


def signals():
    def parts(z, dtype=F32):
        return np.stack([z.real, z.imag], -1).astype(dtype)
    x = R(1, 6, 1)
    real = x[..., 0].astype(np.float64)
    for n in (6, 4, 8, 7):
        case("dft", f"length{n}", NUMPY + " fft", [x, np.full((), n, np.int64)], [parts(np.fft.fft(real, n))])
    case("dft", "onesided", NUMPY + " rfft", [x], [parts(np.fft.rfft(real))], {"onesided": 1})
    z = R(2, 5, 2)
    c = z[..., 0].astype(np.float64) + 1j * z[..., 1]
    case("dft", "complex", NUMPY + " fft", [z], [parts(np.fft.fft(c))])
    case("dft", "axis0", NUMPY + " fft", [z, None, np.full((), 0, np.int64)], [parts(np.fft.fft(c, axis=0))])
    case("dft", "inverse", NUMPY + " ifft", [z], [parts(np.fft.ifft(c))], {"inverse": 1})
    for n in (8, 7):
        case("dft", f"to_real{n}", NUMPY + " irfft", [z, np.full((), n, np.int64)], [np.fft.irfft(c, n)[..., None].astype(F32)],
             {"inverse": 1, "onesided": 1})
    case("dft", "to_real", NUMPY + " irfft", [z], [np.fft.irfft(c)[..., None].astype(F32)], {"inverse": 1, "onesided": 1})
    long = R(1, 97, 1, dtype=np.float64)
    case("dft", "prime_fp64", NUMPY + " fft", [long], [parts(np.fft.fft(long[..., 0]), np.float64)], within=(1e-11, 1e-11))
    case("dft", "last_axis", "by hand", [z, None, np.full((), -1, np.int64)], refused="holds the parts of a number")
    case("dft", "parts", "by hand", [R(1, 2, 3)], refused="a number has 3 parts")
    case("dft", "no_length", "by hand", [x, np.full((), 0, np.int64)], refused="dft_length is 0")
    case("dft", "huge", "by hand", [x, np.full((), 1 << 40, np.int64)], refused="too long")
    case("dft", "int", "by hand", [i64(1, 2).reshape(2, 1)], refused="expected a floating-point type")

    s = R(1, 12, 1)
    window = np.abs(R(4)) + F32(0.25)
    frames = np.stack([s[0, k:k + 4, 0] for k in range(0, 9, 2)]).astype(np.float64)
    step = np.full((), 2, np.int64)
    case("stft", "window", NUMPY + " rfft", [s, step, window], [parts(np.fft.rfft(frames * window))[None]])
    case("stft", "frame_length", NUMPY + " rfft", [s, step, None, np.full((), 4, np.int64)], [parts(np.fft.rfft(frames))[None]])
    case("stft", "two_sides", NUMPY + " fft", [s, step, window], [parts(np.fft.fft(frames * window))[None]], {"onesided": 0})
    case("stft", "step0", "by hand", [s, np.full((), 0, np.int64), window], refused="frame_step is 0")
    case("stft", "too_short", "by hand", [s[:, :3], step, window], refused="a frame has 4 elements, the signal only 3")
    case("stft", "lengths", "by hand", [s, step, window, np.full((), 5, np.int64)], refused="the window has 4 elements, a frame has 5")

    for op, onnx_op in (("blackman_window", "BlackmanWindow"), ("hamming_window", "HammingWindow"), ("hann_window", "HannWindow")):
        for periodic in (0, 1):
            ort(op, f"periodic{periodic}", onnx_op, [np.full((), 9, np.int64)], {"periodic": periodic})
        y = run_all(onnx_op, [np.full((), 5, np.int64)], {"output_datatype": onnx.TensorProto.DOUBLE})
        case(op, "fp64", ORT, [np.full((), 5, np.int64)], y, {"output_datatype": "fp64"}, within=(1e-7, 1e-6))
        case(op, "one", "by hand (a window of one place is 1)", [np.full((), 1, np.int32)], [np.ones(1, F32)], {"periodic": 0})
        case(op, "none", "by hand", [np.full((), 0, np.int64)], [np.zeros(0, F32)])
        case(op, "negative", "by hand", [np.full((), -1, np.int64)], refused="size is -1")
        case(op, "type", "by hand", [np.full((), 3, np.int64)], attrs={"output_datatype": "string"}, refused="output_datatype is string")
    numbers = [np.full((), 4, np.int64), np.full((), 16, np.int64), np.full((), 8192, np.int64), np.full((), 0, F32), np.full((), 4096, F32)]
    ort("mel_weight_matrix", "small", "MelWeightMatrix", numbers)
    case("mel_weight_matrix", "rate0", "by hand", numbers[:2] + [np.full((), 0, np.int64)] + numbers[3:], refused="input 2 is 0")
    case("mel_weight_matrix", "edges", "by hand", numbers[:3] + [numbers[4], numbers[3]], refused="expected 0 <= lower <= upper")


def moves():
    x = np.arange(6, dtype=F32).reshape(1, 2, 1, 3)
    ort("squeeze", "listed", "Squeeze", [x, i64(0, -2)])
    ort("unsqueeze", "listed", "Unsqueeze", [x, i64(0, -1)])
    case("squeeze", "given_twice", "by hand", [x, i64(0)], attrs={"axes": [0]}, refused="as an attribute and as an input")
    case("unsqueeze", "given_twice", "by hand", [x, i64(0)], attrs={"axes": [0]}, refused="as an attribute or as an input")
    case("pad", "string_value", "by hand", [np.array(["a"]), i64(1, 0), np.array("z")], [np.array(["z", "a"])])
    case("pad", "bool_default", "by hand", [np.array([True]), i64(1, 1)], [np.array([False, True, False])])
    case("trilu", "bool_square", NUMPY, [np.ones((2, 2), bool)], [np.triu(np.ones((2, 2), bool))])
    case("range", "stash_type", "by hand", [np.array(0, np.float16), np.array(2, np.float16), np.array(0.5, np.float16)],
         [np.array([0, 0.5, 1, 1.5], np.float16)], {"stash_type": 1})


MINE = {"GatherElements": "gather_elements", "GatherND": "gather_nd", "ScatterElements": "scatter_elements", "ScatterND": "scatter_nd",
        "NonZero": "non_zero", "Compress": "compress", "Unique": "unique", "TopK": "top_k", "OneHot": "one_hot", "Size": "size",
        "DepthToSpace": "depth_to_space", "SpaceToDepth": "space_to_depth", "ReverseSequence": "reverse_sequence",
        "CenterCropPad": "center_crop_pad", "Col2Im": "col2im", "AffineGrid": "affine_grid", "GridSample": "grid_sample",
        "MaxUnpool": "max_unpool", "NonMaxSuppression": "non_max_suppression", "Resize": "resize_nd"}


def node_tests():
    """ONNX's own tests of one node of these operators, where they are small."""
    folder = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "node")
    for path in sorted(glob.glob(os.path.join(folder, "*", "model.onnx"))):
        graph = onnx.load(path).graph
        name = os.path.basename(os.path.dirname(path))
        op = MINE.get(graph.node[0].op_type) if len(graph.node) == 1 and not graph.node[0].domain else None
        if op is None:
            continue
        data = os.path.join(os.path.dirname(path), "test_data_set_0")
        try:
            given = {i.name: read(os.path.join(data, f"input_{k}.pb")) for k, i in enumerate(graph.input)}
            outputs = [read(os.path.join(data, f"output_{k}.pb")) for k in range(len(graph.output))]
        except (TypeError, ValueError, KeyError):
            continue
        inputs = [given.get(i) if i else None for i in graph.node[0].input]
        tensors = [a for a in inputs + outputs if a is not None]
        if sum(a.size for a in tensors) > MAX_ELEMENTS or any(a.dtype not in NAMES for a in tensors):
            continue
        attrs = {a.name: helper.get_attribute_value(a) for a in graph.node[0].attribute}
        attrs = {k: v.decode() if isinstance(v, bytes) else list(v) if hasattr(v, "__iter__") else v for k, v in attrs.items()}
        while inputs and inputs[-1] is None:
            inputs.pop()
        if op == "resize_nd":
            # The tests take scale * size, not the size of the result, as the length that corners are aligned to.
            if attrs.get("coordinate_transformation_mode") == "align_corners" and len(inputs) == 3:
                continue
            inputs = [None if a is not None and a.size == 0 else a for a in inputs]
            if outputs[0].size > 60:
                continue
        if op == "unique" and len(outputs) < 4:
            continue
        case(op, "onnx_" + name.removeprefix("test_"), f"onnx {onnx.__version__} node test {name}", inputs, outputs, attrs,
             within=(0.0001, 0) if op == "grid_sample" else None)  # given to four digits


def write():
    gathers()
    data_dependent()
    rearranging()
    vision()
    resizing()
    signals()
    moves()
    node_tests()
    assert FILES
