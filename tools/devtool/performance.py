"""Writes docs/performance.md from the results stored in docs/performance/: a section for each CPU, nothing by hand."""
import glob
import json
import math
import os

from .common import ROOT

FOLDER = os.path.join(ROOT, "docs", "performance")
PAGE = os.path.join(ROOT, "docs", "performance.md")
SCHEMA = "npukit-performance/1"

HEAD = """# How fast the CPU device is

Written by `./dev bench peers` from `docs/performance/*.json`; never by hand. npukit's fp32 CPU device beside the engines people would
use instead: same model, inputs, cores and threads. A ratio is npukit's time over that of the fastest peer whose answer is right; below
1.00 npukit is ahead. A difference under 5 % is none.

How measured: every engine in a process of its own, pinned, in rounds that take turns; a round's figure is its median, ratios are paired
within a round and the median over rounds is shown, with the middle half's width beside it (spread). `~`: rounds too unsteady to rely
on. T is threads; T = 1 decides, at T = 2 the host decides with. npukit runs in a new process each round, which peers do not: that
favours the peers. Agreement: each output of the timed command against onnxruntime's, cosine at least 0.99999 and no value off by more
than 0.001 of the largest; a row that fails is marked **wrong** and counts in no mean. Load: from each engine's own prepared file to the
first result, in a fresh process. Memory: the peak after the first inference less what was resident just before loading. All figures are
measured.
"""

LIMITED = {"avx2": "npukit is limited by `NPUKIT_CPU_TARGET=avx2`, OpenVINO by `ONEDNN_MAX_CPU_ISA=AVX2`. onnxruntime, MNN and ncnn choose by "
                   "what the CPU has and cannot be told, so they are left out here."}


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else None


def _ours(case):
    return next((r for r in case["rows"] if r["engine"] == "npukit" and r.get("ratio") is not None), None)


def _counts(case):
    return _ours(case) is not None and case["agreement"]["ok"]


def _n(value, form="{:.2f}"):
    return "-" if value is None else form.format(value)


def _ms(value):
    return "-" if value is None else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _speed(result, targets):
    peers = []
    for case in result["cases"]:
        peers += [r["engine"] for r in case["rows"] if r["engine"] != "npukit" and r["engine"] not in peers]
    lines = ["| case | T | npukit ms | best peer, ms | ratio | spread | target | " + " | ".join(peers) + " |",
             "| --- | --: | --: | --- | --: | --: | --: |" + " --: |" * len(peers)]
    for case in result["cases"]:
        ours = _ours(case)
        best = next((r for r in case["rows"] if r["engine"] == case["best_peer"]), None)
        ratio = "-" if ours is None else "**wrong**" if not case["agreement"]["ok"] else (
            _n(ours["ratio"]) + ("~" if ours["noisy"] else ""))
        cells = [case["name"], str(case["threads"]), _ms(ours and ours["p50_ms"]),
                 f"{case['best_peer']} {_ms(best['p50_ms'])}" if best else "-", ratio,
                 _n(ours and ours["spread"]), _n(targets["cases"].get(case["name"]))]
        of = {r["engine"]: r for r in case["rows"]}
        cells += [_n(of[p].get("ratio")) + ("~" if of[p].get("noisy") else "") if p in of else "-" for p in peers]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "The peers' columns are their ratios to the best peer."]
    lost = sorted({f"{c['name']}: {engine}: {why}" for c in result["cases"] for engine, why in c["lost"].items()})
    if lost:
        lines += ["Without a figure:", "", *(f"- {line}" for line in lost)]
    return lines


def means(result):
    """{threads or "all": geometric mean of the ratios that count}"""
    groups = {}
    for case in filter(_counts, result["cases"]):
        groups.setdefault(case["threads"], []).append(_ours(case)["ratio"])
    found = {t: geometric_mean(v) for t, v in sorted(groups.items())}
    return {**found, "all": geometric_mean([r for v in groups.values() for r in v])}


def footprint_ratios(entry):
    """npukit's load and memory over the fastest and the leanest peer's, with who they are; None where one is missing."""
    ours = entry["engines"].get("npukit")
    peers = {k: v for k, v in entry["engines"].items() if k != "npukit"}
    if ours is None or not peers:
        return None
    fastest, leanest = (min(peers, key=lambda p: peers[p][key]) for key in ("load_ms", "rss_bytes"))
    return {"load": ours["load_ms"] / peers[fastest]["load_ms"], "fastest": fastest,
            "memory": ours["rss_bytes"] / peers[leanest]["rss_bytes"], "leanest": leanest}


