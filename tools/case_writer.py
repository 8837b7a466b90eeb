"""Cases as text, and the calls that give their values: what make_cases.py and network_cases.py are written with."""
import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

ORT = f"onnxruntime {onnxruntime.__version__}"
NUMPY = f"numpy {np.__version__}"
INF, NAN = float("inf"), float("nan")

NAMES = {np.dtype(k): v for k, v in {
    np.float32: "fp32", np.float16: "fp16", np.float64: "fp64", np.int8: "int8", np.int16: "int16", np.int32: "int32",
    np.int64: "int64", np.uint8: "uint8", np.uint16: "uint16", np.uint32: "uint32", np.uint64: "uint64",
    np.bool_: "bool", ml_dtypes.bfloat16: "bf16", ml_dtypes.float8_e4m3fn: "fp8e4m3fn", ml_dtypes.float8_e4m3fnuz: "fp8e4m3fnuz",
    ml_dtypes.float8_e5m2: "fp8e5m2", ml_dtypes.float8_e5m2fnuz: "fp8e5m2fnuz", ml_dtypes.float8_e8m0fnu: "fp8e8m0",
    ml_dtypes.float4_e2m1fn: "fp4e2m1", ml_dtypes.int4: "int4", ml_dtypes.uint4: "uint4", ml_dtypes.int2: "int2",
    ml_dtypes.uint2: "uint2"}.items()}
FILES = {}


def number(x):
    if isinstance(x, (np.bool_, bool)):
        return str(int(x))
    if np.issubdtype(type(x), np.integer):
        return str(int(x))
    if np.isnan(x):
        return "nan"
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    text = str(x)
    return text[:-2] if text.endswith(".0") else text


class Kind:
    """A sequence or an optional of the given type, such as "seq(fp32[...])", with its items."""
    def __init__(self, type_text, *items):
        self.type_text, self.items = type_text, items

    def __str__(self):
        return " ".join([self.type_text] + [" | ".join(tensor(v) for v in self.items)] * bool(self.items))


def text(s):
    """A string as one word of a line."""
    if not s:
        return "\\e"
    for plain, escaped in (("\\", "\\\\"), (" ", "\\s"), (",", "\\c"), ("\n", "\\n"), ("\t", "\\t")):
        s = s.replace(plain, escaped)
    return s


def tensor(a):
    if a is None:
        return "-"
    if isinstance(a, Kind):
        return str(a)
    a = np.asarray(a)
    if a.dtype.kind in "OSU":
        name, values = "string", [text(str(v)) for v in a.flatten()]
    else:
        name, flat = NAMES[a.dtype], a.flatten()
        if a.dtype.kind not in "biuf":  # a small type of ml_dtypes
            flat = flat.astype(np.int64 if "int" in name else np.float64)
        values = [number(v) for v in flat]
    return " ".join([f"{name}[{','.join(map(str, a.shape))}]"] + values)


def attribute(v):
    if isinstance(v, np.ndarray):
        words = tensor(v).split(" ")
        return words[0] + ":" + ",".join(words[1:])
    if isinstance(v, (list, tuple)) and v and isinstance(v[0], str):
        return "[" + ",".join(text(s) for s in v) + "]"
    if isinstance(v, (list, tuple)):
        return "[" + ",".join(x if isinstance(x, str) else number(x) for x in v) + "]"
    if isinstance(v, float):
        return number(np.float32(v))
    return text(v) if isinstance(v, str) else str(v)


def case(op, name, source, inputs, outputs=None, attrs=None, steps=(), refused=None, within=None):
    lines = [f"case {name}", f"expected: {source}"]
    if attrs:
        lines.append("attr " + " ".join(f"{k}={attribute(v)}" for k, v in sorted(attrs.items())))
    lines += [f"step {s}" for s in steps]
    lines += ["in " + tensor(a) for a in inputs]
    lines += ["out " + tensor(a) for a in outputs or []]
    if refused:
        lines.append("refused " + refused)
    if within:
        lines.append(f"within {within[0]} {within[1]}")
    cases = FILES.setdefault(op, [])
    if any(c.startswith(lines[0] + "\n") for c in cases):
        raise SystemExit(f"{op}: two cases are called {name}")
    cases.append("\n".join(lines) + "\n")


def run_onnx(onnx_op, inputs, attrs, opset=21, reference=False):
    """One node through onnxruntime (or ONNX's reference evaluator)."""
    names = [f"i{k}" if a is not None else "" for k, a in enumerate(inputs)]
    node = helper.make_node(onnx_op, names, ["y"], **{k: v for k, v in (attrs or {}).items()})
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in zip(names, inputs) if a is not None]
    out = onnx.ValueInfoProto(name="y")
    model = helper.make_model(helper.make_graph([node], "g", infos, [out]), ir_version=10,
                              opset_imports=[helper.make_opsetid("", opset)])
    feed = {n: a for n, a in zip(names, inputs) if a is not None}
    if reference:
        return ReferenceEvaluator(model).run(None, feed)[0]
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph.output[0]
    if not inferred.type.tensor_type.elem_type:
        inferred.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(inputs[0].dtype)
    model.graph.output[0].CopyFrom(inferred)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feed)[0]


def ort(op, name, onnx_op, inputs, attrs=None, onnx_inputs=None, onnx_attrs=None, opset=21, **extra):
    """A case whose result onnxruntime gives; onnx_inputs and onnx_attrs where ONNX spells the call otherwise."""
    y = run_onnx(onnx_op, onnx_inputs or inputs, attrs if onnx_attrs is None else onnx_attrs, opset)
    case(op, name, ORT, inputs, [y], attrs, **extra)


def nhwc(a):
    return np.ascontiguousarray(np.transpose(a, (0, 2, 3, 1)))


def ort_nhwc(op, name, onnx_op, inputs, attrs, others=None):
    """The same in layout NHWC: onnxruntime's NCHW result, transposed."""
    y = run_onnx(onnx_op, inputs, attrs, 21)
    moved = [nhwc(inputs[0])] + (inputs[1:] if others is None else others)
    case(op, name, ORT + " (in NCHW, transposed)", moved, [nhwc(y)], dict(attrs, layout="NHWC"))


class Random:
    """Small multiples of 1/8: exact in fp16, short in text."""
    def __init__(self, seed):
        self.g = np.random.default_rng(seed)

    def __call__(self, *shape, dtype=np.float32):
        return (self.g.integers(-16, 17, shape) / 8).astype(dtype)

    def ints(self, low, high, *shape, dtype=np.int64):
        return self.g.integers(low, high, shape).astype(dtype)


R = Random(20261130)
EDGE = np.array([0, -0.0, 1, -1, 0.5, -3, 3, 6, -6, 88, -88, 1e-30, 3e38, -3e38, INF, -INF, NAN], np.float32)


def i64(*v):
    return np.array(v, np.int64)
