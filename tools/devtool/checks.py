"""./dev check: small named checks; one over three seconds is reported."""
import os
import shutil
import subprocess
import sys
import time

from .common import ROOT, run, say
from .setup import setup


def source_files():
    out = run(["git", "ls-files", "-co", "--exclude-standard", "--", "src", "include", "apps", "tests", "bench", "fuzz"],
              quiet=True).stdout.split("\n")
    return [f for f in out if f.endswith((".h", ".hpp", ".cc", ".c")) and os.path.exists(os.path.join(ROOT, f))]


# Lists that ./dev fix keeps sorted: in passes.inc alone the order is the meaning.
SORTED = ("src/ops/ops.inc", "src/target/facts.inc", "src/target/reasons.inc", "src/cli/commands.inc")


def sorted_lists():
    return [os.path.join(ROOT, p) for p in SORTED if os.path.exists(os.path.join(ROOT, p))]


def split_list(path):
    """Comment lines on top, entries below; an entry may go on in indented lines."""
    head, entries = [], []
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("//") or not line.strip():
                head.append(line)
            elif line.startswith(" ") and entries:
                entries[-1] += line
            else:
                entries.append(line)
    return head, entries


def check_sorted():
    bad = []
    for path in sorted_lists():
        _, entries = split_list(path)
        if entries != sorted(entries):
            bad.append(os.path.relpath(path, ROOT))
    for b in bad:
        print(f"{b} is not sorted: ./dev fix")
    return 1 if bad else 0


def check_format():
    files = source_files()
    result = subprocess.run(["clang-format-19", "--dry-run", "-Werror"] + files, cwd=ROOT, text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        lines = [x for x in result.stdout.split("\n") if "error:" in x]
        print("\n".join(lines[:20]))
        print(f"format: {len(lines)} places differ: ./dev fix")
    return result.returncode


def script(name):
    return lambda: subprocess.run([sys.executable, os.path.join(ROOT, "tools", name)], check=False).returncode


def check(quick=False):
    todo = [("layers", script("check_layers.py")), ("lists", script("check_lists.py")), ("sorted", check_sorted),
            ("ratchet", script("ratchet.py"))]
    if not quick:
        if not shutil.which("clang-format-19"):
            setup(("build", "all"))
        todo.append(("format", check_format))
    failed = []
    for name, f in todo:
        start = time.monotonic()
        if f() != 0:
            failed.append(name)
        if time.monotonic() - start > 3:
            say(f"[dev] check {name} took {time.monotonic() - start:.0f} s")
    if failed:
        say("[dev] failed: " + ", ".join(failed))
    return 1 if failed else 0