def _footprint(result):
    lines = ["| case | load ms | fastest peer, ms | ratio | memory MB | leanest peer, MB | ratio |",
             "| --- | --: | --- | --: | --: | --- | --: |"]
    for entry in result["footprint"]:
        ratios, of = footprint_ratios(entry), entry["engines"]
        if ratios is None:
            lines.append(f"| {entry['name']} | - | - | - | - | - | - |")
            continue
        fast, lean = ratios["fastest"], ratios["leanest"]
        lines.append(f"| {entry['name']} | {_ms(of['npukit']['load_ms'])} | {fast} {_ms(of[fast]['load_ms'])} | "
                     f"{ratios['load']:.2f} | {of['npukit']['rss_bytes'] / 1e6:.1f} | {lean} {of[lean]['rss_bytes'] / 1e6:.1f} | "
                     f"{ratios['memory']:.2f} |")
    return lines


def behind(result, targets):
    """Lines: what is wrong, what is behind the best peer, what misses its goal."""
    lines = []
    for case in result["cases"]:
        at, ours = f"{case['name']} T={case['threads']}", _ours(case)
        goal = targets["cases"].get(case["name"])
        if ours is None:
            lines.append(f"{at}: not measured: {case['problem'] or 'no right peer'}")
        elif not case["agreement"]["ok"]:
            a = case["agreement"]
            lines.append(f"{at}: **wrong**: cosine {_n(a['cos'], '{:.6f}')}, off by {_n(a['max_rel'], '{:.1e}')} of the largest value")
        elif ours["ratio"] > 1:
            lines.append(f"{at}: behind {case['best_peer']}, {ours['ratio']:.2f}")
        elif goal is not None and ours["ratio"] > goal:
            lines.append(f"{at}: ahead, {ours['ratio']:.2f}, goal {goal:.2f}")
    for entry in result["footprint"]:
        ratios = footprint_ratios(entry)
        for what in ("load", "memory"):
            if ratios is not None and ratios[what] > targets[what]:
                lines.append(f"{entry['name']}: {what} {ratios[what]:.2f}, goal {targets[what]:.2f}")
    goal = targets["geometric_mean_avx2" if result["limited_to"] else "geometric_mean"]
    mean = means(result)["all"]
    if mean is not None and mean > goal:
        lines.append(f"geometric mean: {mean:.3f}, goal {goal:.2f}")
    return lines


def section(result, targets):
    cpu, found = result["cpu"], means(result)
    title = result["flags"] + (f", limited to {result['limited_to']}" if result["limited_to"] else "")
    versions = ", ".join(f"{k} {v}" for k, v in sorted(result["versions"].items()) if v)
    lines = [f"## {title}", "",
             f"{cpu['model']}, {cpu['usable_cores']} cores; {' '.join(cpu['flags'])}. {result['date']}, npukit {result['commit']}; "
             f"{versions}; at least {result['rounds']} rounds of {result['budget_ms']:.0f} ms."]
    if result["limited_to"]:
        lines += ["", LIMITED[result["limited_to"]]]
    if result["note"]:
        lines += ["", f"Note: {result['note']}"]
    lines += ["", *_speed(result, targets), ""]
    if found["all"] is not None:
        by = ", ".join(f"T={t} {v:.3f}" for t, v in found.items() if t != "all")
        lines += [f"Geometric mean of {sum(map(_counts, result['cases']))} ratios: **{found['all']:.3f}** ({by}).", ""]
    if result["footprint"]:
        lines += ["### Load and memory, T = 1", "", *_footprint(result), ""]
    missed = behind(result, targets)
    lines += ["### Behind, and goals missed", "", *([f"- {m}" for m in missed] or ["Nothing."]), ""]
    return lines


def page(results, targets):
    lines = HEAD.split("\n")
    if not results:
        lines.append("Nothing is stored yet.")
    for result in results:
        lines += section(result, targets)
    return "\n".join(lines).rstrip("\n") + "\n"


def stored(folder=FOLDER):
    results = []
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path, encoding="utf-8") as f:
            held = json.load(f)
        if held.get("schema") == SCHEMA:
            results.append(held)
    return results


def targets_table(folder=FOLDER):
    with open(os.path.join(folder, "targets.json"), encoding="utf-8") as f:
        return json.load(f)


def write():
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(page(stored(), targets_table()))
    return 0


def wrong(result):
    return [f"{c['name']} T={c['threads']}" for c in result["cases"] if _ours(c) and not c["agreement"]["ok"]]
