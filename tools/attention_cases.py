"""Cases of attention and the operators around it: values from onnx's reference evaluator and its node tests. Used by make_cases.py."""
import numpy as np
import onnx
from case_writer import Random, case
from onnx import TensorProto
from quant_cases import evaluate, node_tests, said, tests

R = Random(43)
HALF = np.float16


def attention():
    # The tests name one output where they read one; ours always has four.
    for name, inputs, values, attrs in node_tests("attention", "Attention", limit=420):
        if len(values) == 4:
            case("attention", "onnx_" + name.removeprefix("test_"), f"onnx {onnx.__version__} node test {name}", inputs, values, attrs)
    q, k, v = R(2, 2, 3, 4), R(2, 2, 5, 4), R(2, 2, 5, 3)

    def check(name, inputs, attrs=None, **extra):
        said("attention", name, "Attention", inputs, attrs, outputs=4, opset=24, within=(2e-5, 2e-5), **extra)

    check("plain", [q, k, v])
    check("causal_scaled", [q, k, v], {"is_causal": 1, "scale": 0.25})
    check("mask_bool", [q, k, v, R.ints(0, 2, 3, 5).astype(bool) | (np.arange(5) == 0)])
    check("mask_3d_float", [q, k, v, R(2, 3, 5)], {"qk_matmul_output_mode": 2})
    check("mask_short", [q, k, v, R(2, 1, 3, 4)])
    check("mask_causal", [q, k, v, R(1, 2, 3, 5)], {"is_causal": 1, "qk_matmul_output_mode": 2})
    check("softcap", [q, k, v, R(3, 5)], {"softcap": 1.5, "qk_matmul_output_mode": 1})
    check("after_softmax", [q, k, v], {"qk_matmul_output_mode": 3})
    check("grouped", [R(1, 4, 2, 4), R(1, 2, 3, 4), R(1, 2, 3, 4)])
    check("packed", [R(2, 3, 8), R(2, 5, 4), R(2, 5, 6)], {"q_num_heads": 4, "kv_num_heads": 2})
    check("past", [R(1, 2, 2, 4), R(1, 2, 1, 4), R(1, 2, 1, 2), None, R(1, 2, 3, 4), R(1, 2, 3, 2)])
    check("past_causal", [R(1, 2, 2, 4), R(1, 2, 2, 4), R(1, 2, 2, 2), None, R(1, 2, 3, 4), R(1, 2, 3, 2)], {"is_causal": 1})
    check("lengths", [q, k, v, R(2, 1, 3, 5), None, None, np.array([3, 5], np.int64)])
    check("softmax_in_fp64", [q, k, v], {"softmax_precision": TensorProto.DOUBLE})
    x = [q.astype(HALF), k.astype(HALF), v.astype(HALF)]
    values = [y.astype(HALF) for y in evaluate("Attention", [a.astype(np.float32) for a in x], outputs=4, opset=24)]
    case("attention", "fp16", f"onnx {onnx.__version__} reference evaluator in fp32, rounded", x, values, within=(2e-3, 2e-3))
    case("attention", "heads_do_not_divide", "by hand", [R(1, 3, 2, 4), R(1, 2, 3, 4), R(1, 2, 3, 4)],
         refused="q has 3 heads, expected a multiple of the 2 of k")
    case("attention", "no_heads", "by hand", [R(1, 3, 4), R(1, 3, 4), R(1, 3, 4)], refused="q has rank 3, which needs the number of heads")
    case("attention", "mask_too_long", "by hand", [q, k, v, R(3, 6)], refused="does not broadcast to the scores [2, 2, 3, 5]")
    case("attention", "half_a_past", "by hand", [q, k, v, None, k], refused="past key and past value go together")


