"""./dev new: writes a file from a template and the list line that goes with it."""
import datetime
import os
import re

from .common import ROOT, Failure, say

OP = '''// {name}: say what it computes, in one line.
#include "ops/op_def.h"
#include "ops/rules.h"

namespace npukit {{
namespace {{

Status Reference(ops::EvalContext& context) {{
  // Plain and obviously right: this judges every fast kernel.
#error "write the reference of {name}"
}}

}}  // namespace

constinit const ops::OpDef op::{name} = {{
    .name = "{name}",
    .summary = "",
    .infer = ops::rules::SameAsInput,
    .reference = Reference,
    .foreign = {{.onnx = ""}},
}};

}}  // namespace npukit
'''

ADR = """# {number}. {title}

Date: {date}

## Situation

## Decision

## Refused, and why

## What would change our mind
"""


def new(what, name):
    if what == "op":
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise Failure(f"an operator's name is snake_case, found {name}")
        _write(os.path.join(ROOT, "src", "ops", name + ".cc"), OP.format(name=name))
        with open(os.path.join(ROOT, "src", "ops", "ops.inc"), "a", encoding="utf-8") as f:
            f.write(f"OP({name})\n")
        _write(os.path.join(ROOT, "tests", "ops", name + ".case"), f"# expected: say where the values come from\n")
        say("[dev] now fill both files in, then ./dev fix")
        return 0
    folder = os.path.join(ROOT, "docs", "adr")
    numbers = [int(f[:4]) for f in os.listdir(folder) if f[:4].isdigit()]
    number = max(numbers, default=0) + 1
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    _write(os.path.join(folder, f"{number:04d}-{slug}.md"),
           ADR.format(number=number, title=name, date=datetime.date.today().isoformat()))
    return 0


def _write(path, text):
    if os.path.exists(path):
        raise Failure(f"{os.path.relpath(path, ROOT)} is there already")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    say(f"[dev] wrote {os.path.relpath(path, ROOT)}")
