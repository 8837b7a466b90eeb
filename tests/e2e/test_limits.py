"""A copied profile with one limit lowered below what rec needs moves that operator off the NPU and names the fact; restoring
the limit brings it back."""
import json
import os

import common

FACT = "npu.op.conv2d.max_kernel"


def main():
    args = common.arguments(__doc__)
    checks = common.Checks()
    with open(os.path.join(common.ROOT, "profiles", common.TARGET + ".json"), encoding="utf-8") as f:
        profile = json.load(f)
    original = profile["facts"][FACT]["value"]
    copy = os.path.join(args.work, "copy.json")
    profile["name"] = "copy"
    shape = "x=" + "x".join(map(str, common.SHAPES["rec"][0]))

    def check(limit, expect):
        profile["facts"][FACT]["value"] = limit
        with open(copy, "w", encoding="utf-8") as f:
            json.dump(profile, f)
        command = [args.npukit, "check", common.model("rec"), "-t", copy, "--shape", shape, "--json"]
        return json.loads(common.run(command, expect=expect).stdout)["verdicts"]

    before = check(original, 0)
    checks.check(all(v["placed_on"] == "NPU" for v in before if v["from"]), "rec is not wholly on the NPU to begin with")
    # rec's depthwise convolutions are 5 x 5 and 3 x 3.
    lowered = check(4, 1)
    refused = [v for v in lowered if v["code"] == "kernel_too_large"]
    checks.check(len(refused) > 0, "no convolution is refused")
    for v in refused:
        named = (v["op"], v["fact"], v["limit"], v["found"], v["placed_on"])
        checks.check(named == ("conv2d", FACT, 4, 5, "CPU"), f"{v['from']}: {named}")
    others = [v for v in lowered if v["from"] and v["placed_on"] != "NPU" and v["code"] not in ("kernel_too_large",
                                                                                              "costs_more_than_it_saves")]
    checks.check(not others, f"refused for another reason: {others}")
    after = check(original, 0)
    checks.check(after == before, "restoring the limit does not bring the placement back")
    checks.finish()


if __name__ == "__main__":
    main()
