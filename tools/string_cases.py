"""Cases of the operators on strings and of ai.onnx.ml, for make_cases.py; onnxruntime gives the values."""
import numpy as np
import onnx
import onnxruntime
from case_writer import NAN, ORT, R, case, i64
from onnx import TensorProto, helper

NEWEST_ML = {"TreeEnsemble": 5, "LabelEncoder": 4}


def s(*words):
    return np.array(words, dtype=object)


def run(op, inputs, attrs, types, domain="", ml=None):
    """One node through onnxruntime; `types`: of its outputs."""
    names = [f"i{k}" for k in range(len(inputs))]
    outs = [f"y{k}" for k in range(len(types))]
    attrs = {k: onnx.numpy_helper.from_array(v) if isinstance(v, np.ndarray) else v for k, v in attrs.items()}
    node = helper.make_node(op, names, outs, domain=domain, **attrs)
    infos = [helper.make_tensor_value_info(n, TensorProto.STRING if a.dtype.kind == "O" else
                                           helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in zip(names, inputs)]
    results = []
    for name, t in zip(outs, types):
        info = onnx.ValueInfoProto(name=name)
        info.type.tensor_type.elem_type = t
        results.append(info)
    opsets = [helper.make_opsetid("", 21)]
    if domain:
        opsets.append(helper.make_opsetid(domain, ml or NEWEST_ML.get(op, 3)))
    model = helper.make_model(helper.make_graph([node], "g", infos, results), ir_version=10, opset_imports=opsets)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(names, inputs)))


def judged(op, name, onnx_op, inputs, attrs=None, types=(TensorProto.STRING,), domain="", ml=None, ours=None, **extra):
    """`ours`: the attributes where the standard says them in other numbers than onnxruntime reads."""
    case(op, name, ORT, inputs, run(onnx_op, inputs, attrs or {}, types, domain, ml), ours or attrs, **extra)


def ml(op, name, onnx_op, inputs, attrs=None, types=(TensorProto.FLOAT,), version=None, **extra):
    judged(op, name, onnx_op, inputs, attrs, types, "ai.onnx.ml", version, **extra)


def texts():
    for name, a, b in (("same_shape", s("abc", "def"), s(".com", ".net")), ("scalar", s("cat", "dog"), s("s").reshape(())),
                       ("utf8", s("的", "中"), s("文", "")), ("no_elements", s().reshape(0, 2), s("x", "y")),
                       ("both_broadcast", s("a", "b").reshape(2, 1), s("1", "2", "3"))):
        judged("string_concat", name, "StringConcat", [a, b])
    case("string_concat", "shapes", "by hand", [s("a", "b"), s("a", "b", "c")], refused="2 and 3")
    case("string_concat", "number", "by hand", [s("a"), i64(1)], refused="input 1 is int64, expected string")

    both = (TensorProto.STRING, TensorProto.INT64)
    for name, x, attrs in (
            ("white_space", s(" hello  world ", "one"), {}),
            ("delimiter", s("a.com", "test.a.com", "..b"), {"delimiter": "."}),
            ("long_delimiter", s("o-one-=two-=thr-", "o-=-=", ""), {"delimiter": "-="}),
            ("empty_delimiter", s("a b", "  "), {"delimiter": ""}),
            ("maxsplit", s("hello world def", "x y").reshape(1, 2), {"maxsplit": 1}),
            ("maxsplit_delimiter", s("eggs;;milk;", ";"), {"maxsplit": 2, "delimiter": ";"}),
            ("no_elements", s(), {"delimiter": ","})):
        judged("string_split", name, "StringSplit", [x], attrs, both)
    case("string_split", "tabs", "onnx's reference evaluator (onnxruntime takes spaces alone)", [s("a\tb\nc", "one")],
         [s("a", "b", "c", "one", "", "").reshape(2, 3), i64(3, 1)])
    case("string_split", "number", "by hand", [i64(1)], refused="expected string")

    week = s("monday", "Tuesday", "wednesday", "MONDAY")
    normal = "string_normalizer"
    for name, x, attrs in (
            ("nothing", week, {}),
            ("lower", week, {"case_change_action": "LOWER", "is_case_sensitive": 1, "stopwords": ["monday"]}),
            ("upper", week, {"case_change_action": "UPPER", "stopwords": ["Monday"]}),
            ("row", week.reshape(1, 4), {"case_change_action": "UPPER", "stopwords": ["tuesday", "x"]}),
            ("all_dropped", s("a", "A"), {"stopwords": ["a"]}),
            ("all_dropped_row", s("a", "A").reshape(1, 2), {"stopwords": ["a"]})):
        judged(normal, name, "StringNormalizer", [x], dict(attrs, locale="C"))
    letters = "Àéÿß Ąłž Ģőẑ ΆΣςώ Ѐя Ёж Ԥ Ấ Աֆ Ａｚ 漢"
    case(normal, "scripts_lower", "Python's str.lower, letter by letter", [s(letters)],
         [s("".join(c.lower() for c in letters))], {"case_change_action": "LOWER"})
    upper = "".join(c.upper() if len(c.upper()) == 1 else c for c in letters)
    case(normal, "scripts_upper", "Python's str.upper, letter by letter where that is one letter", [s(letters)], [s(upper)],
         {"case_change_action": "UPPER"})
    case(normal, "turkish", "by hand (Unicode's SpecialCasing: I and dotless i are a pair)", [s("Iıi")], [s("ııi")],
         {"case_change_action": "LOWER", "locale": "tr_TR"})
    case(normal, "two_rows", "by hand", [s("a", "b").reshape(2, 1)], refused="expected the shape [C] or [1,C]")
    case(normal, "no_such_case", "by hand", [s("a")], attrs={"case_change_action": "TITLE"}, refused="LOWER, UPPER or NONE")


