"""Models that lie, nest, repeat themselves or spell terabytes in a few bytes: what a file may do to its reader.

Each case is (name, verbs, part of the message, function that writes the model and returns its path). A message of None means
that nothing need be refused: the limits on memory and time hold all the same."""
import os

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

ALL = ("info", "check", "compile", "run")
DEEP = ("check", "compile", "run")  # what looks at values too


def tensor(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs=(), outputs=("y",), constants=(), opset=21, functions=()):
    graph = helper.make_graph(
        list(nodes), "g",
        [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs], list(constants))
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("my", 1)],
                          functions=list(functions))
    m.ir_version = 10
    return m


X = ("x", TensorProto.FLOAT, [2, 3])
node = helper.make_node


def varint(n):
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


# -- external data -------------------------------------------------------------------------------------------------------------

def external(folder, location, offset=None, length=None, dims=(4,), prepare=None):
    if prepare:
        prepare(folder)
    t = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            t.external_data.add(key=key, value=str(value))
    return model([node("Add", ["x", "w"], ["y"], "add")], [("x", TensorProto.FLOAT, [4])], constants=[t])


def outside(folder):
    """A secret beside the model's folder, and links to it inside."""
    secret = os.path.join(os.path.dirname(folder), "secret.bin")
    with open(secret, "wb") as f:
        f.write(bytes(64))
    for name, target in (("link.bin", secret), ("zero.bin", "/dev/zero"), ("up", os.path.dirname(folder)),
                         ("loop.bin", "loop.bin")):
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            os.symlink(target, path)
    if not os.path.exists(os.path.join(folder, "pipe.bin")):
        os.mkfifo(os.path.join(folder, "pipe.bin"))
    with open(os.path.join(folder, "data.bin"), "wb") as f:
        f.write(bytes(64))
    os.makedirs(os.path.join(folder, "sub"), exist_ok=True)


EXTERNAL = [
    ("up", "../secret.bin", {}, "leaves the model's folder"),
    ("up in the middle", "sub/../../secret.bin", {}, "leaves the model's folder"),
    ("absolute", "/etc/passwd", {}, "not an absolute path"),
    ("link to a file", "link.bin", {}, "leaves the model's folder by a link"),
    ("link to a folder", "up/secret.bin", {}, "leaves the model's folder by a link"),
    ("link to itself", "loop.bin", {}, "loop.bin"),
    ("link to a device", "zero.bin", {}, "zero.bin"),
    ("pipe", "pipe.bin", {}, "no regular file"),
    ("folder", "sub", {}, "no regular file"),
    ("missing", "nothing.bin", {}, "is missing in"),
    ("no name", "", {}, "without a file name"),
    ("zero byte in the name", "data.bin\0x", {}, "without a file name"),
    ("offset past the end", "data.bin", {"offset": 60}, "cut short"),
    ("offset far away", "data.bin", {"offset": 2**63 - 8}, "cut short"),
    ("offset over 64 bits", "data.bin", {"offset": 2**70}, "expected a number"),
    ("offset negative", "data.bin", {"offset": -4}, "expected a number"),
    ("offset no number", "data.bin", {"offset": "4x"}, "expected a number"),
    ("length differs", "data.bin", {"length": 12}, "expected 16 bytes"),
    ("length overflows", "data.bin", {"length": 2**63 - 1}, "expected 16 bytes"),
    ("far more than the file has", "data.bin", {"dims": (1 << 30, 1 << 20)}, "cut short"),
]


# -- sizes ---------------------------------------------------------------------------------------------------------------------

def claims(dims, data_type=TensorProto.FLOAT, **data):
    t = TensorProto(name="w", data_type=data_type, dims=dims, **data)
    return model([node("Identity", ["w"], ["y"], "same")], constants=[t])


