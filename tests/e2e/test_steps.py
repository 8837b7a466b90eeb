"""The steps around the networks, with onnxruntime as all three: whatever is wrong here is no network's fault.

npukit-ocr goes as far as the outputs reach and dumps the inputs of the missing ones; onnxruntime computes those; again.
"""
import json
import os
import shutil

import common
import numpy as np


def main():
    args = common.arguments(__doc__)
    checks, reference = common.Checks(), common.Reference()
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
