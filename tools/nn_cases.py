"""Cases of the neural-network operators: windows over any number of dimensions, normalisations, recurrent layers, losses.
Used by make_cases.py. Values are onnxruntime's, or ONNX's reference evaluator's where onnxruntime has no such operator or type."""
import numpy as np
import onnx
import onnxruntime
from case_writer import NUMPY, ORT, Random, case, i64
from onnx import helper
from onnx.reference import ReferenceEvaluator

R = Random(20261201)  # its own, so that other files of cases do not move these numbers
REFERENCE = f"onnx {onnx.__version__} reference evaluator"


def run(onnx_op, inputs, attrs=None, outputs=1, opset=21, reference=False):
    """All outputs of one node."""
    names = [f"i{k}" if a is not None else "" for k, a in enumerate(inputs)]
    out = [f"o{k}" for k in range(outputs)]
    node = helper.make_node(onnx_op, names, out, **(attrs or {}))
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in zip(names, inputs) if a is not None]
    model = helper.make_model(helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=o) for o in out]), ir_version=10,
                              opset_imports=[helper.make_opsetid("", opset)])
    feed = {n: a for n, a in zip(names, inputs) if a is not None}
    if reference:
        return ReferenceEvaluator(model).run(None, feed)
    types = {v.name: v for v in onnx.shape_inference.infer_shapes(model).graph.output}
    for o in model.graph.output:
        o.CopyFrom(types[o.name])
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feed)


def ort(op, name, onnx_op, inputs, attrs=None, outputs=1, onnx_attrs=None, opset=21, **extra):
    y = run(onnx_op, inputs, attrs if onnx_attrs is None else onnx_attrs, outputs, opset)
    case(op, name, ORT, inputs, y, attrs, **extra)


def in_fp64(op, name, onnx_op, inputs, attrs=None, outputs=1, onnx_attrs=None, opset=21, source=ORT, **extra):
    """fp16: the fp32 answer of the same numbers, rounded."""
    wide = [a.astype(np.float32) if a is not None and a.dtype == np.float16 else a for a in inputs]
    y = run(onnx_op, wide, attrs if onnx_attrs is None else onnx_attrs, outputs, opset)
    y = [v.astype(np.float16) if v.dtype == np.float32 else v for v in y]
    case(op, name, source + " in fp32, rounded", inputs, y, attrs, **extra)


