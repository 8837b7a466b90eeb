"""Operator tests that nobody has seen: ONNX's own node tests with shapes, attributes and values changed, written as folders of
model.onnx and test_data_set_0, which `npukit conformance onnx` runs. Expected values are those of onnx's reference evaluator.
Where onnxruntime implements the case too, both must agree: contested cases are dropped and listed with what each says.

    tools/onnx_cases.py OUT [--count 3000] [--seed 1] [--only Conv,Gather]

The same seed gives the same cases. Needs onnx and onnxruntime (./dev setup)."""
import argparse
import collections
import copy
import glob
import json
import multiprocessing
import os
import random
import shutil
import warnings

import numpy as np
import onnx
from onnx import TypeProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

RTOL, ATOL = 1e-3, 1e-5
MAX_ELEMENTS = 20000
TRIES = 12  # candidates for each case
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial", "Dropout"}
# What the reference evaluator does not compute as the standard's text says, found where others disagreed with it.
DISTRUSTED = {}


def sources(folder):
    """Single-node tests whose values are not drawn, by operator."""
    by_op = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, "*", "model.onnx"))):
        name = os.path.basename(os.path.dirname(path))
        model = onnx.load(path)
        if len(model.graph.node) != 1 or model.functions:
            continue
        node = model.graph.node[0]
        if node.op_type in RANDOM or node.domain == "ai.onnx.preview.training":
            continue
        data = os.path.join(os.path.dirname(path), "test_data_set_0")
        try:
            inputs = [read(os.path.join(data, f"input_{i}.pb"), v.type) for i, v in enumerate(model.graph.input)]
        except (TypeError, ValueError, KeyError, FileNotFoundError):
            continue
        by_op[node.op_type].append((name, model, inputs))
    return by_op


def read(path, kind):
    with open(path, "rb") as f:
        data = f.read()
    which = kind.WhichOneof("value")
    if which == "tensor_type":
        return numpy_helper.to_array(onnx.TensorProto.FromString(data))
    if which == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))


def write(path, value, kind):
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        proto = numpy_helper.from_list(value)
    elif which == "optional_type":
        proto = numpy_helper.from_optional(value)
    else:
        proto = numpy_helper.from_array(np.asarray(value))
    with open(path, "wb") as f:
        f.write(proto.SerializeToString())


def attribute_pool(tests):
    """What the suite gives each attribute of an operator, and whether it may be left out."""
    pool = collections.defaultdict(list)
    for _, model, _ in tests:
        for a in model.graph.node[0].attribute:
            if a.type not in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS, onnx.AttributeProto.TENSOR):
                value = helper.get_attribute_value(a)
                pool[a.name].append(list(value) if hasattr(value, "append") else value)
    return pool


def is_number(array):
    return isinstance(array, np.ndarray) and array.dtype != object and array.dtype.kind in "fiub"


def is_parameter(array):
    """A list of axes, sizes, indices: what a random value would make senseless."""
    return isinstance(array, np.ndarray) and array.dtype in (np.int64, np.int32) and array.ndim <= 1 and array.size <= 8


def changed_values(array, shape, rng):
    """Values that stay within the hull of those of the test: the domain of the operator."""
    if array.size == 0:
        return np.zeros(shape, array.dtype)
    flat = array.reshape(-1)
    count = int(np.prod(shape))
    picked = flat[rng.integers(0, flat.size, count)]
    if array.dtype in (np.float32, np.float64, np.float16) and np.isfinite(flat.astype(np.float64)).all():
        other = flat[rng.integers(0, flat.size, count)].astype(np.float64)
        share = rng.uniform(0, 1, count)
        picked = (share * picked.astype(np.float64) + (1 - share) * other).astype(array.dtype)
    return np.ascontiguousarray(picked.reshape(shape))


def changed_number(value, rng):
    if isinstance(value, float):
        return float(np.float32(value * rng.uniform(0.5, 1.5) + rng.choice([0, 0, 0.25])))
    if isinstance(value, int):
        return int(value + rng.integers(-1, 2))
    return value


def parts(total, count, rng):
    """`count` sizes, perhaps 0, that add up to `total`."""
    cuts = np.sort(rng.integers(0, total + 1, count - 1))
    return np.diff(np.concatenate([[0], cuts, [total]]))


