"""./dev demo: from a fresh clone to the text on real photos."""
import os
import time

from .build import build
from .common import BUILD, CACHE, OUT, ROOT, run, say, venv_python
from .setup import setup


def demo(target):
    start = time.monotonic()
    setup(("build",))
    build("host", ["npukit", "npukit-ocr"])
    os.makedirs(OUT, exist_ok=True)
    result = run([venv_python(), os.path.join(ROOT, "tools", "demo", "run_demo.py"), "--bin", BUILD, "--target", target,
                  "--models", os.path.join(CACHE, "models"), "--photos", os.path.join(CACHE, "photos"),
                  "--fonts", os.path.join(CACHE, "fonts"), "--out", OUT], check=False)
    say(f"[dev] demo took {time.monotonic() - start:.0f} s")
    return result.returncode
