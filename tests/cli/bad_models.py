"""Mutators: each takes a good model and makes one fault at a node, and says what a good message must hold.

A mutator is called with a model and a random generator; it returns (node name, operator, words) after changing the model, or None
where the model has no place for this fault. `words` is a list of alternatives of which one must be in the message."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FAULTS = {}


def fault(f):
    FAULTS[f.__name__] = f
    return f


def names(model):
    """A nameless node is called by its operator and place, as npukit calls it."""
    return [n.name or f"{n.op_type}_{i}" for i, n in enumerate(model.graph.node)]


def pick(model, rng, wanted):
    """A random node for which wanted(node) holds: (index, node)."""
    found = [(i, n) for i, n in enumerate(model.graph.node) if wanted(n)]
    return found[rng.integers(len(found))] if found else None


def initializers(model):
    return {t.name: t for t in model.graph.initializer}


def constants(model):
    """Initializers that one node alone reads, as weights: name -> (index of the node, node, index of the input)."""
    there = initializers(model)
    users = {}
    for i, n in enumerate(model.graph.node):
        for k, name in enumerate(n.input):
            if name in there:
                users.setdefault(name, []).append((i, n, k))
    return {name: u[0] for name, u in users.items() if len(u) == 1}


def weight_of(model, rng, operators, rank=None):
    """An initializer that is the second input of one of these operators."""
    there = initializers(model)
    found = [(name, i, n) for name, (i, n, k) in constants(model).items()
             if n.op_type in operators and k == 1 and (rank is None or len(there[name].dims) == rank)]
    return found[rng.integers(len(found))] if found else None


@fault
def missing_input(model, rng):
    """An input that the operator needs is left out."""
    place = pick(model, rng, lambda n: n.op_type in ("Conv", "MatMul", "Mul", "Sub", "Div", "Pow", "Reshape") and len(n.input) >= 2)
    if place is None:
        return None
    index, n = place
    del n.input[1:]
    return names(model)[index], n.op_type, ["expected 2", "required"]


@fault
def unknown_value(model, rng):
    """A node reads a name that nothing makes."""
    index, n = pick(model, rng, lambda n: len(n.input) > 0)
    n.input[0] = "no_such_value"
    return names(model)[index], n.op_type, ["no_such_value, which nothing in the model makes"]


@fault
def made_twice(model, rng):
    """Two nodes make one value."""
    index = int(rng.integers(1, len(model.graph.node)))
    n = model.graph.node[index]
    n.output[0] = model.graph.node[0].output[0]
    return names(model)[index], n.op_type, ["is given twice"]


@fault
def out_of_order(model, rng):
    """A node comes before the one that makes what it reads."""
    makers = {o: i for i, n in enumerate(model.graph.node) for o in n.output}
    found = [(i, makers[x]) for i, n in enumerate(model.graph.node) for x in n.input if x in makers and n.name]
    if not found:
        return None
    index, maker = found[rng.integers(len(found))]
    moved = onnx.NodeProto()
    moved.CopyFrom(model.graph.node[index])
    del model.graph.node[index]
    model.graph.node.insert(maker, moved)
    return moved.name, moved.op_type, ["makes only later"]


@fault
def wrong_element_type(model, rng):
    """The weights become whole numbers; what they meet stays fp32."""
    found = weight_of(model, rng, ("Conv", "MatMul", "Mul", "Add", "Gemm", "Sub", "Div", "BatchNormalization"))
    if found is None:
        return None
    name, index, n = found
    t = initializers(model)[name]
    t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(t).astype(np.int32), name))
    return names(model)[index], n.op_type, ["fp32 and int32", "int32 and fp32", "is int32, expected"]


@fault
def wrong_channels(model, rng):
    """The weights have one input channel too few, or the matrix one row."""
    found = weight_of(model, rng, ("Conv",), 4) or weight_of(model, rng, ("MatMul", "Gemm"), 2)
    if found is None:
        return None
    name, index, n = found
    t = initializers(model)[name]
    a = numpy_helper.to_array(t)
    a = np.concatenate([a, a[:, :1]], 1) if n.op_type == "Conv" else np.concatenate([a, a[:1]], 0) if n.op_type == "MatMul" \
        else np.concatenate([np.concatenate([a, a[:, :1]], 1), np.zeros((1, a.shape[1] + 1), a.dtype)], 0)
    t.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(a), name))
    return names(model)[index], n.op_type, ["expected", "differ"]


@fault
def too_few_bytes(model, rng):
    """A tensor's data breaks off. The message names the tensor, which is all that is wrong."""
    found = sorted(name for name in constants(model) if initializers(model)[name].raw_data)
    if not found:
        return None
    name = found[rng.integers(len(found))]
    t = initializers(model)[name]
    t.raw_data = t.raw_data[:-1]
    return name, "initializer", [f"expected {len(t.raw_data) + 1} bytes in raw_data, found {len(t.raw_data)}"]