def patterns():
    words = s("", "a", "ab", "abab", "A", "aé", "1a", "a b", "a\nb", "www.google.com", "x@y.org", "aaaa", "é", "{", "a{,2}",
              "-", "]", "^", "foo bar", "a1_Z", "00:15")
    for name, pattern in (
            ("literal", "ab"), ("dot", "a.b"), ("dot_all", "(?s)a.b"), ("host", r"www\.[\w.-]+\.\bcom\b"),
            ("mail", r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail|y)\.(com|org)(\W|$)"), ("either", "a|b|ab|"), ("nested", "((a|b)+)*"),
            ("counted", "(?:ab){2}"), ("at_least", "a{3,}"), ("between", "a{1,2}b?"), ("lazy", "a+?b*?"), ("no_count", "a{,2}"),
            ("ignore_case", "(?i)a"), ("ignore_case_class", "(?i:[b-f]A)|a"), ("class", r"[^\d\s]+"), ("posix", "[[:alpha:][:^ascii:]]+"),
            ("bracket", r"[]^-]"), ("range_end", "[a-]"), ("utf8", "aé"), ("utf8_range", "[à-ü]"), ("hex", r"\x61\x{62}"),
            ("octal", r"\141"), ("quoted", r"\Qa{,2}\E"), ("anchors", "^ab$"), ("text_ends", r"\Aab\z"), ("lines", "(?m)a$\n^b"),
            ("boundary", r"foo\b.\bbar"), ("no_boundary", r"a\B1.*"), ("named", "(?P<x>a)(?P<y>b)"), ("empty", ""),
            ("brace", r"\{|{"), ("flags_off", "(?i)a(?-i)b"), ("ungreedy", "(?U)a+")):
        judged("regex_full_match", name, "RegexFullMatch", [words], {"pattern": pattern}, (TensorProto.BOOL,))
    judged("regex_full_match", "no_elements", "RegexFullMatch", [s()], {"pattern": "a"}, (TensorProto.BOOL,))
    case("regex_full_match", "linear", "by hand: a backtracking matcher would not end", [s("a" * 60 + "!")],
         [np.array([False])], {"pattern": "(a*)*(a|aa)*(a?){30}b"})
    for name, pattern, why in (
            ("open_group", "(a", "a ( without its )"), ("close_group", "a)", "a ) without its ("), ("open_bracket", "[a", "a [ without its ]"),
            ("nothing_to_repeat", "*a", "nothing to repeat"), ("double_repeat", "a**", "a repetition of a repetition"),
            ("too_often", "a{1001}", "least <= most <= 1000"), ("property", r"\pL", r"\p"), ("byte", r"\C", "single byte"),
            ("reference", r"(a)\1", "a reference to a group"), ("look_ahead", "(?=a)", "of a kind that is not supported"),
            ("bad_range", "[b-a]", "a range of characters that is none"), ("huge", "((a{999}){999}){999}", "the pattern is too large"),
            ("huge_nothing", "(((){999}){999}){999}", "the pattern is too large"), ("deep", "(" * 300 + ")" * 300, "groups more than 200 deep"),
            ("end", "a\\", "at its end")):
        case("regex_full_match", name, "by hand", [s("a")], attrs={"pattern": pattern}, refused=why)


