"""Profiles decide: what they say is shown with its source, a limit lowered moves an operator off naming the fact, a limit
restored brings it back, and speeds change times but never values."""
import json
import os

import common
from common import SHAPE, np


def off(record):
    """{node of the file: verdict} of what is not on the NPU."""
    return {n: v for v in record["verdicts"] if v["placed_on"] != "NPU" for n in v["from"]}


def test_shown(t):
    names = {x["name"]: x for x in t.json("targets")["targets"]}
    t.check({"ascend310", "host", "kirin9030", "kirinx90"} <= set(names), f"the targets: {sorted(names)}")
    t.equal(names["host"]["npu"], None, "host has no NPU")
    r = t.json("targets", "show", "kirin9030")
    for f in r["facts"]:
        t.check(f["source"] in {"assumed", "datasheet", "vendor_api", "measured"}, f"source of {f['key']}")
        t.check(f["ref"] and f["date"] and f["summary"], f"{f['key']} says how it is known")
    with open(os.path.join(common.ROOT, "profiles", "kirin9030.json"), encoding="utf-8") as f:
        facts = json.load(f)["facts"]
    t.equal({f["key"]: f["value"] for f in r["facts"]}, {k: v["value"] for k, v in facts.items()}, "the facts of the file")
    text = t.run("targets", "show", "kirin9030").stdout
    t.check("npu.sram_bytes" in text and "assumed" in text, "text")
    r = t.json("targets", "show", "kirin9030", "--set", "npu.op.conv2d.max_kernel=2")
    changed = next(f for f in r["facts"] if f["key"] == "npu.op.conv2d.max_kernel")
    t.equal((changed["value"], changed["source"], changed["ref"]), (2, "assumed", "--set"), "a changed fact is labelled")


def test_lowered_limit(t):
    """The network's second convolution has a kernel of 5; everything else stays within 3."""
    model = common.small_network(t.path("kernel5.onnx"), kernel=5)
    with open(os.path.join(common.ROOT, "profiles", "kirin9030.json"), encoding="utf-8") as f:
        profile = json.load(f)
    profile["name"] = "copy"
    path = t.path("copy.json")

    def check(limit, code):
        profile["facts"]["npu.op.conv2d.max_kernel"]["value"] = limit
        with open(path, "w", encoding="utf-8") as out:
            json.dump(profile, out)
        return t.json("check", model, "-t", path, "--shape", SHAPE, "--allow", "reduce_mean", code=code)

    t.check("second" not in off(check(5, 0)), "a limit of 5 is enough")
    fallen = off(check(4, 1))
    v = fallen.get("second")
    t.check(v is not None and "first" not in fallen, f"only the larger kernel falls off: {sorted(fallen)}")
    if v:
        t.equal((v["code"], v["fact"], v["limit"], v["found"], v["supported"], v["placed_on"]),
                ("kernel_too_large", "npu.op.conv2d.max_kernel", 4, 5, False, "CPU"), "and says which fact, limit and size")
        t.check(v["reason"] and v["remedy"], "with a reason and a remedy")
    text = t.run("check", model, "-t", path, "--shape", SHAPE, code=1).stdout
    t.check("npu.op.conv2d.max_kernel = 4, found 5" in text, f"in text too: {text}")
    t.refused(2, "HETERO:NPU,CPU", "run", model, "-t", path, "--shape", SHAPE, "-d", "NPU")
    result = t.run("run", model, "-t", path, "--shape", SHAPE, "-d", "NPU", code=2)
    t.check("second" in result.stderr, f"-d NPU names the operator: {result.stderr}")
    t.run("run", model, "-t", path, "--shape", SHAPE, "-d", "HETERO:NPU,CPU")
    t.check("second" not in off(check(5, 0)), "restored, it comes back")
    same = t.json("check", model, "-t", "kirin9030", "--set", "npu.op.conv2d.max_kernel=4", "--shape", SHAPE, code=1)
    t.equal(off(same)["second"]["code"], "kernel_too_large", "--set does the same")


def test_speeds_change_times_only(t):
    model = common.small_network(t.path("small.onnx"))
    times = []
    for i, clock in enumerate((0.5, 1.0)):
        r = t.json("run", model, "-d", "NPU", "-t", "kirin9030", "--set", f"npu.clock_ghz={clock}", "--shape", SHAPE,
                   "--output-dir", t.path(f"speed{i}"))
        times.append(r["latency_ms"])
    t.check(times[0] > times[1], f"a faster clock is faster: {times}")
    t.check(np.array_equal(np.load(t.path("speed0", "out_y.npy")), np.load(t.path("speed1", "out_y.npy"))), "and gives the same bits")


def main():
    t = common.Test(__doc__)
    test_shown(t)
    test_lowered_limit(t)
    test_speeds_change_times_only(t)
    t.finish()


if __name__ == "__main__":
    main()
