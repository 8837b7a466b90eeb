"""Bad models, packages, inputs, words and places: one clear line, the right exit code, no crash, nothing half-written."""
import os
import resource
import subprocess

import common
from common import SHAPE, np


def test_words(t, model):
    r = t.refused
    r(2, "no verb", "frobnicate")
    r(2, "a verb comes first", "--json")
    for verb in ("export", "probe", "quantize", "serve"):
        r(2, "not in this version", verb, model)
    t.equal(t.run(code=2).stdout, "", "no words at all: the overview goes to standard error")
    r(2, "--frobnicate", "check", model, "--frobnicate")
    r(2, "--output", "check", model, "--output", "x")  # another verb's flag
    r(2, "--model is required", "check")
    r(2, "one model at a time", "run", model, model)
    r(2, "--output", "compile", model)
    r(2, "--quiet", "check", model, "-v", "-q")
    r(2, "--target", "check", model, "-t", "kirin9030", "-t", "host")
    r(2, "did you mean --threads?", "run", model, "-t", "4")
    r(2, "no target", "check", model, "-t", "kirin1")
    r(2, "--threads", "run", model, "--threads", "0")
    r(2, "--threads", "run", model, "--threads", "many")
    r(2, "--precision", "run", model, "--precision", "int3")
    r(2, "is no device", "run", model, "-d", "TPU", "--shape", SHAPE)
    r(2, "need a policy", "run", model, "-d", "NPU,CPU", "--shape", SHAPE)
    r(2, "has no NPU", "run", model, "-d", "NPU", "--shape", SHAPE)
    r(2, "fact=value", "check", model, "-t", "kirin9030", "--set", "npu.cores")
    r(2, "npu.kores", "check", model, "-t", "kirin9030", "--set", "npu.kores=2")
    r(2, "npu.cores", "check", model, "-t", "kirin9030", "--set", "npu.cores=-1")
    r(2, "expected nothing, or show", "targets", "hide", "host")
    for shape in ("1x16x64x64", "in/x=", "in/x=1x16x64", "in/x=1x15x64x64", "in/x=1x16x0x64", "in/x=1x16x-1x64", "z=1x16x64x64",
                  "in/x=1x16x99999999999x99999999999"):
        r(2, "--shape", "compile", model, "-o", t.path("never.npk"), "--shape", shape)
    r(2, "that is the model itself", "compile", model, "-o", model, "--shape", SHAPE)
    r(2, "given twice", "compile", model, "-o", t.path("never.npk"), "--shape", SHAPE, "--shape", SHAPE)
    t.check(not os.path.exists(t.path("never.npk")), "nothing was written")
    # Open shapes are planned when a run brings them; what has no size yet cannot be drawn by chance.
    t.run("compile", model, "-o", t.path("open.npk"), "-q")
    for what in (model, t.path("open.npk")):
        r(2, "give its shape (--shape) or a file", "run", what)


def write(t, name, content):
    path = t.path(name)
    with open(path, "wb") as f:
        f.write(content)
    return path


def test_streams(t, model):
    """Streams that cannot be written change neither the exit code nor end in a crash."""
    for words, code in (("run nofile", 2), (f"check {model} -t host --frobnicate", 2), (f"run {model} --shape {SHAPE} -v", 0)):
        for redirect in ("2>/dev/full", "2>&-"):
            done = subprocess.run(f"{t.program} {words} {redirect} >/dev/null", shell=True, check=False, stdin=subprocess.DEVNULL)
            t.equal(done.returncode, code, f"npukit {words} {redirect}")