def nested_graphs(depth, bottom=None):
    """If in If in If ...: written as bytes, since Python's own limit on nesting is lower."""
    body = helper.make_graph([node("Identity", ["x"], ["b"], "leaf")], "leaf", [],
                             [helper.make_tensor_value_info("b", TensorProto.FLOAT, None)]).SerializeToString()
    out = field(12, helper.make_tensor_value_info("b", TensorProto.FLOAT, None).SerializeToString())
    for i in range(depth):
        attribute = field(1, b"then_branch") + field(6, body) + varint(20 << 3) + varint(AttributeProto.GRAPH)
        other = field(1, b"else_branch") + field(6, helper.make_graph(
            [node("Identity", ["x"], ["b"], "else")], "e", [],
            [helper.make_tensor_value_info("b", TensorProto.FLOAT, None)]).SerializeToString()) + varint(20 << 3) + varint(5)
        n = field(1, b"c") + field(2, b"b") + field(3, b"if%d" % i) + field(4, b"If") + field(5, attribute) + field(5, other)
        body = field(1, n) + field(2, b"g%d" % i) + out
    inputs = field(11, helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]).SerializeToString())
    inputs += field(11, helper.make_tensor_value_info("c", TensorProto.BOOL, []).SerializeToString())
    return varint(1 << 3) + varint(10) + field(7, body + inputs) + field(8, varint(2 << 3) + varint(21))


def nested_type(depth, number):
    """sequence(sequence(...)) or optional(...): number is the field of TypeProto."""
    t = field(1, varint(1 << 3) + varint(1))
    for _ in range(depth):
        t = field(number, field(1, t))
    graph = field(1, node("Identity", ["x"], ["y"], "same").SerializeToString()) + field(2, b"g")
    graph += field(11, field(1, b"x") + field(2, t))
    graph += field(12, helper.make_tensor_value_info("y", TensorProto.FLOAT, None).SerializeToString())
    return varint(1 << 3) + varint(10) + field(7, graph) + field(8, varint(2 << 3) + varint(21))


# -- names and order -----------------------------------------------------------------------------------------------------------

def cycle():
    return model([node("Add", ["x", "b"], ["a"], "one"), node("Relu", ["a"], ["b"], "two"), node("Relu", ["b"], ["y"], "out")], [X])


def duplicate_attribute():
    n = node("Softmax", ["x"], ["y"], "soft", axis=1)
    n.attribute.add().CopyFrom(n.attribute[0])
    return model([n], [X])


def not_utf8():
    """Python writes no invalid UTF-8, so names of the same length are replaced in the bytes."""
    m = model([node("Relu", ["x"], ["NAMENAME"], "NODENODE"), node("OPOPOPOP", ["NAMENAME"], ["y"], "odd")], [X])
    content = m.SerializeToString()
    for name, odd in ((b"NAMENAME", b"\xff\xfe\x1b[2J\n\r"), (b"NODENODE", b"\xc0\x80\xed\xa0\x80\xf5\t\x7f"),
                      (b"OPOPOPOP", b"\x80\xe2\x80\xae\xe2\x28\xa1\xff")):
        content = content.replace(name, odd)
    return content


# -- calls and loops without an end --------------------------------------------------------------------------------------------

def functions(bodies):
    """Local functions f0, f1, ... of one input and one output, each a list of nodes from "a" to "b"; the model calls the last."""
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("my", 1)]
    made = [helper.make_function("my", f"f{i}", ["a"], ["b"], nodes, opsets) for i, nodes in enumerate(bodies)]
    return model([node(f"f{len(bodies) - 1}", ["x"], ["y"], "start", domain="my")], [X], functions=made)


def ring(length):
    return functions([[node(f"f{(i + 1) % length}", ["a"], ["b"], f"call{i}", domain="my")] for i in range(length)])


def doubling_calls(depth):
    """Each calls the one before twice: 2^depth nodes in all."""
    return functions([[node("Relu", ["a"], ["b"], "leaf")]] + [
        [node(f"f{i}", ["a"], ["c"], f"one{i}", domain="my"), node(f"f{i}", ["c"], ["b"], f"two{i}", domain="my")] for i in range(depth)])


def endless_loop(trips=None):
    """A Loop whose condition stays true: without a trip count, or with one that is as good as none."""
    floats, truth = (TensorProto.FLOAT, [2, 3]), (TensorProto.BOOL, [])
    value = helper.make_tensor_value_info
    body = helper.make_graph([node("Identity", ["go"], ["on"], "again"), node("Abs", ["s"], ["t"], "step")], "body",
                             [value("i", TensorProto.INT64, []), value("go", *truth), value("s", *floats)],
                             [value("on", *truth), value("t", *floats)])
    constants = [tensor("c", np.array(True))] + ([tensor("m", np.int64(trips))] if trips else [])
    return model([node("Loop", ["m" if trips else "", "c", "x"], ["y"], "forever", body=body)], [X], constants=constants)


# -- expansion -----------------------------------------------------------------------------------------------------------------

