"""./dev fix: formats the code, sorts the lists, regenerates docs/ops.md."""
import os

from . import checks
from .build import build
from .common import ROOT, run, say
from .setup import setup


def fix():
    setup(("build", "all"))
    files = checks.source_files()
    run(["clang-format-19", "-i"] + files, f"formatting {len(files)} files")
    for path in checks.sorted_lists():
        head, lines = checks.split_list(path)
        text = "".join(head + sorted(lines))
        with open(path, encoding="utf-8") as f:
            changed = f.read() != text
        if changed:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            say(f"[dev] sorted {os.path.relpath(path, ROOT)}")
    tree = build("host", ["npukit_docs"]) if os.path.exists(os.path.join(ROOT, "docs", "ops.md")) else None
    if tree:
        with open(os.path.join(ROOT, "docs", "ops.md"), "w", encoding="utf-8") as f:
            f.write(run([os.path.join(tree, "npukit_docs")], quiet=True).stdout)
    return 0