def factors(count, rng):
    shape = []
    if count == 0:
        return [0, int(rng.integers(1, 5))]
    for p in (2, 3, 5, 7):
        while count % p == 0:
            count //= p
            shape.append(p)
    shape = [int(np.prod(g)) for g in np.array_split(rng.permutation(shape + [count]), int(rng.integers(1, 5)))]
    if rng.random() < 0.4:
        shape[int(rng.integers(len(shape)))] = -1
    return shape


def couple(node, model, feed, rng):
    """Inputs that another one's size binds."""
    at = {name: i for i, name in enumerate(i.name for i in model.graph.input)}
    given = [at.get(name) for name in node.input]

    def put(k, values):
        feed[given[k]] = np.asarray(values, feed[given[k]].dtype)

    def has(k):
        return k < len(given) and given[k] is not None

    if node.op_type == "Reshape" and has(1) and rng.random() < 0.8:
        put(1, factors(feed[0].size, rng))
    elif node.op_type == "Expand" and has(1):
        tail = [int(rng.integers(1, 4)) if d == 1 else int(rng.choice([1, d])) for d in feed[0].shape]
        put(1, list(rng.integers(1, 4, int(rng.integers(0, 3)))) + tail)
    elif node.op_type == "Split" and has(1) and feed[given[1]].ndim:
        axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
        if -feed[0].ndim <= axis < feed[0].ndim:
            put(1, parts(feed[0].shape[axis], len(node.output), rng))
    elif node.op_type == "Range" and has(2):
        step = feed[given[2]].dtype.type(rng.choice([-3, -2, -1, 1, 2, 3]))
        put(0, rng.integers(-5, 6)), put(2, step)
        put(1, feed[given[0]] + step * rng.integers(0, 9))
    elif node.op_type == "Resize" and has(len(given) - 1) and len(given) > 2:
        last = feed[given[-1]]
        put(-1, rng.integers(1, 10, last.shape) if len(given) == 4 else
            np.where(rng.random(last.shape) < 0.3, 1, rng.choice([0.4, 0.5, 0.75, 1.5, 2, 2.5, 3], last.shape)))
        if len(given) == 4 and last.size == 4:  # batch and channels stay
            feed[given[-1]][:2] = feed[0].shape[:2]
    elif node.op_type.endswith("Window") or node.op_type in ("EyeLike", "OneHot") and has(1) and not feed[given[1]].ndim:
        k = 0 if node.op_type.endswith("Window") else 1
        if feed and has(k):
            put(k, rng.integers(2, 20))
    elif node.op_type == "Tile" and has(1):
        put(1, rng.integers(0 if rng.random() < 0.1 else 1, 4, feed[given[1]].shape))
    elif node.op_type == "TopK" and has(1):
        put(1, np.full(feed[given[1]].shape, rng.integers(1, 1 + max(1, min(feed[0].shape or (1,))))))
    elif node.op_type == "ReverseSequence" and has(1):
        batch = next((a.i for a in node.attribute if a.name == "batch_axis"), 1)
        if 0 <= batch < feed[0].ndim:
            put(1, rng.integers(1, 1 + feed[0].shape[1 - batch], feed[0].shape[batch]))