def grams():
    op = "tf_idf_vectorizer"
    base = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0, "ngram_counts": [0, 3],
            "ngram_indexes": [4, 0, 2, 1, 3], "pool_int64s": [2, 3, 5, 5, 6, 6, 7], "weights": [10.0, 20.0, 30.0, 40.0, 50.0]}
    x = i64(2, 2, 3, 5, 6, 7, 6, 7)
    for mode in ("TF", "IDF", "TFIDF"):
        judged(op, mode.lower(), "TfIdfVectorizer", [x], dict(base, mode=mode), (TensorProto.FLOAT,))
    judged(op, "rows", "TfIdfVectorizer", [x.reshape(2, 4).astype(np.int32)], dict(base, mode="TFIDF"), (TensorProto.FLOAT,))
    judged(op, "skips", "TfIdfVectorizer", [x], dict(base, mode="TF", max_skip_count=5), (TensorProto.FLOAT,))
    judged(op, "only_bigrams", "TfIdfVectorizer", [x], dict(base, mode="TF", min_gram_length=2), (TensorProto.FLOAT,))
    judged(op, "one_column", "TfIdfVectorizer", [x], dict(base, mode="TFIDF", ngram_indexes=[1, 1, 1, 0, 7]), (TensorProto.FLOAT,))
    words = {k: v for k, v in base.items() if k != "pool_int64s"}
    words["pool_strings"] = ["a", "b b", "c", "a", "b b", "c", "c"]
    judged(op, "strings", "TfIdfVectorizer", [s("a", "b b", "c", "c", "a", "b b")], dict(words, mode="TF"), (TensorProto.FLOAT,))
    case(op, "both_pools", "by hand", [x], attrs=dict(words, mode="TF", pool_int64s=[1]), refused="one of pool_strings and pool_int64s")
    case(op, "wrong_type", "by hand", [x], attrs=dict(words, mode="TF"), refused="the pool holds strings")
    case(op, "odd_pool", "by hand", [x], attrs=dict(base, mode="TF", pool_int64s=[1, 2, 3, 4]), refused="no whole number")
    case(op, "far_column", "by hand", [x], attrs=dict(base, mode="TF", ngram_indexes=[1, 2, 3, 4, 1 << 40]), refused="names column")


def labels():
    op, names = "label_encoder", s("a", "b", "d", "c", "g")
    text, whole, real = TensorProto.STRING, TensorProto.INT64, TensorProto.FLOAT
    ml(op, "string_int", "LabelEncoder", [names], {"keys_strings": ["a", "b", "c"], "values_int64s": [0, 1, 2], "default_int64": 42},
       (whole,))
    ml(op, "int_string", "LabelEncoder", [i64(1, 5, -7)], {"keys_int64s": [1, -7], "values_strings": ["one", "minus"]}, (text,))
    ml(op, "float_float", "LabelEncoder", [np.array([0.5, NAN, -0.0, 3], np.float32)],
       {"keys_floats": [0.5, NAN, 0.0], "values_floats": [1.5, 2.5, 3.5], "default_float": -9.0}, (real,))
    ml(op, "string_float", "LabelEncoder", [names], {"keys_strings": ["a", "d"], "values_floats": [0.25, 4.0]}, (real,))
    ml(op, "tensors", "LabelEncoder", [names], {"keys_tensor": s("a", "b"), "values_tensor": np.array([7, 8], np.int16),
                                                "default_tensor": np.array([42], np.int16)}, (TensorProto.INT16,))
    ml(op, "double_tensors", "LabelEncoder", [np.array([0.1, 2])], {"keys_tensor": np.array([0.1]), "values_tensor": np.array([1e300]),
                                                                   "default_tensor": np.array([-1.0])}, (TensorProto.DOUBLE,))
    ml(op, "classes", "LabelEncoder", [names], {"classes_strings": ["b", "a"], "default_int64": 9}, (whole,), 1)
    ml(op, "classes_back", "LabelEncoder", [i64(0, 1, 2)], {"classes_strings": ["b", "a"], "default_string": "none"}, (text,), 1)
    case(op, "twice", "the standard: of equal keys the last counts", [i64(1, 2)], [s("c", "b")],
         {"keys_int64s": [1, 2, 1], "values_strings": ["a", "b", "c"]})
    case(op, "other_type", "by hand", [names], attrs={"keys_int64s": [1], "values_int64s": [1]}, refused="the keys are int64")
    case(op, "lengths", "by hand", [names], attrs={"keys_strings": ["a"], "values_int64s": [1, 2]}, refused="1 keys for 2 values")
    case(op, "no_values", "by hand", [names], attrs={"keys_strings": ["a"]}, refused="values_tensor, found 0")

    op = "array_feature_extractor"
    for name, x, y in (("rank1", R(4), i64(3, 1)), ("rank2", R(2, 4), i64(0, 0, 2).reshape(1, 3)), ("rank3", R(2, 2, 3), i64(2)),
                       ("int32", R.ints(0, 9, 2, 3, dtype=np.int32), i64(1, 0)), ("fp64", R(2, 2, dtype=np.float64), i64(1))):
        ml(op, name, "ArrayFeatureExtractor", [x, y], {}, (helper.np_dtype_to_tensor_dtype(x.dtype),))
    ml(op, "strings", "ArrayFeatureExtractor", [s("a", "b", "c", "d").reshape(2, 2), i64(1)], {}, (text,))
    case(op, "outside", "by hand", [R(2, 3), i64(3)], refused="index 3 is outside the last dimension of 3")
    case(op, "negative", "by hand", [R(2, 3), i64(-1)], refused="index -1 is outside")
    case(op, "scalar", "by hand", [np.full((), 1, np.float32), i64(0)], refused="input 0 is a scalar")

    ml("binarizer", "fp32", "Binarizer", [np.array([[-1, 0, 0.5], [0.50001, -2, 3]], np.float32)], {"threshold": 0.5})
    ml("binarizer", "no_threshold", "Binarizer", [R(5)])
    case("binarizer", "int64", "by hand", [i64(-3, 0, 1, 5)], [i64(0, 0, 0, 1)], {"threshold": 1.0})
    case("binarizer", "string", "by hand", [names], refused="input 0 is string")


