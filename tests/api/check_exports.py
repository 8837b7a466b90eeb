#!/usr/bin/env python3
"""Exported symbols of a library: every function of its headers, and nothing else; and it needs nothing of libhwy, which
would take milliseconds before main (sanitizer builds need its assertions).
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
lines = subprocess.run([nm, "-D", "--undefined-only", library], check=True, text=True, stdout=subprocess.PIPE).stdout
needed = {line.split()[-1] for line in lines.splitlines() if line.strip()}
assert needed, f"{library} needs nothing at all?"
sanitized = any(s.startswith(("__asan", "__ubsan", "__tsan")) for s in needed)
highway = set() if sanitized else {s for s in needed if s.startswith("_ZN3hwy")}
for name in sorted(highway):
    print(f"{name} of libhwy is needed: see devices/cpu/run/kernels/dispatch.h")
sys.exit(1 if declared - exported or extra or highway else 0)