def around():
    tests("rotary_embedding", "RotaryEmbedding", limit=300)
    cos, sin = R(6, 2), R(6, 2)
    ids = R.ints(0, 6, 2, 3)
    for name, x, attrs in (("by_position", R(2, 2, 3, 4), {}), ("interleaved", R(2, 2, 3, 4), {"interleaved": 1}),
                           ("packed", R(2, 3, 8), {"num_heads": 2}),
                           ("part_of_a_head", R(2, 3, 12), {"num_heads": 2, "rotary_embedding_dim": 4})):
        said("rotary_embedding", name, "RotaryEmbedding", [x, cos, sin, ids], attrs, opset=23)
    said("rotary_embedding", "tables_in_order", "RotaryEmbedding", [R(2, 1, 3, 4), R(2, 3, 2), R(2, 3, 2)], opset=23)
    case("rotary_embedding", "outside", "by hand", [R(1, 1, 1, 4), cos, sin, np.array([[6]], np.int64)],
         refused="position 6 is outside tables of 6 rows")
    case("rotary_embedding", "odd", "by hand", [R(1, 1, 1, 5), cos, sin, np.array([[1]], np.int64)], refused="expected an even number up to 5")

    tests("tensor_scatter", "TensorScatter")
    cache, update = R(2, 2, 4, 2), R(2, 2, 2, 2)
    said("tensor_scatter", "from_zero", "TensorScatter", [cache, update])
    said("tensor_scatter", "circular", "TensorScatter", [cache, update, np.array([3, 6], np.int64)], {"mode": "circular"})
    said("tensor_scatter", "axis_1_int8", "TensorScatter", [R.ints(-9, 9, 2, 3, 2, dtype=np.int8), R.ints(-9, 9, 2, 1, 2, dtype=np.int8),
                                                            np.array([2, 0], np.int64)], {"axis": 1})
    case("tensor_scatter", "outside", "by hand", [cache, update, np.array([3, 0], np.int64)], refused="rows 3 on do not fit")
    case("tensor_scatter", "batch_axis", "by hand", [cache, update], attrs={"axis": 0}, refused="axis is 0, the batch")
    case("tensor_scatter", "too_long", "by hand", [update, cache], refused="the update is fp32[2, 2, 4, 2]")

    tests("causal_conv_with_state", "CausalConvWithState", 2, limit=200)
    x, w, bias, past = R(2, 3, 4), R(3, 1, 3), R(3), R(2, 3, 2)
    conv = dict(outputs=2, opset=27)
    said("causal_conv_with_state", "plain", "CausalConvWithState", [x, w], **conv)
    said("causal_conv_with_state", "all_inputs_silu", "CausalConvWithState", [x, w, bias, past], {"activation": "silu"}, **conv)
    said("causal_conv_with_state", "short_input", "CausalConvWithState", [x[:, :, :1], w, None, past], **conv)
    said("causal_conv_with_state", "kernel_of_one", "CausalConvWithState", [x, w[:, :, :1], bias], **conv)
    case("causal_conv_with_state", "channels", "by hand", [x, R(2, 1, 3)], refused="expected [channels, 1, kernel]")
    case("causal_conv_with_state", "activation", "by hand", [x, w], attrs={"activation": "gelu"}, refused="expected none, silu or swish")

    tests("linear_attention", "LinearAttention", 2, limit=160)
    q, k, v = R(2, 3, 8), R(2, 3, 4), R(2, 3, 6)
    decay, beta, state = -np.abs(R(2, 3, 4)), np.abs(R(2, 3, 2)), R(2, 2, 2, 3)
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    for rule, gates in (("linear", [None, None]), ("gated", [decay, None]), ("delta", [None, beta]), ("gated_delta", [decay, beta])):
        said("linear_attention", f"{rule}_from_a_state", "LinearAttention", [q, k, v, state] + gates, dict(heads, update_rule=rule), **conv)
    said("linear_attention", "decay_by_head", "LinearAttention", [q, k, v, None, decay[:, :, :2], beta[:, :, :1]], dict(heads, scale=0.5), **conv)
    case("linear_attention", "no_decay", "by hand", [q, k, v], attrs=heads, refused="update_rule needs the input decay, found none")
    case("linear_attention", "heads", "by hand", [q, k, v], attrs={"q_num_heads": 3, "kv_num_heads": 2, "update_rule": "linear"},
         refused="expected a multiple of kv_num_heads")


def write():
    attention()
    around()