def i64(name, *v):
    return tensor(name, np.array(v, np.int64))


def f32(name, v):
    return tensor(name, np.array(v, np.float32))


def bomb(*nodes, constants=(), spread=True):
    """The last node's result "z" is summed with the input, so that it is needed and the output is small."""
    end = [node("ReduceMax", ["z"], ["r"], "reduce", keepdims=0), node("Add", ["x", "r"], ["y"], "use")] if spread else []
    return model(list(nodes) + end, [X], constants=constants)


def doubling(op):
    nodes = []
    last = "s"
    for i in range(50):
        name = "z" if i == 49 else f"d{i}"
        if op == "Concat":
            nodes.append(node("Concat", [last, last], [name], f"double{i}", axis=0))
        else:
            nodes.append(node("Tile", [last, "two"], [name], f"double{i}"))
        last = name
    return bomb(*nodes, constants=[f32("s", [1]), i64("two", 2)])


def string_doubling():
    nodes = [node("StringConcat", [f"s{i}", f"s{i}"], [f"s{i + 1}"], f"twice{i}") for i in range(60)]
    nodes += [node("Equal", ["s60", "s60"], ["e"], "equal"), node("Cast", ["e"], ["f"], "cast", to=1), node("Add", ["x", "f"], ["y"], "use")]
    return model(nodes, [X], constants=[tensor("s0", np.array(["abcdefgh"], object))])


def many_medium():
    """Each is of a bearable size; all are alive together."""
    nodes = [node("ConstantOfShape", ["s"], [f"c{i}"], f"fill{i}", value=f32("v", [i])) for i in range(64)]
    nodes += [node("Sum", [f"c{i}" for i in range(64)], ["z"], "sum")]
    return bomb(*nodes, constants=[i64("s", 4096, 2048)])


def long_folding():
    """Constants that are small and take long: a product of matrices again and again."""
    nodes = [node("MatMul", [f"m{i}", "m0"], [f"m{i + 1}"], f"times{i}") for i in range(100)]
    nodes += [node("Identity", ["m100"], ["z"], "last")]
    return bomb(*nodes, constants=[tensor("m0", np.eye(256, dtype=np.float32))])


# -- work that no type shows ---------------------------------------------------------------------------------------------------

def use(name):
    """Sums what is not floats, too, with the input."""
    return node("Cast", [name], ["z"], "cast", to=1)


def regex(pattern, text, nodes=1):
    return bomb(*[node("RegexFullMatch", ["s"], [f"b{i}"], f"match{i}", pattern=pattern) for i in range(nodes)],
                node("Concat", [f"b{i}" for i in range(nodes)], ["b"], "all", axis=0), use("b"),
                constants=[tensor("s", np.array([text], object))])


def roi_align(sampling, side):
    return bomb(node("RoiAlign", ["a", "rois", "i"], ["z"], "roi", output_height=200, output_width=200, sampling_ratio=sampling),
                constants=[f32("a", np.ones((1, 1, 4, 4))), f32("rois", [[0, 0, side, side]]), i64("i", 0)])


def long_trees(n=20000, roots=50000):
    """One branch of n nodes, walked from the same root again and again."""
    m = bomb(node("TreeEnsemble", ["f"], ["z"], "trees", domain="ai.onnx.ml", n_targets=1, nodes_featureids=[0] * n,
                  nodes_modes=tensor("m", np.zeros(n, np.uint8)), nodes_splits=f32("s", np.ones(n)),
                  nodes_truenodeids=list(range(1, n)) + [0], nodes_trueleafs=[0] * (n - 1) + [1],
                  nodes_falsenodeids=[0] * n, nodes_falseleafs=[1] * n, leaf_targetids=[0], leaf_weights=f32("w", [1]),
                  tree_roots=[0] * roots), constants=[f32("f", [[0]])])
    m.opset_import.add(domain="ai.onnx.ml", version=5)
    return m


def apart(n=30000):
    """Boxes that do not overlap: each is compared with all before it."""
    corner = np.arange(n, dtype=np.float32)
    boxes = np.stack([corner, corner, corner + .5, corner + .5], axis=1)[None]
    return bomb(node("NonMaxSuppression", ["b", "s", "m"], ["q"], "nms"), use("q"),
                constants=[tensor("b", boxes), tensor("s", np.ones((1, 1, n), np.float32)), i64("m", 1 << 40)])


