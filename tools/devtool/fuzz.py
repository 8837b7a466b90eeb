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
# A file must not make npukit ask for more at once than this, nor take longer (the sanitizers cost a factor of a few).
LIMITS = ["-malloc_limit_mb=300", "-rss_limit_mb=2048", "-timeout=30", "-max_len=20000", "-len_control=10", "-print_final_stats=1"]


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
    log = os.path.join(BUILD, "fuzz", target + ".log")
    env = environment({"ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1",
                       "ASAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
                       "NPUKIT_LOG": "error"})
    command = ["nice", "-n", "10", os.path.join(tree, "fuzz", "fuzz_" + target), corpus, os.path.join(seeds, target),
               f"-max_total_time={seconds}", f"-artifact_prefix={crashes}/"] + LIMITS
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env, cwd=ROOT)
    return target, process, log, crashes, time.monotonic()


def _report(target, process, log, crashes, started):
    with open(log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    coverage = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", text)
    executed = re.search(r"stat::number_of_executed_units: (\d+)", text)
    edges, _, corpus = coverage[-1] if coverage else ("?", "?", "?")
    count = executed.group(1) if executed else "?"
    seconds = time.monotonic() - started
    verdict = "no crash" if process.returncode == 0 else f"CRASH, see {crashes}"
    print(f"fuzz {target}: {count} inputs in {seconds:.0f} s, {edges} edges, corpus {corpus}, {verdict}", flush=True)
    if process.returncode != 0:
        say("\n".join(text.splitlines()[-40:]))
    return process.returncode == 0


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
        for job in [j for j in running if j[1].poll() is not None]:
            running.remove(job)
            good &= _report(*job)
    return 0 if good else 1
