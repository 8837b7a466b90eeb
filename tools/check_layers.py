#!/usr/bin/env python3
"""Checks every #include under src/, apps/, examples/ and include/ against layers.txt. CMake enforces the same table by what
it puts on the include path; this script also sees what a permitted header would have let through."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
C_AND_CPP = re.compile(r"^[a-z0-9_]+(\.h)?$")
TEST_EXTRA = ("testing", "eval", "ir")


def read_table(path=os.path.join(ROOT, "layers.txt")):
    layers, owners = {}, {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            left, colon, right = line.partition(":")
            if not colon:
                raise SystemExit(f"layers.txt:{number}: expected 'folder : folders'")
            (owners if left.startswith("<") else layers)[left.strip()] = right.split()
    return layers, owners


def pattern(words):
    return re.compile("^" + re.escape(words).replace(r"\*", "([a-z0-9_]+)") + "$")


def layer_of(path, layers):
    """The deepest line of the table that `path` (a folder or file under src/) lies in, or None."""
    parts = path.split("/")
    for n in range(len(parts), 0, -1):
        folder = "/".join(parts[:n])
        for left in layers:
            match = pattern(left).match(folder)
            if match:
                return folder, left, match.group(1) if match.groups() else None
    return None


def allowed(layer, layers, other):
    folder, left, star = layer
    if other[0] == folder:
        return True
    for word in layers[left]:
        if word == "*":
            return True
        if star is not None:
            word = word.replace("*", star)
        if pattern(word).match(other[0]):
            return True
    return False


def check_acyclic(layers):
    order = list(layers)
    problems = []
    for left, words in layers.items():
        for word in words:
            if word == "*":
                continue
            if word not in layers and not any(pattern(l).match(word.replace("*", "x")) for l in layers):
                problems.append(f"layers.txt: {left} names {word}, which has no line")
            elif word in order and order.index(word) > order.index(left) and left != "testing":
                problems.append(f"layers.txt: {left} comes before {word}, which it may include")
    return problems


def check_file(path, layers, owners):
    relative = os.path.relpath(path, ROOT)
    problems = []
    in_src = relative.startswith("src/")
    inside = relative[4:] if in_src else relative
    layer = layer_of(os.path.dirname(inside), layers) if in_src else None
    if in_src and layer is None:
        return [f"{relative}: no line of layers.txt covers this folder"]
    is_test = relative.endswith(("_test.cc", "_test.h")) or relative.startswith("src/testing/")
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            kind, name = match.groups()
            where = f"{relative}:{number}: "
            if ".." in name.split("/"):
                problems.append(where + f"includes {name}: no '..', write it from src/")
                continue
            third = next((o for o in owners if name.startswith(o[1:])), None)
            if third is not None:
                if is_test and third == "<gtest/":
                    continue
                home = layer[0] if layer else relative.split("/")[0]
                if not any(pattern(w).match(home) or home.startswith(w + "/") or relative.startswith("src/" + w + "/")
                           for w in owners[third]):
                    problems.append(where + f"<{name}> belongs to {', '.join(owners[third])}")
                continue
            if relative.startswith("include/") or relative.startswith(("apps/", "examples/")):
                if name.startswith("npukit/") or kind == "<":
                    continue
                if relative.startswith("include/") or os.path.exists(os.path.join(ROOT, "src", name)):
                    problems.append(where + f"{name}: only npukit/ headers may be included here")
                continue
            if kind == "<":
                continue
            if name.startswith("npukit/"):
                if layer and not layer[0].startswith(("bindings", "cli")):
                    problems.append(where + f"{name}: public headers are for users and bindings")
                continue
            if name == "devices/devices.inc" and layer and layer[0].startswith("devices/all_"):
                continue  # the list itself, read where devices are put together
            other = layer_of(os.path.dirname(name), layers)
            if other is None:
                problems.append(where + f"{name} is in no layer")
            elif not allowed(layer, layers, other) and not (is_test and (other[0] in TEST_EXTRA or
                             any(allowed((t, t, None), layers, other) for t in TEST_EXTRA))):
                problems.append(where + f"{layer[0]} may not include {other[0]} ({name})")
            if layer and name.startswith(("devices/all_lower", "devices/all_run")) and layer[0].split("/")[0] not in (
                    "cli", "bindings", "devices"):
                problems.append(where + "only cli, bindings and tests put devices together")
    return problems


def main():
    layers, owners = read_table()
    problems = check_acyclic(layers)
    count = 0
    for top in ("src", "include", "apps", "examples"):
        for folder, folders, files in os.walk(os.path.join(ROOT, top)):
            folders.sort()
            for name in sorted(files):
                if name.endswith((".h", ".hpp", ".cc", ".c")):
                    count += 1
                    problems += check_file(os.path.join(folder, name), layers, owners)
    for p in problems:
        print(p)
    print(f"layers: {count} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
