"""./dev bench peers: the CPU device beside the engines people would use instead; leaves docs/performance.md.

The yardstick is a folder that holds bench_peers.py, which measures, and make_models.py, which makes its models. Both are run as they
are; load, memory and agreement are taken here, by the workers of tools/bench.
"""
import json
import os
import shlex
import statistics
import subprocess

from . import build as building
from . import performance
from .common import BUILD, CACHE, ROOT, Failure, environment, run, say
from .setup import SYSTEM_PYTHON, bench_pins, setup

NEEDED = ("bench_peers.py", "make_models.py")
WORKERS = os.path.join(ROOT, "tools", "bench")
WORK = os.path.join(CACHE, "peers")
PYTHON = os.path.join(WORK, "venv", "bin", "python")
SUITE = os.path.join(WORK, "models", "suite.json")
# pip's names; ncnn's files are made by pnnx.
PEERS = ("ort", "openvino", "mnn", "ncnn")
FULL = {"rounds": 7, "budget_ms": 400, "footprints": 5}
QUICK = {"rounds": 3, "budget_ms": 200, "footprints": 3}
# Only OpenVINO can be told: onnxruntime, MNN and ncnn choose by what the CPU has.
AVX2 = {"NPUKIT_CPU_TARGET": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
AVX2_PEERS = ("openvino",)
WRONG_USE = 2


def lacking(yardstick):
    """What is wrong with the folder, in a line; None where it will do."""
    if not yardstick:
        return "bench peers needs --yardstick DIR, a folder with bench_peers.py and make_models.py"
    missing = [name for name in NEEDED if not os.path.isfile(os.path.join(yardstick, name))]
    return f"--yardstick {yardstick}: no {' and no '.join(missing)} there" if missing else None


def _environment():
    """The peers' packages, by version, over Debian's torch, which makes the models."""
    pins = bench_pins()
    code = "import importlib.metadata as m\nfor d in m.distributions(): print(d.metadata['Name'].lower() + '==' + d.version)"
    have = []
    if os.path.exists(PYTHON):
        have = subprocess.run([PYTHON, "-c", code], text=True, stdout=subprocess.PIPE, check=False).stdout.split()
    missing = [p for p in pins if p.lower() not in have]
    if not missing:
        return
    say("[dev] PyPI packages to install into .cache/peers/venv: " + " ".join(missing))
    if not os.path.exists(PYTHON):
        run([SYSTEM_PYTHON, "-m", "venv", "--system-site-packages", os.path.join(WORK, "venv")], quiet=True)
    run([PYTHON, "-m", "pip", "install", "-q", "--no-cache-dir", "--disable-pip-version-check"] + missing,
        "installing the peers", quiet=True)


def _ocr_models():
    """The npm package as make_models.py looks for it, from what ./dev setup fetched of it."""
    assets = os.path.join(WORK, "node_modules", "@gutenye", "ocr-models", "assets")
    os.makedirs(assets, exist_ok=True)
    for ours, theirs in (("ppocrv4_det", "ch_PP-OCRv4_det_infer"), ("ppocrv4_rec", "ch_PP-OCRv4_rec_infer"),
                         ("ppocrv4_cls", "ch_ppocr_mobile_v2.0_cls_infer")):
        link = os.path.join(assets, theirs + ".onnx")
        if not os.path.lexists(link):
            os.symlink(os.path.join(CACHE, "models", ours + ".onnx"), link)
    return os.path.join(WORK, "node_modules")


def _minilm():
    folder = os.path.join(WORK, "minilm")
    os.makedirs(folder, exist_ok=True)
    for name, path in (("model.safetensors", ("weights", "minilm.safetensors")), ("config.json", ("weights", "minilm.json"))):
        link = os.path.join(folder, name)
        if not os.path.lexists(link):
            os.symlink(os.path.join(CACHE, *path), link)
    return folder


def _encoder(size, models):
    base = os.path.join(models, "zipformer_" + size)
    if not os.path.exists(os.path.join(base + "_inputs", "processed_lens.npy")):
        run([SYSTEM_PYTHON, os.path.join(ROOT, "examples", "zipformer", "export.py"), "--size", size, "--out", models],
            f"exporting the {size} encoder")
    inputs = {f[:-len(".npy")]: os.path.join(base + "_inputs", f) for f in sorted(os.listdir(base + "_inputs"))}
    return {"name": "zipformer-" + size, "model": base + ".onnx", "input": inputs}


def models(yardstick):
    """The suite: what make_models.py makes, fp32 alone and without the TFLite models, and our three. Made once."""
    folder = os.path.dirname(SUITE)
    os.makedirs(folder, exist_ok=True)
    theirs = os.path.join(folder, "yardstick", "suite.json")
    if not os.path.exists(theirs):
        run([PYTHON, os.path.join(WORKERS, "old_torch.py"), os.path.join(yardstick, "make_models.py"), "--out",
             os.path.dirname(theirs), "--node-modules", _ocr_models(), "--minilm", _minilm()], "making the yardstick's models")
    with open(theirs, encoding="utf-8") as f:
        suite = json.load(f)
    base, cases = os.path.dirname(theirs), []
    for case in suite:
        if case["model"].endswith(".tflite"):
            continue
        cases.append({"name": case["name"], "model": os.path.normpath(os.path.join(base, case["model"])),
                      "shape": case.get("shape", []),
                      "input": {n: os.path.join(base, f) for n, f in case.get("input", {}).items()}})
    cases.append({"name": "efficientnet-lite0", "model": os.path.join(CACHE, "models", "efficientnet_lite0.onnx")})
    cases += [_encoder(size, folder) for size in ("narrow", "large")]
    for case in cases:
        case.setdefault("shape", [])
        case.setdefault("input", {})
        case["precision"] = ["fp32"]
    with open(SUITE, "w", encoding="utf-8") as f:
        json.dump(cases, f, indent=1)
    return cases


def _speed(args, how, ready, peers, env):
    """The yardstick's own results, as it stores them. A call for each network: npukit is given that one's inputs every round, as the
    peers are, since random integers are no token ids."""
    out = os.path.join(WORK, "speed.json")
    if os.path.exists(out):
        os.remove(out)
    for name, got in ready.items():
        run([PYTHON, os.path.join(args.yardstick, "bench_peers.py"), "--suite", SUITE, "--only", name, "--update", "--json", out,
             "--engines", *peers, "npukit", "--threads", *map(str, args.threads), "--rounds", str(how["rounds"]), "--budget-ms",
             str(how["budget_ms"]), "--cache", os.path.join(WORK, "cache"), "--npukit", args.npukit, "--npukit-args",
             f"-q --budget-ms {how['budget_ms']} --inputs {shlex.quote(got['given'])}", "--npukit-io", "--output-dir {outputs}"],
            f"measuring {name}", env=env, check=False)
    if not os.path.exists(out):
        raise Failure("the yardstick measured nothing")
    with open(out, encoding="utf-8") as f:
        return json.load(f)


def _worker(script, spec, env):
    result = subprocess.run([PYTHON, os.path.join(WORKERS, script), json.dumps(spec)], text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, env=environment(env))
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    if result.returncode != 0 or not lines:
        return None, (result.stderr.strip().splitlines() or [f"ended with {result.returncode}"])[-1][:200]
    return json.loads(lines[-1]), None


def _prepare(args, case, peers, env):
    folder = os.path.join(WORK, "prepared", case["name"])
    spec = {"yardstick": args.yardstick, "cache": os.path.join(WORK, "cache"), "folder": folder, "npukit": args.npukit,
            "model": case["model"], "shapes": case["shape"], "input": case["input"], "engines": peers}
    ready, problem = _worker("prepare.py", spec, env)
    for line in [problem] if problem else ready["problems"]:
        say(f"[dev] {case['name']}: {line}")
    return ready


def _footprint(args, name, ready, how, env):
    """Medians over fresh processes that take turns; an engine that fails once is left out, and said."""
    cpus = [max(os.sched_getaffinity(0))]
    library = os.path.join(os.path.dirname(os.path.realpath(args.npukit)), "libnpukit_runtime.so")
    got, failed = {}, set()
    for number in range(how["footprints"] + 1):
        for engine, file in ready["files"].items():
            if engine in failed:
                continue
            spec = {"yardstick": args.yardstick, "engine": engine, "variant": "", "file": file, "threads": 1, "cpus": cpus,
                    "inputs": ready["inputs"], "names": ready["names"], "outputs": ready["outputs"], "library": library,
                    "cache": os.path.join(WORK, "blobs")}
            one, problem = _worker("footprint.py", spec, env)
            if problem:
                say(f"[dev] {name}, {engine}: {problem}")
                failed.add(engine)
            elif number > 0:  # the first makes OpenVINO's blob, and brings files into memory
                got.setdefault(engine, []).append(one)
    engines = {e: {key: statistics.median(x[key] for x in got[e]) for key in ("load_ms", "rss_bytes")}
               for e in got if e not in failed}
    return {"name": name, "engines": engines}


def _case(measured, agreement):
    rows, lost, problem = [], {}, None
    for row in measured["rows"]:
        name = row["engine"] + (f" ({row['variant']})" if row["variant"] else "")
        if row["status"] != "ok" or "p50_ms" not in row:
            if row["engine"] == "npukit":
                problem = row.get("error", row["status"])
            else:
                lost[name] = row.get("error", row["status"])
            continue
        rows.append({"engine": name, "p50_ms": row["p50_ms"], "min_ms": row.get("min_ms"), "ratio": row.get("vs_best"),
                     "spread": row.get("vs_best_spread"), "noisy": bool(row.get("noisy"))})
    return {"name": measured["name"], "threads": measured["threads"], "best_peer": measured.get("best_peer"), "rows": rows,
            "agreement": agreement, "problem": problem, "lost": lost}


def _commit(measured):
    """Of the program that was measured, which need not be this tree's."""
    for case in measured["cases"]:
        for row in case.get("rows", []):
            tool = row.get("settings", {}).get("tool") if row["engine"] == "npukit" else None
            if tool:
                return tool.get("git") or tool.get("version")
    return "unknown"


def _store(result, whole):
    """A run of some networks replaces theirs and keeps the others' of the same CPU and commit."""
    name = result["flags"] + (f"-as-{result['limited_to']}" if result["limited_to"] else "")
    path = os.path.join(performance.FOLDER, name + ".json")
    if not whole and os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            old = json.load(f)
        if (old["commit"], old["cpu"]) != (result["commit"], result["cpu"]):
            raise Failure(f"docs/performance/{name}.json is of another commit or CPU: run without --only")
        ran = {(c["name"], c["threads"]) for c in result["cases"]}
        result["cases"] += [c for c in old["cases"] if (c["name"], c["threads"]) not in ran]
        of = {f["name"] for f in result["footprint"]}
        result["footprint"] += [f for f in old["footprint"] if f["name"] not in of]
    os.makedirs(performance.FOLDER, exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    performance.write()


def bench(args):
    problem = lacking(args.yardstick)
    if problem:
        say(f"[dev] {problem}")
        return WRONG_USE
    args.yardstick = os.path.abspath(args.yardstick)
    if args.npukit is None:
        building.build("host")
        args.npukit = os.path.join(BUILD, "npukit")
    args.npukit = os.path.abspath(args.npukit)
    setup(("build", "networks"))
    _environment()
    cases = models(args.yardstick)
    unknown = set(args.only or ()) - {c["name"] for c in cases}
    if unknown:
        say(f"[dev] --only: no {', '.join(sorted(unknown))}; there is: {', '.join(c['name'] for c in cases)}")
        return WRONG_USE
    cases = [c for c in cases if not args.only or c["name"] in args.only]
    how, env = (QUICK if args.quick else FULL), (AVX2 if args.avx2 else {})
    peers = AVX2_PEERS if args.avx2 else PEERS
    ready = {}
    for case in cases:
        got = _prepare(args, case, peers, env)
        if got:
            ready[case["name"]] = got
    measured = _speed(args, how, ready, peers, env)
    # Load and memory are held against all peers, so not where only one can be limited.
    footprint = [] if args.avx2 else [_footprint(args, name, got, how, env) for name, got in ready.items()]
    versions = {k: v for k, v in measured["versions"].items() if k not in ("python", "litert")}
    result = {"schema": performance.SCHEMA, "date": measured["date"], "commit": _commit(measured), "cpu": measured["cpu"],
              "flags": measured["flags"], "limited_to": "avx2" if args.avx2 else "", "versions": versions,
              "rounds": how["rounds"], "budget_ms": how["budget_ms"], "note": args.note or "",
              "cases": [_case(c, ready[c["name"]]["agreement"]) for c in measured["cases"] if not c.get("error")], "footprint": footprint}
    _store(result, whole=not args.only)
    say("[dev] docs/performance.md is written")
    wrong, lost = performance.wrong(result), [c["name"] for c in cases if c["name"] not in ready]
    if wrong:
        say("[dev] wrong: " + ", ".join(wrong))
    if lost:
        say("[dev] not measured: " + ", ".join(lost))
    return 1 if wrong or lost else 0