def shift_register(n=3000):
    """A loop whose carried values open one after another, an iteration each."""
    value = helper.make_tensor_value_info
    nodes = [node("Identity", ["c"], ["co"], "cond"), node("Concat", ["v0", "v0"], ["o0"], "grow", axis=0)]
    nodes += [node("Identity", [f"v{i - 1}"], [f"o{i}"], f"shift{i}") for i in range(1, n)]
    body = helper.make_graph(
        nodes, "body", [value("i", 7, []), value("c", 9, [])] + [value(f"v{i}", 1, None) for i in range(n)],
        [value("co", 9, [])] + [value(f"o{i}", 1, None) for i in range(n)])
    return bomb(node("Loop", ["t", "true"] + ["one"] * n, ["z"] + [f"l{i}" for i in range(1, n)], "loop", body=body),
                constants=[tensor("t", np.int64(2)), tensor("true", np.array(True)), f32("one", [1])])


IDEOGRAPHS = "[" + "".join(chr(0x4E00 + 2 * i) for i in range(1000)) + "]"
SLOW = [
    ("products of matrices by Einsum", lambda: bomb(
        *[node("Einsum", ["m", "m"], [f"e{i}"], f"times{i}", equation="ij,kj->ik") for i in range(8)],
        node("Sum", [f"e{i}" for i in range(8)], ["z"], "sum"), constants=[tensor("m", np.eye(1000, dtype=np.float32))])),
    ("a class of characters 100000 times", lambda: regex("(?:" + IDEOGRAPHS + "{1000}){100}", "abc")),
    ("a thousand patterns that are written out", lambda: regex("(?:.{300}){300}", "abc", 1000)),
    ("a long text for a large pattern", lambda: regex("(?:.?){900}.*", "a" * (1 << 20))),
    ("10^6 samples for each bin", lambda: roi_align(1000, 4)),
    ("a region far larger than its image", lambda: roi_align(0, 2e5)),
    ("long trees", long_trees),
    ("boxes apart", apart),
    ("Unique of much", lambda: bomb(node("Unique", ["u"], ["z"], "unique"),
                                    constants=[tensor("u", np.random.default_rng(1).random(1 << 21, np.float32))])),
    ("a loop of 3000 values that open in turn", shift_register),
]

BOMBS = [
    ("ConstantOfShape", lambda: bomb(node("ConstantOfShape", ["s"], ["z"], "fill"), constants=[i64("s", 100000, 100000)])),
    ("ConstantOfShape of 2^60", lambda: bomb(node("ConstantOfShape", ["s"], ["z"], "fill"), constants=[i64("s", 1 << 30, 1 << 30)])),
    ("ConstantOfShape of 1 GiB", lambda: bomb(node("ConstantOfShape", ["s"], ["z"], "fill"), constants=[i64("s", 1 << 28)])),
    ("Expand", lambda: bomb(node("Expand", ["a", "s"], ["z"], "spread"), constants=[f32("a", [1]), i64("s", 65536, 65536)])),
    ("Tile", lambda: bomb(node("Tile", ["a", "s"], ["z"], "repeat"), constants=[f32("a", [[1]]), i64("s", 65536, 65536)])),
    ("Range", lambda: bomb(node("Range", ["a", "b", "c"], ["z"], "count"),
                           constants=[f32("a", 0), f32("b", 1e10), f32("c", 1)])),
    ("Range of int64", lambda: bomb(node("Range", ["a", "b", "c"], ["w"], "count"), node("Cast", ["w"], ["z"], "cast", to=1),
                                    constants=[tensor("a", np.int64(0)), tensor("b", np.int64(1 << 62)), tensor("c", np.int64(1))])),
    ("OneHot", lambda: bomb(node("OneHot", ["i", "d", "v"], ["z"], "hot"),
                            constants=[i64("i", *range(64)), tensor("d", np.int64(1 << 30)), f32("v", [0, 1])])),
    ("Pad", lambda: bomb(node("Pad", ["a", "p"], ["z"], "pad"), constants=[f32("a", [1]), i64("p", 0, 1 << 34)])),
    ("Resize", lambda: bomb(node("Resize", ["a", "", "s"], ["z"], "resize"),
                            constants=[f32("a", [[[[1]]]]), f32("s", [1, 1, 65536, 65536])])),
    ("Concat doubling", lambda: doubling("Concat")),
    ("Tile doubling", lambda: doubling("Tile")),
    ("string doubling", string_doubling),
    ("Einsum", lambda: bomb(node("ConstantOfShape", ["s"], ["a"], "fill"),
                            node("Einsum", ["a", "a"], ["z"], "outer", equation="i,j->ij"), constants=[i64("s", 1 << 20)])),
    ("Einsum without output", lambda: bomb(
        node("Einsum", ["a"] * 8, ["z"], "sum", equation="a,b,c,d,e,f,g,h->"), constants=[tensor("a", np.ones(1000, np.float32))],
        spread=True)),
    ("CumSum of a huge one", lambda: bomb(node("ConstantOfShape", ["s"], ["a"], "fill"), node("CumSum", ["a", "k"], ["z"], "cumsum"),
                                          constants=[i64("s", 1 << 33), tensor("k", np.int64(0))])),
    ("outer Mul", lambda: bomb(node("ConstantOfShape", ["s"], ["a"], "fill"), node("Unsqueeze", ["a", "k"], ["b"], "up"),
                               node("Mul", ["a", "b"], ["z"], "outer"), constants=[i64("s", 1 << 20), i64("k", 1)])),
    ("outer MatMul", lambda: bomb(node("ConstantOfShape", ["s"], ["a"], "left"), node("ConstantOfShape", ["t"], ["b"], "right"),
                                  node("MatMul", ["a", "b"], ["z"], "outer"), constants=[i64("s", 1 << 20, 1), i64("t", 1, 1 << 20)])),
    ("EyeLike of a huge one", lambda: bomb(node("ConstantOfShape", ["s"], ["a"], "fill"), node("EyeLike", ["a"], ["z"], "eye"),
                                           constants=[i64("s", 1 << 17, 1 << 17)])),
    ("Gather again and again", lambda: bomb(node("ConstantOfShape", ["s"], ["a"], "zeros", value=tensor("v", np.zeros(1, np.int64))),
                                            node("Gather", ["t", "a"], ["z"], "gather"), constants=[i64("s", 1 << 33), f32("t", [1, 2])])),
    ("RandomNormal", lambda: bomb(node("RandomNormal", [], ["z"], "noise", shape=[1 << 20, 1 << 20]))),
    ("many of a bearable size", many_medium),
]