@fault
def attribute_kind(model, rng):
    """A list of numbers becomes a text."""
    kinds = {"kernel_shape", "strides", "pads", "dilations", "perm", "axis", "axes", "to", "epsilon", "alpha", "transB"}
    place = pick(model, rng, lambda n: any(a.name in kinds for a in n.attribute))
    if place is None:
        return None
    index, n = place
    a = next(a for a in n.attribute if a.name in kinds)
    name = a.name
    a.CopyFrom(helper.make_attribute(name, "oops"))
    return names(model)[index], n.op_type, [f"attribute {name}"]


@fault
def attribute_range(model, rng):
    """An axis that the tensor does not have, or a permutation of something else."""
    place = pick(model, rng, lambda n: n.op_type in ("Softmax", "Concat", "Transpose", "Gather", "ReduceMean", "Split", "Flatten"))
    if place is None:
        return None
    index, n = place
    wanted = {"Transpose": "perm", "ReduceMean": "axes"}.get(n.op_type, "axis")
    for a in list(n.attribute):
        if a.name == wanted:
            n.attribute.remove(a)
    if wanted == "axes" and len(n.input) > 1:
        del n.input[1:]
    n.attribute.append(helper.make_attribute(wanted, [7, 7, 7, 7] if wanted != "axis" else 99))
    return names(model)[index], n.op_type, ["axis 99", "axis 7", "perm"]


@fault
def groups(model, rng):
    """A convolution in more groups than it has channels for."""
    place = pick(model, rng, lambda n: n.op_type == "Conv")
    if place is None:
        return None
    index, n = place
    for a in list(n.attribute):
        if a.name == "group":
            n.attribute.remove(a)
    n.attribute.append(helper.make_attribute("group", 7919))
    return names(model)[index], n.op_type, ["7919"]


@fault
def kernel_differs(model, rng):
    """The attribute and the weights disagree about the kernel."""
    place = pick(model, rng, lambda n: n.op_type == "Conv" and any(a.name == "kernel_shape" for a in n.attribute)
                 and n.input[1] in initializers(model))
    if place is None:
        return None
    index, n = place
    a = next(a for a in n.attribute if a.name == "kernel_shape")
    a.ints[0] += 1
    return names(model)[index], n.op_type, ["kernel_shape"]


@fault
def too_many_inputs(model, rng):
    """An operator is given more than it takes."""
    place = pick(model, rng, lambda n: n.op_type in ("Relu", "Sigmoid", "Softmax", "Transpose", "MaxPool", "GlobalAveragePool"))
    if place is None:
        return None
    index, n = place
    n.input.extend([n.input[0]] * 3)
    return names(model)[index], n.op_type, ["found 4"]


@fault
def unknown_operator(model, rng):
    """An operator that nobody knows. Reading the model is fine; check has a verdict for it."""
    index, n = pick(model, rng, lambda n: len(n.output) == 1)
    n.op_type = "Frobnicate"
    return names(model)[index], "Frobnicate", ["unknown_operator"]


@fault
def external_data_missing(model, rng):
    """The weights are in a file that was not copied along."""
    found = weight_of(model, rng, ("Conv", "MatMul", "Gemm", "Mul", "Add"))
    if found is None:
        return None
    name, _, _ = found
    t = initializers(model)[name]
    t.ClearField("raw_data")
    t.ClearField("float_data")
    t.data_location = TensorProto.EXTERNAL
    t.external_data.add(key="location", value="weights_that_stayed_behind.bin")
    return name, "initializer", ["weights_that_stayed_behind.bin is missing", "copy it beside the model"]
