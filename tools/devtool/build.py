"""./dev build [preset] and ./dev test [--all] [label or name]."""
import os
import re

from .common import BUILD, ROOT, Failure, jobs, run, say
from .setup import setup

PRESETS = ("host", "asan", "tsan", "arm64", "fuzz")


def configure(preset):
    tree = os.path.join(BUILD, preset)
    if not os.path.exists(os.path.join(tree, "build.ninja")):
        run(["cmake", "--preset", preset], f"configuring build/{preset}", quiet=True)
    return tree


def build(preset="host", targets=()):
    if preset not in PRESETS:
        raise Failure(f"no preset {preset}: there are {', '.join(PRESETS)}")
    setup(("build", {"arm64": "all", "fuzz": "fuzz"}[preset]) if preset in ("arm64", "fuzz") else ("build",))
    tree = configure(preset)
    run(["ninja", "-C", tree, f"-j{jobs()}"] + list(targets), f"building build/{preset}")
    if preset == "host":
        for name in ("npukit", "npukit-ocr"):
            _link(os.path.join(BUILD, name), _program(tree, name))
    return tree


def _program(tree, name):
    for folder in (tree, os.path.join(tree, "apps", "ocr")):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    return None


def _link(link, target):
    if target is None:
        return
    relative = os.path.relpath(target, os.path.dirname(link))
    if os.path.islink(link) and os.readlink(link) == relative:
        return
    if os.path.lexists(link):
        os.remove(link)
    os.symlink(relative, link)


class Totals:
    """Sums what ctest says of several trees."""

    def __init__(self):
        self.passed = self.failed = 0
        self.skipped = []

    def add(self, log):
        failed, total = re.search(r"(\d+) tests failed out of (\d+)", log).groups()
        skipped = re.findall(r"Test +#\d+: (\S+) .*\*\*\*Skipped", log)
        self.failed += int(failed)
        self.skipped += skipped
        self.passed += int(total) - int(failed) - len(skipped)


def ctest(tree, totals, arguments=(), env=None):
    """Runs ctest in a tree, shows its output, adds up its counts. Returns whether all passed."""
    log = os.path.join(tree, "Testing", "last.log")
    os.makedirs(os.path.dirname(log), exist_ok=True)
    result = run(["ctest", "--test-dir", tree, "--output-on-failure", "--no-tests=error", "-O", log, f"-j{jobs()}"]
                 + list(arguments), f"testing {os.path.relpath(tree, ROOT)}", env=env, check=False)
    with open(log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    if "tests failed out of" not in text:
        raise Failure(f"ctest ran nothing in {tree}")
    totals.add(text)
    return result.returncode == 0


def test(everything=False, pattern=None):
    totals = Totals()
    tree = build("host")
    selection = ["-R", pattern] if pattern and pattern not in LABELS else ["-L", pattern] if pattern else []
    if not everything:
        good = ctest(tree, totals, selection)
        return summary(totals, good)
    setup(("build", "all", "networks"))
    # Eight threads for 60 s on one session and on eight: half of it on each device. The trees of the phone set cannot compile,
    # so the host tree writes their packages.
    folder = os.path.join(tree, "tests", "stress")
    run([os.path.join(folder, "stress_packages"), folder], "writing packages for the stress tests")
    stress = {"NPUKIT_STRESS_PACKAGES": os.path.join(folder, "kirin9030.npk"), "NPUKIT_STRESS_SECONDS": "30"}
    good = ctest(tree, totals, env=stress)
    # The tests also ask for more memory than there is, and expect to be refused: the sanitizers must let them.
    refuse = "allocator_may_return_null=1"
    # Address and undefined sanitizers: the phone set's tests and the end-to-end test, on a sample.
    tree = build("asan")
    good &= ctest(tree, totals, env={"ASAN_OPTIONS": "detect_leaks=1:" + refuse, "UBSAN_OPTIONS": "print_stacktrace=1",
                                     "NPUKIT_E2E_SAMPLE": "1"})
    tree = build("tsan")
    good &= ctest(tree, totals, env=dict(stress, TSAN_OPTIONS="halt_on_error=1:" + refuse))
    tree = build("arm64")
    good &= ctest(tree, totals, env=dict(stress, NPUKIT_STRESS_SECONDS="2"))
    from . import fuzz  # it builds too  # pylint: disable=import-outside-toplevel
    good &= fuzz.fuzz(60) == 0
    if totals.skipped:
        say("[dev] with --all nothing may be skipped: " + ", ".join(totals.skipped))
        good = False
    return summary(totals, good)


def summary(totals, good):
    say(f"[dev] all trees together ({'passed' if good else 'FAILED'}):")
    print(f"{totals.passed} passed, {totals.failed} failed, {len(totals.skipped)} skipped", flush=True)
    return 0 if good and totals.failed == 0 else 1


LABELS = ("unit", "case", "conformance", "e2e", "api", "cli", "docs", "report", "examples")
