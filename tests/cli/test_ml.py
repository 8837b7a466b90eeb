"""Operators of ai.onnx.ml that are imported as a few of ours: whole models of one node, judged by onnxruntime's values as
`npukit conformance` judges published ones."""
import os

import common
from common import TensorProto, helper, np, numpy_helper, onnx, onnxruntime

ML = "ai.onnx.ml"
FLOAT, INT, TEXT = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
F32 = np.float32


def text(*words):
    return np.array(words, dtype=object)


def kind_of(a):
    return TEXT if a.dtype.kind == "O" else helper.np_dtype_to_tensor_dtype(a.dtype)


class Suite:
    def __init__(self, folder):
        self.folder, self.names = folder, []

    def add(self, name, op, inputs, attrs, types=(FLOAT,), version=3, judged=True):
        """A folder with the model, its inputs and onnxruntime's outputs (`judged`: else zeros, for models that are refused)."""
        names, outs = [f"i{k}" for k in range(len(inputs))], [f"y{k}" for k in range(len(types))]
        node = helper.make_node(op, names, outs, "the_node", domain=ML, **attrs)
        infos = [helper.make_tensor_value_info(n, kind_of(a), a.shape) for n, a in zip(names, inputs)]
        results = [helper.make_tensor_value_info(n, t, None) for n, t in zip(outs, types)]
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(ML, version)]
        model = helper.make_model(helper.make_graph([node], "ml", infos, results), ir_version=10, opset_imports=opsets)
        values = [np.zeros(1, F32)] * len(types)
        if judged:
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            values = session.run(None, dict(zip(names, inputs)))
        folder = os.path.join(self.folder, name)
        os.makedirs(os.path.join(folder, "test_data_set_0"))
        onnx.save(model, os.path.join(folder, "model.onnx"))
        for what, named in (("input", zip(names, inputs)), ("output", zip(outs, values))):
            for k, (n, a) in enumerate(named):
                with open(os.path.join(folder, "test_data_set_0", f"{what}_{k}.pb"), "wb") as f:
                    f.write(numpy_helper.from_array(np.asarray(a), n).SerializeToString())
        self.names.append(name)


def features(s, x):
    for t in (np.float32, np.float64, np.int64, np.int32):
        y = (x * 4).astype(t)
        y[2] = 0
        s.add(f"scaler_{t.__name__}", "Scaler", [y], {"offset": [0.5, -1.0, 2.0], "scale": [2.0, 0.25, 3.0]})
        for norm in ("MAX", "L1", "L2"):
            s.add(f"normalizer_{norm}_{t.__name__}", "Normalizer", [y], {"norm": norm})
    s.add("scaler_one", "Scaler", [x], {"offset": [0.5], "scale": [2.0]})
    s.add("normalizer_1d", "Normalizer", [x[0]], {"norm": "L2"})
    holes = x.copy()
    holes[1, 1], holes[3, 0] = np.nan, 7
    s.add("imputer_nan", "Imputer", [holes], {"imputed_value_floats": [1.5], "replaced_value_float": float("nan")})
    s.add("imputer_each", "Imputer", [holes], {"imputed_value_floats": [1.0, 2.0, 3.0], "replaced_value_float": 7.0})
    s.add("imputer_int", "Imputer", [np.array([[1, 2], [-1, 3], [2, -1]])],
          {"imputed_value_int64s": [10, 20], "replaced_value_int64": -1}, (INT,))
    s.add("one_hot_int", "OneHotEncoder", [np.array([[1, 2], [5, 9]])], {"cats_int64s": [2, 5, 1]})
    s.add("one_hot_float", "OneHotEncoder", [np.array([1, 2.7, 9], F32)], {"cats_int64s": [2, 5, 1]})
    s.add("one_hot_string", "OneHotEncoder", [text("a", "c", "x")], {"cats_strings": ["c", "a"]})
    categories = {"cats_strings": ["c", "a"], "cats_int64s": [7, 9]}
    s.add("category_to_int", "CategoryMapper", [text("a", "c", "x")], dict(categories, default_int64=-5), (INT,), 1)
    s.add("category_to_string", "CategoryMapper", [np.array([7, 8, 9])], dict(categories, default_string="none"), (TEXT,), 1)
    s.add("feature_vectorizer", "FeatureVectorizer", [x, np.arange(10, dtype=F32).reshape(5, 2)], {"inputdimensions": [3, 2]})


def linear(s, x, rng):
    w, b = rng.standard_normal(9).astype(F32).tolist(), [0.1, -0.2, 0.3]
    for post in ("NONE", "SOFTMAX", "LOGISTIC"):
        for n in (1, 2, 3):
            model = {"coefficients": w[:3 * n], "intercepts": b[:n], "post_transform": post}
            if n > 1 or post == "NONE":  # of one target onnxruntime leaves out the transform, which the standard does not
                s.add(f"linear_regressor_{n}_{post}", "LinearRegressor", [x], dict(model, targets=n))
            s.add(f"linear_classifier_{n}_{post}", "LinearClassifier", [x], dict(model, classlabels_ints=[7, 9, 11][:max(2, n)]),
                  (INT, FLOAT))
    names = {"coefficients": w, "intercepts": b, "classlabels_strings": ["a", "b", "c"]}
    for t in (np.int64, np.float64):
        s.add(f"linear_classifier_{t.__name__}", "LinearClassifier", [(x * 3).astype(t)], names, (TEXT, FLOAT))


