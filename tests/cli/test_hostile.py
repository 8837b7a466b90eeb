"""Files that want to hurt: refused with one line, in bounded memory and time, whatever verb reads them."""
import json
import os
import subprocess
import sys

import common
import hostile_models

MIB = 1 << 20
# A build under sanitizers takes a few times as much of both: there only what grows without bound is seen.
FACTOR = int(os.environ.get("NPUKIT_SANITIZED_FACTOR", "1"))
MEMORY = 256 * MIB * FACTOR  # over the file's size
SECONDS = 5 * FACTOR


def measured(t, *words):
    """What became of npukit with these words: exit code, peak, times, both streams."""
    out, err = t.path("out.txt"), t.path("err.txt")
    done = subprocess.run([sys.executable, "-I", "-S", os.path.join(os.path.dirname(os.path.abspath(__file__)), "measure.py"),
                           out, err, t.program, *map(str, words)], stdout=subprocess.PIPE, check=True, text=True, timeout=300,
                          env={**os.environ, "NPUKIT_LOG": "error"})
    result = json.loads(done.stdout)
    for key, path in (("out", out), ("err", err)):
        with open(path, "rb") as f:
            result[key] = f.read()
    return result


def printable(line):
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(c.isprintable() for c in text.rstrip("\n"))


def judge(t, name, verb, said, path):
    words = [verb, path]
    if verb == "compile":
        words += ["-o", t.path("never.npk")]
    if verb in ("check", "compile"):
        words += ["-t", "kirin9030"]
    r = measured(t, *words)
    where = f"{name}: npukit {verb}"
    memory = MEMORY + os.path.getsize(path)
    t.check(r["peak"] <= memory, f"{where}: peak memory {r['peak'] // MIB} MiB, expected at most {memory // MIB}")
    t.check(r["cpu"] <= SECONDS, f"{where}: {r['cpu']} s of processor time, expected at most {SECONDS}")
    t.check(r["code"] in (0, 1, 2, 3), f"{where}: exit code {r['code']}: {r['err'][-300:]!r}")
    if said is not None:
        t.check(r["code"] == 2, f"{where}: exit code {r['code']}, expected a refusal: {r['err'][:300]!r}")
    if r["code"] >= 2:
        line = r["err"]
        t.check(line.count(b"\n") == 1 and line.startswith(b"npukit: ") and printable(line), f"{where}: one printable line, found {line[:300]!r}")
        t.check(len(line) < 2000, f"{where}: a line of {len(line)} bytes")
        t.check((said or "").encode() in line, f"{where}: expected {said!r}, found {line[:600]!r}")
        if said is not None:
            t.check(os.path.basename(path).encode() in line or b"node" in line, f"{where}: names file or node: {line[:300]!r}")


def test_endless_loops(t, folder):
    """A limit ends them, and its name is in the message: a model that really loops that long can be run."""
    for name, trips in (("endless", None), ("nearly endless", 1 << 62)):
        path = os.path.join(folder, "loop.onnx")
        with open(path, "wb") as f:
            f.write(hostile_models.endless_loop(trips).SerializeToString())
        r = measured(t, "run", path, "--max-iterations", "10000")
        t.equal(r["code"], 2, f"{name} loop: exit code: {r['err'][-300:]!r}")
        t.check(b"more than 10000 iterations" in r["err"] and b"--max-iterations" in r["err"], f"{name} loop: {r['err'][-300:]!r}")
        t.check(r["peak"] <= MEMORY and r["cpu"] <= SECONDS, f"{name} loop: {r['peak'] // MIB} MiB, {r['cpu']} s")


def main():
    t = common.Test(__doc__)
    folder = t.path("models", "inside")
    os.makedirs(folder)
    only = os.environ.get("NPUKIT_HOSTILE", "")
    for i, (name, verbs, said, path) in enumerate(hostile_models.cases(folder)):
        if only not in name:
            continue
        if FACTOR > 1:  # every file and every verb, not every pair: processes under sanitizers start slowly
            verbs = [verbs[i % len(verbs)]]
        for verb in verbs:
            judge(t, name, verb, said, path)
    if not only:
        test_endless_loops(t, folder)
    t.finish()


if __name__ == "__main__":
    main()
