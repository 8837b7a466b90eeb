#!/usr/bin/env python3
"""--report-folder and --trace: what they write, where they may, and what they leave when they cannot.
usage: test_files.py --npukit PROGRAM --work DIR"""
import html
import json
import os
import re
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from common import SHAPE, Test, small_network  # noqa: E402

TARGET = ("-t", "kirin9030", "--shape", SHAPE)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def rows_of(page, title):
    """The rows of a table: {heading: text}; a column that is empty throughout is not there."""
    table = re.search(r'<caption class="unseen">' + re.escape(title) + r"</caption>(.*?)</table>", page, re.S).group(1)
    head, body = table.split("<tbody>")
    names = re.findall(r"<button[^>]*>(.*?)</button>", head)
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.S)]
    return [dict(zip(names, (html.unescape(re.sub(r"<[^>]*>", "", text)) for text in row))) for row in rows]


def check_check(t, model):
    folder = t.path("made", "here")  # with parents
    words = ("check", model, *TARGET, "--set", "npu.op.conv2d.max_kernel=1", "--report-folder", folder)
    record = t.json(*words, code=1)
    t.equal(os.listdir(folder), ["check_small.html"], "files of check")
    page = read(os.path.join(folder, "check_small.html"))
    rows = rows_of(page, "Operators")
    t.equal(len(rows), len(record["verdicts"]), "rows of check")
    for row, verdict in zip(rows, record["verdicts"]):
        t.equal((row["runs on"], row["reason code"]), (verdict["placed_on"], verdict["code"] or ""), f"row of {verdict['from']}")
        t.check(not verdict["from"] or row["operator"].startswith(verdict["from"][0]), f"row {row} is not {verdict['from']}")
    t.check("kernel_too_large" in {row["reason code"] for row in rows}, "no row says kernel_too_large")
    facts = rows_of(page, "Facts of the target")
    t.equal((facts[0]["fact"], facts[0]["value"], facts[0]["source"]), ("npu.op.conv2d.max_kernel", "1", "--set"), "the fact that decided")
    by_key = {row["fact"]: row for row in facts}
    shown = t.json("targets", "show", "kirin9030")["facts"]
    t.equal(set(by_key), {fact["key"] for fact in shown}, "facts of check")
    for fact in shown:
        if fact["key"] != "npu.op.conv2d.max_kernel":
            row = by_key[fact["key"]]
            t.equal((row["known by"], row["date"]), (fact["source"], fact["date"]), f"fact {fact['key']}")


def check_bench(t, model):
    folder, trace = t.path("bench"), t.path("trace.json")
    record = t.json("bench", model, *TARGET, "-d", "HETERO:NPU,CPU", "--ops", "--report-folder", folder, "--trace", trace)
    page = read(os.path.join(folder, "bench_small.html"))
    t.check("modelled" in page and "NPU (simulated kirin9030)" in page, "bench says device and kind")
    with open(trace, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    t.check(len(spans) >= len(record["ops"]) > 0, f"trace: {len(spans)} spans, {len(record['ops'])} operators")
    rows = rows_of(page, "Operators, one row a task")
    t.equal([row["operator"] for row in rows], [op["name"] for op in record["ops"]], "rows of bench")
    # Microseconds in the trace, milliseconds in the record.
    of_tasks = [e for e in spans if "bound_us" in e["args"]]
    for event, op in zip(of_tasks, record["ops"]):
        t.check(abs(event["dur"] / 1e3 - op["ms"]) < 1e-6 and abs(event["ts"] / 1e3 - op["start_ms"]) < 1e-6,
                f"trace of {op['name']}: {event}")
    end = max(e["ts"] + e["dur"] for e in spans) / 1e3
    t.check(end <= record["latency_ms"]["p50"] * 1.0001, f"trace ends at {end} ms, the run at {record['latency_ms']['p50']}")


def check_places(t, model):
    taken = t.path("taken")
    with open(taken, "w", encoding="utf-8") as f:
        f.write("mine")
    os.makedirs(t.path("folder", "check_small.html"))  # a folder has the report's name
    for where, said in ((taken, "taken is no folder"), ("/proc/nothing", "/proc/nothing"), ("", "empty"),
                        (t.path("folder"), "it is a folder")):
        t.refused(2, said, "check", model, *TARGET, "--report-folder", where)
    for where, said in (("/no/such/folder/t.json", "/no/such/folder/t.json"), (t.path("folder"), "it is a folder"), ("", "empty")):
        t.refused(2, said, "bench", model, *TARGET, "--trace", where)
    result = t.run("bench", model, "--shape", SHAPE, "-d", "CPU", "--budget-ms", "1", "--trace", t.path("none.json"), "-q", code=2)
    t.check("not modelled" in result.stderr and not os.path.exists(t.path("none.json")), f"a measured run: {result.stderr}")
    t.equal(read(taken), "mine", "the file in the way")
    t.refused(2, "--report-folder", "run", model, *TARGET, "--report-folder", t.path("x"))  # only verbs that have one


def check_full_disk(t, model):
    """A limit on the size of files stands for a disk that is full."""
    folder = t.path("full")
    limit = 20000  # bytes: less than a report, which has 40 kB before its first word
    for words, left in ((("check", model, *TARGET, "--report-folder", folder), folder),
                        (("bench", model, *TARGET, "-d", "HETERO:NPU,CPU", "--trace", t.path("full", "t.json")), folder)):
        result = subprocess.run([t.program, *words, "-q"], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, check=False,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        if words[0] == "bench" and result.returncode == 0:
            t.check(os.path.getsize(t.path("full", "t.json")) <= limit, "a small trace fits")
            continue
        t.equal(result.returncode, 3, f"{words[0]} on a full disk: {result.stderr}")
        t.equal(len(result.stderr.splitlines()), 1, f"lines on a full disk: {result.stderr!r}")
        t.equal(os.listdir(left), [], "left on a full disk")


def main():
    t = Test(__doc__)
    model = small_network(t.path("small.onnx"))
    check_check(t, model)
    check_bench(t, model)
    check_places(t, model)
    check_full_disk(t, model)
    t.finish()


if __name__ == "__main__":
    main()