def forest(rng, depth=3, trees=4, width=4):
    """Full trees with random splits, and their leaves."""
    nodes, leaves = {}, []

    def put(**of):
        for k, v in of.items():
            nodes.setdefault("nodes_" + k, []).append(v)

    for tree in range(trees):
        for i in range(2 ** (depth + 1) - 1):
            leaf = i >= 2 ** depth - 1
            put(treeids=tree, nodeids=i, featureids=0 if leaf else int(rng.integers(width)),
                values=0.0 if leaf else float(F32(rng.standard_normal())), truenodeids=0 if leaf else 2 * i + 1,
                falsenodeids=0 if leaf else 2 * i + 2, missing_value_tracks_true=int(rng.integers(2)),
                modes="LEAF" if leaf else str(rng.choice(["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE"])))
            if leaf:
                leaves.append((tree, i))
    return nodes, leaves


def votes(prefix, of, ids, weights):
    return {f"{prefix}_treeids": [t for t, _ in of], f"{prefix}_nodeids": [n for _, n in of], f"{prefix}_ids": ids,
            f"{prefix}_weights": weights.tolist()}


def trees(s, rng):
    x = rng.standard_normal((20, 4)).astype(F32)
    x[3, 1] = np.nan
    nodes, leaves = forest(rng)
    twice = [leaf for leaf in leaves for _ in range(3)]  # every leaf votes for each target
    many = votes("target", twice, [0, 1, 2] * len(leaves), rng.standard_normal(len(twice)).astype(F32))
    one = votes("target", leaves, [0] * len(leaves), rng.standard_normal(len(leaves)).astype(F32))
    op = "TreeEnsembleRegressor"
    for how in ("SUM", "AVERAGE", "MIN", "MAX"):
        s.add(f"trees_{how}", op, [x], {**nodes, **one, "n_targets": 1, "aggregate_function": how})
        s.add(f"trees_base_{how}", op, [x], {**nodes, **many, "n_targets": 3, "aggregate_function": how,
                                             "base_values": [1.0, -1.0, 0.5]})
    for post in ("SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"):
        s.add(f"trees_{post}", op, [x], {**nodes, **many, "n_targets": 3, "post_transform": post})
    s.add("trees_double", op, [x.astype(np.float64)], {**nodes, **one, "n_targets": 1})

    op, signed = "TreeEnsembleClassifier", 0.3 * rng.standard_normal(len(leaves)).astype(F32)
    for post in ("NONE", "SOFTMAX", "LOGISTIC"):
        # Each tree is for one class, so that all get votes: one without has the score 0 and may win in onnx's reference evaluator
        # and npukit, in onnxruntime it may not.
        three = {**nodes, **votes("class", leaves, [tree % 3 for tree, _ in leaves], signed), "post_transform": post}
        s.add(f"classes_3_{post}", op, [x], {**three, "classlabels_int64s": [5, 7, 9]}, (INT, FLOAT))
        s.add(f"classes_3_base_{post}", op, [x], {**three, "classlabels_strings": ["a", "b", "c"], "base_values": [0.1, 0.2, -0.1]},
              (TEXT, FLOAT))
        for which in (0, 1):
            for weights, name in ((signed, "signed"), (np.abs(signed), "positive")):
                two = {**nodes, **votes("class", leaves, [which] * len(leaves), weights), "post_transform": post,
                       "classlabels_int64s": [5, 7]}
                s.add(f"classes_2_{which}_{name}_{post}", op, [x], two, (INT, FLOAT))
                if which == 0:
                    s.add(f"classes_2_base_{name}_{post}", op, [x], {**two, "base_values": [0.1]}, (INT, FLOAT))


def test_judged(t, folder):
    s, rng = Suite(folder), np.random.default_rng(20261203)
    x = rng.standard_normal((5, 3)).astype(F32)
    features(s, x)
    linear(s, x, rng)
    trees(s, rng)
    r = t.json("conformance", "onnx", "--data", folder, "--interpret")
    bad = [c for c in r["cases"] if c["result"] != "pass"]
    t.equal((r["passed"], r["total"]), (len(s.names), len(s.names)), f"models of one node: {bad}")


def test_refused(t, folder):
    """What is not there, or makes no sense, is named with its node."""
    s, x = Suite(folder), np.ones((2, 3), F32)
    for name, op, inputs, attrs, types, said in (
            ("zeros", "OneHotEncoder", [np.array([1])], {"cats_int64s": [1], "zeros": 0}, (FLOAT,), "zeros is 0"),
            ("lengths", "Scaler", [x], {"offset": [1.0], "scale": [1.0, 2.0]}, (FLOAT,), "2 numbers in scale and 1 in offset"),
            ("norm", "Normalizer", [x], {"norm": "L3"}, (FLOAT,), "expected MAX, L1 or L2"),
            ("fit", "LinearRegressor", [x], {"coefficients": [1.0, 2.0], "targets": 3}, (FLOAT,), "do not fit"),
            ("kind", "Normalizer", [x], {"norm": 3}, (FLOAT,), "another kind")):
        s.add(name, op, inputs, attrs, types, judged=False)
        r = t.run("compile", os.path.join(folder, name, "model.onnx"), "-o", t.path("refused.npk"), code=2)
        t.check(said in r.stderr and "the_node" in r.stderr, f"{name}: expected {said!r}, found {r.stderr!r}")


def main():
    t = common.Test(__doc__)
    test_judged(t, t.path("judged"))
    test_refused(t, t.path("refused"))
    t.finish()


if __name__ == "__main__":
    main()
