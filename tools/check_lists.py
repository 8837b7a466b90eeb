#!/usr/bin/env python3
"""Checks that the list files and the folders agree: every entry has its file, every file its entry, lists are sorted, every
folder under src/ and every device has a README of at most 60 lines (src/ops, a table, may be longer), every operator a .case, every relative link in a document a target, no C++ file
tests a chip's name, and no word from outside the project is in a tracked file."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def path(*parts):
    return os.path.join(ROOT, *parts)


def read(*parts):
    with open(path(*parts), encoding="utf-8", errors="replace") as f:
        return f.read()


def entries(name, *parts):
    return re.findall(rf"^{name}\(\"?([a-z0-9_./]+)\"?", read(*parts), re.M)


def tracked(*patterns):
    out = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "--"] + list(patterns), text=True,
                         stdout=subprocess.PIPE, check=True).stdout
    return [f for f in out.split("\n") if f and os.path.exists(path(f))]


def check_ops():
    names = entries("OP", "src", "ops", "ops.inc")
    for name in names:
        if not os.path.exists(path("src", "ops", name + ".cc")):
            yield f"src/ops/ops.inc lists {name}, but src/ops/{name}.cc is not there"
        elif "    .control = true," in read("src", "ops", name + ".cc"):
            pass  # judged by whoever runs graphs: importers and eval
        elif not any(f.startswith(name + ".") for f in os.listdir(path("tests", "ops"))):
            yield f"operator {name} has no tests/ops/{name}.case"
    if names != sorted(names):
        yield "src/ops/ops.inc is not sorted: ./dev fix"
    for f in tracked("src/ops/*.cc"):
        if re.search(r"constinit const (ops::)?OpDef op::", read(f)):
            name = os.path.basename(f)[:-3]
            if name not in names:
                yield f"{f} defines an operator that ops.inc does not list"


def check_passes():
    for name in entries("PASS", "src", "passes", "passes.inc"):
        base = name.removesuffix("_again")
        if not os.path.exists(path("src", "passes", base + ".cc")):
            yield f"src/passes/passes.inc lists {name}, but src/passes/{base}.cc is not there"
        if not os.path.exists(path("tests", "passes", base + ".case")):
            yield f"pass {name} has no tests/passes/{base}.case"


def check_commands():
    for name in entries("COMMAND", "src", "cli", "commands.inc"):
        if not os.path.exists(path("src", "cli", f"cmd_{name}.cc")):
            yield f"src/cli/commands.inc lists {name}, but src/cli/cmd_{name}.cc is not there"


def check_readmes():
    for folder in sorted({os.path.dirname(f) for f in tracked("src/*")}):
        if folder.count("/") == 1 or re.fullmatch(r"src/devices/[a-z_]+", folder):
            readme = path(folder, "README.md")
            if not os.path.exists(readme):
                yield f"{folder} has no README.md"
            elif folder != "src/ops" and read(folder, "README.md").count("\n") > 60:
                yield f"{folder}/README.md is over 60 lines: a folder's README says its one idea"


def check_links():
    for f in tracked("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", read(f)):
            if re.match(r"[a-z]+:", target):
                continue
            if not os.path.exists(os.path.normpath(path(os.path.dirname(f), target))):
                yield f"{f} links to {target}, which is not there"


def check_chip_names():
    chips = [n[:-5] for n in os.listdir(path("profiles")) if n.endswith(".json") and n != "host.json"]
    for f in tracked("src/*.cc", "src/*.h"):
        if f.endswith("_test.cc"):
            continue
        for number, line in enumerate(read(f).split("\n"), 1):
            code = line.split("//")[0]
            for chip in chips:
                if re.search(rf'"{chip}"', code):
                    yield f"{f}:{number}: names the chip {chip}; numbers of a chip are data in profiles/"


# Machine paths and hosts that must not be written down here.
FOREIGN = re.compile(r"/tmp/(?!\$|npukit|XXX)[a-z]|(?<![\w.])/work/|/home/[a-z]+/|pypi\.org|registry\.npmjs|deb\.debian\.org|proxy\.golang")


def check_words():
    for f in tracked():
        if f == "tools/check_lists.py" or not f.endswith((".md", ".h", ".hpp", ".cc", ".c", ".py", ".txt", ".cmake", ".json", ".inc",
                                                          ".fbs", ".sh", "dev", "run")):
            continue
        for number, line in enumerate(read(f).split("\n"), 1):
            match = FOREIGN.search(line)
            if match:
                yield f"{f}:{number}: {match.group(0)} names a machine or a registry host"


CHECKS = (check_ops, check_passes, check_commands, check_readmes, check_links, check_chip_names, check_words)


def main():
    problems = []
    for check in CHECKS:
        problems += list(check())
    for p in problems:
        print(p)
    print(f"lists: {len(CHECKS)} checks, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