UNKNOWN = ("OneHot", "string doubling", "Einsum", "RandomNormal")

# -- odd numbers ---------------------------------------------------------------------------------------------------------------

def conv(**attributes):
    return model([node("Conv", ["x", "w"], ["y"], "conv", **attributes)], [("x", TensorProto.FLOAT, [1, 2, 8, 8])],
                 constants=[tensor("w", np.ones((2, 2, 3, 3), np.float32))])


def one(op, attributes=None, constants=(), x=(2, 3), more=(), opset=21):
    return model([node(op, ["x"] + list(more), ["y"], "n", **(attributes or {}))], [("x", TensorProto.FLOAT, list(x))],
                 constants=list(constants), opset=opset)


def wrong_kind(op, name, value, **kw):
    m = one(op, {}, **kw)
    m.graph.node[0].attribute.append(helper.make_attribute(name, value))
    return m


BIG = 2**63 - 1
ODD = [
    ("a stride of 0", "strides", lambda: conv(strides=[0, 1])),
    ("a stride of 2^62", None, lambda: conv(strides=[1 << 62, 1])),
    ("a dilation below 0", "dilations", lambda: conv(dilations=[-1, 1])),
    ("a dilation of 2^62", "conv", lambda: conv(dilations=[1 << 62, 1])),
    ("pads of 2^62", "conv", lambda: conv(pads=[1 << 62] * 4)),
    ("a group of 0", "group", lambda: conv(group=0)),
    ("a group of 2^63-1", "group", lambda: conv(group=BIG)),
    ("three strides", "strides", lambda: conv(strides=[1, 1, 1])),
    ("a kernel of 2^40", None, lambda: one("MaxPool", {"kernel_shape": [1 << 40, 1 << 40]}, x=(1, 1, 4, 4))),
    ("an axis of 2^63-1", "axis", lambda: one("Softmax", {"axis": BIG})),
    ("an axis of -2^63", "axis", lambda: one("Softmax", {"axis": -BIG - 1})),
    ("a perm that repeats", "perm", lambda: one("Transpose", {"perm": [0, 0]})),
    ("a perm far out", "perm", lambda: one("Transpose", {"perm": [0, BIG]})),
    ("a Slice of steps -2^63", None, lambda: one("Slice", constants=[i64("s", BIG), i64("e", -BIG - 1), i64("a", 0), i64("t", -BIG - 1)],
                                                 more=["s", "e", "a", "t"])),
    ("a Slice of steps 0", "step", lambda: one("Slice", constants=[i64("s", 0), i64("e", 1), i64("a", 0), i64("t", 0)],
                                               more=["s", "e", "a", "t"])),
    ("a Reshape to 2^60", "n (Reshape)", lambda: one("Reshape", constants=[i64("s", 1 << 30, 1 << 30)], more=["s"])),
    ("a Reshape with two -1", "n (Reshape)", lambda: one("Reshape", constants=[i64("s", -1, -1)], more=["s"])),
    ("a Reshape with -2", "n (Reshape)", lambda: one("Reshape", constants=[i64("s", -2, 3)], more=["s"])),
    ("a Split that does not add up", "n (Split)", lambda: one("Split", {"axis": 1}, constants=[i64("s", 7)], more=["s"])),
    ("an Unsqueeze of 2^63-1", "n (Unsqueeze)", lambda: one("Unsqueeze", constants=[i64("a", BIG)], more=["a"])),
    ("an Unsqueeze of rank 1000", None, lambda: one("Unsqueeze", constants=[i64("a", *range(1000))], more=["a"])),
    ("a Range of NaN", None, lambda: bomb(node("Range", ["a", "b", "c"], ["z"], "count"),
                                          constants=[f32("a", 0), f32("b", np.nan), f32("c", 1)])),
    ("a Range of steps 0", "count (Range)", lambda: bomb(node("Range", ["a", "b", "c"], ["z"], "count"),
                                                         constants=[f32("a", 0), f32("b", 5), f32("c", 0)])),
    ("a Resize by NaN", "n (Resize)", lambda: one("Resize", x=(1, 1, 4, 4), constants=[f32("s", [1, 1, np.nan, 2])], more=["", "s"])),
    ("a Resize by infinity", "n (Resize)", lambda: one("Resize", x=(1, 1, 4, 4), constants=[f32("s", [1, 1, np.inf, 2])], more=["", "s"])),
    ("a Resize below 0", "n (Resize)", lambda: one("Resize", x=(1, 1, 4, 4), constants=[f32("s", [1, 1, -1, 2])], more=["", "s"])),
    ("a Clip at NaN", None, lambda: one("Clip", constants=[f32("a", np.nan), f32("b", np.nan)], more=["a", "b"])),
    ("an epsilon of NaN", None, lambda: one("LayerNormalization", {"epsilon": float("nan")}, constants=[f32("s", [1, 1, 1])], more=["s"])),
    ("a size of 0", None, lambda: one("Softmax", x=(0, 3))),
    ("sizes of 0 in a Conv", None, lambda: model([node("Conv", ["x", "w"], ["y"], "conv")], [("x", TensorProto.FLOAT, [0, 2, 8, 8])],
                                                 constants=[tensor("w", np.ones((2, 2, 3, 3), np.float32))])),
    ("a kernel of 0", None, lambda: model([node("Conv", ["x", "w"], ["y"], "conv")], [("x", TensorProto.FLOAT, [1, 2, 8, 8])],
                                          constants=[tensor("w", np.ones((2, 2, 0, 3), np.float32))])),
    ("an int where floats are", "alpha", lambda: wrong_kind("LeakyRelu", "alpha", 3)),
    ("a text where an int is", "axis", lambda: wrong_kind("Softmax", "axis", "first")),
    ("ints where an int is", "axis", lambda: wrong_kind("Softmax", "axis", [1, 2])),
    ("a tensor where ints are", "perm", lambda: wrong_kind("Transpose", "perm", i64("p", 1, 0))),
    ("a float where ints are", "strides", lambda: wrong_kind("MaxPool", "strides", 2.0, x=(1, 1, 4, 4))),
    ("a text where a tensor is", "value", lambda: model([node("Constant", [], ["y"], "n", value="x")])),
]


