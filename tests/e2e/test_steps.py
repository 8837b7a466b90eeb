"""The steps around the networks, with onnxruntime as all three: whatever is wrong here is no network's fault.

npukit-ocr goes as far as the outputs reach and dumps the inputs of the missing ones; onnxruntime computes those; again.
"""
import json
import os
import shutil

import common
import numpy as np


def check_score(checks):
    """The ruler first: textbook distances, and the recorded readings' by hand."""
    checks.check(common.score.edit_distance("kitten", "sitting") == 3, "kitten to sitting is 3")
    checks.check(common.score.edit_distance("", "abc") == 3, "nothing to abc is 3")
    checks.check(common.score.distance(["NO Parking", "x"], ["no", "par king X"]) == 0, "case and spaces do not count")
    # "h" became "ii" (2), "P" became "F" (1); "the" moved from the front to the end (3 + 3).
    for name, by_hand in (("scenetext02.jpg", 3), ("scenetext03.jpg", 6), ("scenetext06.jpg", 0)):
        entry = common.truth(all_photos=True)[name]
        checks.check(common.score.distance(entry["recorded"], entry["truth"]) == by_hand, f"{name}: {by_hand} by hand")


def main():
    args = common.arguments(__doc__)
    checks, reference = common.Checks(), common.Reference()
    check_score(checks)
    inputs, outputs = os.path.join(args.work, "steps_in"), os.path.join(args.work, "steps_out")
    for folder in (inputs, outputs):
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(outputs)
    command = [args.ocr, "--replay", outputs, "--dump", inputs, "--keys", common.keys(), "--json"] + common.photos(args)
    for network in common.NETWORKS:
        error = common.run(command, expect=2).stderr
        checks.check(error.startswith(f"npukit-ocr: {network}: ") and error.count("\n") == 1,
                     f"expected one line that says a {network} output is missing, found {error!r}")
        for name in sorted(n for n in os.listdir(inputs) if n.startswith(network)):
            np.save(os.path.join(outputs, name), reference.run(network, np.load(os.path.join(inputs, name))))
    reading = json.loads(common.run(command).stdout)
    checks.check(reading["schema_version"] == 1 and reading["tool"]["name"] == "npukit-ocr", "schema_version and tool")
    common.check_distances(checks, reading)
    checks.finish()


if __name__ == "__main__":
    main()
