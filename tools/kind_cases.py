"""Cases of operators on sequences and optionals; part of make_cases.py. onnxruntime gives the values, types are by hand."""
import numpy as np
import onnx
import onnxruntime
from case_writer import ORT, Kind, Random, case, i64
from onnx import helper

R = Random(20261201)


def value_type(v):
    if isinstance(v, Kind):
        element = value_type(v.items[0]) if v.items else helper.make_tensor_type_proto(1, None)
        make = helper.make_sequence_type_proto if v.type_text.startswith("seq") else helper.make_optional_type_proto
        if not isinstance(v.items[0] if v.items else None, Kind) and v.items:
            element = helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(v.items[0].dtype), None)
        return make(element)
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(v.dtype), None)


def feed(v):
    if not isinstance(v, Kind):
        return v
    if v.type_text.startswith("seq"):
        return [feed(x) for x in v.items]
    return feed(v.items[0]) if v.items else None


def run(onnx_op, inputs, attrs, out, opset=18):
    """One node through onnxruntime; `out`: the type of its output."""
    names = [f"i{k}" if v is not None else "" for k, v in enumerate(inputs)]
    node = helper.make_node(onnx_op, names, ["y"], **(attrs or {}))
    infos = [helper.make_value_info(n, value_type(v)) for n, v in zip(names, inputs) if v is not None]
    graph = helper.make_graph([node], "g", infos, [helper.make_value_info("y", out)])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", opset)])
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {n: feed(v) for n, v in zip(names, inputs) if v is not None})[0]


def tensor_type(dtype=onnx.TensorProto.FLOAT):
    return helper.make_tensor_type_proto(dtype, None)


def seq_type(dtype=onnx.TensorProto.FLOAT):
    return helper.make_sequence_type_proto(tensor_type(dtype))


def ort(op, name, onnx_op, inputs, kind=None, attrs=None, dtype=onnx.TensorProto.FLOAT):
    """`kind`: the type of the sequence that comes out, as text; without it a tensor comes out."""
    y = run(onnx_op, inputs, attrs, seq_type(dtype) if kind else tensor_type(dtype))
    case(op, name, ORT, inputs, [Kind(kind, *y) if kind else y], attrs)


