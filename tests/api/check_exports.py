#!/usr/bin/env python3
"""Exported symbols of a library: every function of its headers, and nothing else.
usage: check_exports.py NM LIBRARY HEADER..."""
import re
import subprocess
import sys

nm, library, *headers = sys.argv[1:]
lines = subprocess.run([nm, "-D", "--defined-only", library], check=True, text=True, stdout=subprocess.PIPE).stdout
exported = {line.split()[-1].split("@")[0] for line in lines.splitlines() if line.strip()}
declared = set()
for header in headers:
    with open(header, encoding="utf-8") as f:
        declared |= set(re.findall(r"^NPK_API [^;(]*?\b(npk_\w+)\(", f.read(), re.M))
assert len(declared) > 20, f"only {len(declared)} functions found in {headers}"
# Sanitizer runtimes and the linker add names of their own to a shared library.
extra = {s for s in exported - declared if not s.startswith(("__asan", "__ubsan", "__tsan", "_init", "_fini"))}
for name in sorted(declared - exported):
    print(f"{name} is declared in the header and not exported")
for name in sorted(extra):
    print(f"{name} is exported and not declared in the header")
sys.exit(1 if declared - exported or extra else 0)