def candidate(test, pool, rng):
    """A changed model and its inputs; whether it makes sense is for the judges to say."""
    _, model, inputs = test
    model = copy.deepcopy(model)
    node = model.graph.node[0]
    # Sizes: equal ones stay equal, for most operators tie them.
    sizes = {}
    if rng.random() < 0.75:
        for array in inputs:
            for d in (array.shape if is_number(array) and not is_parameter(array) else ()):
                if d not in sizes:
                    sizes[d] = int(rng.integers(1, 8)) if d > 1 and rng.random() < 0.6 else d
    hidden = next((a for a in node.attribute if a.name == "hidden_size"), None)
    if hidden is not None:  # of recurrent cells: the gates' weights are multiples of it
        h = sizes.get(hidden.i, int(rng.integers(1, 6)))
        sizes.update({k * hidden.i: k * h for k in (8, 6, 4, 3, 2, 1)})
        hidden.i = h
    feed = []
    for array in inputs:
        if not isinstance(array, np.ndarray):
            feed.append(array)
        elif is_parameter(array):
            array = array.copy()
            if array.size and rng.random() < 0.3:
                at = int(rng.integers(array.size))
                array.reshape(-1)[at] += rng.integers(-1, 2)
            feed.append(array)
        elif array.dtype == object or is_number(array) or array.size:
            shape = tuple(sizes.get(d, d) for d in array.shape)
            if array.ndim and rng.random() < 0.05 and array.shape[0] > 1:
                shape = (1,) + shape[1:]
            feed.append(changed_values(array, shape, rng))
        else:
            feed.append(array)
    if len(feed) == 1 and is_number(feed[0]) and rng.random() < 0.08:
        feed[0] = np.ascontiguousarray(np.expand_dims(feed[0], 0))
    couple(node, model, feed, rng)
    # Attributes: those of sisters, or a little more or less.
    for name, values in sorted(pool.items()):
        mine = next((a for a in node.attribute if a.name == name), None)
        roll = rng.random()
        if mine is not None and mine.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.TENSOR):
            continue
        if name == "kernel_shape" and mine is not None:
            value = [sizes.get(d, d) for d in mine.ints]
        elif roll < 0.3:
            value = values[int(rng.integers(len(values)))]
        elif roll < 0.45 and mine is not None:
            value = helper.get_attribute_value(mine)
            value = [changed_number(v, rng) for v in value] if hasattr(value, "append") else changed_number(value, rng)
        else:
            continue
        if mine is not None:
            node.attribute.remove(mine)
        node.attribute.append(helper.make_attribute(name, value))
    symbols = rng.random() < 0.33
    for info, array in zip(model.graph.input, feed):
        if isinstance(array, np.ndarray) and info.type.HasField("tensor_type"):
            shape = info.type.tensor_type.shape
            del shape.dim[:]
            for axis, d in enumerate(array.shape):
                if symbols and d > 1:
                    shape.dim.add().dim_param = f"{info.name}_{axis}"
                else:
                    shape.dim.add().dim_value = d
    return model, feed


def declare_outputs(model, outputs, known):
    """The shapes that came out, or sizes of no name: the checker wants the rank."""
    for info, value in zip(model.graph.output, outputs):
        if isinstance(value, np.ndarray) and info.type.HasField("tensor_type"):
            shape = info.type.tensor_type.shape
            del shape.dim[:]
            for d in value.shape:
                dim = shape.dim.add()
                if known:
                    dim.dim_value = d


def elements(value):
    if value is None:
        return 0
    return sum(elements(v) for v in value) if isinstance(value, list) else np.asarray(value).size


def difference(found, expected):
    """'' when they agree as `conformance` judges."""
    if isinstance(expected, list) or isinstance(found, list):
        if not isinstance(found, list) or not isinstance(expected, list) or len(found) != len(expected):
            return "sequences of other lengths"
        return next((d for d in map(difference, found, expected) if d), "")
    if found is None or expected is None:
        return "" if found is None and expected is None else "one is nothing"
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return f"shape {list(found.shape)} against {list(expected.shape)}"
    if found.dtype != expected.dtype and not (found.dtype.kind in "OU" and expected.dtype.kind in "OU"):
        return f"type {found.dtype} against {expected.dtype}"
    if expected.dtype.kind in "OUbiu":
        same = found == expected
    else:
        f, e = (a.astype(np.complex128 if a.dtype.kind == "c" else np.float64) for a in (found, expected))
        with np.errstate(all="ignore"):
            finite = np.isfinite(f) & np.isfinite(e)
            same = np.where(finite, np.abs(f - e) <= ATOL + RTOL * np.abs(e), (f == e) | (np.isnan(f) & np.isnan(e)))
    return "" if np.all(same) else f"{int(np.size(same) - np.count_nonzero(same))} of {np.size(same)} elements"


def _onnxruntime(pipe):
    """In a process of its own: it may crash on what is not meant to be."""
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    while True:
        model, feed = pipe.recv()
        try:
            session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            pipe.send(("values", session.run(None, feed)))
        except Exception as e:  # of any kind: what matters is what it says
            text = f"{type(e).__name__}: {e}"
            unknown = ("NotImplemented", "NOT_IMPLEMENTED", "till opset", "Unexpected input data type", "not a registered function",
                       "Unrecognized attribute", "No Op registered", "is not supported", "Type Error", "unsupported type",
                       "Unsupported", "INVALID_GRAPH", "InvalidGraph", "be converted to MLDataType", "locale")
            pipe.send(("cannot" if any(u in text for u in unknown) else "refuses", text.splitlines()[0][:200]))


