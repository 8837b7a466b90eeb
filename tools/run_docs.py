#!/usr/bin/env python3
"""Runs the commands that documents show: every block marked `sh run` in the given files, in the repository root, with build/
on PATH, and compares what it prints with the `text expect` block after it. In an expected line, `…` stands for anything, and
a line that is `…` alone for any number of lines. A block marked `sh run exit=N` must end with that code. Blocks of one
document run in order in one scratch folder, $OUT."""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```\s*$", re.M | re.S)


def matches(expected, actual):
    parts = []
    for line in expected.rstrip("\n").split("\n"):
        if line.strip() == "…":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append("".join(".*" if c == "…" else re.escape(c) for c in line.rstrip()) + r"[ ]*\n")
    return re.fullmatch("".join(parts), actual.rstrip("\n") + "\n") is not None


def run_file(path, programs):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    blocks = [(m.group(1), m.group(2).split(), m.group(3), text[:m.start()].count("\n") + 1) for m in BLOCK.finditer(text)]
    failures = count = 0
    with tempfile.TemporaryDirectory() as out:
        env = dict(os.environ, PATH=programs + os.pathsep + os.environ["PATH"], OUT=out)
        for i, (language, words, body, line) in enumerate(blocks):
            if language != "sh" or "run" not in words:
                continue
            count += 1
            wanted = int(next((w[5:] for w in words if w.startswith("exit=")), "0"))
            result = subprocess.run(["bash", "-euo", "pipefail", "-c", body], cwd=ROOT, env=env, text=True, check=False,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            where = f"{os.path.relpath(path, ROOT)}:{line}"
            expect = blocks[i + 1] if i + 1 < len(blocks) and blocks[i + 1][1][:1] == ["expect"] else None
            if result.returncode != wanted:
                failures += 1
                print(f"{where}: exit code {result.returncode}, expected {wanted}\n{body}{result.stdout}{result.stderr}")
            elif expect and not matches(expect[2], result.stdout):
                failures += 1
                print(f"{where}: expected\n{expect[2]}found\n{result.stdout}")
    return count, failures


def main():
    programs, files = sys.argv[1], sys.argv[2:]
    if not os.path.exists(os.path.join(ROOT, ".cache", "models")):
        print("SKIPPED: no .cache/models (./dev setup fetches them)")
        return 77
    total = bad = 0
    for f in files:
        count, failures = run_file(os.path.join(ROOT, f), programs)
        total, bad = total + count, bad + failures
    print(f"docs: {total} blocks run, {bad} failed")
    return 1 if bad or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
