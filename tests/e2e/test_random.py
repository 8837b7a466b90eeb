"""Three seeded random inputs per network through `npukit run`, against onnxruntime on the original model."""
import os

import common
import numpy as np


def main():
    args = common.arguments(__doc__)
    checks, reference = common.Checks(), common.Reference()
    for network in common.NETWORKS:
        shapes = common.SHAPES[network]
        for seed in range(1 if common.SAMPLE else 3):
            shape = shapes[seed % len(shapes)]
            value = np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
            inputs = os.path.join(args.work, f"random_{args.device.split(':')[-1]}_{network}_{seed}")
            outputs = inputs + "_out"
            os.makedirs(inputs, exist_ok=True)
            np.save(os.path.join(inputs, reference.input_name(network) + ".npy"), value)
            report = common.run_json([args.npukit, "run", common.package(args, network), "-d", args.device, "--inputs", inputs,
                                      "--output-dir", outputs, "--json"])
            checks.check(len(report["outputs"]) == 1, f"{network}: {len(report['outputs'])} outputs")
            file = report["outputs"][0]["file"]
            found = np.load(file if os.path.exists(file) else os.path.join(outputs, file))
            common.compare(checks, f"{network} seed {seed} {'x'.join(map(str, shape))}", found,
                           reference.run(network, value), args.device)
    checks.finish()


if __name__ == "__main__":
    main()