class Runtime:
    """onnxruntime as a second judge."""

    def __init__(self):
        self.process = None

    def run(self, model, feed):
        if self.process is None:
            self.pipe, end = multiprocessing.Pipe()
            self.process = multiprocessing.get_context("spawn").Process(target=_onnxruntime, args=(end,), daemon=True)
            self.process.start()
            end.close()
        try:
            self.pipe.send((model.SerializeToString(), feed))
            if self.pipe.poll(30):
                return self.pipe.recv()
            self.close()
            return "refuses", "no answer in 30 s"
        except (EOFError, OSError, TypeError) as e:
            self.close()
            return "refuses", f"crashed ({type(e).__name__})"

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process = None


def malformed(node, inputs):
    """What the standard forbids and the reference evaluator computes all the same; '' when there is nothing."""
    given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    shapes = [v.shape if isinstance(v, np.ndarray) else None for v in inputs]
    if node.op_type == "CausalConvWithState" and len(shapes) > 3 and shapes[3] is not None:
        if shapes[3] != (shapes[0][0], shapes[0][1], (shapes[1][-1] - 1) * given.get("dilation", 1)):
            return "the past state is not as long as the kernel wants"
    if node.op_type == "RoiAlign" and (shapes[1][1] != 4 or shapes[1][0] != shapes[2][0]):
        return "regions are rows of 4 numbers, each with one batch index"
    if node.op_type == "QuantizeLinear" and len(shapes) > 2 and shapes[2] is not None and shapes[2] != shapes[1]:
        return "the zero point has another shape than the scale"
    if node.op_type == "Resize" and given.get("coordinate_transformation_mode") == b"tf_crop_and_resize":
        if len(inputs) < 2 or inputs[1] is None or inputs[1].size == 0:
            return "tf_crop_and_resize without roi"
    if node.op_type == "ReverseSequence" and {given.get("batch_axis", 1), given.get("time_axis", 0)} != {0, 1}:
        return "batch_axis and time_axis are 0 and 1"
    if node.op_type == "TfIdfVectorizer":
        starts, pool = list(given["ngram_counts"]), given.get("pool_int64s") or given.get("pool_strings")
        ends = starts[1:] + [len(pool)]
        if starts[0] != 0 or any(e < s or (e - s) % (n + 1) for n, (s, e) in enumerate(zip(starts, ends))):
            return "ngram_counts does not cut the pool into n-grams"
        if len(given["ngram_indexes"]) != sum((e - s) // (n + 1) for n, (s, e) in enumerate(zip(starts, ends))):
            return "ngram_indexes does not name one column for each n-gram"
    if node.op_type == "TreeEnsemble":
        nodes, leaves = len(given["nodes_featureids"]), len(given["leaf_targetids"])
        for side in ("true", "false"):
            leaf, children = given[f"nodes_{side}leafs"], given[f"nodes_{side}nodeids"]
            if len(leaf) != nodes or any(not 0 <= c < (leaves if f else nodes) for f, c in zip(leaf, children)):
                return "a tree's node has a child that is not there"
    return ""


def judged(model, feed, runtime):
    """(outputs, '') or (None, why not)."""
    names = [i.name for i in model.graph.input]
    at = dict(zip(names, feed))
    try:
        wrong = malformed(model.graph.node[0], [at.get(name) for name in model.graph.node[0].input])
    except (KeyError, IndexError, TypeError) as e:  # less than it must have
        wrong = f"{type(e).__name__} {e}"
    if wrong:
        return None, f"malformed: {wrong}"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outputs = ReferenceEvaluator(model).run(None, at)
        outputs = [o if isinstance(o, list) or o is None else np.asarray(o) for o in outputs]
        known = all(d.HasField("dim_value") for i in model.graph.input for d in i.type.tensor_type.shape.dim)
        declare_outputs(model, outputs, known)
        onnx.checker.check_model(model)
    except Exception as e:  # a senseless candidate: of any kind
        return None, f"reference: {type(e).__name__} {e}"
    if sum(map(elements, outputs)) > MAX_ELEMENTS or not sum(map(elements, outputs)):
        return None, "too large or empty"
    floats = [o for o in outputs if isinstance(o, np.ndarray) and o.dtype.kind == "f" and o.size]
    if floats and all(np.isnan(o.astype(np.float64)).all() for o in floats):
        return None, "nothing but NaN"
    for o, info in zip(outputs, model.graph.output):
        if isinstance(o, np.ndarray) and info.type.HasField("tensor_type"):
            try:
                if numpy_helper.from_array(o).data_type != info.type.tensor_type.elem_type:
                    return None, "reference: another type than declared"
            except (TypeError, ValueError, KeyError, NotImplementedError):
                return None, "reference: a type of no name"
    kind, answer = runtime.run(model, at)
    if kind == "refuses":
        return None, f"onnxruntime refuses: {answer}"
    if kind == "values":
        for name, mine, theirs in zip((o.name for o in model.graph.output), outputs, answer):
            why = difference(theirs, mine)
            if why:
                return None, f"contested: output {name}: {why}"
    return outputs, kind


def save(folder, model, feed, outputs):
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data)
    onnx.save(model, os.path.join(folder, "model.onnx"))
    for kind, infos, values in (("input", model.graph.input, feed), ("output", model.graph.output, outputs)):
        for i, (info, value) in enumerate(zip(infos, values)):
            write(os.path.join(data, f"{kind}_{i}.pb"), value, info.type)


