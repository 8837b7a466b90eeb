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
            folder = os.path.join(args.work, f"random_{args.device.split(':')[0]}_{network}_{seed}")
            if args.device != "CPU" and network == common.STAYS_ON_CPU:
                found = common.run_all_on_npu(args, network, value, folder)
            else:
                found, _ = common.run_network(args, common.package(args, network), value, folder, ["-d", args.device])
            common.compare(checks, f"{network} seed {seed} {'x'.join(map(str, shape))}", found,
                           reference.run(network, value), args.device)
    checks.finish()


if __name__ == "__main__":
    main()
