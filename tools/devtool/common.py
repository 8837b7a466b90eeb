"""What every part of ./dev shares: where things lie, and how commands are run."""
import os
import shlex
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.path.join(ROOT, ".cache")
VENV = os.path.join(CACHE, "venv")
BUILD = os.path.join(ROOT, "build")
OUT = os.path.join(ROOT, "out")


class Failure(Exception):
    """Ends ./dev with one line and exit code 1."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def environment(extra=None):
    """The environment of every command: caches stay inside the clone."""
    env = dict(os.environ)
    env.setdefault("CCACHE_DIR", os.path.join(CACHE, "ccache"))
    env.setdefault("CCACHE_MAXSIZE", "2G")
    env["CCACHE_BASEDIR"] = ROOT
    env["CCACHE_NOHASHDIR"] = "1"
    env["NPUKIT_PYTHON"] = venv_python()
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env.update(extra or {})
    return env


def venv_python():
    return os.path.join(VENV, "bin", "python")


def run(command, what=None, quiet=False, env=None, cwd=ROOT, check=True):
    """Runs a command, showing what it is for and how long it took when that is over two seconds.

    quiet: its output is shown only when it fails.
    """
    if what:
        say(f"[dev] {what}")
    start = time.monotonic()
    result = subprocess.run(
        command, cwd=cwd, env=environment(env), stdin=subprocess.DEVNULL, check=False,
        stdout=subprocess.PIPE if quiet else None, stderr=subprocess.STDOUT if quiet else None, text=True)
    took = time.monotonic() - start
    if check and result.returncode != 0:
        if quiet and result.stdout:
            say(result.stdout[-8000:])
        raise Failure(f"failed ({result.returncode}): {shlex.join(command)}")
    if what and took > 2:
        say(f"[dev]   {took:.0f} s")
    return result


def jobs():
    """How many compiles at once: one per core this process may use."""
    return len(os.sched_getaffinity(0))
