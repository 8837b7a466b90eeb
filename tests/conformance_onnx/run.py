"""ONNX's published operator tests on the CPU, and tests made from them with other shapes and attributes.

    run.py --npukit PROGRAM --work FOLDER --suite published|generated [--count N] [--seed N] [--only GLOB] [--expect FILE]

Everything must be as the list of exceptions says. By hand, all 3,000 generated ones: --suite generated."""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SKIPPED = 77


def _use_the_tests_python():
    python = os.environ.get("NPUKIT_PYTHON") or os.path.join(ROOT, ".cache", "venv", "bin", "python")
    if os.path.exists(python) and not os.environ.get("NPUKIT_CONFORMANCE_PYTHON"):
        os.environ["NPUKIT_CONFORMANCE_PYTHON"] = python
        os.execv(python, [python] + sys.argv)
    print("SKIPPED: onnx or onnxruntime is missing: run ./dev setup, or set NPUKIT_PYTHON to a Python that has them")
    sys.exit(SKIPPED)


try:
    import onnx
    import onnxruntime  # noqa: F401: the generator's second judge
except ImportError:
    _use_the_tests_python()


def _of_these(listed, data, target):
    """The entries of a list about cases that were made: a sample holds some only."""
    with open(listed, encoding="utf-8") as f, open(target, "w", encoding="utf-8") as out:
        out.writelines(line for line in f if not line.strip() or os.path.exists(os.path.join(data, line.split()[0])))
    return target


def _write(target, data, command):
    """The list of what does not pass."""
    known = {}
    if os.path.exists(target):
        with open(target, encoding="utf-8") as f:
            known = dict(line.rstrip("\n").split(None, 1) for line in f if line.strip() and not line.startswith("#"))
    done = subprocess.run(command + ["--json"], stdout=subprocess.PIPE, text=True, check=False)
    record = json.loads(done.stdout)
    with open(target, "w", encoding="utf-8") as f:
        f.write("# Cases that do not pass, and why. Written by run.py --write, read by npukit conformance --expect.\n")
        for case in record["cases"]:
            if case["result"] != "pass":
                reason = (case["reason"] or "").replace(os.path.join(data, case["name"], "model.onnx") + ": ", "")
                f.write(f"{case['name']}  {known.get(case['name'], case['result'] + ': ' + reason)}\n")
    print(f"passed {record['passed']} of {record['total']}, {record['failed']} failed, {record['crashed']} crashed, {record['hung']} hung")
    return 0 if record["crashed"] + record["hung"] == 0 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--npukit", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--suite", required=True, choices=("published", "generated"))
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--expect")
    parser.add_argument("--write", metavar="FILE", help="instead of judging, write the list of cases that do not pass: reasons of "
                        "FILE are kept, new ones are what npukit says, for you to read and put right")
    parser.add_argument("words", nargs="*", help="more for npukit conformance, after --")
    args = parser.parse_args()
    if args.suite == "published":
        data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    else:
        data = os.path.join(args.work, "cases")
        subprocess.run([sys.executable, os.path.join(ROOT, "tools", "onnx_cases.py"), data, "--count", str(args.count), "--seed",
                        str(args.seed)], check=True)
    if args.suite == "generated" and args.expect:
        args.expect = _of_these(args.expect, data, os.path.join(args.work, "expected.txt"))
    command = [args.npukit, "conformance", "onnx", "--data", data, "-d", "CPU"]
    for flag in ("only", "expect"):
        if getattr(args, flag):
            command += ["--" + flag, getattr(args, flag)]
    if args.write:
        sys.exit(_write(args.write, data, command + args.words))
    sys.exit(subprocess.run(command + args.words, check=False).returncode)


if __name__ == "__main__":
    main()