def test_models(t, model):
    with open(model, "rb") as f:
        good = f.read()
    for verb in ("info", "check", "run", "bench", "compile"):
        out = ["-o", t.path("never.npk")] if verb == "compile" else []
        t.refused(2, "missing.onnx", verb, t.path("missing.onnx"), *out)
        t.refused(2, "folder", verb, t.work, *out)
        t.refused(2, "empty.onnx", verb, write(t, "empty.onnx", b""), *out)
        t.refused(2, "text.onnx", verb, write(t, "text.onnx", b"this is no model\n" * 9), *out)
        t.refused(2, "short.onnx", verb, write(t, "short.onnx", good[:len(good) // 2]), *out)
    renamed = write(t, "renamed.npk", good)  # found by looking, not by the name
    t.run("info", renamed)
    rng = np.random.default_rng(11)
    for i in rng.integers(0, len(good) * 8, 60):  # anything may come of it, but no crash and no code but ours
        flipped = bytearray(good)
        flipped[i // 8] ^= 1 << (i % 8)
        path = write(t, "flipped.onnx", bytes(flipped))
        result = subprocess.run([t.program, "check", path, "-t", "kirin9030", "--shape", SHAPE], capture_output=True, text=True,
                                check=False, timeout=60, env={**os.environ, "NPUKIT_LOG": "error"})
        t.check(result.returncode in (0, 1, 2), f"bit {i}: exit code {result.returncode}: {result.stderr}")
        t.check(result.returncode != 2 or len(result.stderr.splitlines()) == 1, f"bit {i}: one line: {result.stderr!r}")


def test_packages(t, model):
    package = t.path("good.npk")
    t.run("compile", model, "-t", "kirin9030", "-o", package, "--shape", SHAPE)
    with open(package, "rb") as f:
        good = f.read()
    for verb in ("info", "run", "bench", "check"):
        t.refused(2, "short.npk", verb, write(t, "short.npk", good[:len(good) - 5]))
        t.refused(2, "magic.npk", verb, write(t, "magic.npk", b"NPK2" + good[4:]))
        t.refused(2, "stub.npk", verb, write(t, "stub.npk", good[:20]))
    for bit in range(0, 64 * 8, 5):  # the preamble
        flipped = bytearray(good)
        flipped[bit // 8] ^= 1 << (bit % 8)
        t.refused(2, "flipped.npk", "info", write(t, "flipped.npk", bytes(flipped)))
    rng = np.random.default_rng(12)
    for i in rng.integers(4096 * 8, len(good) * 8, 40):
        flipped = bytearray(good)
        flipped[i // 8] ^= 1 << (i % 8)
        t.refused(2, "flipped.npk", "info", write(t, "flipped.npk", bytes(flipped)), "--verify")
    t.refused(2, "compiled for target kirin9030", "run", package, "-t", "kirinx90")
    t.refused(2, "a model", "info", model, "--verify")
    t.refused(2, "no program", "run", package, "--shape", "in/x=1x16x32x32")
    t.refused(2, "no input", "run", package, "--shape", "z=1x16x32x32")
    t.refused(2, "GPU", "run", package, "-d", "GPU")
    t.refused(2, "profile", "check", model, "-t", write(t, "profile.json", b"{}"), "--shape", SHAPE)
    return package


def test_inputs(t, package):
    def npy(name, array):
        np.save(t.path(name), array)
        return t.path(name)

    good = common.small_input()
    ok = npy("good.npy", good)
    t.run("run", package, "--input", "in/x=" + ok)
    bad = t.refused
    bad(2, "expected NAME=FILE.npy", "run", package, "--input", ok)
    bad(2, "no input", "run", package, "--input", "z=" + ok)
    bad(2, "given twice", "run", package, "--input", "in/x=" + ok, "--input", "in/x=" + ok)
    bad(2, "missing.npy", "run", package, "--input", "in/x=" + t.path("missing.npy"))
    bad(2, "no program takes", "run", package, "--input", "in/x=" + npy("shape.npy", good[:, :, :32]))
    bad(2, "no program takes", "run", package, "--input", "in/x=" + npy("type.npy", good.astype(np.float64)))
    bad(2, "no program takes", "run", package, "--input", "in/x=" + npy("rank.npy", good[0]))
    bad(2, "Fortran order", "run", package, "--input", "in/x=" + npy("fortran.npy", np.asfortranarray(good)))
    bad(2, "little-endian", "run", package, "--input", "in/x=" + npy("big.npy", good.astype(">f4")))
    bad(2, "not read", "run", package, "--input", "in/x=" + npy("complex.npy", good.astype(np.complex64)))
    bad(2, "not a .npy file", "run", package, "--input", "in/x=" + write(t, "text.npy", b"1, 2, 3"))
    with open(ok, "rb") as f:
        bad(2, "bytes of data follow", "run", package, "--input", "in/x=" + write(t, "cut.npy", f.read()[:-3]))
    os.makedirs(t.path("nothing"))
    bad(2, "in_x.npy", "run", package, "--inputs", t.path("nothing"))
    bad(2, "no such folder", "run", package, "--inputs", t.path("nowhere"))


def leftovers(folder, before):
    return sorted(set(os.listdir(folder)) - before)


def test_places(t, model, package):
    compile_words = ["compile", model, "-t", "kirin9030", "--shape", SHAPE]
    before = set(os.listdir(t.work))
    t.refused(2, "nowhere", *compile_words, "-o", t.path("nowhere", "out.npk"))
    t.refused(2, "folder", *compile_words, "-o", t.work)
    t.refused(3, "/dev/full", *compile_words, "-o", "/dev/full")
    t.refused(2, "cannot", "run", package, "--output-dir", os.path.join(model, "under_a_file"))
    t.equal(leftovers(t.work, before), [], "nothing half-written")
    with open("/dev/full", "w", encoding="utf-8") as full:
        t.refused(3, "standard output", "info", model, stdout=full)

    def small_files():  # a disk that is full after 16 kB (the signal that goes with it is ours to survive)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))

    out = t.path("full")
    os.makedirs(out)
    old = write(t, os.path.join("full", "out.npk"), b"what was there before")
    result = subprocess.run([t.program, *compile_words, "-o", old], capture_output=True, text=True, check=False,
                            preexec_fn=small_files, env={**os.environ, "NPUKIT_LOG": "error"})
    t.equal(result.returncode, 3, f"a disk that fills up: {result.stderr}")
    t.equal(len(result.stderr.splitlines()), 1, f"one line: {result.stderr}")
    t.equal(os.listdir(out), ["out.npk"], "no temporary file is left")
    with open(old, "rb") as f:
        t.equal(f.read(), b"what was there before", "and the old file is whole")
    if os.geteuid() != 0:  # root may write anywhere
        os.makedirs(t.path("locked"))
        os.chmod(t.path("locked"), 0o555)
        t.refused(2, "locked", *compile_words, "-o", t.path("locked", "out.npk"))


def main():
    t = common.Test(__doc__)
    model = common.small_network(t.path("small.onnx"))
    test_words(t, model)
    test_streams(t, model)
    test_models(t, model)
    package = test_packages(t, model)
    test_inputs(t, package)
    test_places(t, model, package)
    t.finish()


if __name__ == "__main__":
    main()