def windows():
    x, w = R(1, 2, 3, 3, 3), R(2, 2, 2, 2, 2)
    ort("conv_nd", "three", "Conv", [x, w, R(2)])
    ort("conv_nd", "three_all", "Conv", [R(1, 4, 4, 3, 5), R(2, 2, 2, 1, 2)],
        {"group": 2, "strides": [1, 2, 2], "pads": [1, 0, 0, 0, 1, 2], "dilations": [2, 1, 1]})
    for pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        ort("conv_nd", pad.lower(), "Conv", [R(1, 1, 3, 3, 4), R(1, 1, 2, 2, 2)], {"auto_pad": pad, "strides": [2, 1, 1]})
    ort("conv_nd", "one", "Conv", [R(2, 2, 5), R(3, 2, 3)], {"pads": [1, 1], "strides": [2]})
    ort("conv_nd", "two", "Conv", [R(1, 2, 3, 3), R(2, 2, 2, 2)])
    in_fp64("conv_nd", "fp16", "Conv", [R(1, 2, 5, dtype=np.float16), R(2, 2, 3, dtype=np.float16)])
    x = R(1, 1, 2, 2, 2, 2)
    case("conv_nd", "four", "by hand: all ones, so each place is the sum of 16 numbers", [x, np.ones((1, 1, 2, 2, 2, 2), np.float32)],
         [x.sum().reshape(1, 1, 1, 1, 1, 1)])
    ort("conv_nd", "nothing", "Conv", [np.zeros((0, 1, 2, 2, 2), np.float32), R(1, 1, 1, 1, 1)])
    case("conv_nd", "ranks_differ", "by hand", [R(1, 2, 5), R(1, 2, 3, 3)], refused="expected the same number of dimensions")
    case("conv_nd", "channels", "by hand", [R(1, 3, 5), R(1, 2, 3)], refused="as w says, found 3")
    case("conv_nd", "strides", "by hand", [R(1, 2, 5), R(1, 2, 3)], attrs={"strides": [1, 1]},
         refused="strides has 2 numbers, expected 1")
    case("conv_nd", "does_not_fit", "by hand", [R(1, 2, 2), R(1, 2, 3)],
         refused="a window of 3 does not fit in spatial dimension 0 2")

    ort("conv_transpose_nd", "three", "ConvTranspose", [R(1, 2, 2, 2, 2), R(2, 2, 2, 2, 2), R(2)])
    ort("conv_transpose_nd", "three_all", "ConvTranspose", [R(1, 4, 2, 2, 3), R(4, 1, 2, 3, 2)],
        {"group": 2, "strides": [2, 3, 1], "pads": [0, 1, 0, 1, 0, 1], "output_padding": [1, 0, 0], "dilations": [2, 1, 2]})
    ort("conv_transpose_nd", "one", "ConvTranspose", [R(1, 2, 4), R(2, 3, 3)], {"strides": [2], "output_padding": [1]})
    for pad in ("SAME_UPPER", "SAME_LOWER"):
        ort("conv_transpose_nd", pad.lower(), "ConvTranspose", [R(1, 1, 3, 2), R(1, 1, 3, 3)], {"auto_pad": pad, "strides": [2, 2]})
        ort("conv_transpose_nd", "output_shape_" + pad.lower(), "ConvTranspose", [R(1, 1, 3, 3), R(1, 2, 3, 3)],
            {"auto_pad": pad, "output_shape": [6, 4], "strides": [2, 2]})
    ort("conv_transpose_nd", "output_shape", "ConvTranspose", [R(1, 1, 3, 3), R(1, 2, 3, 3)],
        {"output_shape": [10, 8], "strides": [3, 2], "output_padding": [1, 1]})
    ort("conv_transpose_nd", "output_shape_larger", "ConvTranspose", [R(1, 1, 3), R(1, 1, 3)], {"output_shape": [8], "strides": [2]})
    case("conv_transpose_nd", "channels", "by hand", [R(1, 3, 5), R(2, 2, 3)], refused="as w says, found 3")

    x = R(1, 2, 4, 3, 3)
    ort("max_pool_nd", "three", "MaxPool", [x], {"kernel_shape": [2, 2, 2]}, 2)
    ort("max_pool_nd", "strides_pads", "MaxPool", [x], {"kernel_shape": [3, 2, 2], "strides": [2, 1, 2], "pads": [1, 0, 1, 1, 1, 0]}, 2)
    ort("max_pool_nd", "dilations_ceil", "MaxPool", [R(1, 1, 6, 5)],
        {"kernel_shape": [2, 2], "dilations": [2, 2], "strides": [3, 2], "ceil_mode": 1}, 2)
    ort("max_pool_nd", "storage_order", "MaxPool", [R(2, 2, 3, 4)], {"kernel_shape": [2, 2], "storage_order": 1}, 2)
    ort("max_pool_nd", "storage_order_three", "MaxPool", [x], {"kernel_shape": [2, 2, 2], "storage_order": 1}, 2)
    ort("max_pool_nd", "same", "MaxPool", [R(1, 1, 5, 5)], {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}, 2)
    ort("max_pool_nd", "one", "MaxPool", [R(2, 1, 6)], {"kernel_shape": [3]}, 2)
    for t in (np.int8, np.uint8, np.float64):
        ort("max_pool_nd", np.dtype(t).name, "MaxPool", [R.ints(0, 100, 1, 1, 4, 4).astype(t)], {"kernel_shape": [2, 2]}, 2)
    x = R(1, 1, 4, dtype=np.float16)
    case("max_pool_nd", "fp16", "by hand", [x], [np.maximum(x[..., 1:], x[..., :-1]),
                                                i64(*[int(np.argmax(x[0, 0, k:k + 2])) + k for k in range(3)]).reshape(1, 1, 3)],
         {"kernel_shape": [2]})
    case("max_pool_nd", "whole", "by hand", [np.array([[[3, 9, 9, 1]]], np.float32)],
         [np.array([[[9]]], np.float32), np.array([[[1]]], np.int64)])
    case("max_pool_nd", "string", "by hand", [np.array([[["a"]]])], attrs={"kernel_shape": [1]}, refused="int8 or uint8")
    case("max_pool_nd", "kernel", "by hand", [R(1, 1, 4, 4)], attrs={"kernel_shape": [2]}, refused="expected 2")

    x = R(1, 2, 4, 3, 3)
    ort("avg_pool_nd", "three", "AveragePool", [x], {"kernel_shape": [2, 2, 2]})
    for include in (0, 1):
        ort("avg_pool_nd", f"pads_include{include}", "AveragePool", [x],
            {"kernel_shape": [3, 2, 2], "strides": [2, 1, 2], "pads": [1, 0, 1, 1, 1, 0], "count_include_pad": include})
        for ceil in (0, 1):
            attrs = {"kernel_shape": [2, 3], "dilations": [2, 2], "strides": [3, 2], "ceil_mode": ceil,
                     "count_include_pad": include, "pads": [1, 2, 0, 1]}
            ort("avg_pool_nd", f"dilations_ceil{ceil}_include{include}", "AveragePool", [R(1, 1, 6, 5)], attrs)
    ort("avg_pool_nd", "same_lower", "AveragePool", [R(1, 1, 5, 5)], {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"})
    in_fp64("avg_pool_nd", "fp16", "AveragePool", [R(1, 1, 5, dtype=np.float16)], {"kernel_shape": [2]})
    x = R(1, 2, 3, 2, dtype=np.float64)
    case("avg_pool_nd", "whole", NUMPY, [x], [x.mean((2, 3), keepdims=True)])
    case("avg_pool_nd", "int32", "by hand", [np.ones((1, 1, 2), np.int32)], attrs={"kernel_shape": [1]}, refused="floating-point")

    x = R(1, 2, 4, 3, 3)
    ort("lp_pool", "three", "LpPool", [x], {"kernel_shape": [2, 2, 2]}, opset=18)
    ort("lp_pool", "p3", "LpPool", [R(1, 2, 5)], {"kernel_shape": [3], "p": 3, "strides": [2]}, opset=18)
    ort("lp_pool", "p1_pads", "LpPool", [R(1, 1, 4, 4)], {"kernel_shape": [3, 3], "p": 1, "pads": [1, 1, 1, 1]}, opset=18)
    ort("lp_pool", "dilations", "LpPool", [R(1, 1, 5, 5)], {"kernel_shape": [2, 2], "dilations": [2, 2]}, opset=18)
    ort("lp_pool", "whole", "GlobalLpPool", [R(2, 2, 3, 2)], {"p": 3}, opset=18)
    case("lp_pool", "p0", "by hand", [R(1, 1, 3)], attrs={"p": 0}, refused="attribute p is 0, expected 1 or more")


def norms():
    for name, shape in (("image", (2, 3, 2, 2)), ("line", (1, 2, 4)), ("volume", (1, 2, 2, 2, 2))):
        ort("instance_normalization", name, "InstanceNormalization", [R(*shape), R(shape[1]), R(shape[1])])
    ort("instance_normalization", "epsilon", "InstanceNormalization", [R(1, 2, 3), R(2), R(2)], {"epsilon": 0.1})
    in_fp64("instance_normalization", "fp16", "InstanceNormalization",
            [R(1, 2, 3, dtype=np.float16), R(2, dtype=np.float16), R(2, dtype=np.float16)], {"epsilon": 0.1})
    case("instance_normalization", "channels", "by hand", [R(1, 2, 3), R(3), R(2)],
         refused="expected one number for each of the 2 channels")
    case("instance_normalization", "epsilon_negative", "by hand", [R(1, 2, 3), R(2), R(2)], attrs={"epsilon": -1.0},
         refused="attribute epsilon is -1")

    def group(name, x, groups, per_channel, epsilon=1e-5):
        """By its definition, in fp64."""
        n, c = x.shape[:2]
        scale, bias = R(c if per_channel else groups, dtype=x.dtype), R(c if per_channel else groups, dtype=x.dtype)
        v = x.astype(np.float64).reshape(n, groups, -1)
        v = (v - v.mean(2, keepdims=True)) / np.sqrt(v.var(2, keepdims=True) + np.float64(np.float32(epsilon)))
        each = (lambda a: a) if per_channel else (lambda a: np.repeat(a, c // groups))
        tail = (1, c) + (1,) * (x.ndim - 2)
        y = v.reshape(x.shape) * each(scale).astype(np.float64).reshape(tail) + each(bias).astype(np.float64).reshape(tail)
        case("group_normalization", name, NUMPY + " in fp64, rounded", [x, scale, bias], [y.astype(x.dtype)],
             {"num_groups": groups, "epsilon": epsilon})
    group("per_channel", R(2, 4, 2, 2), 2, True)
    group("per_group", R(2, 4, 3), 2, False)
    group("one_group", R(1, 3, 2), 1, True, 0.01)
    group("fp16", R(1, 4, 2, dtype=np.float16), 2, True, 0.01)
    group("fp64", R(1, 4, 2, dtype=np.float64), 4, True, 0.01)
    y = run("GroupNormalization", [x := R(1, 4, 2, 2), s := R(4), b := R(4)], {"num_groups": 2}, opset=21)
    case("group_normalization", "opset21", ORT, [x, s, b], y, {"num_groups": 2})
    x, s, b = np.linspace(-1, 2, 16, dtype=np.float32).reshape(1, 4, 2, 2), np.float32([1.5]), np.float32([0, 1, -1, 2])
    y = run("GroupNormalization", [x, s, b], {"num_groups": 2}, opset=21)
    case("group_normalization", "one_scale", ORT, [x, s, b], y, {"num_groups": 2})
    case("group_normalization", "groups", "by hand", [R(1, 3, 2), R(3), R(3)], attrs={"num_groups": 2},
         refused="x has 3 channels, not a multiple of num_groups 2")

    def rms(name, x, scale, axis=-1, epsilon=1e-5):
        v = x.astype(np.float64)
        axes = tuple(range(axis % x.ndim, x.ndim))
        y = v / np.sqrt((v * v).mean(axes, keepdims=True) + np.float64(np.float32(epsilon))) * scale.astype(np.float64)
        case("rms_normalization", name, NUMPY + " in fp64, rounded", [x, scale], [y.astype(scale.dtype)],
             {"axis": axis, "epsilon": epsilon})
    rms("last", R(2, 3, 4), R(4))
    rms("axis1", R(2, 3, 4), R(3, 4), 1)
    rms("axis0", R(2, 3), R(2, 3), 0, 0.1)
    rms("scale_broadcasts", R(2, 3, 4), R(1, 4), -2)
    rms("fp16", R(2, 4, dtype=np.float16), R(4, dtype=np.float16))
    rms("scale_fp32", R(2, 4, dtype=np.float16), R(4))
    rms("fp64", R(2, 4, dtype=np.float64), R(4, dtype=np.float64))
    x, s = R(2, 3, 4), R(4)
    case("rms_normalization", "opset23", REFERENCE, [x, s], run("RMSNormalization", [x, s], opset=23, reference=True))
    case("rms_normalization", "scale", "by hand", [R(2, 4), R(3)], refused="does not broadcast to fp32[2, 4]")
    case("rms_normalization", "axis", "by hand", [R(2, 4), R(4)], attrs={"axis": 2}, refused="axis 2 is outside")

    def training(name, x, *rest, **attrs):
        y = run("BatchNormalization", [x, *rest], dict(attrs, training_mode=1), 3, 15, reference=True)
        case("batch_normalization_training", name, REFERENCE, [x, *rest], y, attrs)
    training("image", R(2, 3, 2, 2), R(3), R(3), R(3), np.abs(R(3)))
    training("momentum", R(2, 2, 3), R(2), R(2), R(2), np.abs(R(2)), momentum=0.25, epsilon=0.01)
    training("batch", R(4, 2), R(2), R(2), R(2), np.abs(R(2)))
    case("batch_normalization_training", "channels", "by hand", [R(2, 3), R(3), R(2), R(3), R(3)],
         refused="expected one number for each of the 3 channels")


def losses():
    for op, onnx_op, outputs in (("negative_log_likelihood_loss", "NegativeLogLikelihoodLoss", 1),
                                 ("softmax_cross_entropy_loss", "SoftmaxCrossEntropyLoss", 2)):
        for reduction in ("none", "sum", "mean"):
            x, t, w = R(2, 3, 2), i64(0, 2, 1, 1).reshape(2, 2), np.abs(R(3)) + 0.25
            y = run(onnx_op, [x, t], {"reduction": reduction}, outputs, 13, reference=True)
            case(op, reduction, REFERENCE, [x, t], y, {"reduction": reduction})
            ort(op, reduction + "_weights", onnx_op, [x, t, w], {"reduction": reduction}, outputs, opset=13)
            ignore = {"reduction": reduction, "ignore_index": -5}
            t = np.array([[0, -5], [-5, 1]], np.int32)
            y = run(onnx_op, [x, t], ignore, outputs, 13, reference=True)
            case(op, reduction + "_ignore", REFERENCE, [x, t], y, ignore)
            y = run(onnx_op, [x, t, w], ignore, outputs, 13, reference=True)
            case(op, reduction + "_ignore_weights", REFERENCE, [x, t, w], y, ignore)
        x, t = R(3, 4), i64(3, 0, 2)
        case(op, "rank2", REFERENCE, [x, t], run(onnx_op, [x, t], {}, outputs, 13, reference=True))
        case(op, "class_outside", "by hand", [R(1, 3), i64(3)], refused="class 3 of place 0 is outside 0 to 2")
        case(op, "target_shape", "by hand", [R(2, 3), i64(1)], refused="expected one class for each place")
        case(op, "reduction_unknown", "by hand", [R(1, 3), i64(1)], attrs={"reduction": "max"},
             refused="reduction is max, expected none, sum or mean")


def recurrent():
    def layer(op, name, gates, t=3, b=2, i=3, h=2, bias=True, init=True, lens=None, peep=False, dtype=np.float32, wide=None, **attrs):
        onnx_op = op.upper()
        d = 2 if attrs.get("direction") == "bidirectional" else 1
        x = (R(b, t, i) if attrs.get("layout") else R(t, b, i)) / 2
        inputs = [x, R(d, gates * h, i) / 2, R(d, gates * h, h) / 2, R(d, 2 * gates * h) / 2 if bias else None,
                  np.array(lens, np.int32) if lens is not None else None]
        state = (b, d, h) if attrs.get("layout") else (d, b, h)
        inputs += [R(*state) if init else None] + ([R(*state) if init else None, R(d, 3 * h) / 2 if peep else None] if op == "lstm" else [])
        while inputs[-1] is None:
            inputs.pop()
        outputs = 3 if op == "lstm" else 2
        # onnxruntime has no layout 1: the same layer in layout 0, its ends exchanged.
        given = dict(attrs)
        swap = given.pop("layout", 0)
        flip = lambda a: np.ascontiguousarray(np.swapaxes(a, 0, 1))
        fed = [flip(a) if swap and a is not None and k in (0, 5, 6) else a for k, a in enumerate(inputs)]
        y = run(onnx_op, fed, dict(given, hidden_size=h), outputs, 14)
        if swap:  # [T, D, B, H] -> [B, T, D, H]
            y = [np.ascontiguousarray(np.transpose(y[0], (2, 0, 1, 3)))] + [flip(a) for a in y[1:]]
        if dtype != np.float32:
            inputs = [a.astype(dtype) if a is not None and a.dtype == np.float32 else a for a in inputs]
            y = [a.astype(dtype) for a in y]
        case(op, name, ORT + (" in layout 0, transposed" if swap else "") + ("" if dtype == np.float32 else " in fp32, rounded"),
             inputs, y, attrs, within=wide)
    for op, gates, names in (("rnn", 1, ["Tanh"]), ("gru", 3, ["Sigmoid", "Tanh"]), ("lstm", 4, ["Sigmoid", "Tanh", "Tanh"])):
        layer(op, "forward", gates)
        layer(op, "plain", gates, bias=False, init=False)
        layer(op, "reverse", gates, direction="reverse")
        layer(op, "bidirectional", gates, direction="bidirectional")
        layer(op, "lengths", gates, lens=[3, 1])
        layer(op, "lengths_both", gates, lens=[2, 3], direction="bidirectional")
        layer(op, "lengths_reverse", gates, lens=[1, 2], direction="reverse", init=False)
        layer(op, "layout1", gates, layout=1)
        layer(op, "layout1_both", gates, layout=1, direction="bidirectional")
        layer(op, "clip", gates, clip=0.25)
        layer(op, "hidden_size", gates, hidden_size=2)
        layer(op, "fp16", gates, dtype=np.float16, wide=(2e-3, 2e-3))
        layer(op, "one_step", gates, t=1, b=1)
        n = len(names)
        for f, more in (("Relu", {}), ("Affine", {"activation_alpha": [0.5] * n, "activation_beta": [0.25] * n}),
                        ("LeakyRelu", {"activation_alpha": [0.125] * n}), ("ThresholdedRelu", {"activation_alpha": [0.25] * n}),
                        ("ScaledTanh", {"activation_alpha": [0.5] * n, "activation_beta": [0.75] * n}),
                        ("HardSigmoid", {"activation_alpha": [0.25] * n, "activation_beta": [0.5] * n}),
                        ("HardSigmoid", {}), ("LeakyRelu", {}), ("Elu", {"activation_alpha": [0.5] * n}), ("Softsign", {}),
                        ("Softplus", {})):
            layer(op, f.lower() + ("_default" if f in ("HardSigmoid", "LeakyRelu") and not more else ""), gates,
                  activations=[f] * n, **more)
        layer(op, "activations_both", gates, direction="bidirectional", activations=names + ["Elu"] * n,
              activation_alpha=[0.5] * n)
        case(op, "activation_unknown", "by hand", [R(1, 1, 1), R(1, gates, 1), R(1, gates, 1)], attrs={"activations": ["Cosine"] * n},
             refused="activations holds Cosine, which is none of ONNX")
        case(op, "activations_short", "by hand", [R(1, 1, 1), R(2, gates, 1), R(2, gates, 1)],
             attrs={"activations": names[:1], "direction": "bidirectional"}, refused=f"activations has 1 names, expected {2 * n}")
        case(op, "direction_unknown", "by hand", [R(1, 1, 1), R(1, gates, 1), R(1, gates, 1)], attrs={"direction": "up"},
             refused="direction is up")
        case(op, "weights", "by hand", [R(1, 1, 2), R(1, gates, 3), R(1, gates, 1)], refused="W (input 1) is")
        case(op, "recurrence", "by hand", [R(1, 1, 2), R(1, gates, 2), R(1, gates + 1, 1)], refused="R (input 2) is")
        case(op, "too_long", "by hand", [R(1, 1, 1), R(1, gates, 1), R(1, gates, 1), None, np.array([2], np.int32)],
             refused="sequence_lens holds 2, expected 0 to the 1 steps")
    layer("gru", "linear_before_reset", 3, linear_before_reset=1)
    layer("gru", "linear_before_reset_both", 3, linear_before_reset=1, direction="bidirectional", lens=[3, 2])
    layer("lstm", "peepholes", 4, peep=True)
    layer("lstm", "peepholes_both", 4, peep=True, direction="bidirectional", clip=0.5)
    layer("lstm", "input_forget", 4, input_forget=1)


def deform():
    def one(name, x, w, offset, bias=None, mask=None, **attrs):
        inputs = [x, w, offset, bias, mask]
        while inputs[-1] is None:
            inputs.pop()
        y = run("DeformConv", inputs, attrs, 1, 19, reference=True)
        case("deform_conv", name, REFERENCE, inputs, y, attrs)
    one("still", R(1, 1, 3, 3), R(1, 1, 2, 2), np.zeros((1, 8, 2, 2), np.float32))
    one("moved", R(1, 1, 3, 3), R(1, 1, 2, 2), R(1, 8, 2, 2), pads=[0, 0, 0, 0])
    one("mask_bias", R(1, 2, 4, 4), R(2, 2, 2, 2), R(1, 8, 3, 3), R(2), R(1, 4, 3, 3))
    one("groups", R(1, 4, 3, 3), R(2, 2, 2, 2), R(1, 16, 2, 2), group=2, offset_group=2)
    one("all", R(2, 2, 5, 4), R(1, 2, 2, 2), R(2, 8, 3, 2), pads=[1, 0, 1, 0], strides=[2, 1], dilations=[2, 2])
    case("deform_conv", "offset", "by hand", [R(1, 1, 3, 3), R(1, 1, 2, 2), R(1, 6, 2, 2)],
         refused="offset is fp32[1, 6, 2, 2], expected 8 channels")
    case("deform_conv", "one_dimension", "by hand (half way between neighbours)",
         [np.array([[[1, 3, 5]]], np.float32), np.ones((1, 1, 1), np.float32), np.full((1, 1, 3), 0.5, np.float32)],
         [np.array([[[2, 4, 2.5]]], np.float32)])


def write():
    for part in (windows, norms, losses, recurrent, deform):
        part()
