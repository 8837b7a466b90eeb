"""Compiles the three networks for the simulated NPU; the other tests use the packages."""
import os

import common


def main():
    args = common.arguments(__doc__)
    checks = common.Checks()
    for network in common.NETWORKS:
        package = common.package(args, network)
        if os.path.exists(package):
            os.remove(package)
        shapes = common.SHAPES[network]
        command = [args.npukit, "compile", common.model(network), "-t", common.TARGET, "-o", package, "--json"]
        for shape in shapes:
            command += ["--shape", "x=" + "x".join(map(str, shape))]
        report = common.run_json(command)
        print(f"{network}: {os.path.getsize(package)} bytes in {report['seconds']} s", flush=True)
        checks.check(report["target"] == common.TARGET, f"{network}: target {report['target']}")
        # Per shape a program for the NPU with the CPU behind it, and one for the CPU alone.
        on_npu = [p for p in report["programs"] if "NPU" in p["devices"]]
        on_cpu = [p for p in report["programs"] if "NPU" not in p["devices"]]
        checks.check(len(on_npu) >= len(shapes), f"{network}: {len(on_npu)} programs for the NPU, {len(shapes)} shapes")
        checks.check(len(on_cpu) >= len(shapes), f"{network}: {len(on_cpu)} programs for the CPU, {len(shapes)} shapes")
    checks.finish()


if __name__ == "__main__":
    main()