def make(out, count, seed, only):
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    by_op = sources(os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "node"))
    if only:
        by_op = {op: tests for op, tests in by_op.items() if op in only}
    runtime, why, contested, made = Runtime(), collections.Counter(), [], collections.Counter()
    seen, backed = set(), 0
    # Operators take turns, a case each; those that have no more to try leave it to the others.
    streams = {op: stream(op, by_op[op], seed) for op in sorted(by_op)}
    while sum(made.values()) < count and streams:
        for op in list(streams):
            if sum(made.values()) >= count:
                break
            if op in DISTRUSTED:
                del streams[op]
                continue
            for _ in range(TRIES):
                source, model, feed = next(streams[op], (None, None, None))
                if source is None:
                    del streams[op]
                    break
                key = hash((model.SerializeToString(),
                            *(v.tobytes() if isinstance(v, np.ndarray) and v.dtype != object else str(v) for v in feed)))
                outputs, reason = judged(model, feed, runtime) if key not in seen else (None, "made already")
                folder = os.path.join(out, f"{op}_{made[op]:03d}")
                if outputs is not None:
                    try:
                        save(folder, model, feed, outputs)
                    except (TypeError, ValueError, NotImplementedError) as e:
                        shutil.rmtree(folder, ignore_errors=True)
                        outputs, reason = None, f"cannot be written: {e}"
                if outputs is None:
                    why[reason.split(":")[0]] += 1
                    if reason.startswith(("contested", "onnxruntime")):
                        contested.append((op, source, reason))
                    continue
                seen.add(key)
                made[op] += 1
                backed += reason == "values"
                break
    runtime.close()
    record = {"seed": seed, "made": sum(made.values()), "agreed_by_onnxruntime": backed, "per_operator": dict(sorted(made.items())),
              "dropped": dict(why.most_common()), "contested": contested}
    with open(os.path.join(out, "cases.json"), "w", encoding="utf-8") as f:
        json.dump(record, f, indent=1)
    return record


def stream(op, tests, seed):
    """Candidates of one operator, over all its tests in turn."""
    pool = attribute_pool(tests)
    order = list(range(len(tests)))
    random.Random(f"{seed} {op}").shuffle(order)
    # An operator with few tests is tried more often on each.
    rounds = max(20, 600 // len(tests))
    for k in range(rounds):
        for i in order:
            rng = np.random.default_rng([seed, k, *tests[i][0].encode()])
            try:
                model, feed = candidate(tests[i], pool, rng)
            except (TypeError, ValueError, IndexError, OverflowError):
                continue
            yield tests[i][0], model, feed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    record = make(args.out, args.count, args.seed, {o for o in args.only.split(",") if o})
    print(f"{record['made']} cases of {len(record['per_operator'])} operators in {args.out}, {record['agreed_by_onnxruntime']} of "
          f"them computed by onnxruntime too; dropped: {record['dropped']}")


if __name__ == "__main__":
    main()