# -- all of them ---------------------------------------------------------------------------------------------------------------

def cases(folder):
    """(name, verbs, part of the message or None, path) for each."""
    made = []

    def add(name, verbs, said, content):
        path = os.path.join(folder, f"{len(made):03}.onnx")
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.SerializeToString())
        made.append((name, verbs, said, path))

    outside(folder)
    for name, location, options, said in EXTERNAL:
        add("external data: " + name, ALL, said, external(folder, location, **options))
    for name, dims, said in (("2^80 elements", (1 << 40, 1 << 40), "too large"), ("2^62 floats", (1 << 62,), "too large"),
                             ("below 0", (-1,), "a size is -1"), ("rank 33", (1,) * 33, "rank 33"),
                             ("rank 100000", (1,) * 100000, "rank 100000"),
                             ("2^33 with one number", (1 << 33,), "found data for 1")):
        add("claims: " + name, ALL, said, claims(dims, float_data=[1]))
    add("claims: raw data for fewer", ALL, "expected 1099511627776 bytes", claims((1 << 38,), raw_data=b"\0\0\0\0"))
    add("claims: strings for fewer", ALL, "found data for 1", claims((1 << 40,), TensorProto.STRING, string_data=[b"x"]))
    add("claims: raw and typed", ALL, "both raw_data", claims((1,), raw_data=b"\0\0\0\0", float_data=[1]))
    add("claims: no such type", ALL, "element type 99", claims((1,), 99, raw_data=b"\0\0\0\0"))
    for depth in (66, 300, 20000):
        add(f"graphs {depth} deep", ALL, "deep" if depth < 100 else "not an ONNX model", nested_graphs(depth))
    for depth in (66, 300, 100000):
        for number, what in ((4, "sequences"), (9, "optionals")):
            add(f"{what} {depth} deep", ALL, "deep" if depth < 100 else "not an ONNX model", nested_type(depth, number))
    add("groups a million deep", ALL, "not an ONNX model", bytes([0x9b, 0x06]) * 1000000)  # field 99, start of a group
    add("2^40 nodes claimed", ALL, "not an ONNX model", varint(7 << 3 | 2) + varint(1 << 40) + varint(1 << 3 | 2) + varint(1 << 40))
    add("a packed field of 2^31 numbers", ALL, "not an ONNX model",
        field(7, field(5, varint(1 << 3 | 2) + varint(0x7fffffff) + b"\1" * 64)))
    add("a cycle", ALL, "nodes must be in order", cycle())
    add("a node that reads itself", ALL, "nodes must be in order", model([node("Add", ["x", "y"], ["y"], "self")], [X]))
    add("a name that nobody makes", ALL, "which nothing in the model makes", model([node("Relu", ["q"], ["y"], "r")], [X]))
    add("an output that nobody makes", ALL, "made by no node", model([node("Relu", ["x"], ["z"], "r")], [X]))
    add("an output made twice", ALL, "given twice", model([node("Relu", ["x"], ["y"], "a"), node("Abs", ["x"], ["y"], "b")], [X]))
    add("an input made again", ALL, "given twice", model([node("Relu", ["x"], ["x"], "a"), node("Abs", ["x"], ["y"], "b")], [X]))
    add("two inputs of a name", ALL, "given twice", model([node("Relu", ["x"], ["y"], "a")], [X, X]))
    add("two initializers of a name", ALL, "given twice", model([node("Relu", ["w"], ["y"], "a")], constants=[f32("w", [1]), f32("w", [2])]))
    add("an output listed twice", ALL, "listed twice", model([node("Relu", ["x"], ["y"], "a")], [X], outputs=("y", "y")))
    add("an attribute given twice", ALL, "given twice", duplicate_attribute())
    add("names that are not UTF-8", DEEP[1:], "unknown operator", not_utf8())
    for length in (1, 3):
        add(f"a ring of {length} functions", ALL, "calls itself", ring(length))
    add("functions that call twice", ALL, "nodes", doubling_calls(40))
    add("no node at all", ("info", "check"), None, model([], [("y", TensorProto.FLOAT, [1])]))
    for name, make in BOMBS:
        add("expansion: " + name, ("info",), None, make())
        said = None if name == "Einsum without output" else ""
        # An operator that npukit does not know is a finding of check, not a refusal.
        add("expansion: " + name, DEEP[:1], None if name in UNKNOWN else said, make())
        # Text is not folded: it is joined when the model runs, and refused then.
        verbs = DEEP[2:] if name == "string doubling" else DEEP[1:]
        add("expansion: " + name, verbs, said, make())
    add("long folding", ("info", "check", "compile"), None, long_folding())
    for name, make in SLOW:
        add("slow: " + name, ("info", "check", "compile"), None, make())
    for name, said, make in ODD:
        add("odd: " + name, ALL, said, make())
    return made
