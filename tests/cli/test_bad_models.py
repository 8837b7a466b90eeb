"""Real models with one fault each: the message names the file, the node and its operator, and what is wrong there."""
import json
import os
import subprocess

import common
import bad_models
from common import np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LARGEST = 30 << 20
AT_LEAST = (60, 10, 8)  # messages, models, classes of fault


def real_models():
    """The networks that ./dev setup fetches, and those of the onnx wheel."""
    import onnx.backend.test  # pylint: disable=import-outside-toplevel
    folders = [os.path.join(ROOT, ".cache", "models"),
               os.path.join(os.path.dirname(onnx.backend.test.__file__), "data", "light"),
               os.path.join(os.path.dirname(onnx.backend.test.__file__), "data", "simple")]
    for folder in folders:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name)
            if name.endswith(".onnx") and os.path.getsize(path) <= LARGEST:
                yield path


def said_by(t, path):
    """The first verb that refuses, and its line."""
    for verb in ("info", "check", "compile"):
        words = [t.program, verb, path] + (["-o", t.path("never.npk")] if verb == "compile" else [])
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120,
                              env={**os.environ, "NPUKIT_LOG": "error"})
        if done.returncode not in (0, 1):
            return verb, done.returncode, done.stderr
    return "compile", 0, ""


def all_known(t, path):
    """Is there an operator for every node?"""
    done = subprocess.run([t.program, "check", path, "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          timeout=120, env={**os.environ, "NPUKIT_LOG": "error"})
    return done.returncode in (0, 1) and all(v["op"] for v in json.loads(done.stdout)["verdicts"])


def said_of(t, path, node):
    """What check says of a node that nothing can run. The rest of the model is judged all the same."""
    done = subprocess.run([t.program, "check", path, "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          timeout=120, env={**os.environ, "NPUKIT_LOG": "error"})
    if done.returncode != 1:
        return "check", done.returncode, done.stderr
    verdicts = [v for v in json.loads(done.stdout)["verdicts"] if node in v["from"]]
    v = verdicts[0] if verdicts else {}
    good = v.get("reason") and v.get("remedy")
    return "check", 2 if good else 1, f"npukit: {path}: {node} ({v.get('foreign_op')}): {v.get('code')}: {v.get('reason')}; {v.get('remedy')}"


def main():
    t = common.Test(__doc__)
    onnx = common.onnx
    messages, models, classes = 0, set(), set()
    for number, path in enumerate(real_models()):
        if os.path.getsize(path) > 1 << 20 and number % 3 and "ppocr" not in path:
            continue  # a sample of the large ones: writing them takes most of the time
        if not all_known(t, path):
            continue  # its messages are about what npukit does not have
        good = onnx.load(path)
        for kind, (name, mutate) in enumerate(sorted(bad_models.FAULTS.items())):
            rng = np.random.default_rng(1000 * number + kind)
            model = onnx.ModelProto()
            model.CopyFrom(good)
            expected = mutate(model, rng)
            if expected is None:
                continue
            node, operator, words = expected
            bad = t.path("bad.onnx")
            with open(bad, "wb") as f:
                f.write(model.SerializeToString())
            verb, code, line = said_of(t, bad, node) if name == "unknown_operator" else said_by(t, bad)
            where = f"{os.path.basename(path)}, {name} at {node} ({operator}): npukit {verb}"
            t.equal(code, 2, f"{where}: exit code; {line!r}")
            t.check(len(line.splitlines()) == 1 and line.startswith("npukit: "), f"{where}: one line, found {line!r}")
            t.check("bad.onnx" in line, f"{where}: names the file: {line!r}")
            t.check(node in line, f"{where}: names the node: {line!r}")
            t.check(operator in line, f"{where}: names the operator: {line!r}")
            t.check(any(w in line for w in words), f"{where}: expected one of {words}, found {line!r}")
            messages += 1
            models.add(path)
            classes.add(name)
    found = (messages, len(models), len(classes))
    print(f"{found[0]} bad models made of {found[1]} real ones with {found[2]} classes of fault")
    t.check(all(f >= w for f, w in zip(found, AT_LEAST)), f"expected at least {AT_LEAST}, found {found}")
    t.finish()


if __name__ == "__main__":
    main()