def write():
    a, b, c = R(2), R(2), R(3)
    s = Kind("seq(fp32[?])", a, b, c)
    none = Kind("seq(fp32[...])")
    at = np.array(1, np.int64)
    for name, k in (("first", 0), ("last", -1), ("middle", 1)):
        ort("sequence_at", name, "SequenceAt", [s, np.array(k, np.int64)])
    ort("sequence_at", "int32", "SequenceAt", [s, np.array(2, np.int32)])
    case("sequence_at", "beyond", "by hand", [s, np.array(3, np.int64)], refused="position 3 is outside 3 places")
    case("sequence_at", "before", "by hand", [s, np.array(-4, np.int64)], refused="position -4 is outside 3 places")
    case("sequence_at", "empty", "by hand", [none, np.array(0, np.int64)], refused="outside 0 places")
    case("sequence_at", "tensor", "by hand", [a, at], refused="expected a sequence")
    case("sequence_at", "float_position", "by hand", [s, np.ones((), np.float32)], refused="expected a position")

    ort("sequence_construct", "one", "SequenceConstruct", [a], "seq(fp32[2])")
    ort("sequence_construct", "sizes_differ", "SequenceConstruct", [a, c], "seq(fp32[?])")
    ort("sequence_construct", "ranks_differ", "SequenceConstruct", [a, R(2, 2)], "seq(fp32[...])")
    ort("sequence_construct", "int64", "SequenceConstruct", [i64(1, 2), i64(3, 4)], "seq(int64[2])", dtype=onnx.TensorProto.INT64)
    case("sequence_construct", "types_differ", "by hand", [a, i64(1, 2)], refused="expected one type, found fp32[2] and int64[2]")
    case("sequence_construct", "of_sequences", "by hand", [s], refused="expected a tensor")

    case("sequence_empty", "default", "by hand (ONNX: fp32)", [], [none])
    case("sequence_empty", "int64", "by hand", [], [Kind("seq(int64[...])")], {"dtype": "int64"})
    case("sequence_empty", "no_such_type", "by hand", [], attrs={"dtype": 99}, refused="attribute dtype is 99")

    ort("sequence_erase", "last", "SequenceErase", [s], "seq(fp32[?])")
    ort("sequence_erase", "first", "SequenceErase", [s, np.array(0, np.int64)], "seq(fp32[?])")
    ort("sequence_erase", "negative", "SequenceErase", [s, np.array(-2, np.int64)], "seq(fp32[?])")
    case("sequence_erase", "only_one", "by hand", [Kind("seq(fp32[2])", a)], [Kind("seq(fp32[2])")])
    case("sequence_erase", "empty", "by hand", [none], refused="nothing to erase")
    case("sequence_erase", "beyond", "by hand", [s, np.array(3, np.int64)], refused="position 3 is outside 3 places")

    ort("sequence_insert", "at_end", "SequenceInsert", [s, a], "seq(fp32[?])")
    ort("sequence_insert", "at_front", "SequenceInsert", [s, c, np.array(0, np.int64)], "seq(fp32[?])")
    ort("sequence_insert", "behind_last", "SequenceInsert", [s, c, np.array(3, np.int64)], "seq(fp32[?])")
    ort("sequence_insert", "before_last", "SequenceInsert", [s, a, np.array(-1, np.int64)], "seq(fp32[?])")
    ort("sequence_insert", "other_rank", "SequenceInsert", [s, R(1, 2)], "seq(fp32[...])")
    case("sequence_insert", "into_empty", "by hand", [none, a], [Kind("seq(fp32[...])", a)])
    case("sequence_insert", "beyond", "by hand", [s, a, np.array(4, np.int64)], refused="position 4 is outside 4 places")
    case("sequence_insert", "other_type", "by hand", [s, i64(1)], refused="expected one type")
    case("sequence_insert", "a_sequence", "by hand", [s, s], refused="expected a tensor")

    ort("sequence_length", "three", "SequenceLength", [s], dtype=onnx.TensorProto.INT64)
    case("sequence_length", "empty", "by hand", [none], [np.array(0, np.int64)])
    case("sequence_length", "tensor", "by hand", [a], refused="expected a sequence")

    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for name, inputs, kind, attrs in (
            ("rows", [x], "seq(fp32[1,4])", {}),
            ("columns_dropped", [x], "seq(fp32[3])", {"axis": 1, "keepdims": 0}),
            ("pairs_and_rest", [x, np.array(2, np.int64)], "seq(fp32[?,4])", {}),
            ("pairs", [x, np.array(2, np.int64)], "seq(fp32[3,2])", {"axis": -1}),
            ("sizes", [x, i64(1, 3)], "seq(fp32[3,?])", {"axis": 1}),
            ("keepdims_counts_only_without_split", [x, i64(1, 1, 1)], "seq(fp32[1,4])", {"keepdims": 0}),
            ("int32_sizes", [x, np.array([2, 1], np.int32)], "seq(fp32[?,4])", {})):
        ort("split_to_sequence", name, "SplitToSequence", inputs, kind, attrs)
    case("split_to_sequence", "strings", "by hand", [np.array(["a", "b"])], [Kind("seq(string[1])", np.array(["a"]), np.array(["b"]))])
    case("split_to_sequence", "of_nothing", "by hand", [np.zeros((0, 2), np.float32)], [Kind("seq(fp32[1,2])")])
    case("split_to_sequence", "left_over", "by hand", [x, i64(1, 1)], refused="leave 1 of 3 over")
    case("split_to_sequence", "too_many", "by hand", [x, i64(1, 4)], refused="piece 1 has size 4, and 2 of 3 are left")
    case("split_to_sequence", "pieces_of_zero", "by hand", [x, np.array(0, np.int64)], refused="pieces of 0")
    case("split_to_sequence", "outside", "by hand", [x], attrs={"axis": 2}, refused="axis 2 is outside a shape of rank 2")
    case("split_to_sequence", "sequence", "by hand", [s], refused="expected a tensor")

    m = Kind("seq(fp32[2,?])", R(2, 1), R(2, 3))
    ort("concat_from_sequence", "vectors", "ConcatFromSequence", [s], attrs={"axis": 0})
    ort("concat_from_sequence", "columns", "ConcatFromSequence", [m], attrs={"axis": -1})
    same = Kind("seq(fp32[2])", a, b)
    for axis in (0, 1, -1, -2):
        ort("concat_from_sequence", f"new_axis{axis}", "ConcatFromSequence", [same], attrs={"axis": axis, "new_axis": 1})
    case("concat_from_sequence", "strings", "by hand", [Kind("seq(string[1])", np.array(["a"]), np.array(["b"]))],
         [np.array(["a", "b"])], {"axis": 0})
    case("concat_from_sequence", "empty", "by hand", [none], attrs={"axis": 0}, refused="nothing to concatenate")
    case("concat_from_sequence", "do_not_fit", "by hand", [m], attrs={"axis": 0}, refused="item 1 is fp32[2, 3], item 0 is fp32[2, 1]")
    case("concat_from_sequence", "new_axis_of_two_shapes", "by hand", [s], attrs={"axis": 0, "new_axis": 1}, refused="item 2")
    case("concat_from_sequence", "outside", "by hand", [s], attrs={"axis": 1}, refused="axis 1 is outside a shape of rank 1")
    case("concat_from_sequence", "no_axis", "by hand", [s], refused="attribute axis is missing")

    ot = Kind("opt(fp32[2])", a)
    os = Kind("opt(seq(fp32[?]))", s)
    nothing = Kind("opt(fp32[2])")
    case("optional", "tensor", "by hand", [a], [ot])
    case("optional", "sequence", "by hand", [s], [os])
    case("optional", "empty", "by hand", [], [Kind("opt(seq(fp32[...]))")], {"type": "seq(fp32[...])"})
    case("optional", "no_type", "by hand", [], refused="neither an input nor the attribute type")
    case("optional", "odd_type", "by hand", [], attrs={"type": "list(fp32)"}, refused="expected a type such as")
    case("optional", "of_optional", "by hand", [ot], refused="expected a tensor or a sequence")

    case("optional_get_element", "tensor_in_optional", "by hand", [ot], [a])
    case("optional_get_element", "sequence_in_optional", "by hand", [os], [s])
    case("optional_get_element", "plain_tensor", "by hand (opset 18)", [a], [a])
    case("optional_get_element", "plain_sequence", "by hand (opset 18)", [s], [s])
    case("optional_get_element", "empty", "by hand", [nothing], refused="the optional is empty")

    yes, no = np.array(True), np.array(False)
    case("optional_has_element", "full", "by hand", [ot], [yes])
    case("optional_has_element", "empty", "by hand", [nothing], [no])
    case("optional_has_element", "absent", "by hand (opset 18)", [None], [no])
    case("optional_has_element", "none", "by hand (opset 18)", [], [no])
    case("optional_has_element", "plain_tensor", "by hand (opset 18)", [a], [yes])
    case("optional_has_element", "plain_sequence", "by hand (opset 18)", [none], [yes])
