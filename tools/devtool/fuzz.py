"""./dev fuzz: builds the fuzzers, makes their seeds, runs them two at a time, prints counts and coverage."""
import os
import re
import subprocess
import time

from .build import build
from .common import BUILD, OUT, ROOT, Failure, environment, run, say, venv_python
from .setup import setup

TARGETS = ("onnx_reader", "graph_text", "package_head", "shape_inference_and_folding", "profile_json")
AT_ONCE = 2
# A file must not make npukit ask for more at once than this, nor take longer. libFuzzer counts seconds of the clock, which other
# work stretches, so it only stops what never ends; what it calls slow is run again and judged by the processor's time.
LIMITS = ["-malloc_limit_mb=300", "-rss_limit_mb=2048", "-timeout=300", "-report_slow_units=10", "-max_len=20000",
          "-len_control=10", "-print_final_stats=1"]
SLOW_SECONDS = 15  # a file may take 5 s; the sanitizers cost a factor of a few


def _seeds(npukit):
    seeds = os.path.join(BUILD, "fuzz", "seeds")
    run([venv_python(), os.path.join(ROOT, "tools", "fuzz_seeds.py"), "--out", seeds, "--npukit", npukit], "making seeds")
    return seeds


def _start(tree, seeds, target, seconds):
    """What was found in earlier runs is kept in build/fuzz/corpus, crashes in out/fuzz."""
    corpus = os.path.join(BUILD, "fuzz", "corpus", target)
    crashes = os.path.join(OUT, "fuzz", target)
    for folder in (corpus, crashes, os.path.join(seeds, target)):
        os.makedirs(folder, exist_ok=True)
    for old in _slow(crashes):
        os.remove(old)
    log = os.path.join(BUILD, "fuzz", target + ".log")
    env = environment({"ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1",
                       "ASAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
                       "NPUKIT_LOG": "error"})
    command = ["nice", "-n", "10", os.path.join(tree, "fuzz", "fuzz_" + target), corpus, os.path.join(seeds, target),
               f"-max_total_time={seconds}", f"-artifact_prefix={crashes}/"] + LIMITS
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env, cwd=ROOT)
    return Job(target, process, command[3:4], env, log, crashes, time.monotonic())


class Job:
    """A fuzzer at work: `program` is the command without its folders and limits."""

    def __init__(self, target, process, program, env, log, crashes, started):
        self.target, self.process, self.program, self.env = target, process, program, env
        self.log, self.crashes, self.started = log, crashes, started
        self.status = self.usage = None

    def ended(self):
        if self.status is None:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid != 0:
                self.status, self.usage = os.waitstatus_to_exitcode(status), usage
                self.process.returncode = self.status  # waited for already
        return self.status is not None


def _slow(folder):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.startswith("slow-unit-")]


def _seconds(usage):
    return usage.ru_utime + usage.ru_stime


def _too_slow(job):
    """Those of the inputs called slow that are so when they run again, or that fail then."""
    found = []
    for path in _slow(job.crashes):
        with open(os.devnull, "w", encoding="utf-8") as out:
            process = subprocess.Popen(job.program + [path] + LIMITS, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=job.env, cwd=ROOT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            found.append(f"{path}: fails when it runs again")
        elif _seconds(usage) > SLOW_SECONDS:
            found.append(f"{path}: {_seconds(usage):.1f} s")
        else:
            os.remove(path)
    return found


def _report(job):
    with open(job.log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    coverage = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", text)
    executed = re.search(r"stat::number_of_executed_units: (\d+)", text)
    edges, _, corpus = coverage[-1] if coverage else ("?", "?", "?")
    count = executed.group(1) if executed else "?"
    slow = _too_slow(job)
    verdict = f"CRASH, see {job.crashes}" if job.status != 0 else "BAD: " + "; ".join(slow) if slow else "no crash"
    print(f"fuzz {job.target}: {count} inputs in {time.monotonic() - job.started:.0f} s ({_seconds(job.usage):.0f} s of a core), "
          f"{edges} edges, corpus {corpus}, {verdict}", flush=True)
    if job.status != 0:
        say("\n".join(text.splitlines()[-40:]))
    return job.status == 0 and not slow


def fuzz(seconds=60, targets=(), npukit=None):
    for t in targets:
        if t not in TARGETS:
            raise Failure(f"no fuzz target {t}: there are {', '.join(TARGETS)}")
    setup(("build", "fuzz"))
    npukit = npukit or os.path.join(build("host", ["npukit"]), "npukit")
    tree = build("fuzz", ["fuzzers"])
    seeds = _seeds(npukit)
    waiting = list(targets or TARGETS)
    running, good = [], True
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            running.append(_start(tree, seeds, waiting.pop(0), seconds))
        time.sleep(0.2)
        for job in [j for j in running if j.ended()]:
            running.remove(job)
            good &= _report(job)
    return 0 if good else 1
