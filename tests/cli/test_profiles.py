"""Profiles that leave something out, contradict themselves or say absurd things, and --set that does: one clear line, exit 2."""
import copy
import json
import os

import common
from common import SHAPE


def profile_file(t, name, change):
    """kirin9030 with the change made to its facts, as a file of that name."""
    with open(os.path.join(common.ROOT, "profiles", "kirin9030.json"), encoding="utf-8") as f:
        profile = json.load(f)
    profile["name"] = name
    change(profile["facts"])
    path = t.path(f"{name}.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(profile, f)
    return path


def test_files(t, model):
    def value(key, v):
        return lambda facts: facts[key].update(value=v)

    def renamed(key, to):
        return lambda facts: facts.update({to: facts.pop(key)})

    def new(key, v):
        return lambda facts: facts.update({key: {**copy.deepcopy(facts["npu.cores"]), "value": v}})

    def without(key):
        return lambda facts: facts.pop(key)

    t.run("targets", "show", profile_file(t, "same", lambda facts: None))
    cases = (
        ("npu.clock_ghz is missing", without("npu.clock_ghz")),
        ("npu.sram_bytes is missing", without("npu.sram_bytes")),
        ("cpu.cores is missing", without("cpu.cores")),
        ("npu.model is missing", without("npu.model")),
        ("npu.kores: no such key", renamed("npu.cores", "npu.kores")),
        ("npu.cores", value("npu.cores", 0)),
        ("npu.cores", value("npu.cores", -1)),
        ("npu.cores", value("npu.cores", 1.5)),
        ("npu.cores", value("npu.cores", "two")),
        ("npu.cores", value("npu.cores", [2])),
        ("npu.cores", value("npu.cores", None)),
        ("npu.clock_ghz", value("npu.clock_ghz", 0)),
        ("npu.clock_ghz", value("npu.clock_ghz", 1e9)),
        ("npu.dram_gbytes_per_s", value("npu.dram_gbytes_per_s", -34)),
        ("npu.dram_burst_bytes: expected a power of two", value("npu.dram_burst_bytes", 48)),
        ("npu.cube.m_fp16", value("npu.cube.m_fp16", 0)),
        ("expected 16 or 32", value("npu.cube.accumulator_fp16_bits", 24)),
        ("npu.l0a_bytes", value("npu.l0a_bytes", 100)),
        ("npu.l0a_bytes = 512 holds no block of the cube", lambda facts: (facts["npu.l0a_bytes"].update(value=512),
                                                                        facts["npu.cube.m_fp16"].update(value=4096))),
        ("npu.l0c_bytes = 512 holds no block of the cube", value("npu.l0c_bytes", 512)),
        ("npu.dispatch_us", value("npu.dispatch_us", -1)),
        ("npu.energy.idle_mw", value("npu.energy.idle_mw", 1e300)),
        ("no operator is named \"convolve\"", new("npu.op.convolve.max_kernel", 3)),
        ("no limit is named \"max_kernal\"", new("npu.op.conv2d.max_kernal", 3)),
        ("npu.op.conv2d.max_kernel", new("npu.op.conv2d.max_kernel", 2.5)),
        ("guessed", lambda facts: facts["npu.cores"].update(source="guessed")),
        ("2025-02-29", lambda facts: facts["npu.cores"].update(date="2025-02-29")),
    )
    for i, (said, change) in enumerate(cases):
        path = profile_file(t, f"bad{i}", change)
        t.refused(2, said, "check", model, "-t", path, "--shape", SHAPE)
        t.refused(2, f"bad{i}.json", "targets", "show", path)
    with open(t.path("same.json"), encoding="utf-8") as f:
        text = f.read()
    broken = (
        ("given twice", text.replace('"npu.cores":', '"npu.clock_ghz":')),
        ("no valid JSON", text.replace('"value": 1,', '"value": NaN,', 1)),
        ("number overflow", text.replace('"value": 1,', '"value": 1e999,', 1)),
        ("no valid JSON", text[:len(text) // 2]),
        ("unknown member", text.replace('{"name"', '{"vendor": "x", "name"', 1)),
        ("unknown member", text.replace('"source"', '"unit": "GHz", "source"', 1)),
        ("named as its file", text.replace('"same"', '"other"', 1)),
    )
    for said, bad in broken:
        t.check(bad != text, f"{said}: the text was changed")
        with open(t.path("broken.json"), "w", encoding="utf-8") as f:
            f.write(bad if said == "named as its file" else bad.replace('"same"', '"broken"', 1))
        t.refused(2, said, "check", model, "-t", t.path("broken.json"), "--shape", SHAPE)
        t.refused(2, "broken.json", "targets", "show", t.path("broken.json"))


def test_set(t, model):
    def refused(said, *changes, target="kirin9030"):
        words = [w for c in changes for w in ("--set", c)]
        t.refused(2, said, "check", model, "-t", target, "--shape", SHAPE, *words)
        t.refused(2, said, "targets", "show", target, *words)

    refused("unknown fact npu.kores", "npu.kores=2")
    refused("unknown fact", "=2")
    refused("expected fact=value", "npu.cores")
    refused("npu.cores", "npu.cores=")
    for bad in ("0", "-1", "nan", "inf", "1e300", "two", "1.5", "1,2"):
        refused("npu.cores", f"npu.cores={bad}")
    refused("npu.cores is given twice", "npu.cores=1", "npu.clock_ghz=1", "npu.cores=2")
    refused("npu.cores is given twice", "npu.cores=1", "npu.cores=1")
    refused("expected 16 or 32", "npu.cube.accumulator_fp16_bits=20")
    refused("power of two", "npu.dram_burst_bytes=3")
    refused("holds no block of the cube", "npu.cube.n_fp16=4096")
    refused("no operator is named \"convolve\"", "npu.op.convolve.max_kernel=3")
    refused("no limit is named \"max_size\"", "npu.op.conv2d.max_size=3")
    refused("npu.op.<operator>.<limit>", "npu.op.conv2d=3")
    refused("no operator is named \"rleu\"", "npu.stack.fuses.conv2d=relu,rleu")
    refused("npu.model is missing", "npu.cores=2", target="host")  # no NPU to change
    refused("is missing", "npu.model=made_up", target="host")      # nor to make of nothing
    t.refused(2, "npu.model is missing", "run", model, "--shape", SHAPE, "--set", "npu.dispatch_us=1")  # host by default
    # Two changes that only fit together, and lists.
    t.run("targets", "show", "kirin9030", "--set", "npu.cube.n_fp16=4096", "--set", "npu.l0b_bytes=1048576",
          "--set", "npu.l0c_bytes=1048576")
    r = t.json("targets", "show", "ascend310", "--set", "npu.stack.fuses.conv2d=relu,clip", "--set", "npu.stack.fuses.add=")
    facts = {f["key"]: f["value"] for f in r["facts"]}
    t.equal((facts["npu.stack.fuses.conv2d"], facts["npu.stack.fuses.add"]), (["relu", "clip"], []), "lists")
    package = t.path("small.npk")
    t.run("compile", model, "-t", "kirin9030", "--shape", SHAPE, "-o", package)
    t.refused(2, "power of two", "run", package, "--set", "npu.dram_burst_bytes=3")
    t.refused(2, "given twice", "run", package, "--set", "npu.cores=1", "--set", "npu.cores=1")


def main():
    t = common.Test(__doc__)
    model = common.small_network(t.path("small.onnx"))
    test_files(t, model)
    test_set(t, model)
    t.finish()


if __name__ == "__main__":
    main()