# Two trees of x0 <= 0.5 ? (x1 > 2 ? leaf : leaf) : leaf and of x1 == 1 or x1 in {4, 7}.
FOREST = {"nodes_featureids": [0, 1, 1], "nodes_splits": np.array([0.5, 2, 0], np.float32), "nodes_modes": np.array([0, 3, 6], np.uint8),
          "nodes_truenodeids": [1, 0, 3], "nodes_trueleafs": [0, 1, 1], "nodes_falsenodeids": [2, 1, 4], "nodes_falseleafs": [1, 1, 1],
          "tree_roots": [0, 2], "leaf_targetids": [0, 1, 1, 0, 1], "leaf_weights": np.array([1.5, -2, 0.25, 4, 0.5], np.float32),
          "membership_values": np.array([4, 7, NAN], np.float32), "n_targets": 2}
ROWS = np.array([[0, 1], [0.5, 4], [1, 7], [1, 2.5], [-3, 3]], np.float32)


def trees():
    op = "tree_ensemble"
    ml(op, "sum", "TreeEnsemble", [ROWS], FOREST)
    for k, name in ((0, "average"), (2, "min"), (3, "max")):
        ml(op, name, "TreeEnsemble", [ROWS], dict(FOREST, aggregate_function=k))
    ml(op, "softmax_zero", "TreeEnsemble", [ROWS], dict(FOREST, post_transform=3))
    # The standard numbers softmax 1 and logistic 2; onnxruntime reads them the other way round.
    for k, theirs, name in ((1, 2, "softmax"), (2, 1, "logistic")):
        ml(op, name, "TreeEnsemble", [ROWS], dict(FOREST, post_transform=theirs), ours=dict(FOREST, post_transform=k))
    double = {k: v.astype(np.float64) if isinstance(v, np.ndarray) and v.dtype == np.float32 else v for k, v in FOREST.items()}
    ml(op, "fp64", "TreeEnsemble", [ROWS.astype(np.float64)], double, (TensorProto.DOUBLE,))
    missing = np.array([[NAN, 1], [NAN, 4], [0, NAN], [1, NAN]], np.float32)
    ml(op, "missing", "TreeEnsemble", [missing], FOREST)
    ml(op, "missing_is_true", "TreeEnsemble", [missing], dict(FOREST, nodes_missing_value_tracks_true=[1, 1, 0]))
    case(op, "circle", "by hand", [ROWS], attrs=dict(FOREST, nodes_falsenodeids=[0, 1, 4], nodes_falseleafs=[0, 1, 1]),
         refused="goes round in a circle")
    case(op, "no_child", "by hand", [ROWS], attrs=dict(FOREST, nodes_truenodeids=[3, 0, 3]), refused="a child that is not there")
    case(op, "no_target", "by hand", [ROWS], attrs=dict(FOREST, n_targets=1), refused="for target 1 of 1")
    case(op, "no_feature", "by hand", [ROWS], attrs=dict(FOREST, nodes_featureids=[0, 2, 1]), refused="asks for feature 2")
    case(op, "lengths", "by hand", [ROWS], attrs=dict(FOREST, nodes_featureids=[0, 1]), refused="different lengths")


def write():
    texts()
    patterns()
    grams()
    labels()
    trees()
