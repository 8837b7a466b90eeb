"""The node tests that ship with the onnx package, as cases of ours: those of one node, of our operators, small enough to read.
Used by make_cases.py."""
import glob
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MAX_ELEMENTS = 220  # of all tensors of a case

# ONNX's own node tests, where they are small enough to be read: name of the ONNX operator -> ours.
NODE_TESTS = {"Conv": "conv2d", "ConvTranspose": "conv_transpose2d", "MaxPool": "max_pool2d", "AveragePool": "avg_pool2d",
              "BatchNormalization": "batch_normalization", "MatMul": "matmul", "ReduceMean": "reduce_mean", "Softmax": "softmax",
              "Concat": "concat", "Slice": "slice", "Reshape": "reshape", "Transpose": "transpose", "Squeeze": "squeeze",
              "Unsqueeze": "unsqueeze", "Shape": "shape", "Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Pow": "pow",
              "Relu": "relu", "Sigmoid": "sigmoid", "Sqrt": "sqrt", "HardSigmoid": "hard_sigmoid", "HardSwish": "hard_swish",
              "Swish": "swish", "Clip": "clip", "Resize": "resize", "Identity": "identity",
              "Erf": "erf", "Tanh": "tanh", "Exp": "exp", "Log": "log", "Sin": "sin", "Cos": "cos", "Floor": "floor", "Ceil": "ceil",
              "Round": "round", "Reciprocal": "reciprocal", "Abs": "abs", "Neg": "neg", "Softplus": "softplus", "Gelu": "gelu",
              "LeakyRelu": "leaky_relu", "Elu": "elu", "Not": "logical_not", "And": "logical_and", "Or": "logical_or", "Min": "min",
              "Max": "max", "PRelu": "prelu", "Equal": "equal", "Less": "less", "LessOrEqual": "less_or_equal", "Greater": "greater",
              "GreaterOrEqual": "greater_or_equal", "Where": "where", "ReduceSum": "reduce_sum", "ReduceMax": "reduce_max",
              "ReduceMin": "reduce_min", "LayerNormalization": "layer_normalization", "LRN": "lrn", "Pad": "pad", "Gather": "gather",
              "Expand": "expand", "Tile": "tile", "Range": "range", "Trilu": "trilu", "IsNaN": "is_nan", "ArgMax": "arg_max"}
KEPT = {"conv2d": "strides pads dilations group auto_pad", "conv_transpose2d": "strides pads dilations group auto_pad output_padding",
        "max_pool2d": "kernel_shape strides pads dilations ceil_mode auto_pad",
        "avg_pool2d": "kernel_shape strides pads dilations ceil_mode auto_pad count_include_pad",
        "batch_normalization": "epsilon", "reduce_mean": "keepdims axes", "softmax": "axis", "concat": "axis",
        "reshape": "allowzero", "transpose": "perm", "shape": "start end", "hard_sigmoid": "alpha beta",
        "resize": "mode coordinate_transformation_mode nearest_mode", "gelu": "approximate", "leaky_relu": "alpha", "elu": "alpha",
        "reduce_sum": "keepdims axes", "reduce_max": "keepdims axes", "reduce_min": "keepdims axes",
        "layer_normalization": "axis epsilon", "lrn": "size alpha beta bias", "pad": "mode", "gather": "axis", "trilu": "upper",
        "arg_max": "axis keepdims select_last_index"}
DROPPED = {"kernel_shape", "momentum", "storage_order"}
# The test takes scale * size, not the size of the result, as the length that corners are aligned to; onnxruntime does not.
CONTESTED = {"test_resize_downsample_scales_linear_align_corners"}
ROUNDED = {"test_averagepool_2d_ceil_last_window_starts_on_pad"}  # its numbers are given to four digits


def node_tests(names):
    """Gives (op, name, source, inputs, outputs, attrs, within) of each test that fits."""
    folder = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "node")
    for path in sorted(glob.glob(os.path.join(folder, "*", "model.onnx"))):
        model = onnx.load(path)
        name = os.path.basename(os.path.dirname(path))
        if len(model.graph.node) != 1:
            continue
        node = model.graph.node[0]
        op = NODE_TESTS.get(node.op_type)
        if op is None or node.domain or name in CONTESTED or len([o for o in node.output if o]) != 1:
            continue
        data = os.path.join(os.path.dirname(path), "test_data_set_0")
        try:
            given = {i.name: read(os.path.join(data, f"input_{k}.pb")) for k, i in enumerate(model.graph.input)}
            outputs = [read(os.path.join(data, "output_0.pb"))]
        except (TypeError, ValueError, KeyError):
            continue
        inputs = [given.get(i) if i else None for i in node.input]
        tensors = [a for a in inputs + outputs if a is not None]
        if sum(a.size for a in tensors) > MAX_ELEMENTS or any(a.dtype not in names for a in tensors):
            continue
        attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        attrs = {k: v.decode() if isinstance(v, bytes) else list(v) if isinstance(v, (list, tuple)) or hasattr(v, "__iter__") else v
                 for k, v in attrs.items()}
        if op.startswith("reduce_") and (inputs[0].dtype == bool or inputs[0].dtype.itemsize < 4):
            continue
        if op in ("min", "max") and (len(inputs) != 2 or inputs[0].dtype == np.float16):
            continue
        if (op in ("squeeze", "unsqueeze") or op.startswith("reduce_")) and len(inputs) > 1 and inputs[1] is not None:
            if op.startswith("reduce_") and inputs[1].size == 0:
                continue
            attrs["axes"] = [int(v) for v in inputs[1]]
            inputs = inputs[:1]
        if op == "clip":
            for k, v in zip(("min", "max"), inputs[1:]):
                if v is not None:
                    attrs[k] = float(v)
            inputs = inputs[:1]
        if op == "resize":
            if attrs.pop("extrapolation_value", None) or attrs.pop("cubic_coeff_a", None) or attrs.pop("exclude_outside", None):
                continue
            inputs = [inputs[0], inputs[2] if len(inputs) > 2 else None] + inputs[3:]
            crop = attrs.get("coordinate_transformation_mode") == "tf_crop_and_resize"
            if crop or attrs.get("mode") not in (None, "nearest", "linear"):
                continue
        rank = inputs[0].ndim
        spatial = op in ("conv2d", "conv_transpose2d", "max_pool2d", "avg_pool2d")
        allowed = set(KEPT.get(op, "axes min max").split())
        if spatial and rank != 4 or set(attrs) - allowed - DROPPED or attrs.get("storage_order"):
            continue
        attrs = {k: v for k, v in attrs.items() if k in allowed}
        if op == "clip" and inputs[0].dtype == np.int8:
            continue  # its limits are int8 too, which says nothing new
        yield (op, "onnx_" + name.removeprefix("test_"), f"onnx {onnx.__version__} node test {name}", inputs, outputs, attrs,
               (0.0001, 0) if name in ROUNDED else None)


def read(path):
    t = TensorProto()
    with open(path, "rb") as f:
        t.ParseFromString(f.read())
    return numpy_helper.to_array(t)
